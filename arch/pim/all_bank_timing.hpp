// The timing state of a channel whose banks move in lock-step: one row, one bank state machine.
//
// Models:  PREab, ACT of all banks, MAC, broadcast register writes, array writes and ALU commands:
//          tRCD, tRAS, tRPab, tWR, the command interval, both turnarounds of the data bus and the
//          drain of the ALU.
// Ignores: tRRD and tFAW, which all-bank activation breaks by design; the power that costs.
// `earliest` asks and changes nothing; `issue` does, and doing what `earliest` forbids is a bug.
// Source:  JESD209-5B for the constraints; HBM-PIM (PIMSimulator), AiM (aim_simulator) for the
// commands.
#pragma once

#include <cstdint>

#include "arch/memory/device/memory_config.hpp"
#include "arch/pim/pim_config.hpp"

namespace tilesim::arch::pim {

enum class AllBankCommand { Activate, Precharge, Mac, RegisterWrite, ArrayRead, ArrayWrite, Alu };

class AllBankTiming {
  public:
    AllBankTiming(const memory::device::DramTiming& dram, const PimConfig& pim) : dram_(dram), pim_(pim) {}

    // The row open in every bank; memory::kNoRow when closed.
    std::int64_t open_row() const { return row_; }
    // The first CK at which the command may go, row state aside.
    std::int64_t earliest(AllBankCommand command) const;
    // The first CK at which the command bus is free.
    std::int64_t command_bus_free() const { return command_; }
    void issue(AllBankCommand command, std::int64_t row, std::int64_t now);
    // All banks are quiet from `now` on: a guest's turn begins.
    void begin(std::int64_t now);
    // When the data bus will have turned for the next MAC, without which no row is switched.
    std::int64_t turned() const { return mac_; }

  private:
    void after_read(std::int64_t now);
    void after_write(std::int64_t now);

    memory::device::DramTiming dram_;
    PimConfig pim_;
    std::int64_t row_ = -1;
    std::int64_t command_ = 0;  // earliest CK of each kind of command
    std::int64_t activate_ = 0;
    std::int64_t column_ = 0;  // any access to the open row
    std::int64_t precharge_ = 0;
    std::int64_t mac_ = 0;    // bus direction: towards the controller
    std::int64_t write_ = 0;  // bus direction: towards the banks
    std::int64_t alu_ = 0;    // the sums of the MACs are in the registers
};

}  // namespace tilesim::arch::pim
