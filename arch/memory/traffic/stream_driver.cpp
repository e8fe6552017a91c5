#include "arch/memory/traffic/stream_driver.hpp"

#include <algorithm>

namespace tilesim::arch::memory::traffic {

namespace {
constexpr std::uint64_t kWriteTag = UINT64_MAX;
}  // namespace

StreamDriver::StreamDriver(const StreamConfig& config, port::MemoryPort& memory)
    : config_(config), source_(config), memory_(memory), clock_(memory.clock()) {}

base::Femtoseconds StreamDriver::latency(const device::MemoryConfig& memory) {
    // Edges are rounded up to femtoseconds: two of them may lie that much closer.
    return base::Clock{memory.clock}.time_of(kLatency) - base::Femtoseconds{1};
}

void StreamDriver::start() {
    if (listener_ != nullptr && heard_from_ < config_.outstanding) {
        listener_->on_first_request(kLatency.count());
    }
    while (issued_ < source_.size() && issued_ < config_.outstanding) {
        issue(kLatency);
    }
}

void StreamDriver::issue(base::Cycles arrival) {
    const base::Femtoseconds when = clock_.time_of(arrival);
    const StreamRequest request = source_.request(issued_);
    std::uint64_t tag = kWriteTag;
    if (!request.write) {
        if (free_tags_.empty()) {
            free_tags_.push_back(arrived_.size());
            arrived_.emplace_back();
        }
        tag = free_tags_.back();
        free_tags_.pop_back();
        arrived_[tag] = when;
    }
    memory_.submit({request.address, request.bytes, request.write, this, tag, when});
    bytes_ += request.bytes;
    ++issued_;
}

void StreamDriver::on_memory_complete(std::uint64_t tag, base::Femtoseconds when) {
    ++completed_;
    last_ = std::max(last_, when);
    if (tag != kWriteTag) {
        latencies_.push_back(when - arrived_[tag]);
        free_tags_.push_back(tag);
    }
    if (issued_ < source_.size()) {
        // An agent's time may have begun between two of the memory's edges, and so do answers come.
        const base::Cycles done = clock_.first_cycle_from(when);
        const base::Cycles arrival = done + kLatency;
        if (listener_ != nullptr && issued_ > heard_from_) {
            listener_->on_next_request(tag == kWriteTag, done.count(), arrival.count());
        } else if (listener_ != nullptr && issued_ == heard_from_) {
            listener_->on_first_request(arrival.count());
        }
        issue(arrival);
    } else if (listener_ != nullptr && completed_ == source_.size()) {
        listener_->on_last_answer(tag == kWriteTag, clock_.first_cycle_from(when).count());
    }
}

StreamResult StreamDriver::result() const {
    StreamResult result;
    result.time = std::max(last_, memory_.busy_until()) - clock_.time_of(kLatency);
    result.requests = completed_;
    result.reads = static_cast<std::int64_t>(latencies_.size());
    result.bytes = bytes_;
    if (!latencies_.empty()) {
        std::vector<base::Femtoseconds> latencies = latencies_;
        auto sorted = latencies.begin();  // everything before it is below everything from it on
        const auto rank = [&](std::size_t permille) {
            const auto place =
                static_cast<std::ptrdiff_t>((latencies.size() - 1) * permille / 1000);
            std::nth_element(sorted, latencies.begin() + place, latencies.end());
            sorted = latencies.begin() + place;
            return *sorted;
        };
        result.latency_p50 = rank(500);
        result.latency_p90 = rank(900);
        result.latency_p99 = rank(990);
        result.latency_max = *std::max_element(sorted, latencies.end());
    }
    return result;
}

}  // namespace tilesim::arch::memory::traffic
