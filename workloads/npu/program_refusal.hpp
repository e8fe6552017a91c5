// A dataflow's program that cannot run on its device: which key of the scenario is at fault.
#pragma once

#include "arch/base/config.hpp"
#include "workloads/device.hpp"

namespace tilesim::workloads::npu {

// What `check::prepare` says of a program nobody wrote, told of the mapping it was made of, or of
// the device's limits that were changed for this run, instead of its parts: a line for each key.
arch::base::config::ConfigError refusal_of_mapping(const arch::base::config::ConfigError& error,
                                                   const Device& device);

}  // namespace tilesim::workloads::npu
