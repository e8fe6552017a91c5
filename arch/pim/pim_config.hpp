// Numbers of the processing units at the banks and of the system around them, and the alternatives
// of what a product in the banks costs.
//
// Sources of the values: the comments in configs/devices/*.yaml. All cycles are CK of the memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "arch/base/units.hpp"
#include "arch/memory/device/memory_config.hpp"

namespace tilesim::arch::base::config {
class Node;
}

namespace tilesim::arch::pim {

// One step of changing between modes, done by ordinary commands.
struct ModeStep {
    enum class Kind {
        Park,   // opens and closes all banks, so that they agree
        Visit,  // opens the mode registers' row, `count` writes, closes it
        Write,  // `count` writes to that row, which stays open
        Read,   // a read of each of `count` banks, one after the other
        Wait    // `count` CK
    } kind = Kind::Visit;
    std::int64_t count = 0;
    bool operator==(const ModeStep&) const = default;
};
using ModeSteps = std::vector<ModeStep>;
std::string to_text(const ModeStep& step);

struct ModeConfig {
    // Around what the banks enter and leave the all-bank mode. Layer: once for all matrices of a
    // model's layer; a matrix alone is its own layer.
    enum class Around { Nothing, Kernel, Layer } around = Around::Nothing;
    ModeSteps enter;
    ModeSteps leave;
    ModeSteps on;  // before each pass over row blocks, and after it
    ModeSteps off;
};

// How partial sums that lie in several lanes of a register become one.
enum class Fold {
    SingleLane,  // shifts by one lane
    Log2,        // one shift for each halving
    Host         // not in the banks: all lanes are results
};
// How results leave the registers.
enum class Spill {
    Stream,  // array writes within the stream, to the row that is open
    Row,     // the same, to words that lie behind the weights of their pass
    Visit,   // a row of their own is opened for the writes and closed
    Read,    // the host reads the registers, so many bits of every bank at a time
};
// Who adds the parts of a split K.
enum class SplitReduction {
    Uncharged,
    Soc,        // the system on chip reads every part
    Overlapped  // it does so while the next product runs
};
// What applying scale factors costs.
enum class ScaleLaw {
    Word,     // commands for every block of a row and word of rows
    Register  // commands for every block and output register
};

// When a program is over.
enum class ProgramEnd {
    RowsClosed,   // the banks are as they were before
    LastCommand,  // has taken its slot
    NextKernel    // the same, and the first row is opened over the one the last kernel left open
};

struct PimConfig {
    std::int64_t registers = 16;         // of each unit, inputs and outputs together
    std::int64_t output_registers = 0;   // a file of their own; 0: they share `registers`
    std::int64_t sums = 0;               // a unit holds; 0: as many as its output registers
    std::int64_t register_bits = 256;    // also the width of a unit and of a column access
    std::int64_t banks_per_unit = 1;     // that take turns
    std::int64_t alus = 1;               // of a unit: vectors that share a pass over the weights
    base::Bytes interleave{256};         // contiguous bytes of a bank before the next
    base::Bytes page{262'144};           // contiguous physical memory the placement may count on
    base::Cycles command_interval{4};    // all-bank register, ALU and array commands
    base::Cycles mac_interval{0};        // between MACs; 0: command_interval
    base::Cycles activate_to_mac{0};     // 0: tRCD
    base::Cycles mac_to_precharge{4};    // last MAC of a row to its close
    base::Cycles precharge_all{0};       // PREab to ACT; 0: tRPab
    base::Cycles write_to_precharge{0};  // array write to PREab; 0: WL + burst + tWR
    base::Cycles mac_to_write{0};        // turn of the bus; 0: RL + burst + tRTW - WL
    base::Cycles write_to_mac{0};        // and back; 0: WL + burst + tWTR_L
    base::Cycles drain{0};               // of the ALU, before the data bus may turn
    base::Femtoseconds host_turn{0};     // the host's, from writing inputs to streaming MACs
    base::Cycles mode_change{0};         // between bank and register commands
    base::Cycles barrier{0};             // a barrier of the host, beyond the data's arrival
    base::Cycles result_latency{0};      // of the host's reads; 0: RL + burst
    base::Cycles completion{0};          // end of a program to the host knowing
    bool activates_at_once = true;       // of all banks; else one by one
    bool bus_turnaround = true;          // a MAC holds the data bus as a read does
    bool overlap_row_switch = false;     // rows may close and open while the bus turns
    bool early_close = false;            // banks that wait for their turn close their row meanwhile
    ProgramEnd program_end = ProgramEnd::RowsClosed;
    bool reduction_tree = false;        // lanes of one output are summed as they are computed
    bool tree_frees_registers = false;  // and the placement counts on it
    Fold fold = Fold::SingleLane;
    std::int64_t fold_every = 0;        // elements of K; 0: once a row block
    bool fold_overlaps_turn = false;    // folds go while the bus turns
    bool unreduced_sums = true;         // registers held are those of all lanes
    std::int64_t accumulator_load = 2;  // commands per switch of row blocks and batch of inputs
    Spill spill = Spill::Stream;
    bool spill_packed = false;      // sums of several row blocks share a register first
    std::int64_t result_bits = 16;  // of every bank, that a read of results brings
    SplitReduction split_reduction = SplitReduction::Uncharged;
    ScaleLaw scale_law = ScaleLaw::Word;
    std::int64_t scale_commands = 6;  // per scale block
    std::int64_t scale_sets = 2;      // sets of accumulators where there are scale factors
    ModeConfig modes;

    std::int64_t all_registers() const { return registers + output_registers; }
    bool ends_at_last_command() const { return program_end != ProgramEnd::RowsClosed; }
    base::Cycles mac_slot() const {
        return mac_interval > base::Cycles{0} ? mac_interval : command_interval;
    }
};

// The numbers that are the memory's unless the unit has its own, in CK.
struct BankTiming {
    BankTiming(const memory::device::DramTiming& dram, const PimConfig& pim);
    // How much later the last of `count` ACTs goes than the first, where single banks' rules hold.
    static std::int64_t last_of_activates(const memory::device::DramTiming& dram,
                                          std::int64_t count);
    base::Cycles activate_to_mac, activate_to_write, precharge_all, write_to_precharge,
        mac_to_write, write_to_mac;
};

// What the system on chip does with the same product.
struct SocConfig {
    base::OperationsPerSecond compute{33'200'000'000'000};
    base::BytesPerSecond bandwidth{120'000'000'000};

    // A multiply-accumulate is two operations; they and the transfers go on beside each other.
    double roofline_ns(double macs, double bytes) const {
        return std::max(compute_ns(macs), transfer_ns(bytes));
    }
    double compute_ns(double macs) const {
        return 2 * macs / static_cast<double>(compute.count()) * base::kNanosecondsPerSecond;
    }
    double transfer_ns(double bytes) const {
        return bytes / static_cast<double>(bandwidth.count()) * base::kNanosecondsPerSecond;
    }
};

PimConfig read_pim_config(base::config::Node node);
SocConfig read_soc_config(base::config::Node node);

}  // namespace tilesim::arch::pim
