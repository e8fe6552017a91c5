// What the memory's side of the way all agents share moves, in one direction: whole aligned blocks,
// one after the other in order of arrival, each in an interval.
//
// Models:  a block that is needed in part takes its interval like a whole one, while the link
//          before it carries the part alone.
// Ignores: requests of neighbouring agents for parts of the same block.
// Source:  see the device file.
#pragma once

#include <algorithm>
#include <cstdint>

#include "arch/base/units.hpp"
#include "arch/fabric/fabric_config.hpp"

namespace tilesim::arch::fabric {

class SharedBlocks {
  public:
    explicit SharedBlocks(const FabricConfig& config)
        : block_(config.block.count()), interval_(config.block_interval) {}

    // Takes the blocks of a request that is there at `from`; returns when its first one goes.
    base::Femtoseconds take(std::int64_t address, std::int64_t bytes, base::Femtoseconds from) {
        const std::int64_t blocks = (address + bytes - 1) / block_ - address / block_ + 1;
        const base::Femtoseconds goes = std::max(from, free_);
        has_taken_ = true;
        free_ = goes + interval_ * blocks;
        return goes;
    }
    bool has_mattered() const { return has_taken_ && interval_.count() > 0; }

  private:
    std::int64_t block_;
    base::Femtoseconds interval_;
    base::Femtoseconds free_{0};
    bool has_taken_ = false;  // by any request
};

}  // namespace tilesim::arch::fabric
