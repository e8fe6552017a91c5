// The controller of one channel executing a PIM program, in order: a guest of the channel.
//
// Models:  all-bank commands under AllBankTiming; rows switched when the next word needs one; the
//          open row closed before a refresh and opened again after it; the channel given back to
//          ordinary requests where the program says so; time charged by cause.
// Ignores: ordinary requests in between (they wait in the channel's queues).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "arch/base/probe.hpp"
#include "arch/base/stats.hpp"
#include "arch/memory/controller/channel_guest.hpp"
#include "arch/memory/port/bank_counts.hpp"
#include "arch/pim/all_bank_timing.hpp"
#include "arch/pim/pim_program.hpp"

namespace tilesim::arch::pim {

// Hears every operation when it is executed, in order; for functional mode.
class PimListener {
  public:
    virtual void on_pim_command(std::size_t channel, const PimCommand& command) = 0;

  protected:
    ~PimListener() = default;
};

// Hears every command on the command bus, for checkers and traces.
class AllBankListener {
  public:
    virtual void on_all_bank_command(AllBankCommand command, std::int64_t row,
                                     std::int64_t now) = 0;

  protected:
    ~AllBankListener() = default;
};

enum class PimState : std::size_t {
    Idle,
    ModeSwitch,
    InputBroadcast,
    Mac,
    RowOpen,
    Turnaround,
    Fold,
    Scale,
    Spill,
    Refill,
    Refresh,
    Yielded
};
inline constexpr base::stats::StateTable<PimState> kPimStates{{
    {PimState::Idle, "idle", "the channel is not the program's"},
    {PimState::ModeSwitch, "mode_switch", "visits to the mode registers"},
    {PimState::InputBroadcast, "input_broadcast", "writing input registers"},
    {PimState::Mac, "mac", "multiply-accumulate commands"},
    {PimState::RowOpen, "row_open", "closing and opening rows"},
    {PimState::Turnaround, "turnaround", "the data bus changes direction, the ALU drains"},
    {PimState::Fold, "fold", "summing the lanes of an output"},
    {PimState::Scale, "scale", "applying scale factors"},
    {PimState::Spill, "spill", "writing outputs to the array"},
    {PimState::Refill, "refill", "reading outputs back from the array"},
    {PimState::Refresh, "refresh", "between two turns"},
    {PimState::Yielded, "yielded", "the channel serves ordinary requests"},
}};

struct PimStats : base::stats::Group {
    PimStats(Group& parent, std::string_view name) : Group(parent, name, "pim") {}
    base::stats::StateAccount time{*this, "time", base::stats::Unit::Cycle, kPimStates};
    base::stats::Counter macs{*this, "macs", base::stats::Unit::Count, "all-bank MAC commands"};
    base::stats::Counter activates{*this, "activates", base::stats::Unit::Count,
                                   "activations of a row in all banks"};
};

class PimUnit final : public memory::controller::ChannelGuest {
  public:
    // `program` must outlive the unit. `listener` may be null.
    PimUnit(const memory::device::DramTiming& dram, const PimConfig& pim, const PimProgram& program,
            std::size_t channel, base::stats::Group& parent, PimListener* listener);

    std::int64_t run(std::int64_t now, std::int64_t until) override;
    bool finished() const override { return yielded_ > 0 || program_ended(); }
    std::optional<std::int64_t> on_left(std::int64_t now) override;
    void listen(AllBankListener* listener) { commands_ = listener; }
    // Its states go to `listener` from now on; `memory`: whose cycles are CK.
    void connect(base::ProbeListener* listener, base::Clock memory);

    // CK at which the channel was free again; nothing while the program runs.
    std::optional<std::int64_t> left() const { return left_; }
    std::optional<std::int64_t> began() const { return began_; }
    // CK of the last command so far.
    std::int64_t last_progress() const { return now_; }
    // What it would do next, for messages.
    std::string waiting_for() const;
    const PimStats& stats() const { return stats_; }
    // What each of the channel's banks has done with its data: the same in all; visits to the mode
    // registers touch none.
    const memory::port::BankCounts& bank_counts() const { return bank_counts_; }

  private:
    bool program_ended() const { return next_ == program_.commands.size(); }
    void execute_one();
    void mode_visit(std::int64_t writes);
    void open(std::int64_t row);
    void close();
    void count(AllBankCommand command);
    void issue(AllBankCommand command, std::int64_t row, PimState state);
    void enter(PimState state, std::int64_t now);
    void tell(std::int64_t now);
    std::int64_t time_of_close() const;

    PimConfig pim_;
    memory::device::DramTiming dram_;
    AllBankTiming timing_;
    const PimProgram& program_;
    std::size_t channel_;
    PimListener* listener_;
    AllBankListener* commands_ = nullptr;
    base::StateProbe probe_;
    PimStats stats_;
    memory::port::BankCounts bank_counts_;
    std::size_t next_ = 0;      // command of the program
    std::int64_t done_ = 0;     // of its count
    std::int64_t now_ = 0;      // CK of the last command
    std::int64_t yielded_ = 0;  // CK for which the channel is to be given back
    bool away_ = false;         // it has been given back
    std::optional<std::int64_t> began_;
    std::optional<std::int64_t> left_;
};

}  // namespace tilesim::arch::pim
