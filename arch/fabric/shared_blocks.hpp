// What the memory's side of the way all agents share moves, in one direction: whole aligned blocks,
// one after the other in order of arrival, each in an interval.
//
// Models:  a block that is needed in part takes its interval like a whole one, while the link
//          before it carries the part alone. Requests that may be joined (AXI: modifiable) share
//          the block at which one ends and the other begins, while the first still waits.
// Ignores: requests of which not both may be joined; blocks wanted by several agents in whole.
// Source:  see the device file.
#pragma once

#include <algorithm>
#include <cstdint>

#include "arch/base/ring.hpp"
#include "arch/base/units.hpp"
#include "arch/fabric/fabric_config.hpp"

namespace tilesim::arch::fabric {

class SharedBlocks {
  public:
    explicit SharedBlocks(const FabricConfig& config)
        : block_(config.block.count()), interval_(config.block_interval) {}

    // Takes the blocks of a request that is there at `from`; returns when its first one goes.
    base::Femtoseconds take(std::int64_t address, std::int64_t bytes, bool joins,
                            base::Femtoseconds from) {
        has_taken_ = true;
        const base::Femtoseconds goes = std::max(from, free_);
        const std::int64_t end = address + bytes;
        std::int64_t blocks = (end - 1) / block_ - address / block_ + 1;
        if (joins && interval_.count() > 0) {
            while (!ends_.empty() && ends_.front().goes <= from) {
                ends_.pop_front();
            }
            const bool begins_joined = joined({address, goes, true});
            const bool ends_joined = joined({end, goes, false});
            const bool same_block = blocks == 1 && begins_joined;
            blocks -= (begins_joined ? 1 : 0) + (ends_joined && !same_block ? 1 : 0);
        }
        free_ = goes + interval_ * blocks;
        busy_ += interval_ * blocks;
        return goes;
    }
    // The time all requests so far have taken.
    base::Femtoseconds busy() const { return busy_; }
    bool has_mattered() const { return has_taken_ && interval_.count() > 0; }

  private:
    // Where a request of those that may be joined begins or ends within a block.
    struct End {
        std::int64_t address = 0;
        base::Femtoseconds goes{0};
        bool begins = false;
    };

    // Whether a request that still waits ends where this one begins, or begins where it ends; one
    // that has none beside it is noted, so that each end has one neighbour.
    bool joined(const End& end) {
        if (end.address % block_ == 0) {
            return false;
        }
        const auto neighbour = std::ranges::find_if(ends_, [&end](const End& other) {
            return other.address == end.address && other.begins != end.begins;
        });
        if (neighbour == ends_.end()) {
            base::append(ends_) = end;
            return false;
        }
        ends_.erase(neighbour);
        return true;
    }

    std::int64_t block_;
    base::Femtoseconds interval_;
    base::Femtoseconds free_{0};
    base::Femtoseconds busy_{0};
    base::Ring<End> ends_;    // of requests that wait, in order
    bool has_taken_ = false;  // by any request
};

}  // namespace tilesim::arch::fabric
