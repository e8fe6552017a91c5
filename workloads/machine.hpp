// A kind of device: the sections its file has.
//
// Adding a machine is a folder under arch/, a folder here and a line in catalogue/catalogue.cpp.
#pragma once

#include <string_view>

#include "arch/base/config.hpp"
#include "workloads/device.hpp"

namespace tilesim::workloads {

class Machine {
  public:
    virtual ~Machine() = default;
    // The value of `kind` in a device file.
    virtual std::string_view kind() const = 0;
    // Reads its sections; `memory` is read for it.
    virtual void read(arch::base::config::Node& root, Device& device) const = 0;
    // Whether the device's file is the memory's own; else it names one under `memory`.
    virtual bool is_memory() const { return false; }
};

}  // namespace tilesim::workloads
