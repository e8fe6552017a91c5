// Request streams for the memory alone: generated patterns and recorded traces.
//
// Patterns (g: granule, i: request number, s: splitmix64, b: where the stream's random numbers
// begin): sequential i*g; strided i*stride; random (s(b + i) mod (range/g))*g. A request is a write
// when s(b + i + 2^32) mod 1000 is below 1000 * write fraction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/base/units.hpp"
#include "arch/memory/device/memory_config.hpp"

namespace tilesim::arch::base::config {
class Node;
}

namespace tilesim::arch::memory::traffic {

struct StreamConfig {
    enum class Pattern { Sequential, Strided, Random } pattern = Pattern::Sequential;
    std::string trace;  // CSV file; empty for a generated stream
    std::int64_t requests = 100000;
    base::Bytes granule{64};     // of a request
    base::Bytes stride{4096};    // strided
    base::Bytes range{1 << 30};  // addresses wrap here
    std::int64_t write_permille = 0;
    std::int64_t outstanding = 256;  // requests kept under way
    // Not keys: streams of other numbers, and of other seeds, share no random numbers.
    std::uint64_t seed = 1;
    std::uint64_t number = 0;  // of several at a time
};

// What is not said stays as it is in `config`.
StreamConfig read_stream_config(base::config::Node node, StreamConfig config = {});

struct StreamRequest {
    std::int64_t address = 0;
    std::int64_t bytes = 0;
    bool write = false;
};

class StreamSource {
  public:
    // Reads a trace file whole; throws ConfigError with file:line for a malformed line.
    explicit StreamSource(const StreamConfig& config);
    std::int64_t size() const;
    StreamRequest request(std::int64_t index) const;

  private:
    StreamConfig config_;
    std::vector<StreamRequest> trace_;
};

struct StreamResult {
    base::Femtoseconds time{0};
    std::int64_t requests = 0;
    std::int64_t reads = 0;  // of them
    std::int64_t bytes = 0;
    // Latency of reads from submission to data; percentiles by rank.
    base::Femtoseconds latency_p50{0};
    base::Femtoseconds latency_p90{0};
    base::Femtoseconds latency_p99{0};
    base::Femtoseconds latency_max{0};
};

}  // namespace tilesim::arch::memory::traffic
