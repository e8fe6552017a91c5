// The PIM system: one unit a channel of the memory, all executing the same program.
//
// Models:  the latency from the processor that starts the program to the channels' controllers.
// Ignores: who starts it; what becomes of the outputs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "arch/base/clock.hpp"
#include "arch/base/probe.hpp"
#include "arch/base/stats.hpp"
#include "arch/memory/controller/command_log.hpp"
#include "arch/memory/controller/memory_system.hpp"
#include "arch/pim/pim_unit.hpp"

namespace tilesim::arch::pim {

class PimController final : private AllBankListener {
  public:
    // From the start to the channels, which are lent from then on.
    static constexpr base::Cycles kCommandLatency{100};
    // How long before its arrival at the controllers a memory may be told of anything, so that it
    // can still be told of the program.
    static base::Femtoseconds memory_lookahead(const memory::device::MemoryConfig& config);

    // `program` and `memory` must outlive the controller. `listener` may be null.
    PimController(const PimConfig& config, const PimProgram& program,
                  memory::controller::MemorySystem& memory, base::stats::Group& parent,
                  PimListener* listener);

    // Every unit's states go to `listener` from now on.
    void connect(base::ProbeListener* listener);
    // Every unit's commands go to `log` from now on.
    void log_commands(memory::controller::CommandLog& log);
    // Asks for every channel; `now`: of the queue.
    void start(base::Femtoseconds now);

    // Every channel has been given back for good.
    bool finished() const;
    // CK and time at which the last channel was; call when finished.
    base::Cycles finish_cycle() const;
    base::Femtoseconds finish_time() const { return clock_.time_of(finish_cycle()); }
    // CK of the program itself, without the latency of its start; call when finished.
    base::Cycles program_cycles() const;
    // The states of every unit then add up to these; call when finished.
    void finish_statistics();
    // CK of the latest command, which a channel decides ahead of the queue's time.
    base::Cycles last_progress() const;
    // Who waits for what, a unit a line. Meaningful when no event is left and it has not finished.
    std::string standstill() const;
    // Adds what the units have done to what ordinary requests have.
    void add_to(memory::port::BankUse& use) const;
    const std::vector<std::unique_ptr<PimUnit>>& units() const { return units_; }

  private:
    void on_all_bank_command(std::size_t channel, AllBankCommand command, BankSet banks,
                             std::int64_t row, std::int64_t now) override;

    memory::controller::MemorySystem& memory_;
    base::Clock clock_;
    std::vector<std::unique_ptr<PimUnit>> units_;  // one a channel
    base::Cycles lent_at_{0};
    memory::controller::CommandLog* log_ = nullptr;
};

}  // namespace tilesim::arch::pim
