// What each bank of a DRAM has done: for reports, which need not know how it works.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tilesim::arch::memory::port {

// Commands a bank has executed; its precharges follow its activates.
struct BankCounts {
    std::int64_t activates = 0;
    std::int64_t reads = 0;  // bursts, as writes
    std::int64_t writes = 0;

    BankCounts& operator+=(const BankCounts& other) {
        activates += other.activates;
        reads += other.reads;
        writes += other.writes;
        return *this;
    }
    BankCounts& operator-=(const BankCounts& before) {
        activates -= before.activates;
        reads -= before.reads;
        writes -= before.writes;
        return *this;
    }
    bool operator==(const BankCounts&) const = default;
};

struct BankUse {
    std::int64_t banks_per_group = 1;
    // Of each channel, its banks: group * banks_per_group + bank of the group.
    std::vector<std::vector<BankCounts>> channels;
    // CK that rows have been open to whoever was lent a channel: summed over the banks, and that
    // any of a rank has, summed over the ranks.
    std::int64_t guest_row_open = 0;
    std::int64_t guest_any_row_open = 0;

    bool used() const {
        return std::any_of(channels.begin(), channels.end(), [](const auto& banks) {
            return std::any_of(banks.begin(), banks.end(),
                               [](const BankCounts& bank) { return bank != BankCounts{}; });
        });
    }
};

}  // namespace tilesim::arch::memory::port
