// Reads `memory` of a device file: the device, and the controller with its policies by name.
#pragma once

#include "arch/memory/device/memory_config.hpp"

namespace tilesim::arch::memory::controller {

device::MemoryConfig read_memory_config(base::config::Node node);

}  // namespace tilesim::arch::memory::controller
