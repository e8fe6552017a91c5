// Numbers of a DRAM device and its controller: DDR5 and LPDDR5X are two files over this structure.
//
// Timing constraints are in cycles of the command clock (CK), as data sheets list them. Sources of
// the values: the comments in configs/devices/*.yaml.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "arch/base/units.hpp"

namespace tilesim::arch::base::config {
class Node;
}

namespace tilesim::arch::memory::device {

inline constexpr std::size_t kMaxBanks = 64;  // a channel: sets of banks are bit masks
// The largest constraint between two commands, in CK.
inline constexpr std::int64_t kLongestConstraint = 100'000;

struct DramTiming {
    base::Cycles burst{8};              // a burst's data on the bus (BL / beats per CK)
    base::Cycles activate_command{2};   // ACT on the command bus
    base::Cycles column_command{2};     // RD or WR on the command bus
    base::Cycles precharge_command{1};  // PRE or REF on the command bus
    base::Cycles read_latency{40};      // RL, CL
    base::Cycles write_latency{38};     // WL, CWL
    base::Cycles tRCD{40};              // ACT to RD or WR
    base::Cycles tRCD_WR{0};            // ACT to WR where that differs; 0: tRCD
    base::Cycles tRP{40};               // PRE to ACT
    base::Cycles tRPab{0};              // the same of all banks at once; 0: tRP
    base::Cycles tRAS{90};              // ACT to PRE
    base::Cycles tRC{130};              // ACT to ACT, same bank
    base::Cycles tRRD_S{8};             // ACT to ACT, other bank group
    base::Cycles tRRD_L{14};            // ACT to ACT, same bank group
    base::Cycles tFAW{32};              // window of four ACTs
    base::Cycles tCCD_S{8};             // column to column, other bank group
    base::Cycles tCCD_L{14};            // RD to RD, same bank group
    base::Cycles tCCD_L_WR{56};         // WR to WR, same bank group
    base::Cycles tRTP{21};              // RD to PRE
    base::Cycles tWR{84};               // end of write data to PRE
    base::Cycles tWTR_S{7};             // end of write data to RD, other bank group
    base::Cycles tWTR_L{28};            // end of write data to RD, same bank group
    base::Cycles tRTW{2};               // bus bubble between read and write data
    base::Cycles tPPD{1};               // PRE to PRE
    base::Cycles tRTRS{2};              // bus gap between data of two ranks
    base::Cycles tREFI{10920};          // refresh interval
    base::Cycles tRFC{826};             // REF of all banks to ACT
    base::Cycles tRFC_pb{0};            // of one bank, or of the same bank of every group
    base::Cycles tREFpb_to_REFpb{0};    // one of those to the next
    base::Cycles tREFpb_to_ACT{0};      // one of those to an ACT elsewhere

    base::Cycles all_banks_tRP() const { return tRPab.count() > 0 ? tRPab : tRP; }
};

enum class AddressField { Column, BankGroup, Bank, Channel, Row, Rank };
struct AddressBits {
    AddressField field = AddressField::Column;
    std::int64_t bits = 0;
};

struct ControllerConfig {
    std::int64_t read_queue = 64;  // bursts, per channel
    std::int64_t write_queue = 64;
    std::int64_t write_high = 48;      // start draining writes
    std::int64_t write_low = 16;       // stop, when reads wait
    std::int64_t starvation_cap = 64;  // row hits that may overtake an older request of their bank
    // Names of the tables in arch/memory/policy.
    std::string scheduler = "fr_fcfs";
    std::string page_policy = "open";
    std::string refresh_policy = "all_bank";
    base::Cycles page_timeout{500};  // an idle row closes after this, with the timeout policy
    std::int64_t page_cap = 4;       // column commands to a row, with the cap policy
    base::Cycles refresh_first{0};   // CK of every channel's first; 0: they share out an interval
    base::Cycles refresh_shift{0};   // CK by which all of them come later
    std::int64_t refresh_postpone = 0;  // rounds that requests may put off
    std::int64_t refresh_pull_in = 0;   // rounds an idle channel may do ahead
    bool refresh_after_writes = false;  // one that is due waits for the writes being served
};

// Of one device at `voltage`, as data sheets list them (IDD0 ...); 0: not given.
struct Currents {
    std::int64_t voltage = 0;  // microvolts
    // Microamperes.
    std::int64_t I0 = 0, I2N = 0, I3N = 0, I4R = 0, I4W = 0, I5B = 0, I5C = 0, I5pb = 0, I2P = 0,
                 I3P = 0, I6 = 0;

    bool given() const { return voltage > 0; }
};

struct PowerConfig {
    Currents core;                         // VDD
    Currents pump;                         // VPP, where there is one
    std::int64_t devices = 1;              // that make up a channel's rank
    std::int64_t standby_permille = 1000;  // of active standby common to all banks (rho)
};

// Row bits that a bank hash takes: one for each group and bank bit, or all in turn.
enum class HashedRows { Lowest, All };

struct MemoryConfig {
    base::Hertz clock{2'800'000'000};  // CK
    std::int64_t channels = 4;         // independent (sub-)channels
    std::int64_t ranks = 1;            // of a channel
    std::string bank_mode;             // of those the standard has; empty: it has one
    std::int64_t bank_groups = 8;      // of a rank
    std::int64_t banks_per_group = 4;
    std::int64_t rows = 65536;
    base::Bytes row{4096};  // per bank and channel
    base::Bytes burst{64};
    std::vector<AddressBits> mapping{{AddressField::BankGroup, 1}, {AddressField::Column, 1},
                                     {AddressField::Channel, 2},   {AddressField::BankGroup, 2},
                                     {AddressField::Column, 5},    {AddressField::Bank, 2},
                                     {AddressField::Row, 16}};
    bool bank_hash = true;  // XOR bank and group bits with row bits
    HashedRows bank_hash_rows = HashedRows::Lowest;
    bool channel_hash = false;  // XOR channel bits with the address bits above them
    bool refresh = true;
    bool split_command_bus = false;    // row and column commands have a bus each
    std::int64_t pseudo_channels = 1;  // neighbouring channels that share command buses
    DramTiming timing;
    ControllerConfig controller;
    PowerConfig power;
    std::vector<std::string> overruled;  // keys that do not count in this mode of the banks
    std::vector<std::string> of_mode;    // timing keys that do, without their path

    std::int64_t banks_per_rank() const { return bank_groups * banks_per_group; }
    std::int64_t banks() const { return ranks * banks_per_rank(); }  // of a channel
    std::uint64_t all_banks() const {                                // as a set
        return ~std::uint64_t{0} >> (kMaxBanks - static_cast<std::size_t>(banks()));
    }
    base::Bytes capacity() const { return row * (rows * banks() * channels); }
    // Bytes a second when every channel's data bus is busy.
    double peak_bytes_per_second() const;
};

// The keys of `memory` but for those of its controller: more may be read from the node.
MemoryConfig read_device(base::config::Node& node);

}  // namespace tilesim::arch::memory::device
