#include "arch/pim/all_bank_timing.hpp"

#include <algorithm>

#include "arch/base/check.hpp"
#include "arch/memory/device/command_timing.hpp"

namespace tilesim::arch::pim {

std::int64_t AllBankTiming::earliest(AllBankCommand command) const {
    const std::int64_t row_command = pim_.overlap_row_switch ? command_ : std::max(command_, mac_);
    switch (command) {
        case AllBankCommand::Activate:
            return std::max(row_command, activate_);
        case AllBankCommand::Precharge:
            return std::max(row_command, precharge_);
        case AllBankCommand::Mac:
        case AllBankCommand::ArrayRead:
            return std::max({command_, column_, mac_});
        case AllBankCommand::ArrayWrite:
            return std::max({command_, column_, write_});
        case AllBankCommand::RegisterWrite:
            return std::max(command_, write_);
        case AllBankCommand::Alu:
            return std::max(command_, alu_);
    }
    return command_;
}

void AllBankTiming::issue(AllBankCommand command, std::int64_t row, std::int64_t now) {
    SIM_DCHECK(now >= earliest(command), "all-bank command {} at {} is too early",
               static_cast<int>(command), now);
    command_ = now + pim_.command_interval.count();
    switch (command) {
        case AllBankCommand::Activate:
            SIM_CHECK(row_ == memory::device::kNoRow, "ACT of all banks while row {} is open", row_);
            row_ = row;
            command_ = now + dram_.activate_command.count();
            column_ = now + dram_.tRCD.count();
            precharge_ = std::max(precharge_, now + dram_.tRAS.count());
            break;
        case AllBankCommand::Precharge:
            row_ = memory::device::kNoRow;
            command_ = now + 1;
            activate_ = now + pim_.precharge_all.count();
            break;
        case AllBankCommand::Mac:
        case AllBankCommand::ArrayRead:
            SIM_CHECK(row_ != memory::device::kNoRow, "MAC to closed banks");
            precharge_ = std::max(precharge_, now + pim_.mac_to_precharge.count());
            after_read(now);
            break;
        case AllBankCommand::ArrayWrite:
            SIM_CHECK(row_ != memory::device::kNoRow, "array write to closed banks");
            precharge_ =
                std::max(precharge_, now + (dram_.write_latency + dram_.burst + dram_.tWR).count());
            after_write(now);
            break;
        case AllBankCommand::RegisterWrite:
            after_write(now);
            break;
        case AllBankCommand::Alu:
            break;
    }
}

void AllBankTiming::after_read(std::int64_t now) {
    if (pim_.bus_turnaround) {
        const base::Cycles to_write =
            dram_.read_latency + dram_.burst + dram_.tRTW + pim_.drain - dram_.write_latency;
        write_ = std::max(write_, now + to_write.count());
        alu_ = write_;
    }
}

void AllBankTiming::after_write(std::int64_t now) {
    if (pim_.bus_turnaround) {
        const base::Cycles to_mac = dram_.write_latency + dram_.burst + dram_.tWTR_L;
        mac_ = std::max(mac_, now + to_mac.count());
    }
}

void AllBankTiming::begin(std::int64_t now) {
    SIM_CHECK(row_ == memory::device::kNoRow, "a turn begins with row {} open", row_);
    command_ = std::max(command_, now);
    activate_ = std::max(activate_, now);
}

}  // namespace tilesim::arch::pim
