// Numbers of the fabric between the array's shim tiles and the memory controllers.
#pragma once

#include <cstdint>

#include "arch/base/units.hpp"

namespace tilesim::arch::base::config {
class Node;
}

namespace tilesim::arch::fabric {

struct FabricConfig {
    base::Femtoseconds request_latency{100'000'000};   // agent to memory controller
    base::Femtoseconds response_latency{100'000'000};  // memory controller to agent
    base::Femtoseconds request_interval{0};            // of a port, for each chop of a request
    base::Bytes chop{256};               // aligned, a power of two; a port sends requests in these
    base::BytesPerCycle link_width{32};  // of all agents together, each direction
    base::Hertz link_clock{2'000'000'000};
    base::Bytes line{64};                  // aligned; a request takes whole ones of the link
    base::Bytes block{64};                 // aligned; behind the link, a request takes whole ones
    base::Femtoseconds block_interval{0};  // each
    base::Bytes page{4096};                // of address translation
    std::int64_t known_pages = 512;        // whose translation is at hand
    base::Femtoseconds page_walk{0};       // the walker is busy with a page that is not
};

FabricConfig read_fabric_config(base::config::Node node);

}  // namespace tilesim::arch::fabric
