#include "arch/memory/controller/command_path.hpp"

#include <algorithm>
#include <bit>

#include "arch/memory/policy/partial_refresh.hpp"

namespace tilesim::arch::memory::controller {

using device::Command;

CommandPath::Recent::Recent(std::int64_t cycles)
    : paths_(std::bit_ceil(static_cast<std::size_t>(cycles))) {}

namespace {

// Channels are decided one after the other, each up to this long before the others.
constexpr std::int64_t kApart = 512;

}  // namespace

CommandPath::CommandPath(const device::MemoryConfig& config, CommandListener* next)
    : t_(config.timing),
      next_(next),
      banks_per_group_(static_cast<std::size_t>(config.banks_per_group)),
      banks_per_rank_(static_cast<std::size_t>(config.banks_per_rank())),
      channels_per_bus_(static_cast<std::size_t>(config.pseudo_channels)),
      pairs_(config.controller.refresh_policy == policy::PairRefresh::kName),
      channels_(static_cast<std::size_t>(config.channels)),
      buses_(channels_.size() / channels_per_bus_),
      split_(config.split_command_bus),
      arrivals_(kApart + (t_.read_latency + t_.burst).count()),
      others_(arrivals_.size(), MemoryPath::kLongAgo) {
    for (Channel& channel : channels_) {
        channel.banks.resize(static_cast<std::size_t>(config.banks()));
        channel.groups.resize(channel.banks.size() / banks_per_group_);
        channel.group_columns.resize(channel.groups.size());
        channel.ranks.resize(static_cast<std::size_t>(config.ranks));
    }
}

CommandPath::Wait CommandPath::behind(const MemoryPath& path, base::Cycles delay, MemoryPart part) {
    return {&path, path.until() + delay.count(), part};
}

void CommandPath::on_next_request(bool was_write, std::int64_t done, std::int64_t arrival) {
    if (auto path = answer_at(was_write, done)) {
        path->come(arrival);
        arrivals_.at(arrival) = *path;
    }
}

void CommandPath::on_last_answer(bool was_write, std::int64_t done) {
    last_answer_ = answer_at(was_write, done).value_or(MemoryPath(done));
}

void CommandPath::on_other_request(std::int64_t arrival) {
    others_[static_cast<std::size_t>(arrival) & (others_.size() - 1)] = arrival;
}

bool CommandPath::came_for_others(std::int64_t now) const {
    return others_[static_cast<std::size_t>(now) & (others_.size() - 1)] == now;
}

// What led to a read's data, or to a write's having been taken.
std::optional<MemoryPath> CommandPath::answer_at(bool was_write, std::int64_t done) {
    if (!was_write) {
        const Channel* answered = answered_at(done);
        return answered == nullptr ? std::nullopt : std::optional{answer_of(*answered)};
    }
    if (const MemoryPath* taken = arrivals_.find(done)) {
        return *taken;
    }
    return heard_ == nullptr ? std::nullopt : std::optional{*heard_};
}

// Whose last data come then; of several that have a part in a request maybe not the last heard.
const CommandPath::Channel* CommandPath::answered_at(std::int64_t done) const {
    if (last_heard_ == nullptr || last_heard_->data_end == done) {
        return last_heard_;
    }
    const auto found =
        std::find_if(channels_.begin(), channels_.end(),
                     [done](const Channel& channel) { return channel.data_end == done; });
    return found == channels_.end() ? last_heard_ : &*found;
}

// To the end of a channel's last data.
MemoryPath CommandPath::answer_of(const Channel& channel) const {
    MemoryPath path = *channel.last_column;
    path.charge_own(MemoryPart::Requests, channel.data_end - t_.burst.count());
    path.charge_own(MemoryPart::DataBus, channel.data_end);
    return path;
}

MemoryPath CommandPath::path() const {
    const auto last = std::max_element(
        channels_.begin(), channels_.end(),
        [](const Channel& a, const Channel& b) { return a.data_end < b.data_end; });
    return last->last_column == nullptr ? MemoryPath(0) : answer_of(*last);
}

// With two buses, one for rows and one for columns, it is decided on behind the other's command.
void CommandPath::wait_for_bus(Wait& wait, std::size_t channel, bool column) const {
    const auto& both = buses_[channel / channels_per_bus_];
    const Bus& own = both[column ? 1 : 0];
    const Bus& other = both[column ? 0 : 1];
    if (own.last != nullptr && own.free > wait.until) {
        if (own.free - wait.until <= own.free - own.last->until()) {
            wait.bus = own.free - wait.until;  // that one has just come before
            wait.until = own.free;
        } else {
            wait = {own.last, own.free, MemoryPart::CommandBus};
        }
    }
    if (split_ && other.last != nullptr) {
        consider(wait, {other.last, other.last->until(), MemoryPart::CommandBus});
    }
}

void CommandPath::wait_for_columns(Wait& wait, const Channel& channel, std::size_t bank,
                                   bool write) const {
    const auto after = [&](std::size_t last, bool was_write, base::Cycles delay,
                           base::Cycles data) {
        if (last != kNobody) {
            const Bank& it = channel.banks[last];
            Wait other = behind(was_write ? it.write : it.read, delay, MemoryPart::Turns);
            other.data = data.count();
            consider(wait, other);
        }
    };
    const Lasts& group = channel.groups[bank / banks_per_group_];
    const Lasts& rank = channel.ranks[rank_of(bank)].columns;
    const base::Cycles in_group = write ? t_.tCCD_L_WR : t_.tCCD_L;
    after(group.of(write), write, in_group, in_group);
    after(rank.of(write), write, t_.tCCD_S, t_.tCCD_S);
    if (write) {
        after(rank.read, false, t_.read_latency + t_.burst + t_.tRTW - t_.write_latency, t_.burst);
    } else {
        after(group.write, true, t_.write_latency + t_.burst + t_.tWTR_L, t_.burst);
        after(rank.write, true, t_.write_latency + t_.burst + t_.tWTR_S, t_.burst);
    }
    for (const Rank& other : channel.ranks) {
        if (&other.columns != &rank) {
            const base::Cycles gap =
                t_.burst + t_.tRTRS - (write ? t_.write_latency : t_.read_latency);
            after(other.columns.read, false, t_.read_latency + gap, t_.burst);
            after(other.columns.write, true, t_.write_latency + gap, t_.burst);
        }
    }
}

void CommandPath::wait_for_activates(Wait& wait, const Channel& channel, std::size_t bank) const {
    const Rank& rank = channel.ranks[rank_of(bank)];
    for (std::size_t i = 0; i < rank.activated.size(); ++i) {
        const std::size_t last = rank.activated[i];
        if (last == kNobody || channel.banks[last].activate.until() != rank.activates[i]) {
            continue;  // it has been activated again since: tRC lies between
        }
        const bool same_group = last / banks_per_group_ == bank / banks_per_group_;
        const base::Cycles apart = same_group ? t_.tRRD_L : t_.tRRD_S;
        const MemoryPath& path = channel.banks[last].activate;
        consider(wait, behind(path, i == rank.oldest ? std::max(apart, t_.tFAW) : apart,
                              MemoryPart::Activates));
    }
}

void CommandPath::lead(MemoryPath& path, const Wait& wait, std::int64_t now) {
    const MemoryPath* came = wait.until < now ? arrivals_.find(now) : nullptr;
    if (came != nullptr) {
        path = *came;
        return;
    }
    const bool for_others = wait.until < now && came_for_others(now);
    if (wait.behind == nullptr || wait.behind->until() < from_) {  // nothing that was heard of
        path = MemoryPath(for_others ? from_ : now);
        path.charge(MemoryPart::Others, now);
        return;
    }
    path = *wait.behind;
    if (wait.data > 0) {
        path.charge(MemoryPart::DataBus, path.until() + wait.data);
    }
    if (wait.own) {
        path.charge_own(wait.part, wait.until - wait.bus);
    } else {
        path.charge(wait.part, wait.until - wait.bus);
    }
    if (wait.until != now || wait.bus > 0) {
        path.charge(MemoryPart::CommandBus, wait.until);
        if (for_others) {
            path.charge(MemoryPart::Others, now);
        } else {
            path.charge_own(MemoryPart::Requests, now);
        }
    }
}

void CommandPath::carry(std::size_t channel, bool column, const MemoryPath& path,
                        base::Cycles length) {
    auto& both = buses_[channel / channels_per_bus_];
    const Bus bus{&path, path.until() + length.count()};
    both[column ? 1 : 0] = bus;
    if (!split_) {
        both[column ? 0 : 1] = bus;
    }
    Channel& it = channels_[channel];
    (column ? it.column_commands : it.row_commands) += length.count();
    heard_ = &path;
}

void CommandPath::activate(std::size_t channel, std::size_t bank, std::int64_t now) {
    Channel& it = channels_[channel];
    Bank& its = it.banks[bank];
    Rank& rank = it.ranks[rank_of(bank)];
    Wait wait;
    wait_for_activates(wait, it, bank);
    Wait closed = behind(its.precharge, base::Cycles{its.closing}, MemoryPart::Rows);
    closed.own = true;
    consider(wait, closed);
    consider(wait, behind(its.activate, t_.tRC, MemoryPart::Rows));
    consider(wait, {&its.refresh, its.refreshed, MemoryPart::Refresh, 0, true});
    Wait beside = behind(rank.partial_refresh, t_.tREFpb_to_ACT, MemoryPart::Refresh);
    beside.own = true;
    consider(wait, beside);
    wait_for_bus(wait, channel, false);
    lead(its.activate, wait, now);
    its.written = false;
    its.open = true;
    rank.activated[rank.oldest] = bank;
    rank.activates[rank.oldest] = now;
    rank.oldest = (rank.oldest + 1) % rank.activated.size();
    const base::Cycles apart = it.groups.size() == 1 ? t_.tRRD_L : t_.tRRD_S;
    it.needs.activates += std::max(apart.count(), t_.tFAW.count() / 4);
    carry(channel, false, its.activate, t_.activate_command);
}

// What keeps its row open.
void CommandPath::wait_for_row(Wait& wait, const Bank& bank) const {
    for (const Wait& each :
         {behind(bank.activate, t_.tRAS, MemoryPart::Rows),
          behind(bank.read, t_.tRTP, MemoryPart::Rows),
          behind(bank.write, t_.write_latency + t_.burst + t_.tWR, MemoryPart::Rows)}) {
        consider(wait, each);
    }
}

void CommandPath::close(Bank& bank, std::int64_t takes) const {
    if (bank.open) {
        bank.need += visit(bank);
        bank.open = false;
    }
    bank.closing = takes;
}

// What a row takes at least.
std::int64_t CommandPath::visit(const Bank& bank) const {
    const base::Cycles last = bank.written ? t_.write_latency + t_.burst + t_.tWR : t_.tRTP;
    return std::max(t_.tRC, opening(bank.written) + last + t_.tRP).count();
}

void CommandPath::precharge(std::size_t channel, std::size_t bank, std::int64_t now) {
    Channel& it = channels_[channel];
    Bank& its = it.banks[bank];
    Wait wait;
    wait_for_row(wait, its);
    if (it.last_precharge != nullptr) {
        consider(wait, behind(*it.last_precharge, t_.tPPD, MemoryPart::CommandBus));
    }
    wait_for_bus(wait, channel, false);
    lead(its.precharge, wait, now);
    close(its, t_.tRP.count());
    it.last_precharge = &its.precharge;
    carry(channel, false, its.precharge, t_.precharge_command);
}

void CommandPath::precharge_all(std::size_t channel, std::size_t bank, std::int64_t now) {
    Channel& it = channels_[channel];
    const std::size_t first = rank_of(bank) * banks_per_rank_;
    Wait wait;
    for (std::size_t each = first; each < first + banks_per_rank_; ++each) {
        wait_for_row(wait, it.banks[each]);
    }
    wait.part = MemoryPart::Refresh;  // rows are closed for it
    wait.own = true;
    wait_for_bus(wait, channel, false);
    MemoryPath path;
    lead(path, wait, now);
    for (std::size_t each = first; each < first + banks_per_rank_; ++each) {
        it.banks[each].precharge = path;
        close(it.banks[each], t_.all_banks_tRP().count());
    }
    it.last_precharge = &it.banks[first].precharge;
    carry(channel, false, it.banks[first].precharge, t_.precharge_command);
}

void CommandPath::refresh(std::size_t channel, Command command, std::size_t bank,
                          std::int64_t now) {
    Channel& it = channels_[channel];
    Rank& rank = it.ranks[rank_of(bank)];
    const bool all = command == Command::Refresh;
    const base::Cycles takes = all ? t_.tRFC : t_.tRFC_pb;
    Wait wait;
    for_refreshed(command, bank, [&](std::size_t each) {
        const Bank& its = it.banks[each];
        consider(wait, behind(its.precharge, base::Cycles{its.closing}, MemoryPart::Refresh));
        consider(wait, behind(its.activate, t_.tRC, MemoryPart::Refresh));
        consider(wait, {&its.refresh, its.refreshed, MemoryPart::Refresh});
    });
    if (!all) {
        consider(wait, behind(rank.partial_refresh, t_.tREFpb_to_REFpb, MemoryPart::Refresh));
    }
    wait_for_bus(wait, channel, false);
    MemoryPath path;
    lead(path, wait, now);
    for_refreshed(command, bank, [&](std::size_t each) {
        Bank& its = it.banks[each];
        its.refresh = path;
        its.refreshed = now + takes.count();
        its.need += all ? 0 : takes.count();
    });
    if (all) {
        it.needs.refresh += takes.count();
    } else {
        rank.partial_refresh = path;
    }
    carry(channel, false, it.banks[bank].refresh, t_.precharge_command);
}

template <class Action>
void CommandPath::for_refreshed(Command command, std::size_t first, Action action) const {
    const std::size_t step = command == Command::Refresh       ? 1
                             : command == Command::RefreshSame ? banks_per_group_
                             : pairs_                          ? banks_per_rank_ / 2
                                                               : banks_per_rank_;
    const std::size_t end = (rank_of(first) + 1) * banks_per_rank_;
    for (std::size_t bank = first; bank < end; bank += step) {
        action(bank);
    }
}

void CommandPath::column(std::size_t channel, std::size_t bank, bool write, std::int64_t now) {
    Channel& it = channels_[channel];
    Bank& its = it.banks[bank];
    Wait wait;
    wait_for_columns(wait, it, bank, write);
    Wait opened = behind(its.activate, opening(write), MemoryPart::Rows);
    opened.own = true;
    consider(wait, opened);
    wait_for_bus(wait, channel, true);
    MemoryPath& path = write ? its.write : its.read;
    lead(path, wait, now);
    its.written = its.written || write;
    (write ? it.groups[bank / banks_per_group_].write : it.groups[bank / banks_per_group_].read) =
        bank;
    Lasts& rank = it.ranks[rank_of(bank)].columns;
    (write ? rank.write : rank.read) = bank;
    it.needs.data_bus += std::max(t_.burst, t_.tCCD_S).count();
    it.group_columns[bank / banks_per_group_] += (write ? t_.tCCD_L_WR : t_.tCCD_L).count();
    if (it.last_column != nullptr && write != it.last_write) {
        const base::Cycles to_read = it.groups.size() == 1 ? t_.tWTR_L : t_.tWTR_S;
        it.needs.turns += (write ? t_.tRTW : to_read + t_.read_latency).count();
    }
    it.last_write = write;
    carry(channel, true, path, t_.column_command);
    it.last_column = &path;
    it.data_end = now + (write ? t_.write_latency : t_.read_latency).count() + t_.burst.count();
    last_heard_ = &it;
}

void CommandPath::on_command(std::size_t channel, Command command, std::size_t bank,
                             std::int64_t row, std::int64_t now) {
    if (begun_) {
        hear(channel, command, bank, now);
    }
    if (next_ != nullptr) {
        next_->on_command(channel, command, bank, row, now);
    }
}

void CommandPath::hear(std::size_t channel, Command command, std::size_t bank, std::int64_t now) {
    switch (command) {
        case Command::Activate:
            activate(channel, bank, now);
            break;
        case Command::Precharge:
            precharge(channel, bank, now);
            break;
        case Command::PrechargeAll:
            precharge_all(channel, bank, now);
            break;
        default:
            refresh(channel, command, bank, now);
            break;
    }
}

void CommandPath::on_column(std::size_t channel, Command command, std::size_t bank,
                            std::int64_t row, std::int64_t now, const policy::Burst& burst) {
    if (begun_) {
        column(channel, bank, device::column_of(command) == Command::Write, now);
    }
    if (begun_ && device::column_of(command) != command) {  // its row closes as soon as it may
        Bank& its = channels_[channel].banks[bank];
        Wait wait;
        wait_for_row(wait, its);
        lead(its.precharge, wait, wait.until);
        close(its, t_.tRP.count());
    }
    if (next_ != nullptr) {
        next_->on_column(channel, command, bank, row, now, burst);
    }
}

std::vector<ChannelNeeds> CommandPath::needs() const {
    std::vector<ChannelNeeds> needs;
    std::vector<std::int64_t> rows(buses_.size());
    std::vector<std::int64_t> columns(buses_.size());
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        rows[i / channels_per_bus_] += channels_[i].row_commands;
        columns[i / channels_per_bus_] += channels_[i].column_commands;
    }
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        const Channel& channel = channels_[i];
        ChannelNeeds it = channel.needs;
        it.data_bus = std::max(it.data_bus, *std::max_element(channel.group_columns.begin(),
                                                              channel.group_columns.end()));
        for (const Bank& bank : channel.banks) {
            it.rows =
                std::max(it.rows, bank.need + (bank.open ? opening(bank.written).count() : 0));
        }
        const std::size_t bus = i / channels_per_bus_;
        it.command_bus = split_ ? std::max(rows[bus], columns[bus]) : rows[bus] + columns[bus];
        needs.push_back(it);
    }
    return needs;
}

}  // namespace tilesim::arch::memory::controller
