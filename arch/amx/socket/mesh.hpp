// What keeps lines waiting between the cores and the slices of the L3: the links of the mesh and
// the slices' data ports.
//
// A line lies in the slice its address hashes to. Each stop of the mesh has a slice, and the cores
// stand evenly over the stops: one at each where there are as many. Stops stand in rows of
// `columns`. A line goes along its column first, then along its row, and takes `64 B / link_width`
// of each link it passes, one at a time, and of the slice that gives or takes it. How long the way
// is without others stands in the uncore's `lookup` and `answer`: the mesh adds what lines wait for
// each other.
//
// Ignores: requests and snoops, which have rings of their own; lines between DRAM and cores, which
//          fill links by less than a fifth; that a line no ring has room for goes round again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "arch/amx/amx_config.hpp"
#include "arch/amx/caches/cache.hpp"
#include "arch/amx/socket/lane.hpp"
#include "arch/base/clock.hpp"

namespace tilesim::arch::amx::socket {

class Mesh {
  public:
    Mesh(const UncoreConfig& config, std::int64_t cores);

    std::size_t slice_of(caches::Line line) const;
    std::size_t stop_of(std::size_t core) const;
    // The slice gives or takes a line at `now`: when it can.
    base::Femtoseconds serve(std::size_t slice, base::Femtoseconds now);
    // A line is ready at `at` to go from one stop to another: when it could, had the way no length.
    base::Femtoseconds carry(std::size_t from, std::size_t to, base::Femtoseconds at,
                             base::Femtoseconds now);

  private:
    enum Direction : std::size_t { Up, Down, Left, Right, kDirections };

    std::int64_t slot_at(base::Femtoseconds time) const { return time.count() / slot_.count(); }
    base::Femtoseconds later(base::Femtoseconds time, std::int64_t slots) const {
        return time + base::Femtoseconds{slots * slot_.count()};
    }
    std::int64_t pass(std::size_t& stop, Direction direction, std::int64_t slot, std::int64_t now);

    base::Femtoseconds slot_;  // a line on a link
    std::size_t columns_;
    std::size_t cores_;
    std::vector<Lane> slices_;
    std::vector<Lane> links_;  // of each stop, by direction
};

}  // namespace tilesim::arch::amx::socket
