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
    std::int64_t read_blocks = 64;                     // being read at a time, all agents together
    base::Bytes block{256};                            // aligned; reads of one block share an entry
};

FabricConfig read_fabric_config(base::config::Node node);

}  // namespace tilesim::arch::fabric
