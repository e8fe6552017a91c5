#include "arch/pim/pim_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "arch/memory/device/command_timing.hpp"

namespace tilesim::arch::pim {

namespace {

// Rows that are none of the data's: of the mode registers, and what banks are parked on.
constexpr std::int64_t kModeRow = INT64_MAX;
constexpr std::int64_t kParkRow = INT64_MAX - 1;

AllBankCommand command_of(const PimCommand& command) {
    switch (command.op) {
        case PimOp::Mac:
            return AllBankCommand::Mac;
        case PimOp::LoadOutputs:
        case PimOp::ReadBank:
            return AllBankCommand::ArrayRead;
        case PimOp::Spill:
        case PimOp::SpillVisit:
        case PimOp::WriteBank:
            return AllBankCommand::ArrayWrite;
        case PimOp::ReadResults:
            return AllBankCommand::RegisterRead;
        case PimOp::Alu:
            return command.purpose == PimCommand::Purpose::Fold ||
                           command.purpose == PimCommand::Purpose::None
                       ? AllBankCommand::Alu
                       : AllBankCommand::Move;
        default:
            return AllBankCommand::RegisterWrite;
    }
}

PimState state_of(const PimCommand& command) {
    switch (command.op) {
        case PimOp::ModeVisit:
        case PimOp::ModeWrite:
        case PimOp::ReadBanks:
            return PimState::ModeSwitch;
        case PimOp::Close:
            return PimState::RowOpen;
        case PimOp::WriteInputs:
        case PimOp::WriteBankInputs:
            return PimState::InputBroadcast;
        case PimOp::Mac:
            return PimState::Mac;
        case PimOp::Alu:
            return command.purpose == PimCommand::Purpose::Scale  ? PimState::Scale
                   : command.purpose == PimCommand::Purpose::Load ? PimState::Load
                                                                  : PimState::Fold;
        case PimOp::LoadOutputs:
            return PimState::Refill;
        case PimOp::Spill:
        case PimOp::SpillVisit:
            return PimState::Spill;
        case PimOp::ReadResults:
        case PimOp::ReadBank:
        case PimOp::WriteBank:
        case PimOp::Barrier:
        case PimOp::Wait:
            return PimState::Host;
        case PimOp::Yield:
            return PimState::Yielded;
    }
    return PimState::Idle;
}

}  // namespace

PimUnit::PimUnit(const memory::device::MemoryConfig& memory, const PimConfig& pim,
                 const PimProgram& program, std::size_t channel, base::stats::Group& parent,
                 PimListener* listener)
    : pim_(pim),
      dram_(memory.timing),
      timing_(memory, pim, program.lanes(memory.banks())),
      program_(program),
      channel_(channel),
      listener_(listener),
      stats_(parent, "pim(" + std::to_string(channel) + ")"),
      bank_counts_(static_cast<std::size_t>(memory.banks())),
      passes_left_(program.passes) {}

void PimUnit::connect(base::ProbeListener* listener, base::Clock memory) {
    probe_.connect(listener, stats_.path(), memory);
    trace_ = listener;
    trace_clock_ = memory;
}

// Charges what has passed to the state that held, then changes state.
void PimUnit::enter(PimState state, std::int64_t now) {
    if (probe_) [[unlikely]] {
        tell(now);
    }
    stats_.time.enter(state, now);
}

// The state that held until `now`, if it took any time.
void PimUnit::tell(std::int64_t now) {
    const auto state = static_cast<PimState>(stats_.time.current());
    const base::Cycles since{stats_.time.since()};
    if (now == since.count()) {
        return;
    }
    if (state == PimState::Idle) {
        probe_.leave(since);
    } else {
        probe_.enter(kPimStates[state].name, since);
    }
}

std::string PimUnit::waiting_for() const {
    if (program_ended()) {
        return "its channel to take the end of the program";
    }
    return fmt::format("its channel to take command {} of {} ({})", next_ + 1,
                       program_.commands.size(), name_of(program_.commands[next_].op));
}

// The CK at which all banks would be quiet, were the open rows closed as soon as they may be.
std::int64_t PimUnit::time_of_close() const {
    if (!timing_.any_open()) {
        return timing_.command_bus_free();
    }
    return timing_.earliest(AllBankCommand::Precharge) + timing_.precharge_all().count();
}

std::int64_t PimUnit::run(std::int64_t now, std::int64_t until) {
    if (!began_) {
        began_ = now;
        enter(PimState::Idle, now);
    } else {
        enter(std::exchange(away_, false) ? PimState::Yielded : PimState::Refresh, now_);
    }
    now_ = now;
    enter(PimState::Idle, now);
    timing_.begin(now);
    const auto first = std::tuple{passes_left_, next_, done_};
    const auto at_first = [&] { return std::tuple{passes_left_, next_, done_} == first; };
    while (!finished() && (until == INT64_MAX || at_first() || time_of_close() <= until)) {
        execute_one();
    }
    const std::int64_t slot_end = timing_.command_bus_free();
    if (program_ended() && pim_.ends_at_last_command()) {
        enter(PimState::Idle, slot_end);
    }
    refreshed_ = !finished() && timing_.any_open();
    close_all(refreshed_                                       ? PimState::Refresh
              : program_ended() && pim_.ends_at_last_command() ? PimState::Idle
                                                               : PimState::RowOpen);
    const std::int64_t quiet = quiet_from();
    enter(PimState::Idle, quiet);
    now_ = quiet;
    if (program_ended()) {
        ended_ = (pim_.ends_at_last_command() ? slot_end : quiet) + pim_.completion.count();
    }
    return quiet;
}

std::optional<std::int64_t> PimUnit::on_left(std::int64_t now) {
    if (!program_ended()) {
        away_ = true;
        return now + std::exchange(yielded_, 0);
    }
    left_ = now;
    if (probe_) {
        probe_.leave(base::Cycles{now_});
    }
    return std::nullopt;
}

// When all banks are closed and quiet; a turn without commands takes a CK. Others may read at once:
// the bus has turned.
std::int64_t PimUnit::quiet_from() const {
    return std::max({now_ + 1, timing_.earliest(AllBankCommand::Activate), timing_.turned()});
}

// A kernel of its own.
void PimUnit::begin_next_pass() {
    --passes_left_;
    next_ = 0;
    first_row_ = true;
    std::int64_t ended = timing_.command_bus_free();
    if (!pim_.ends_at_last_command()) {
        close_all(PimState::RowOpen);
        ended = quiet_from();
    }
    enter(PimState::Host, ended);
    timing_.delay(ended + pim_.completion.count());
}

void PimUnit::execute_one() {
    const PimCommand& command = program_.commands[next_];
    switch (command.op) {
        case PimOp::ModeVisit:
        case PimOp::ModeWrite:
            mode_access(command);
            break;
        case PimOp::ReadBanks:
            read_banks(command.count);
            break;
        case PimOp::Close:
            close_all(PimState::RowOpen);
            done_ = command.count;
            break;
        case PimOp::Barrier:
            wait_for_host(timing_.data_end() + pim_.barrier.count());
            done_ = command.count;
            break;
        case PimOp::Wait:
            wait_for_host(timing_.command_bus_free() + command.count);
            done_ = command.count;
            break;
        case PimOp::Yield:
            yielded_ = command.count;
            done_ = command.count;
            break;
        case PimOp::SpillVisit:
            spill_visit(command);
            break;
        default:
            access(command);
            break;
    }
    if (done_ >= command.count) {
        if (listener_ != nullptr) {
            listener_->on_pim_command(channel_, command);
        }
        ++next_;
        done_ = 0;
        if (program_ended() && listener_ != nullptr) {
            listener_->on_pass_ended(channel_);
        }
        if (program_ended() && passes_left_ > 1) {
            begin_next_pass();
        }
    }
}

// One command of its count.
void PimUnit::access(const PimCommand& command) {
    if (done_ >= command.count) {
        return;
    }
    std::int64_t row = timing_.open_row(command.banks);
    if (touches_array(command.op)) {
        const std::int64_t wanted = command.word == PimCommand::kOpenRow
                                        ? (row >= 0 ? row : last_row_)
                                        : (command.word + done_) / program_.words_per_row;
        if (wanted != row || opens_over_last_kernel()) {
            const bool again = refreshed_ && wanted == last_row_;
            open(wanted, command.banks, again ? PimState::Refresh : PimState::RowOpen);
        }
        row = wanted;
        last_row_ = wanted;
    }
    if (command.op == PimOp::Mac) {
        ++stats_.macs;
    }
    issue(command_of(command), row, state_of(command), command.banks);
    ++done_;
    if (done_ == command.count &&
        (command.op == PimOp::WriteInputs || command.op == PimOp::WriteBankInputs)) {
        timing_.host_turns(now_);
    }
    if (done_ == command.count &&
        (command.op == PimOp::ReadResults || command.op == PimOp::ReadBank)) {
        const base::Cycles latency = pim_.result_latency > base::Cycles{0}
                                         ? pim_.result_latency
                                         : dram_.read_latency + dram_.burst;
        wait_for_host(now_ + latency.count());
    }
}

void PimUnit::mode_access(const PimCommand& command) {
    constexpr PimState kState = PimState::ModeSwitch;
    if (timing_.open_row() != kModeRow) {
        close_all(PimState::RowOpen);
        open(kModeRow, {}, kState);
    }
    for (std::int64_t i = 0; i < command.count; ++i) {
        issue(AllBankCommand::ArrayWrite, kModeRow, kState);
    }
    if (command.op == PimOp::ModeVisit) {
        close({}, kState);
    }
    done_ = command.count;
}

// Every bank opens a row and is read once; the rows stay open.
void PimUnit::read_banks(std::int64_t count) {
    close_all(PimState::RowOpen);
    open(kParkRow, {}, PimState::ModeSwitch);
    const std::int64_t last = now_ + timing_.one_by_one(count);
    timing_.delay(last + dram_.tRCD.count());
    issue(AllBankCommand::ArrayRead, kParkRow, PimState::ModeSwitch);
    done_ = count;
}

// The results' own row: opened when the bus has turned, unless rows are switched meanwhile.
void PimUnit::spill_visit(const PimCommand& command) {
    if (!pim_.overlap_row_switch) {
        enter(PimState::Turnaround, timing_.command_bus_free());
        timing_.delay(timing_.turned_for_write());
    }
    const std::int64_t row = command.word / program_.words_per_row;
    open(row, command.banks, PimState::Spill);
    for (std::int64_t i = 0; i < command.count; ++i) {
        issue(AllBankCommand::ArrayWrite, row, PimState::Spill, command.banks);
    }
    close(command.banks, PimState::Spill);
    done_ = command.count;
}

// Nothing goes before CK `until`.
void PimUnit::wait_for_host(std::int64_t until) {
    const std::int64_t slot_end = timing_.command_bus_free();
    if (until > slot_end) {
        enter(PimState::Host, slot_end);
        timing_.delay(until);
    }
}

// The banks these take turns with do not wait for their own turn to close their row.
void PimUnit::close_others(BankSet banks, std::int64_t before) {
    if (!pim_.early_close || banks.all() || banks.one()) {
        return;
    }
    const BankSet others{banks.which == BankSet::kEven ? BankSet::kOdd : BankSet::kEven};
    const auto closed = timing_.close_early(others, before);
    if (closed && commands_ != nullptr) {
        commands_->on_all_bank_command(channel_, AllBankCommand::Precharge, others,
                                       memory::device::kNoRow, *closed);
    }
}

void PimUnit::keep_spent() {
    for (std::size_t each = 0; each < at_activate_.size(); ++each) {
        at_activate_[each] = stats_.time.spent(each);
    }
}

// What it has done since a row opened, `wait` would have lasted longer without.
void PimUnit::overlap(PimState wait) {
    for (std::size_t each = 0; each < at_activate_.size(); ++each) {
        const std::int64_t cycles = stats_.time.spent(each) - at_activate_[each];
        overlapped_[each] -= cycles;
        overlapped_[static_cast<std::size_t>(wait)] += cycles;
    }
    keep_spent();
}

// Charges the wait before the command to its cause and its own slot to `state`.
void PimUnit::issue(AllBankCommand command, std::int64_t row, PimState state, BankSet banks) {
    const std::int64_t slot_end = timing_.command_bus_free();
    const std::int64_t when = timing_.earliest(command, banks);
    close_others(banks, when);
    const bool row_command =
        command == AllBankCommand::Activate || command == AllBankCommand::Precharge;
    const std::int64_t turned = std::clamp(timing_.turned(), slot_end, when);
    const bool waits_for_change = slot_end < when && timing_.changed(command) == when;
    const bool waits_for_activate =
        slot_end < when && row_command && timing_.waits_for_activate(command, banks);
    const bool of_refresh = state == PimState::Refresh;
    if (state == PimState::ModeSwitch || state == PimState::Idle) {
        enter(state, slot_end);
    } else if (waits_for_change) {
        enter(PimState::ModeSwitch, slot_end);
    } else if (row_command) {
        enter(PimState::Turnaround, slot_end);
        enter(of_refresh ? state : PimState::RowOpen, turned);
    } else {
        const bool waits_for_row = turned < when && (command == AllBankCommand::Mac ||
                                                     command == AllBankCommand::ArrayRead);
        enter(waits_for_row ? opening_ : PimState::Turnaround, slot_end);
    }
    enter(state, when);
    if (waits_for_activate && state != PimState::Idle) {
        overlap(state == PimState::ModeSwitch || of_refresh ? state : PimState::RowOpen);
    }
    if (command == AllBankCommand::Activate) {
        opening_ = of_refresh ? state : PimState::RowOpen;
        refreshed_ = false;
        keep_spent();
    }
    timing_.issue(command, row, when, banks);
    now_ = when;
    if (row != kModeRow && row != kParkRow) {
        bank_counts_.add(command, banks);
    }
    if (trace_ != nullptr) [[unlikely]] {
        const std::string component = stats_.path() + ".command";
        trace_->begin(component, name_of(command), trace_clock_->time_of(base::Cycles{when}));
        trace_->end(component, name_of(command), trace_clock_->time_of(base::Cycles{when + 1}));
    }
    if (commands_ != nullptr) {
        commands_->on_all_bank_command(channel_, command, banks, row, when);
    }
}

void PimUnit::open(std::int64_t row, BankSet banks, PimState state) {
    const bool over_the_last_one = opens_over_last_kernel();
    first_row_ = false;
    if (over_the_last_one || timing_.open_row(banks) != memory::device::kNoRow) {
        close(banks, state);
    }
    issue(AllBankCommand::Activate, row, state, banks);
    if (row != kModeRow && row != kParkRow) {
        ++stats_.activates;
    }
}

void PimUnit::close(BankSet banks, PimState state) {
    issue(AllBankCommand::Precharge, memory::device::kNoRow, state, banks);
}

void PimUnit::close_all(PimState state) {
    if (timing_.any_open()) {
        close({}, state);
    }
}

}  // namespace tilesim::arch::pim
