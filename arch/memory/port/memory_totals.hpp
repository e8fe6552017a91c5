// What a memory has done: for reports, which need not know how it works.
#pragma once

#include <cstdint>

namespace tilesim::arch::memory::port {

// What the memory has done so far, over all channels.
struct MemoryTotals {
    std::int64_t bytes_requested = 0;
    std::int64_t bytes_read = 0;  // on the DRAM bus: whole bursts
    std::int64_t bytes_written = 0;
    std::int64_t row_hits = 0;  // bursts that found their row open
    std::int64_t bursts = 0;
    std::int64_t activates = 0;
    std::int64_t refreshes = 0;
    std::int64_t row_open = 0;      // CK, summed over the banks
    std::int64_t any_row_open = 0;  // CK, summed over the channels

    MemoryTotals& operator+=(const MemoryTotals& other) {
        bytes_requested += other.bytes_requested;
        bytes_read += other.bytes_read;
        bytes_written += other.bytes_written;
        row_hits += other.row_hits;
        bursts += other.bursts;
        activates += other.activates;
        refreshes += other.refreshes;
        row_open += other.row_open;
        any_row_open += other.any_row_open;
        return *this;
    }
};

}  // namespace tilesim::arch::memory::port
