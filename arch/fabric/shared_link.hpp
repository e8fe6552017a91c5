// The way to memory that all agents share, in one direction: requests take whole aligned lines of
// it, one after the other in order of arrival.
//
// Models:  a width and a clock; the part of a line a request does not need is carried all the same.
// Ignores: lines of neighbouring requests that are the same; arbitration other than by arrival.
// Source:  see the device file.
#pragma once

#include <algorithm>
#include <cstdint>

#include "arch/base/clock.hpp"
#include "arch/base/units.hpp"
#include "arch/fabric/fabric_config.hpp"

namespace tilesim::arch::fabric {

class SharedLink {
  public:
    explicit SharedLink(const FabricConfig& config)
        : clock_(config.link_clock),
          line_(config.line.count()),
          line_cycles_(base::transfer_time(config.line, config.link_width)) {}

    // Takes the lines of a request that is there at `from`; returns when its first one goes.
    base::Femtoseconds take(std::int64_t address, std::int64_t bytes, base::Femtoseconds from) {
        const std::int64_t lines = (address + bytes - 1) / line_ - address / line_ + 1;
        const bool waits = from < free_at_;
        const base::Cycles start = waits ? free_ : clock_.first_cycle_from(from);
        const base::Femtoseconds goes = waits ? free_at_ : clock_.time_of(start);
        free_ = start + line_cycles_ * lines;
        busy_ += line_cycles_ * lines;
        free_at_ = clock_.time_of(free_);
        near_ = near_ || from < twice_;
        twice_ = std::max(twice_, goes) + 2 * (free_at_ - goes);
        ends_ |= address | (address + bytes);
        return goes;
    }
    // The time all requests so far have taken of it.
    base::Femtoseconds busy() const { return clock_.time_of(busy_); }
    bool is_used() const { return free_at_.count() > 0; }
    // Any request has waited for another, or would have had those before it taken twice as long.
    bool near() const { return near_; }
    // Whether all requests have been of whole lines, and would be were these twice as long.
    bool whole_lines() const { return ends_ % (2 * line_) == 0; }

  private:
    base::Clock clock_;
    std::int64_t line_;
    base::Cycles line_cycles_;
    base::Cycles free_{0};
    base::Cycles busy_{0};
    base::Femtoseconds free_at_{0};
    base::Femtoseconds twice_{0};  // when all would have left a link half as fast
    bool near_ = false;
    std::int64_t ends_ = 0;  // the bits that any end of a request has
};

}  // namespace tilesim::arch::fabric
