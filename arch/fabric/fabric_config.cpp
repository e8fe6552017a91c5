#include "arch/fabric/fabric_config.hpp"

#include <fmt/format.h>

#include <bit>

#include "arch/base/config.hpp"

namespace tilesim::arch::fabric {

namespace {
constexpr std::int64_t kFemtosecondsPerMicrosecond = 1'000'000'000;
constexpr std::int64_t kMega = 1'000'000;
}  // namespace

FabricConfig read_fabric_config(base::config::Node node) {
    FabricConfig config;
    const base::config::Range latency{0, 100 * kFemtosecondsPerMicrosecond};
    // At least a nanosecond: the memory looks this far ahead.
    node.optional("request_latency", config.request_latency,
                  {kFemtosecondsPerMicrosecond / 1000, latency.most},
                  "time from an agent's port to the memory controller");
    node.optional(
        "response_latency", config.response_latency, latency,
        "time from the memory controller back to the agent's port; writes do not wait for it");
    node.optional("request_interval", config.request_interval, latency,
                  "which an agent's port takes for each chop of a request, each direction");
    node.optional("chop", config.chop, {16, 65536},
                  "aligned bytes into which a port chops its requests, a power of two");
    node.optional("link_width", config.link_width, {1, 1024},
                  "of the way to memory all agents share, each direction");
    node.optional("link_clock", config.link_clock, {kMega, 10'000 * kMega}, "of that way");
    node.optional("line", config.line, {4, 65536},
                  "aligned bytes of which a request takes whole ones there");
    node.optional("block", config.block, {16, 65536},
                  "aligned bytes of which a request takes whole ones behind that way");
    node.optional("block_interval", config.block_interval, latency,
                  "which each of them takes there, each direction");
    node.optional("page", config.page, {256, 1 << 30}, "unit of address translation");
    node.optional("known_pages", config.known_pages, {1, 1 << 20},
                  "places for translations, all agents together");
    node.optional("page_walk", config.page_walk, latency,
                  "the walker is busy with a page whose translation is not at hand");
    if (config.line.count() % config.link_width.count() != 0) {
        node.error("line", fmt::format("must be a multiple of link_width, {} B/cycle, got {} B",
                                       config.link_width.count(), config.line.count()));
    }
    if (!std::has_single_bit(static_cast<std::uint64_t>(config.chop.count()))) {
        node.error("chop", fmt::format("must be a power of two, got {} B", config.chop.count()));
    }
    node.done();
    return config;
}

}  // namespace tilesim::arch::fabric
