// An array's memory and the way to it, as far as bounds of mappings go by it.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/fabric/fabric_config.hpp"
#include "arch/memory/device/memory_config.hpp"
#include "arch/npu/npu_config.hpp"

namespace tilesim::workloads::npu {

struct Traffic {
    double read = 0;  // bytes, by all columns together
    double written = 0;
    std::int64_t columns = 1;  // that share it
};

// Runs of consecutive bytes that begin so many bytes apart; as they stand here, one long run.
struct Runs {
    double bytes = 0;  // of all of them
    std::int64_t run = 1;
    std::int64_t stride = 1;
    // Where the first of them begin; by default one after the other, anywhere along a stride.
    std::int64_t first = 0;
    std::int64_t next = run;
};

// Aligned pieces of `size` bytes that the runs touch, on average over where they begin.
double pieces_of(const Runs& runs, std::int64_t size);

// A column's share of runs of all columns that lie beside each other along a row, in their order;
// and of runs that lie in rows of each column's own.
Runs of_column(Runs runs, std::int64_t column, std::int64_t columns);
Runs in_own_rows(Runs runs, std::int64_t columns);

struct MemoryPath {
    const arch::memory::device::MemoryConfig& memory;
    const arch::fabric::FabricConfig& fabric;

    // What no run beats: DRAM at its peak; in each direction, the link at its full rate, the blocks
    // behind it, and the pieces each column's port sends.
    double least_ns(const arch::npu::ShimConfig& shim, const Traffic& traffic) const;

    // Bytes of the whole bursts of DRAM that the runs touch, and what it takes for them at its
    // peak.
    double dram_bytes(const std::vector<Runs>& runs) const;
    double dram_ns(const std::vector<Runs>& runs) const;

    // What the fabric takes for runs of one direction: link, blocks and ports.
    double fabric_ns(const arch::npu::ShimConfig& shim, const std::vector<Runs>& runs,
                     std::int64_t columns) const;

    // The same of the column whose runs, beside those of the others along a row, take longest.
    double busiest_column_ns(const arch::npu::ShimConfig& shim, const Runs& runs,
                             std::int64_t columns) const;

    // What a column's reads take on their own way through the fabric.
    double column_ns(const arch::npu::ShimConfig& shim, const std::vector<Runs>& reads) const;

    // What DRAM takes for `dram_bytes`, at the share of its peak it sustains beside refresh and
    // turnarounds, and answers to `reads` for as many bursts as `channels` keep under way.
    double answers_ns(const arch::npu::ShimConfig& shim, const std::vector<Runs>& reads,
                      double dram_bytes, std::int64_t channels) const;

    // What writes take on their way to memory, of which `channels` keep so many under way each.
    double writes_ns(const arch::npu::ShimConfig& shim, const Runs& writes,
                     std::int64_t channels) const;
};

}  // namespace tilesim::workloads::npu
