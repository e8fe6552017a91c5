#include "arch/memory/controller/memory_system.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/base/check.hpp"

namespace tilesim::arch::memory::controller {

MemorySystem::MemorySystem(const device::MemoryConfig& config, base::Femtoseconds lookahead,
                           base::EventQueue& queue, base::stats::Group& stats)
    : config_(config),
      map_(config),
      clock_(config.clock),
      lookahead_(lookahead),
      queue_(queue),
      group_(stats, "memory") {
    SIM_CHECK(lookahead > base::Femtoseconds{0}, "a memory needs a lookahead");
    const auto per_group = static_cast<std::size_t>(config.pseudo_channels);
    for (std::size_t i = 0; i < static_cast<std::size_t>(config.channels); ++i) {
        if (i % per_group == 0) {
            groups_.push_back(std::make_unique<ChannelGroup>(clock_, lookahead, queue));
        }
        channels_.push_back(make_channel(config_, i, group_, *this));
        groups_.back()->add(*channels_.back());
        seats_.push_back({.group = groups_.back().get(),
                          .member = i % per_group,
                          .arrivals = &channels_.back()->arrivals()});
    }
}

void MemorySystem::submit(const port::MemoryRequest& request) {
    SIM_CHECK(request.bytes > 0 && request.address >= 0, "memory request of {} bytes at {}",
              request.bytes, request.address);
    const std::int64_t size = config_.burst.count();
    const std::int64_t first = request.address / size;
    const std::int64_t last = (request.address + request.bytes - 1) / size;
    const std::int64_t arrival = clock_.first_cycle_from(request.arrival).count();
    const std::uint64_t index = pending_.take();
    pending_[index] = {request.client, request.tag, last - first + 1, arrival};
    ++requests_;
    map_.locate(first, last, [&](device::Location where) {
        Seat& seat = seats_[where.channel()];
        if (seat.part_of != requests_) {
            seat.part_of = requests_;
            seat.group->expect(seat.member, arrival);
        } else if (seat.part->is_continued_by(where)) {
            ++seat.part->count;
            return;
        }
        seat.part = &seat.arrivals->expect(request.write, index, where, arrival);
    });
    bytes_requested_ += request.bytes;
    end_ = std::max(end_, request.address + request.bytes);
}

void MemorySystem::lend(std::size_t channel, ChannelGuest& guest, base::Femtoseconds from) {
    const std::int64_t cycle = clock_.first_cycle_from(from).count();
    seats_[channel].group->expect(seats_[channel].member, cycle);
    channels_[channel]->invite(guest, cycle);
}

void MemorySystem::on_bursts_done(std::uint64_t request, std::int64_t bursts, std::int64_t when) {
    Pending& pending = pending_[request];
    pending.last = std::max(pending.last, when);
    pending.bursts_left -= bursts;
    if (pending.bursts_left == 0) {
        const Pending done = pending;
        pending_.give_back(request);
        done.client->on_memory_complete(done.tag, clock_.time_of(base::Cycles{done.last}));
    }
}

base::Femtoseconds MemorySystem::busy_until() const {
    std::int64_t latest = 0;
    for (const auto& channel : channels_) {
        latest = std::max(latest, channel->data_end());
    }
    return clock_.time_of(base::Cycles{latest});
}

bool MemorySystem::idle() const {
    return pending_.in_use() == 0 &&
           std::all_of(channels_.begin(), channels_.end(),
                       [](const auto& channel) { return channel->idle(); });
}

port::MemoryTotals MemorySystem::totals() const {
    port::MemoryTotals totals;
    totals.bytes_requested = bytes_requested_;
    totals.end = end_;
    for (const auto& channel : channels_) {
        const ChannelStats& stats = channel->stats();
        totals.bytes_read += stats.reads.value() * config_.burst.count();
        totals.bytes_written += stats.writes.value() * config_.burst.count();
        totals.row_hits += stats.row_hits.value();
        totals.bursts += stats.reads.value() + stats.writes.value();
        totals.activates += stats.activates.value();
        totals.refreshes += stats.refreshes.value();
        totals.row_open += stats.row_open.value();
        totals.any_row_open += stats.any_row_open.value();
        totals.peaks.raise(channel->peaks());
    }
    return totals;
}

port::BankUse MemorySystem::bank_use() const {
    port::BankUse use{config_.banks_per_group, {}};
    for (const auto& channel : channels_) {
        use.channels.push_back(channel->bank_counts());
    }
    return use;
}

void MemorySystem::listen(CommandListener* listener) {
    for (const auto& channel : channels_) {
        channel->listen(listener);
    }
}

void MemorySystem::limit_lookahead(base::Femtoseconds most) {
    SIM_CHECK(most > base::Femtoseconds{0} && pending_.most_in_use() == 0,
              "a memory's lookahead is shortened to {} fs before its first request", most.count());
    lookahead_ = std::min(lookahead_, most);
    for (const auto& group : groups_) {
        group->set_lookahead(lookahead_);
    }
}

std::vector<base::Block> MemorySystem::blocks() const {
    std::vector<base::Block> blocks;
    for (const auto& channel : channels_) {
        const std::string& path = channel->stats().path();
        blocks.push_back({path, channel->stats().component_class(), &channel->stats()});
        blocks.push_back({path + ".bus", "data_bus"});
        blocks.push_back({path + ".refresh", "refresh_engine"});
        for (std::int64_t bank = 0; bank < config_.banks(); ++bank) {
            blocks.push_back({fmt::format("{}.bank({})", path, bank), "dram_bank"});
        }
    }
    return blocks;
}

// Up to the present CK, which it returns.
std::int64_t MemorySystem::refresh_unwatched() {
    const std::int64_t now = clock_.cycle_at(queue_.now()).count();
    for (const auto& group : groups_) {
        group->refresh_unwatched(now);
    }
    return now;
}

void MemorySystem::count_unwatched() {
    const std::int64_t now = refresh_unwatched();
    for (const auto& channel : channels_) {
        channel->count_open_rows(now);
    }
}

void MemorySystem::finish_statistics() {
    const std::int64_t now = refresh_unwatched();
    for (const auto& channel : channels_) {
        channel->finish_statistics(now);
    }
}

}  // namespace tilesim::arch::memory::controller
