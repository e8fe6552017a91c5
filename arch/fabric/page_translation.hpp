// The addresses of the agents' pages: a table of translations that all agents share, and a walker
// that fetches those which are not in it, one after the other.
//
// Models:  a page has four places in the table, a set found by hashing its number, of which it
//          takes the one not asked for longest; the walker is busy for a fixed time with each page
//          that is in none, whoever comes first being served first, reads that have yet to wait
//          for the link behind writes that need not; requests of a page under way wait with the
//          one that asked for it.
// Ignores: the levels of the page table; how many walks are under way at a time (their rate alone
//          is modelled).
// Source:  AMD IOMMU specification 48882 (page walks, translation caches); the walk's time is
//          calibrated, see the device file.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/base/units.hpp"
#include "arch/fabric/fabric_config.hpp"

namespace tilesim::arch::fabric {

class PageTranslation {
  public:
    explicit PageTranslation(const FabricConfig& config);

    // When a request of this address that is there at `from` knows where to go. From `now` on:
    // none will be there earlier.
    base::Femtoseconds known(std::int64_t address, base::Femtoseconds from,
                             base::Femtoseconds now) {
        return walk_.count() == 0 ? from : look_up(address / page_, from, now);
    }
    bool has_walked_again() const { return walked_again_; }  // for a page another has displaced
    bool has_walked() const { return walking_.count() > 0; }
    // The time all walks so far take.
    base::Femtoseconds walking() const { return walking_; }

  private:
    struct Place {
        std::int64_t page = -1;
        base::Femtoseconds ready{0};
    };
    // Of the walker, with no room for a walk within.
    struct Busy {
        base::Femtoseconds begin{0};
        base::Femtoseconds end{0};
    };
    base::Femtoseconds look_up(std::int64_t page, base::Femtoseconds from, base::Femtoseconds now);
    // The end of a walk in the first room for it.
    base::Femtoseconds walk(base::Femtoseconds from, base::Femtoseconds now);

    std::int64_t page_;
    base::Femtoseconds walk_;
    std::vector<Place> places_;
    std::vector<Busy> busy_;  // in order of time, from the present on
    base::Femtoseconds walking_{0};
    bool walked_again_ = false;
};

}  // namespace tilesim::arch::fabric
