#include "arch/pim/all_bank_timing.hpp"

#include <algorithm>

#include "arch/base/check.hpp"
#include "arch/memory/device/command_timing.hpp"

namespace tilesim::arch::pim {

using memory::device::kNoRow;

namespace {

bool is_row_command(AllBankCommand command) {
    return command == AllBankCommand::Activate || command == AllBankCommand::Precharge;
}

bool is_of_registers(AllBankCommand command) {
    return command == AllBankCommand::RegisterWrite || command == AllBankCommand::RegisterRead;
}

bool is_of_units(AllBankCommand command) {
    return command == AllBankCommand::Alu || command == AllBankCommand::Move;
}

template <class Lanes, class Action>
void for_each_of(Lanes& lanes, BankSet banks, Action action) {
    banks.for_each(std::ssize(lanes),
                   [&](std::int64_t lane) { action(lanes[static_cast<std::size_t>(lane)]); });
}

}  // namespace

const char* name_of(AllBankCommand command) {
    switch (command) {
        case AllBankCommand::Activate:
            return "ACTab";
        case AllBankCommand::Precharge:
            return "PREab";
        case AllBankCommand::Mac:
            return "MAC";
        case AllBankCommand::RegisterWrite:
            return "WRREG";
        case AllBankCommand::RegisterRead:
            return "RDREG";
        case AllBankCommand::ArrayRead:
            return "RDab";
        case AllBankCommand::ArrayWrite:
            return "WRab";
        case AllBankCommand::Alu:
            return "ALU";
        case AllBankCommand::Move:
            return "MOV";
    }
    return "";
}

AllBankTiming::AllBankTiming(const memory::device::MemoryConfig& memory, const PimConfig& pim,
                             std::size_t lanes)
    : dram_(memory.timing),
      banks_per_group_(static_cast<std::size_t>(memory.banks_per_group)),
      banks_(memory.banks()),
      ranks_(memory.ranks),
      bus_turn_(memory.pseudo_channels * memory.timing.column_command.count()),
      pim_(pim),
      times_(memory.timing, pim),
      host_turn_(base::Clock{memory.clock}.first_cycle_from(pim.host_turn).count()),
      lanes_(lanes) {
    activates_.fill(INT64_MIN / 2);
}

std::int64_t AllBankTiming::latest(BankSet banks, std::int64_t Lane::*of) const {
    std::int64_t when = 0;
    for_each_of(lanes_, banks, [&](const Lane& lane) { when = std::max(when, lane.*of); });
    return when;
}

std::int64_t AllBankTiming::open_row(BankSet banks) const {
    std::int64_t row = INT64_MIN;
    for_each_of(lanes_, banks, [&](const Lane& lane) {
        row = row == INT64_MIN || row == lane.row ? lane.row : kSeveral;
    });
    return row;
}

bool AllBankTiming::any_open() const {
    return std::any_of(lanes_.begin(), lanes_.end(),
                       [](const Lane& lane) { return lane.row != kNoRow; });
}

// Unless rows are switched behind a turn of the bus, they wait for its end, whichever it is.
std::int64_t AllBankTiming::row_command(BankSet banks, std::int64_t Lane::*of) const {
    const std::int64_t bus = pim_.overlap_row_switch ? command_ : std::max(command_, mac_);
    return std::max(bus, latest(banks, of));
}

// The change is a command itself.
std::int64_t AllBankTiming::changed(AllBankCommand command) const {
    const bool changes = pim_.mode_change > base::Cycles{0} && !is_of_units(command) &&
                         is_of_registers(command) != of_registers_;
    return changes ? last_ + 1 + pim_.mode_change.count() : last_;
}

bool AllBankTiming::waits_for_activate(AllBankCommand command, BankSet banks) const {
    const std::int64_t when = earliest(command, banks);
    const std::int64_t activated = latest(banks, &Lane::activated);
    return (command == AllBankCommand::Precharge && when == activated + dram_.tRAS.count()) ||
           (command == AllBankCommand::Activate && when == activated + dram_.tRC.count());
}

std::int64_t AllBankTiming::earliest(AllBankCommand command, BankSet banks) const {
    const std::int64_t free = std::max(command_, changed(command));
    switch (command) {
        case AllBankCommand::Activate: {
            std::int64_t when = std::max(free, row_command(banks, &Lane::activate));
            if (banks.one()) {
                const auto group = static_cast<std::int64_t>(static_cast<std::size_t>(banks.which) /
                                                             banks_per_group_);
                const std::int64_t latest_one = activates_[(oldest_ + 3) % activates_.size()];
                when = std::max(
                    {when,
                     latest_one + (group == last_group_ ? dram_.tRRD_L : dram_.tRRD_S).count(),
                     activates_[oldest_] + dram_.tFAW.count()});
            }
            return when;
        }
        case AllBankCommand::Precharge:
            return std::max(free, row_command(banks, &Lane::precharge));
        case AllBankCommand::Mac:
        case AllBankCommand::ArrayRead:
            return std::max({free, latest(banks, &Lane::column), mac_});
        case AllBankCommand::ArrayWrite:
            return std::max({free, latest(banks, &Lane::write), write_});
        case AllBankCommand::RegisterWrite:
            return std::max(free, write_);
        case AllBankCommand::RegisterRead:
            return std::max({free, mac_, alu_});
        case AllBankCommand::Alu:
            return std::max(free, alu_);
        case AllBankCommand::Move:
            return pim_.fold_overlaps_turn ? free : std::max(free, mac_);
    }
    return free;
}

// CK from such a command to the next: neighbours on the bus have theirs in between.
std::int64_t AllBankTiming::slot(base::Cycles interval) const {
    return std::max(interval.count(), bus_turn_);
}

// CK from the first of these banks' ACTs to the last.
std::int64_t AllBankTiming::spread_of_activates(BankSet banks) const {
    return pim_.activates_at_once || banks.one() ? 0
                                                 : one_by_one(banks.all() ? banks_ : banks_ / 2);
}

void AllBankTiming::row_opens(Lane& lane, std::int64_t row, std::int64_t now) {
    row_open_ -= now;
    any_row_open_ -= any_open() ? 0 : now;
    lane.row = row;
}

void AllBankTiming::row_closes(Lane& lane, std::int64_t now) {
    if (lane.row != kNoRow) {
        lane.row = kNoRow;
        row_open_ += now;
        any_row_open_ += any_open() ? 0 : now;
    }
}

void AllBankTiming::activate(BankSet banks, std::int64_t row, std::int64_t first) {
    const std::int64_t now = first + spread_of_activates(banks);
    for_each_of(lanes_, banks, [&](Lane& lane) {
        SIM_CHECK(lane.row == kNoRow, "ACT while row {} is open", lane.row);
        row_opens(lane, row, now);
        lane.activated = now;
        lane.column = now + times_.activate_to_mac.count();
        lane.write = now + times_.activate_to_write.count();
        lane.precharge = std::max(lane.precharge, now + dram_.tRAS.count());
        // JEDEC: of every bank, however it was closed.
        lane.activate = std::max(lane.activate, now + dram_.tRC.count());
    });
    if (banks.one()) {
        activates_[oldest_] = now;
        oldest_ = (oldest_ + 1) % activates_.size();
        last_group_ = banks.which / static_cast<std::int64_t>(banks_per_group_);
    }
}

void AllBankTiming::issue(AllBankCommand command, std::int64_t row, std::int64_t now,
                          BankSet banks) {
    SIM_DCHECK(now >= earliest(command, banks), "all-bank command {} at {} is too early",
               static_cast<int>(command), now);
    command_ = now + slot(pim_.command_interval);
    if (!is_of_units(command)) {
        of_registers_ = is_of_registers(command);
    }
    last_ = now;
    const bool in_array = command == AllBankCommand::Mac || command == AllBankCommand::ArrayRead ||
                          command == AllBankCommand::ArrayWrite;
    SIM_CHECK(!in_array || open_row(banks) != kNoRow, "{} to closed banks", name_of(command));
    switch (command) {
        case AllBankCommand::Activate:
            activate(banks, row, now);
            command_ = now + spread_of_activates(banks) + dram_.activate_command.count();
            break;
        case AllBankCommand::Precharge:
            for_each_of(lanes_, banks, [&](Lane& lane) {
                row_closes(lane, now);
                lane.activate = std::max(lane.activate, now + times_.precharge_all.count());
            });
            command_ = now + dram_.precharge_command.count();
            break;
        case AllBankCommand::Mac:
            command_ = now + slot(pim_.mac_slot());
            [[fallthrough]];
        case AllBankCommand::ArrayRead:
            for_each_of(lanes_, banks, [&](Lane& lane) {
                lane.precharge = std::max(lane.precharge, now + pim_.mac_to_precharge.count());
            });
            break;
        case AllBankCommand::ArrayWrite:
            for_each_of(lanes_, banks, [&](Lane& lane) {
                lane.precharge = std::max(lane.precharge, now + times_.write_to_precharge.count());
            });
            break;
        default:
            break;
    }
    if (!is_row_command(command)) {
        turn(command, now);
    }
}

// Beside the others' commands: it takes a CK of the command bus, none of their interval.
std::optional<std::int64_t> AllBankTiming::close_early(BankSet banks, std::int64_t before) {
    const std::int64_t when =
        std::max(last_ + dram_.column_command.count(), latest(banks, &Lane::precharge));
    if (open_row(banks) == kNoRow || when >= before) {
        return std::nullopt;
    }
    for_each_of(lanes_, banks, [&](Lane& lane) {
        row_closes(lane, when);
        lane.activate = std::max(lane.activate, when + times_.precharge_all.count());
    });
    last_ = when;
    return when;
}

// What the command does to the data bus.
void AllBankTiming::turn(AllBankCommand command, std::int64_t now) {
    switch (command) {
        case AllBankCommand::Mac:
        case AllBankCommand::ArrayRead:
            after_read(now);
            alu_ = pim_.fold_overlaps_turn ? alu_ : write_;
            break;
        case AllBankCommand::RegisterRead:  // brings no new sums
            after_read(now);
            break;
        case AllBankCommand::ArrayWrite:
        case AllBankCommand::RegisterWrite:
            after_write(now);
            break;
        default:
            data_end_ = std::max(data_end_, command_);
            break;
    }
}

void AllBankTiming::after_read(std::int64_t now) {
    if (pim_.bus_turnaround) {
        write_ = now + times_.mac_to_write.count();
        data_end_ = std::max(data_end_, now + (dram_.read_latency + dram_.burst).count());
    }
    data_end_ = std::max(data_end_, command_);
}

void AllBankTiming::after_write(std::int64_t now) {
    if (pim_.bus_turnaround) {
        mac_ = std::max(mac_, now + times_.write_to_mac.count());
        data_end_ = std::max(data_end_, now + (dram_.write_latency + dram_.burst).count());
    }
    data_end_ = std::max(data_end_, command_);
}

void AllBankTiming::host_turns(std::int64_t now) {
    const base::Cycles turn = pim_.bus_turnaround ? times_.write_to_mac : pim_.command_interval;
    mac_ = now + turn.count() + host_turn_;
}

std::int64_t AllBankTiming::one_by_one(std::int64_t count) const {
    return BankTiming::last_of_activates(dram_, count);
}

void AllBankTiming::delay(std::int64_t until) {
    command_ = std::max(command_, until);
}

void AllBankTiming::begin(std::int64_t now) {
    SIM_CHECK(!any_open(), "a turn begins with row {} open", open_row());
    command_ = std::max(command_, now);
    last_ = std::max(last_, now);
}

}  // namespace tilesim::arch::pim
