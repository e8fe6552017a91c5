// When cores that meet at a barrier go on.
//
// Models:  a count in a line of its own (`validation/amx` has the code): each core that comes adds
//          to it with a locked increment, for which the line comes over from the core that has it.
//          The last goes on with that, the others when it has come to them once more.
// Ignores: reads of those that wait already, which take the line away between two increments, and
//          the cycles of an increment in the core's own L1.
#pragma once

#include <vector>

#include "arch/base/units.hpp"

namespace tilesim::arch::amx::socket {

// `arrivals`: of each core; the same order in what is returned. `transfer`: a line from one core to
// another. A core alone goes on at once.
std::vector<base::Femtoseconds> barrier_ends(const std::vector<base::Femtoseconds>& arrivals,
                                             base::Femtoseconds transfer);

}  // namespace tilesim::arch::amx::socket
