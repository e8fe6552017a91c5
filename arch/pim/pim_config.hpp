// Numbers of the processing unit at every bank and of the system around it.
//
// Sources of the values: the comments in configs/devices/*.yaml. All cycles are CK of the memory.
#pragma once

#include <cstdint>

#include "arch/base/units.hpp"

namespace tilesim::arch::base::config {
class Node;
}

namespace tilesim::arch::pim {

// Writes to the mode registers, which lie in a reserved row: one visit opens the row, writes and
// closes it. A parking visit opens and closes all banks without a write, so that they agree.
struct ModeConfig {
    std::int64_t parking_visits = 1;  // before entering, and again after leaving
    std::int64_t enter_writes = 4;    // normal to all-bank mode
    std::int64_t on_writes = 1;       // all-bank to all-bank-PIM mode
    std::int64_t off_writes = 1;
    std::int64_t leave_writes = 2;
};

struct PimConfig {
    std::int64_t registers = 16;       // of each bank's ALU, inputs and outputs together
    std::int64_t register_bits = 256;  // also the width of the ALU and of a column access
    base::Bytes interleave{256};       // contiguous bytes of a bank before the next channel or bank
    base::Bytes page{262'144};         // contiguous physical memory the placement may count on
    base::Cycles command_interval{4};  // all-bank column, register and ALU commands
    base::Cycles mac_to_precharge{4};  // last MAC of a row to its close
    base::Cycles precharge_all{20};    // PREab to ACT (tRPab)
    base::Cycles drain{8};             // of the ALU, before the data bus may turn
    bool bus_turnaround = true;        // a MAC holds the data bus as a read does
    bool overlap_row_switch = false;   // rows may close and open while the bus turns
    bool reduction_tree = false;       // lanes of one output are summed as they are computed
    std::int64_t fold_commands = 8;    // per halving of the lanes of an output register
    std::int64_t scale_commands = 6;   // per scale block and output register
    ModeConfig modes;
};

// What the system on chip does with the same product.
struct SocConfig {
    base::OperationsPerSecond compute{33'200'000'000'000};
    base::BytesPerSecond bandwidth{120'000'000'000};
};

PimConfig read_pim_config(base::config::Node node);
SocConfig read_soc_config(base::config::Node node);

}  // namespace tilesim::arch::pim
