// A block of the modelled hardware, as hierarchies list it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arch/base/stats.hpp"

namespace tilesim::arch::base {

struct Block {
    std::string path;  // "npu.tile(2,3).mm2s0": as in statistics, traces and errors
    std::string kind;  // "DMA channel"
    const stats::Group* statistics = nullptr;  // where it has some
};

// Every group below `root` that `known` does not list.
void add_groups(const stats::Group& root, std::vector<Block>& known);

}  // namespace tilesim::arch::base
