#include "arch/pim/pim_unit.hpp"

#include <algorithm>
#include <utility>

#include "arch/memory/device/command_timing.hpp"

namespace tilesim::arch::pim {

namespace {

constexpr std::int64_t kModeRow = INT64_MAX;  // the mode registers' row: none of the data's

AllBankCommand command_of(PimOp op) {
    switch (op) {
        case PimOp::Mac:
            return AllBankCommand::Mac;
        case PimOp::LoadOutputs:
            return AllBankCommand::ArrayRead;
        case PimOp::Spill:
            return AllBankCommand::ArrayWrite;
        case PimOp::Alu:
            return AllBankCommand::Alu;
        default:
            return AllBankCommand::RegisterWrite;
    }
}

PimState state_of(const PimCommand& command) {
    switch (command.op) {
        case PimOp::ModeWrite:
            return PimState::ModeSwitch;
        case PimOp::WriteInputs:
        case PimOp::WriteBankInputs:
            return PimState::InputBroadcast;
        case PimOp::Mac:
            return command.purpose == PimCommand::Purpose::ScaleWord ? PimState::Scale
                                                                     : PimState::Mac;
        case PimOp::Alu:
            return command.purpose == PimCommand::Purpose::Scale ? PimState::Scale : PimState::Fold;
        case PimOp::LoadOutputs:
            return PimState::Refill;
        case PimOp::Spill:
            return PimState::Spill;
        case PimOp::Yield:
            return PimState::Yielded;
    }
    return PimState::Idle;
}

bool touches_array(PimOp op) {
    return op == PimOp::Mac || op == PimOp::LoadOutputs || op == PimOp::Spill;
}

}  // namespace

PimStats::PimStats(Group& parent, std::string_view name)
    : Group(parent, name, "pim"),
      time(*this, "time", base::stats::Unit::Cycle,
           {{"idle", "the channel is not the program's"},
            {"mode_switch", "visits to the mode registers"},
            {"input_broadcast", "writing input registers"},
            {"mac", "multiply-accumulate commands"},
            {"row_open", "closing and opening rows"},
            {"turnaround", "the data bus changes direction, the ALU drains"},
            {"fold", "summing the lanes of an output"},
            {"scale", "applying scale factors"},
            {"spill", "writing outputs to the array"},
            {"refill", "reading outputs back from the array"},
            {"refresh", "between two turns"},
            {"yielded", "the channel serves ordinary requests"}}) {}

PimUnit::PimUnit(const memory::device::DramTiming& dram, const PimConfig& pim, const PimProgram& program,
                 std::size_t channel, base::stats::Group& parent, PimListener* listener)
    : pim_(pim),
      dram_(dram),
      timing_(dram, pim),
      program_(program),
      channel_(channel),
      listener_(listener),
      stats_(parent, "pim(" + std::to_string(channel) + ")") {}

// The CK at which all banks would be quiet, were the open row closed as soon as it may be.
std::int64_t PimUnit::time_of_close() const {
    if (timing_.open_row() == memory::device::kNoRow) {
        return timing_.command_bus_free();
    }
    return timing_.earliest(AllBankCommand::Precharge) + pim_.precharge_all.count();
}

std::int64_t PimUnit::run(std::int64_t now, std::int64_t until) {
    if (!began_) {
        began_ = now;
        stats_.time.enter(PimState::Idle, now);
    } else {
        stats_.time.enter(std::exchange(away_, false) ? PimState::Yielded : PimState::Refresh,
                          now_);
    }
    now_ = now;
    stats_.time.enter(PimState::Idle, now);
    timing_.begin(now);
    const std::size_t first = next_;
    // A margin for one more command, its row switch and its write recovery.
    const std::int64_t margin = (dram_.tRCD + dram_.tRAS + dram_.write_latency + dram_.burst +
                                 dram_.tWR + pim_.precharge_all * 2)
                                    .count();
    while (!finished() &&
           (until == INT64_MAX || next_ == first || time_of_close() + margin <= until)) {
        execute_one();
    }
    if (timing_.open_row() != memory::device::kNoRow) {
        close();
    }
    // Others may read at once: the bus has turned.
    const std::int64_t quiet =
        std::max({now_ + 1, timing_.earliest(AllBankCommand::Activate), timing_.turned()});
    stats_.time.enter(PimState::Idle, quiet);
    now_ = quiet;
    return quiet;
}

std::optional<std::int64_t> PimUnit::on_left(std::int64_t now) {
    if (!program_ended()) {
        away_ = true;
        return now + std::exchange(yielded_, 0);
    }
    left_ = now;
    return std::nullopt;
}

void PimUnit::execute_one() {
    const PimCommand& command = program_.commands[next_];
    if (command.op == PimOp::ModeWrite) {
        mode_visit(command.count);
        done_ = command.count;
    } else if (command.op == PimOp::Yield) {
        yielded_ = command.count;
        done_ = command.count;
    } else if (done_ < command.count) {
        const std::int64_t row = touches_array(command.op)
                                     ? (command.word + done_) / program_.words_per_row
                                     : timing_.open_row();
        if (row != timing_.open_row()) {
            open(row);
        }
        if (command.op == PimOp::Mac && command.purpose != PimCommand::Purpose::ScaleWord) {
            ++stats_.macs;
        }
        issue(command_of(command.op), row, state_of(command));
        ++done_;
    }
    if (done_ >= command.count) {
        if (listener_ != nullptr) {
            listener_->on_pim_command(channel_, command);
        }
        ++next_;
        done_ = 0;
    }
}

// Charges the wait before the command to its cause and its own slot to `state`.
void PimUnit::issue(AllBankCommand command, std::int64_t row, PimState state) {
    const std::int64_t slot_end = std::max(now_, timing_.command_bus_free());
    const std::int64_t when = std::max(now_, timing_.earliest(command));
    const bool row_command =
        command == AllBankCommand::Activate || command == AllBankCommand::Precharge;
    const std::int64_t turned = std::clamp(timing_.turned(), slot_end, when);
    stats_.time.charge_until(slot_end);
    if (state == PimState::ModeSwitch) {
        stats_.time.enter(PimState::ModeSwitch, slot_end);
    } else if (row_command) {
        stats_.time.enter(PimState::Turnaround, slot_end);
        stats_.time.enter(PimState::RowOpen, turned);
    } else {
        const bool waits_for_row = turned < when && (command == AllBankCommand::Mac ||
                                                     command == AllBankCommand::ArrayRead);
        stats_.time.enter(waits_for_row ? PimState::RowOpen : PimState::Turnaround, slot_end);
    }
    stats_.time.enter(state, when);
    timing_.issue(command, row, when);
    now_ = when;
    if (row != kModeRow) {
        count(command);
    }
    if (commands_ != nullptr) {
        commands_->on_all_bank_command(command, row, when);
    }
}

void PimUnit::count(AllBankCommand command) {
    switch (command) {
        case AllBankCommand::Activate:
            ++bank_counts_.activates;
            break;
        case AllBankCommand::Mac:  // reads its word
        case AllBankCommand::ArrayRead:
            ++bank_counts_.reads;
            break;
        case AllBankCommand::ArrayWrite:
            ++bank_counts_.writes;
            break;
        default:
            break;
    }
}

void PimUnit::open(std::int64_t row) {
    if (timing_.open_row() != memory::device::kNoRow) {
        close();
    }
    issue(AllBankCommand::Activate, row, PimState::RowOpen);
    ++stats_.activates;
}

void PimUnit::close() {
    issue(AllBankCommand::Precharge, memory::device::kNoRow, PimState::RowOpen);
}

void PimUnit::mode_visit(std::int64_t writes) {
    if (timing_.open_row() != memory::device::kNoRow) {
        close();
    }
    issue(AllBankCommand::Activate, kModeRow, PimState::ModeSwitch);
    for (std::int64_t i = 0; i < writes; ++i) {
        issue(AllBankCommand::ArrayWrite, kModeRow, PimState::ModeSwitch);
    }
    issue(AllBankCommand::Precharge, memory::device::kNoRow, PimState::ModeSwitch);
}

}  // namespace tilesim::arch::pim
