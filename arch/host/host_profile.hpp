// Named machines: what one launch on an array costs there, the clocks its driver chose, how fast
// its firmware is and its way to memory.
//
// A profile is what a published measurement says of the machine it was made on. `default` changes
// nothing: the numbers of the device file stand. So do those that a run sets by their own keys.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "arch/base/units.hpp"

namespace tilesim::arch::host {

struct HostProfile {
    std::string_view name;
    base::Femtoseconds dispatch{0};     // of a launch, seen from the host; 0: the device file's
    base::Hertz array_clock{0};         // 0: not known, the device's
    base::Hertz processor_clock{0};     // of the command processor; 0: the device's
    base::Cycles descriptor_cycles{0};  // of that clock, to write a descriptor; 0: the device's
    base::Hertz link_clock{0};          // of the fabric's link to memory; 0: the device's
    bool modifiable = false;  // its compiler lets the NoC join shims' requests; false: the device's
};

const std::vector<HostProfile>& host_profiles();
// Names and places in the table, as configuration reads them.
std::vector<std::pair<std::string_view, std::size_t>> host_profile_names();

}  // namespace tilesim::arch::host
