#include "arch/memory/memory_system.hpp"

#include <algorithm>
#include <utility>

#include "arch/base/check.hpp"

namespace tilesim::arch::memory {

namespace {
constexpr std::uint64_t kRoom = UINT64_MAX;  // event tag: tell refused clients
}

MemorySystem::MemorySystem(const MemoryConfig& config, base::EventQueue& queue,
                           base::stats::Group& stats)
    : config_(config),
      map_(config),
      queue_(queue),
      group_(stats, "memory"),
      per_channel_(static_cast<std::size_t>(config.channels), 0) {
    for (std::size_t i = 0; i < per_channel_.size(); ++i) {
        channels_.push_back(std::make_unique<Channel>(config_, i, queue_, group_, *this));
    }
}

std::uint64_t MemorySystem::slot() {
    if (free_.empty()) {
        pending_.emplace_back();
        return pending_.size() - 1;
    }
    const std::uint64_t index = free_.back();
    free_.pop_back();
    return index;
}

bool MemorySystem::submit(const MemoryRequest& request) {
    SIM_CHECK(request.bytes > 0 && request.address >= 0, "memory request of {} bytes at {}",
              request.bytes, request.address);
    const std::int64_t size = config_.burst.count();
    const std::int64_t first = request.address / size;
    const std::int64_t last = (request.address + request.bytes - 1) / size;
    touched_.clear();
    std::fill(per_channel_.begin(), per_channel_.end(), 0);
    for (std::int64_t burst = first; burst <= last; ++burst) {
        touched_.push_back(map_.locate(burst));
        ++per_channel_[static_cast<std::size_t>(touched_.back().channel)];
    }
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        if (!channels_[i]->has_room(request.write, per_channel_[i])) {
            if (std::find(refused_.begin(), refused_.end(), request.client) == refused_.end()) {
                refused_.push_back(request.client);
            }
            return false;
        }
    }
    const std::uint64_t index = slot();
    pending_[index] = {request.client, request.tag, request.write ? 0 : last - first + 1,
                       queue_.now()};
    for (const Location& where : touched_) {
        channels_[static_cast<std::size_t>(where.channel)]->enqueue(where, request.write, index);
    }
    if (request.write) {  // taken over: done as far as the client is concerned
        queue_.at(queue_.now(), *this, index);
    }
    bytes_requested_ += request.bytes;
    return true;
}

void MemorySystem::on_burst_read(std::uint64_t request, base::Femtoseconds when) {
    Pending& pending = pending_[request];
    pending.last = std::max(pending.last, when);
    if (--pending.bursts_left == 0) {
        queue_.at(pending.last, *this, request);
    }
}

void MemorySystem::on_channel_room() {
    if (!refused_.empty() && !room_event_) {
        room_event_ = true;
        queue_.at(queue_.now(), *this, kRoom);
    }
}

void MemorySystem::on_event(std::uint64_t tag, base::Femtoseconds now) {
    if (tag == kRoom) {
        room_event_ = false;
        const std::vector<MemoryClient*> clients = std::exchange(refused_, {});
        for (MemoryClient* client : clients) {
            client->on_memory_room(now);
        }
        return;
    }
    const Pending done = pending_[tag];
    free_.push_back(tag);
    done.client->on_memory_complete(done.tag, now);
}

bool MemorySystem::idle() const {
    return free_.size() == pending_.size() &&
           std::all_of(channels_.begin(), channels_.end(),
                       [](const auto& channel) { return channel->idle(); });
}

MemoryTotals MemorySystem::totals() const {
    MemoryTotals totals;
    totals.bytes_requested = bytes_requested_;
    for (const auto& channel : channels_) {
        const ChannelStats& stats = channel->stats();
        totals.bytes_read += stats.reads.value() * config_.burst.count();
        totals.bytes_written += stats.writes.value() * config_.burst.count();
        totals.row_hits += stats.row_hits.value();
        totals.bursts += stats.reads.value() + stats.writes.value();
        totals.activates += stats.activates.value();
        totals.refreshes += stats.refreshes.value();
    }
    return totals;
}

void MemorySystem::listen(CommandListener* listener) {
    for (const auto& channel : channels_) {
        channel->listen(listener);
    }
}

void MemorySystem::finish_statistics() {
    for (const auto& channel : channels_) {
        channel->finish_statistics();
    }
}

}  // namespace tilesim::arch::memory
