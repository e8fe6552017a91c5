#include "sim/session/contention.hpp"

#include <algorithm>

namespace tilesim::sim::session {

using arch::memory::controller::BusState;
using arch::memory::device::column_of;
using arch::memory::device::Command;
using arch::memory::device::Location;
using arch::memory::port::MemoryRequest;

Contention::Contention(const arch::memory::controller::MemorySystem& memory, std::size_t agents,
                       arch::memory::controller::CommandListener* next)
    : memory_(memory),
      agents_(agents),
      next_(next),
      map_(memory.config()),
      clock_(memory.config().clock),
      asking_(agents),
      channels_(memory.channels().size()),
      waited_(agents * agents, 0),
      rows_lost_(agents * agents, 0) {
    for (std::size_t i = 0; i < agents; ++i) {
        asking_[i].all = this;
        asking_[i].agent = i;
    }
    for (Channel& channel : channels_) {
        channel.asked.resize(agents);
        channel.banks.resize(static_cast<std::size_t>(memory.config().banks()));
        for (Bank& bank : channel.banks) {
            bank.rows.assign(agents, -1);
        }
    }
}

std::uint64_t Contention::key_of(std::size_t channel, std::size_t bank, std::int64_t row,
                                 bool write) {
    constexpr unsigned kBankBits = 8, kChannelBits = 8;
    return ((static_cast<std::uint64_t>(row) << kChannelBits | channel) << kBankBits | bank) << 1 |
           (write ? 1 : 0);
}

const Contention::Waiting* Contention::find(std::uint64_t key) const {
    const auto found = waiting_.find(key);
    return found == waiting_.end() ? nullptr : &found->second;
}

std::optional<std::size_t> Contention::first_of_row(std::size_t channel, std::size_t bank,
                                                    std::int64_t row) const {
    const Waiting* const reads = find(key_of(channel, bank, row, false));
    const Waiting* const writes = find(key_of(channel, bank, row, true));
    if (reads == nullptr && writes == nullptr) {
        return std::nullopt;
    }
    const bool read_first = reads != nullptr && (writes == nullptr ||
                                                 reads->front().arrival <= writes->front().arrival);
    return (read_first ? reads : writes)->front().agent;
}

std::optional<std::size_t> Contention::take_first(std::uint64_t key) {
    const auto found = waiting_.find(key);
    if (found == waiting_.end()) {
        return std::nullopt;
    }
    Waiting& waiting = found->second;
    const std::size_t agent = waiting.front().agent;
    waiting.erase(waiting.begin());
    if (waiting.empty()) {
        waiting_.erase(found);
    }
    return agent;
}

void Contention::Asking::on_request(const MemoryRequest& request) {
    bytes += request.bytes;
    all->ask(agent, request);
}

void Contention::ask(std::size_t agent, const MemoryRequest& request) {
    for (const Asking& each : asking_) {
        if (each.agent != agent && each.hearing.requests != nullptr) {
            each.hearing.requests->on_request(request);
        }
    }
    const std::int64_t size = memory_.config().burst.count();
    const std::int64_t arrival = clock_.first_cycle_from(request.arrival).count();
    const std::int64_t last = (request.address + request.bytes - 1) / size;
    map_.locate(request.address / size, last, [&](Location where) {
        auto& asked = channels_[where.channel()].asked[agent];
        const auto place = std::upper_bound(asked.begin(), asked.end(), arrival);
        asked.insert(place, arrival);
        Waiting& waiting =
            waiting_[key_of(where.channel(), where.bank(), where.row(), request.write)];
        const auto before = std::upper_bound(
            waiting.begin(), waiting.end(), arrival,
            [](std::int64_t time, const Asked& other) { return time < other.arrival; });
        waiting.insert(before, {arrival, agent});
    });
}

void Contention::on_command(std::size_t channel, Command command, std::size_t bank,
                            std::int64_t row, std::int64_t now) {
    const auto tell = [&](arch::memory::controller::CommandListener* listener) {
        if (listener != nullptr) {
            listener->on_command(channel, command, bank, row, now);
        }
    };
    tell(next_);
    for (const Asking& each : asking_) {
        tell(each.hearing.commands);
    }
    if (command == Command::Activate) {
        if (const auto agent = first_of_row(channel, bank, row)) {
            open(channels_[channel].banks[bank], *agent, row);
        }
    }
}

void Contention::on_column(std::size_t channel, Command command, std::size_t bank, std::int64_t row,
                           std::int64_t now, const arch::memory::policy::Burst& burst) {
    const auto tell = [&](arch::memory::controller::CommandListener* listener) {
        if (listener != nullptr) {
            listener->on_column(channel, command, bank, row, now, burst);
        }
    };
    tell(next_);
    for (const Asking& each : asking_) {
        tell(each.hearing.commands);
    }
    const bool write = column_of(command) == Command::Write;
    if (const auto agent = take_first(key_of(channel, bank, row, write))) {
        serve(channel, *agent, now);
    }
}

void Contention::open(Bank& bank, std::size_t agent, std::int64_t row) {
    if (bank.rows[agent] == row && bank.last && *bank.last != agent) {
        ++rows_lost_[agent * agents_ + *bank.last];
    }
    bank.rows[agent] = row;
    bank.last = agent;
}

// A burst of the agent has its command: since the one before, the channel worked for it, but for
// what it was lent.
void Contention::serve(std::size_t index, std::size_t agent, std::int64_t now) {
    Channel& channel = channels_[index];
    std::int64_t from = channel.until;
    if (guest_) {
        const std::int64_t lent =
            memory_.channels()[index]->stats().bus.spent(static_cast<std::size_t>(BusState::Guest));
        const std::int64_t until = std::min(now, from + lent - channel.lent);
        channel.lent = lent;
        charge(channel, *guest_, from, until);
        from = std::max(from, until);
    }
    charge(channel, agent, from, now);
    channel.until = std::max(channel.until, now);
    if (!channel.asked[agent].empty()) {
        channel.asked[agent].pop_front();
    }
}

void Contention::charge(const Channel& channel, std::size_t worked_for, std::int64_t from,
                        std::int64_t until) {
    for (std::size_t agent = 0; agent < agents_; ++agent) {
        if (!channel.asked[agent].empty()) {
            const std::int64_t since = std::max(from, channel.asked[agent].front());
            waited_[agent * agents_ + worked_for] += std::max<std::int64_t>(0, until - since);
        }
    }
}

}  // namespace tilesim::sim::session
