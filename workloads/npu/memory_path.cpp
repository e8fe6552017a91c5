#include "workloads/npu/memory_path.hpp"

#include <algorithm>
#include <numeric>

namespace tilesim::workloads::npu {

using arch::base::kNanosecondsPerSecond;

double pieces_of(const Runs& runs, std::int64_t size) {
    const auto whole = static_cast<double>(size);
    if (runs.run == runs.stride) {  // no gap between them
        return runs.bytes / whole;
    }
    // A run begins at `first` and so many times this, as often at each; a piece ends within it
    // where it begins so far before that end.
    const std::int64_t step = std::gcd(std::gcd(runs.next, runs.stride), size);
    const std::int64_t least = step - runs.first % step;
    const std::int64_t ends = runs.run > least ? (runs.run - 1 - least) / step + 1 : 0;
    return runs.bytes / static_cast<double>(runs.run) *
           (1 + static_cast<double>(ends * step) / whole);
}

Runs of_column(Runs runs, std::int64_t column, std::int64_t columns) {
    runs.bytes /= static_cast<double>(columns);
    runs.first = column * runs.run;
    runs.next = columns * runs.run;
    return runs;
}

Runs in_own_rows(Runs runs, std::int64_t columns) {
    runs.bytes /= static_cast<double>(columns);
    return runs;
}

double MemoryPath::fabric_ns(const arch::npu::ShimConfig& shim, const std::vector<Runs>& runs,
                             std::int64_t columns) const {
    const auto pieces = [&runs](arch::base::Bytes size) {
        return std::accumulate(runs.begin(), runs.end(), 0.0, [size](double sum, const Runs& each) {
            return sum + pieces_of(each, size.count());
        });
    };
    const double link = pieces(fabric.line) * static_cast<double>(fabric.line.count()) /
                        static_cast<double>(fabric.link_width.count()) /
                        static_cast<double>(fabric.link_clock.count()) * kNanosecondsPerSecond;
    const double blocks = pieces(fabric.block) * ns_of(fabric.block_interval);
    if (shim.modifiable) {  // the NoC may join them
        return std::max(link, blocks);
    }
    return std::max(
        {link, blocks,
         pieces(fabric.chop) / static_cast<double>(columns) * ns_of(fabric.request_interval)});
}

double MemoryPath::busiest_column_ns(const arch::npu::ShimConfig& shim, const Runs& runs,
                                     std::int64_t columns) const {
    double busiest = 0;
    for (std::int64_t column = 0; column < columns; ++column) {
        busiest = std::max(busiest, fabric_ns(shim, {of_column(runs, column, columns)}, 1));
    }
    return busiest;
}

double MemoryPath::dram_bytes(const std::vector<Runs>& runs) const {
    const double burst = static_cast<double>(memory.burst.count());
    return std::accumulate(runs.begin(), runs.end(), 0.0, [&](double sum, const Runs& each) {
        return sum + pieces_of(each, memory.burst.count()) * burst;
    });
}

double MemoryPath::dram_ns(const std::vector<Runs>& runs) const {
    return dram_bytes(runs) / memory.peak_bytes_per_second() * kNanosecondsPerSecond;
}

double MemoryPath::column_ns(const arch::npu::ShimConfig& shim,
                             const std::vector<Runs>& reads) const {
    // Reads of a column wait for rows and refreshes of DRAM: alone it has 0.98 of what its port
    // could do in a run, four have 0.91.
    constexpr double kOfPort = 0.93;
    return fabric_ns(shim, reads, 1) / kOfPort;
}

double MemoryPath::answers_ns(const arch::npu::ShimConfig& shim, const std::vector<Runs>& reads,
                              double dram_bytes, std::int64_t channels) const {
    constexpr double kOfPeak = 0.85;
    constexpr double kDramLatencyNs = 60;  // activate and read, about
    const double bursts = std::accumulate(
        reads.begin(), reads.end(), 0.0,
        [&](double sum, const Runs& each) { return sum + pieces_of(each, shim.burst.count()); });
    const double latency = ns_of(fabric.request_latency + fabric.response_latency) + kDramLatencyNs;
    return std::max(dram_bytes / memory.peak_bytes_per_second() / kOfPeak * kNanosecondsPerSecond,
                    bursts * latency / static_cast<double>(channels * shim.outstanding_bursts));
}

double MemoryPath::writes_ns(const arch::npu::ShimConfig& shim, const Runs& writes,
                             std::int64_t channels) const {
    return pieces_of(writes, shim.burst.count()) * ns_of(fabric.request_latency) /
           static_cast<double>(channels * shim.outstanding_writes);
}

double MemoryPath::least_ns(const arch::npu::ShimConfig& shim, const Traffic& traffic) const {
    const auto way = [&](double bytes) {
        return fabric_ns(shim, {{.bytes = bytes}}, traffic.columns);
    };
    return std::max(
        {(traffic.read + traffic.written) / memory.peak_bytes_per_second() * kNanosecondsPerSecond,
         way(traffic.read), way(traffic.written)});
}

}  // namespace tilesim::workloads::npu
