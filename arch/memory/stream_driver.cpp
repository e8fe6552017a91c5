#include "arch/memory/stream_driver.hpp"

#include <algorithm>

namespace tilesim::arch::memory {

namespace {
constexpr std::uint64_t kWriteTag = UINT64_MAX;
}

StreamDriver::StreamDriver(const StreamConfig& config, MemorySystem& memory,
                           base::EventQueue& queue)
    : config_(config), source_(config), memory_(memory), queue_(queue) {}

void StreamDriver::start() {
    queue_.at(queue_.now(), *this);
}

void StreamDriver::on_event(std::uint64_t, base::Femtoseconds) {
    issue();
}

void StreamDriver::issue() {
    while (!full_ && issued_ < source_.size() && issued_ - completed_ < config_.outstanding) {
        const StreamRequest request = source_.request(issued_);
        std::uint64_t tag = kWriteTag;
        if (!request.write) {
            if (free_tags_.empty()) {
                free_tags_.push_back(submitted_.size());
                submitted_.emplace_back();
            }
            tag = free_tags_.back();
        }
        if (!memory_.submit({request.address, request.bytes, request.write, this, tag})) {
            full_ = true;
            return;
        }
        if (!request.write) {
            free_tags_.pop_back();
            submitted_[tag] = queue_.now();
        }
        bytes_ += request.bytes;
        ++issued_;
    }
}

void StreamDriver::on_memory_complete(std::uint64_t tag, base::Femtoseconds now) {
    ++completed_;
    if (tag != kWriteTag) {
        latencies_.push_back(now - submitted_[tag]);
        free_tags_.push_back(tag);
    }
    issue();
}

void StreamDriver::on_memory_room(base::Femtoseconds) {
    full_ = false;
    issue();
}

StreamResult StreamDriver::result() {
    StreamResult result;
    result.time = queue_.now();
    result.requests = completed_;
    result.bytes = bytes_;
    std::sort(latencies_.begin(), latencies_.end());
    if (!latencies_.empty()) {
        const auto rank = [this](std::size_t permille) {
            return latencies_[(latencies_.size() - 1) * permille / 1000];
        };
        result.latency_p50 = rank(500);
        result.latency_p90 = rank(900);
        result.latency_p99 = rank(990);
        result.latency_max = latencies_.back();
    }
    return result;
}

}  // namespace tilesim::arch::memory
