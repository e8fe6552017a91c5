#include "arch/fabric/fabric_config.hpp"

#include "arch/base/config.hpp"

namespace tilesim::arch::fabric {

namespace {
constexpr std::int64_t kFemtosecondsPerMicrosecond = 1'000'000'000;
}

FabricConfig read_fabric_config(base::config::Node node) {
    FabricConfig config;
    const base::config::Range latency{0, 100 * kFemtosecondsPerMicrosecond};
    // At least a nanosecond: the memory looks this far ahead.
    node.optional("request_latency", config.request_latency,
                  {kFemtosecondsPerMicrosecond / 1000, latency.most},
                  "time from an agent's port to the memory controller");
    node.optional("response_latency", config.response_latency, latency,
                  "time from the memory controller back to the agent's port");
    node.optional("read_blocks", config.read_blocks, {1, 65536},
                  "aligned blocks being read at a time, all agents together");
    node.optional("block", config.block, {64, 65536},
                  "aligned bytes whose reads count as one of read_blocks");
    node.done();
    return config;
}

}  // namespace tilesim::arch::fabric
