// Energy of DRAM commands and of what lies between them, from the currents of a data sheet.
//
// Models:  per supply: ACT, PRE, RD, WR and REF above the standby that goes on meanwhile; standby
//          by the number of open banks. The method is that of DRAMPower (Jung, Wehn and others,
//          RPTU).
// Ignores: input and output drivers; power-down.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arch/memory/device/command_timing.hpp"
#include "arch/memory/device/memory_config.hpp"

namespace tilesim::arch::memory::device {

// How a memory is refreshed, by its policy (policy/refresh_policies.hpp).
struct Refreshes {
    Command command = Command::Refresh;
    std::int64_t banks = 0;  // that one of them refreshes together
};

// Picojoules of a command in one device, milliwatts of its standby.
struct CommandEnergy {
    double activate = 0, precharge = 0, read = 0, write = 0;
    double refresh = 0;
    double closed_mw = 0;  // every row closed
    double open_mw = 0;    // beyond what each open bank takes
    double each_bank_mw = 0;

    CommandEnergy& operator+=(const CommandEnergy& other);
};
CommandEnergy energy_of(const Currents& currents, const MemoryConfig& config,
                        const Refreshes& refreshes = {});

// What the banks have done, whoever drove them.
struct CommandCounts {
    double activates = 0, reads = 0, writes = 0, refreshes = 0;
    double row_open = 0;      // CK, summed over the banks
    double any_row_open = 0;  // CK, summed over the ranks
    double cycles = 0;        // CK of the run
};

// The key of the current that such refreshes take.
const char* refresh_current(Command refresh);
// The same where the refreshes' energy is not known for want of it; nothing where it is.
std::optional<std::string> missing_refresh_current(const MemoryConfig& config, Command refresh);

// Nanojoules of a whole memory by what took them: activate, precharge, read, write, refresh (where
// it is known), background.
using EnergyTable = std::vector<std::pair<std::string, double>>;
// Nothing where the device file gives no currents.
std::optional<EnergyTable> energy_of(const MemoryConfig& config, const Refreshes& refreshes,
                                     const CommandCounts& counts);

}  // namespace tilesim::arch::memory::device
