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

#include "arch/memory/device/memory_config.hpp"

namespace tilesim::arch::memory::device {

// Picojoules of a command in one device, milliwatts of its standby.
struct CommandEnergy {
    double activate = 0, precharge = 0, read = 0, write = 0;
    double refresh = 0;       // of all banks
    double refresh_some = 0;  // of a bank, a pair, or the same bank of every group
    double closed_mw = 0;     // every row closed
    double open_mw = 0;       // beyond what each open bank takes
    double each_bank_mw = 0;

    CommandEnergy& operator+=(const CommandEnergy& other);
};
CommandEnergy energy_of(const Currents& currents, const MemoryConfig& config);

// What the banks have done, whoever drove them.
struct CommandCounts {
    double activates = 0, reads = 0, writes = 0, refreshes = 0;
    double row_open = 0;      // CK, summed over the banks
    double any_row_open = 0;  // CK, summed over the channels
    double cycles = 0;        // CK of the run
};

// The key of the current that refreshes of some banks take, under the memory's policy.
const char* partial_refresh_current(const MemoryConfig& config);
// The key of the current without which the refreshes' energy is not known; nothing where it is.
std::optional<std::string> missing_refresh_current(const MemoryConfig& config);

// Nanojoules of a whole memory by what took them: activate, precharge, read, write, refresh (where
// it is known), background.
using EnergyTable = std::vector<std::pair<std::string, double>>;
// Nothing where the device file gives no currents.
std::optional<EnergyTable> energy_of(const MemoryConfig& config, const CommandCounts& counts);

}  // namespace tilesim::arch::memory::device
