// What a memory has done: for reports, which need not know how it works.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tilesim::arch::memory::port {

// How far any channel has gone towards what its queues and its scheduler's patience allow.
struct QueuePeaks {
    std::int64_t reads = 0;  // waiting at a time
    std::int64_t writes = 0;
    std::int64_t writes_at_turn = 0;  // waiting when they were turned to
    std::int64_t writes_left = 0;     // waiting when reads took the turn from them
    std::int64_t overtaken = 0;       // row hits that went before an older burst of their bank

    void raise(const QueuePeaks& to) {
        reads = std::max(reads, to.reads);
        writes = std::max(writes, to.writes);
        writes_at_turn = std::max(writes_at_turn, to.writes_at_turn);
        writes_left = std::max(writes_left, to.writes_left);
        overtaken = std::max(overtaken, to.overtaken);
    }
};

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
    std::int64_t any_row_open = 0;  // CK, summed over the ranks
    std::int64_t end = 0;           // of the addresses asked for
    QueuePeaks peaks;

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
        end = std::max(end, other.end);
        peaks.raise(other.peaks);
        return *this;
    }
    // Without what had been done by then; how far it has gone stays.
    MemoryTotals& operator-=(const MemoryTotals& before) {
        bytes_requested -= before.bytes_requested;
        bytes_read -= before.bytes_read;
        bytes_written -= before.bytes_written;
        row_hits -= before.row_hits;
        bursts -= before.bursts;
        activates -= before.activates;
        refreshes -= before.refreshes;
        row_open -= before.row_open;
        any_row_open -= before.any_row_open;
        return *this;
    }
};

}  // namespace tilesim::arch::memory::port
