// The controller of one channel executing a PIM program, in order: a guest of the channel.
//
// Models:  commands under AllBankTiming; rows switched when the next word needs one; the open rows
//          closed before a refresh and opened again after it; the host's turns, barriers and reads;
//          the channel given back to ordinary requests where the program says so; time charged by
//          cause.
// Ignores: ordinary requests in between (they wait in the channel's queues).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "arch/base/probe.hpp"
#include "arch/base/stats.hpp"
#include "arch/memory/controller/channel_guest.hpp"
#include "arch/pim/all_bank_counts.hpp"
#include "arch/pim/all_bank_timing.hpp"
#include "arch/pim/pim_program.hpp"

namespace tilesim::arch::pim {

// Hears every operation when it is executed, in order; for functional mode.
class PimListener {
  public:
    virtual void on_pim_command(std::size_t channel, const PimCommand& command) = 0;
    // The program's last has been, and will begin again where there are passes left.
    virtual void on_pass_ended(std::size_t /*channel*/) {}

  protected:
    ~PimListener() = default;
};

// Hears every command on the command bus, for checkers and traces.
class AllBankListener {
  public:
    virtual void on_all_bank_command(std::size_t channel, AllBankCommand command, BankSet banks,
                                     std::int64_t row, std::int64_t now) = 0;

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
    Load,
    Host,
    Refresh,
    Yielded
};
inline constexpr base::stats::StateTable<PimState> kPimStates{{
    {PimState::Idle, "idle", "the channel is not the program's"},
    {PimState::ModeSwitch, "mode_switch",
     "visits to the mode registers, changes between bank and register commands"},
    {PimState::InputBroadcast, "input_broadcast", "writing input registers"},
    {PimState::Mac, "mac", "multiply-accumulate commands"},
    {PimState::RowOpen, "row_open", "closing and opening rows"},
    {PimState::Turnaround, "turnaround", "the data bus changes direction, the ALU drains"},
    {PimState::Fold, "fold", "summing the lanes of an output"},
    {PimState::Scale, "scale", "applying scale factors"},
    {PimState::Spill, "spill", "writing outputs to the array"},
    {PimState::Refill, "refill", "reading outputs back from the array"},
    {PimState::Load, "load", "switching accumulators between row blocks"},
    {PimState::Host, "host", "reads and writes of the host, and what waits for it"},
    {PimState::Refresh, "refresh",
     "between two turns, with the row that closes for it and opens again"},
    {PimState::Yielded, "yielded", "the channel serves ordinary requests"},
}};

struct PimStats : base::stats::Group {
    PimStats(Group& parent, std::string_view name) : Group(parent, name, "pim") {}
    base::stats::StateAccount time{*this, "time", base::stats::Unit::Cycle, kPimStates};
    base::stats::Counter macs{*this, "macs", base::stats::Unit::Count, "all-bank MAC commands"};
    base::stats::Counter activates{*this, "activates", base::stats::Unit::Count,
                                   "activations of a row of data"};
};

class PimUnit final : public memory::controller::ChannelGuest {
  public:
    // `program` must outlive the unit. `listener` may be null.
    PimUnit(const memory::device::MemoryConfig& memory, const PimConfig& pim,
            const PimProgram& program, std::size_t channel, base::stats::Group& parent,
            PimListener* listener);

    std::int64_t run(std::int64_t now, std::int64_t until) override;
    bool finished() const override { return yielded_ > 0 || program_ended(); }
    std::optional<std::int64_t> on_left(std::int64_t now) override;
    void listen(AllBankListener* listener) { commands_ = listener; }
    // Its channel is to be lent to it at CK `when`, from which on its time is accounted for.
    void expect(std::int64_t when) { stats_.time.begin(when); }
    // Its time is accounted for until CK `end`, no earlier than its program's: what follows until
    // the channel is free is none of the program's.
    void finish_statistics(std::int64_t end) { stats_.time.add(PimState::Idle, end - now_); }
    // Its states go to `listener` from now on; `memory`: whose cycles are CK.
    void connect(base::ProbeListener* listener, base::Clock memory);

    // CK at which the channel was free again; nothing while the program runs.
    std::optional<std::int64_t> left() const { return left_; }
    std::optional<std::int64_t> began() const { return began_; }
    // CK at which the program was over, as `back_to_back` and `completion` have it: what follows
    // until the channel is free is the next one's as well.
    std::int64_t ended() const { return ended_; }
    // CK of the last command so far.
    std::int64_t last_progress() const { return now_; }
    // What it would do next, for messages.
    std::string waiting_for() const;
    const PimStats& stats() const { return stats_; }
    // CK for which this state is to blame: beside its own those of what went on under a row's tRAS
    // or tRC, behind which a command waited still, for it would have waited longer.
    std::int64_t blamed(PimState state) const {
        return stats_.time.spent(static_cast<std::size_t>(state)) +
               overlapped_[static_cast<std::size_t>(state)];
    }
    // What a bank has done with its data; visits to the mode registers touch none.
    memory::port::BankCounts bank_counts(std::size_t bank = 0) const {
        return bank_counts_.of(bank);
    }

    // CK that rows have been open, those of mode registers too: summed over the banks, and that any
    // of a rank has, summed over the ranks.
    std::int64_t row_open() const { return timing_.row_open(); }
    std::int64_t any_row_open() const { return timing_.any_row_open(); }

  private:
    bool program_ended() const { return next_ == program_.commands.size(); }
    // The last kernel's row is open, whichever the first is that this one opens.
    bool opens_over_last_kernel() const {
        return first_row_ && pim_.program_end == ProgramEnd::NextKernel;
    }
    void begin_next_pass();
    std::int64_t quiet_from() const;
    void execute_one();
    void access(const PimCommand& command);
    void mode_access(const PimCommand& command);
    void spill_visit(const PimCommand& command);
    void read_banks(std::int64_t count);
    void wait_for_host(std::int64_t until);
    void open(std::int64_t row, BankSet banks, PimState state);
    void close(BankSet banks, PimState state);
    void close_all(PimState state);
    void close_others(BankSet banks, std::int64_t before);
    void issue(AllBankCommand command, std::int64_t row, PimState state, BankSet banks = {});
    void enter(PimState state, std::int64_t now);
    void keep_spent();
    void overlap(PimState wait);
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
    base::ProbeListener* trace_ = nullptr;
    std::optional<base::Clock> trace_clock_;
    PimStats stats_;
    // What it had spent in each state when the last row opened, and what of it since then is
    // others' to blame for.
    std::array<std::int64_t, kPimStates.kStates> at_activate_{};
    std::array<std::int64_t, kPimStates.kStates> overlapped_{};
    AllBankCounts bank_counts_;
    std::size_t next_ = 0;      // command of the program
    std::int64_t done_ = 0;     // of its count
    std::int64_t now_ = 0;      // CK of the last command
    std::int64_t yielded_ = 0;  // CK for which the channel is to be given back
    std::int64_t ended_ = 0;
    std::int64_t passes_left_;   // the present one included
    std::int64_t last_row_ = 0;  // that was open, of the data
    bool first_row_ = true;      // this pass has opened none yet
    bool refreshed_ = false;     // the last row closed for a refresh, and none has opened since
    PimState opening_ = PimState::RowOpen;  // what the row opened last is laid to
    bool away_ = false;                     // it has been given back
    std::optional<std::int64_t> began_;
    std::optional<std::int64_t> left_;
};

}  // namespace tilesim::arch::pim
