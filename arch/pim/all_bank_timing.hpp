// The timing state of a channel whose banks are driven together: mostly in lock-step, one row and
// one state machine for all; where banks take turns or one works alone, a state machine each.
//
// Models:  PREab, ACT, MAC, broadcast register writes, array writes, register reads and ALU
//          commands: tRCD, tRAS, tRPab, tWR, the command intervals, both turnarounds of the data
//          bus, the drain of the ALU, the change between bank and register commands; tRRD and tFAW
//          where banks are opened one by one (all of them with `activates_at_once: off`).
// Ignores: the power of all banks opened at once.
// `earliest` asks and changes nothing; `issue` does, and doing what `earliest` forbids is a bug.
// Source:  JESD209-5B for the constraints; HBM-PIM (PIMSimulator), AiM (aim_simulator) for the
// commands.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "arch/base/clock.hpp"
#include "arch/memory/device/memory_config.hpp"
#include "arch/pim/bank_set.hpp"
#include "arch/pim/pim_config.hpp"

namespace tilesim::arch::pim {

enum class AllBankCommand {
    Activate,
    Precharge,
    Mac,
    RegisterWrite,
    RegisterRead,
    ArrayRead,
    ArrayWrite,
    Alu,   // on sums that have to have arrived
    Move,  // between registers, behind the MACs in their pipeline
};
const char* name_of(AllBankCommand command);

class AllBankTiming {
  public:
    // `lanes`: state machines: 1 where every command goes to all banks, 2 where even and odd ones
    // take turns, or one for each bank.
    AllBankTiming(const memory::device::MemoryConfig& memory, const PimConfig& pim,
                  std::size_t lanes = 1);

    // The row open in these banks; kNoRow when closed, kSeveral where they differ.
    static constexpr std::int64_t kSeveral = -2;
    std::int64_t open_row(BankSet banks = {}) const;
    bool any_open() const;
    // CK that rows have been open, up to the last that closed: summed over the banks, and that any
    // of a rank has, summed over the ranks, all of which commands go to.
    std::int64_t row_open() const { return row_open_ * banks_ / std::ssize(lanes_); }
    std::int64_t any_row_open() const { return any_row_open_ * ranks_; }
    // The first CK at which the command may go, row state aside.
    std::int64_t earliest(AllBankCommand command, BankSet banks = {}) const;
    // From a precharge to the next activate.
    base::Cycles precharge_all() const { return times_.precharge_all; }
    // The first CK at which the command bus is free.
    std::int64_t command_bus_free() const { return command_; }
    // The first CK at which it has been changed between bank and register commands for this one.
    std::int64_t changed(AllBankCommand command) const;
    // Whether `earliest` is that late because of the ACT before, however long ago: tRAS or tRC.
    bool waits_for_activate(AllBankCommand command, BankSet banks = {}) const;
    void issue(AllBankCommand command, std::int64_t row, std::int64_t now, BankSet banks = {});
    // Closes the row of these banks as soon as it may, if that is before CK `before` at which
    // others go on; returns when.
    std::optional<std::int64_t> close_early(BankSet banks, std::int64_t before);
    // All banks are quiet from `now` on: a guest's turn begins.
    void begin(std::int64_t now);
    // When the data bus will have turned for the next MAC, without which no row is switched.
    std::int64_t turned() const { return mac_; }
    // When it will have turned for the next write.
    std::int64_t turned_for_write() const { return write_; }
    // CK by which everything issued so far has left or reached its registers or the bus.
    std::int64_t data_end() const { return data_end_; }
    // The next MAC waits for the host as well, who has been writing inputs until `now`.
    void host_turns(std::int64_t now);
    // ACTs of single banks one after the other: the last of `count` goes so much later.
    std::int64_t one_by_one(std::int64_t count) const;
    void delay(std::int64_t until);  // no command before

  private:
    struct Lane {
        std::int64_t row = -1;
        std::int64_t activated = INT64_MIN / 2;
        std::int64_t activate = 0;
        std::int64_t column = 0;  // MAC or read of the open row
        std::int64_t write = 0;   // write to it
        std::int64_t precharge = 0;
    };
    std::int64_t latest(BankSet banks, std::int64_t Lane::*of) const;
    void row_opens(Lane& lane, std::int64_t row, std::int64_t now);
    void row_closes(Lane& lane, std::int64_t now);
    void activate(BankSet banks, std::int64_t row, std::int64_t now);
    std::int64_t spread_of_activates(BankSet banks) const;
    std::int64_t slot(base::Cycles interval) const;
    std::int64_t row_command(BankSet banks, std::int64_t Lane::*of) const;
    void turn(AllBankCommand command, std::int64_t now);
    void after_read(std::int64_t now);
    void after_write(std::int64_t now);

    memory::device::DramTiming dram_;
    std::size_t banks_per_group_;
    std::int64_t banks_;  // of a channel
    std::int64_t ranks_;
    std::int64_t bus_turn_;  // CK in which each pseudo-channel on the command bus has its command
    PimConfig pim_;
    BankTiming times_;
    std::int64_t host_turn_ = 0;  // CK
    std::vector<Lane> lanes_;
    std::int64_t command_ = 0;   // earliest CK of any command
    std::int64_t last_ = 0;      // CK of the latest
    bool of_registers_ = false;  // what the latest was about
    std::int64_t mac_ = 0;       // bus direction: towards the controller
    std::int64_t write_ = 0;     // bus direction: towards the banks
    std::int64_t alu_ = 0;       // the sums of the MACs are in the registers
    std::int64_t data_end_ = 0;
    std::array<std::int64_t, 4> activates_{};  // of single banks
    std::size_t oldest_ = 0;
    std::int64_t last_group_ = -1;
    // CK less those at which the rows open now have opened: summed over the lanes, and of any.
    std::int64_t row_open_ = 0;
    std::int64_t any_row_open_ = 0;
};

}  // namespace tilesim::arch::pim
