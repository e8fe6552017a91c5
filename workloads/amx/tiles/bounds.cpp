#include "workloads/amx/tiles/bounds.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tilesim::workloads::amx::tiles {

namespace {

// Bytes that some thread reads: what several share is counted once.
double bytes_read(std::vector<AmxRegion> reads) {
    std::sort(reads.begin(), reads.end(),
              [](const AmxRegion& a, const AmxRegion& b) { return a.address < b.address; });
    std::int64_t bytes = 0;
    std::int64_t end = 0;
    for (const AmxRegion& read : reads) {
        const std::int64_t from = std::max(read.address, end);
        end = std::max(end, read.address + read.bytes);
        bytes += std::max<std::int64_t>(end - from, 0);
    }
    return static_cast<double>(bytes);
}

}  // namespace

GemmBounds bounds_of(const arch::memory::device::MemoryConfig& memory,
                     const arch::amx::AmxConfig& config, const AmxWork& work,
                     const arch::amx::socket::Socket& socket) {
    const double cycle_ns = 1e9 / static_cast<double>(config.clock.count());
    double tmul = 0;
    double lines = 0;
    for (std::size_t i = 0; i < socket.cores(); ++i) {
        const arch::amx::core::CoreCounters& counters = socket.core(i).counters();
        tmul =
            std::max(tmul, static_cast<double>(std::max(counters.dot_cycles, counters.b_cycles)));
        lines = std::max(lines, static_cast<double>(counters.tile_load_lines));
    }
    GemmBounds bounds;
    bounds.compute_ns = tmul * cycle_ns;
    bounds.stream_ns = lines / static_cast<double>(config.access.load_lines) * cycle_ns;
    // What of the operands a text or a run before has left in the caches is not known: the lines
    // that came.
    const bool cold = work.mapping.data_in == AmxMapping::DataIn::Memory && work.mapping.runs == 1;
    bounds.dram_bytes =
        cold && !work.lowered.reads.empty()
            ? bytes_read(work.lowered.reads)
            : static_cast<double>(socket.lines_from_memory() * arch::amx::caches::kLineBytes);
    bounds.memory_ns = bounds.dram_bytes / memory.peak_bytes_per_second() * 1e9;
    return bounds;
}

}  // namespace tilesim::workloads::amx::tiles
