// A part that serves one after the other: when it was first asked for, and how long it has been
// busy since.
#pragma once

namespace tilesim::arch::base {

template <class Time>
struct Occupancy {
    Time from{};
    Time busy{};

    // When it could have done all, were nothing else in its way.
    Time end() const { return from + busy; }
};

}  // namespace tilesim::arch::base
