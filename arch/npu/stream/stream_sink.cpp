// The receiver's end of a stream.
#include <algorithm>

#include "arch/base/check.hpp"
#include "arch/npu/stream/stream_flow.hpp"

namespace tilesim::arch::npu::stream {

using base::Cycles;

namespace {

// Tags of a receiver's events: the end of a transfer (0), a word that is no header where one must
// stand, or from here on a packet and what it names.
constexpr std::uint64_t kNoHeader = 1;
constexpr std::uint64_t kPacket = 2;

}  // namespace

void StreamSink::begin(std::int64_t words, Cycles from) {
    SIM_CHECK(remaining_ == 0, "a receiver began a transfer before the last one had ended");
    remaining_ = words;
    parts_.clear();
    free_ = std::max(free_, scheduler_->ticks(from));
    if (feeds_.size() > 1) {  // what arrived first is taken first
        std::stable_sort(feeds_.begin(), feeds_.end(), [this](auto* a, auto* b) {
            return a->first_arrival(*this) < b->first_arrival(*this);
        });
    }
    for (StreamFlow* flow : feeds_) {
        flow->sink_ready(*this);
    }
}

void StreamSink::await_packet() {
    awaiting_packet_ = true;
    const StreamFlow* first = nullptr;
    for (const StreamFlow* flow : feeds_) {
        const Cycles arrival = flow->first_arrival(*this);
        const bool earlier = first == nullptr || arrival < first->first_arrival(*this);
        first = arrival < Cycles{INT64_MAX} && earlier ? flow : first;
    }
    if (first == nullptr) {
        return;
    }
    const Cycles arrival = first->first_arrival(*this);
    if (arrival > scheduler_->now()) {
        follow(client_.critical_path(), first->source().critical_path());
    }
    announce(arrival, first->descriptor_of_first(*this));
}

void StreamSink::announce(Cycles arrival, std::optional<std::int64_t> descriptor) {
    awaiting_packet_ = false;
    scheduler_->at(std::max(scheduler_->now(), arrival), *this,
                   descriptor ? kPacket + static_cast<std::uint64_t>(*descriptor) : kNoHeader);
}

StreamSink::Taken StreamSink::consume(StreamFlow& flow, std::size_t branch, std::int64_t words,
                                      Cycles arrival) {
    const std::int64_t taken = std::min(words, remaining_);
    const Cycles start = std::max(free_, arrival);
    if (arrival > free_) {
        follow(client_.critical_path(), flow.source().critical_path());
    }
    free_ = start + Cycles{taken};
    remaining_ -= taken;
    client_.on_words_taken(taken, start);
    if (functional_) {
        add_part(flow, branch, taken);
    }
    if (remaining_ == 0) {
        scheduler_->at(free_, *this);
    }
    return {taken, start};
}

void StreamSink::add_part(StreamFlow& flow, std::size_t branch, std::int64_t words) {
    if (parts_.empty() || parts_.back().flow != &flow || parts_.back().branch != branch) {
        parts_.push_back({&flow, branch, 0});
    }
    parts_.back().words += words;
}

void StreamSink::take_words(const std::function<void(std::span<const std::uint32_t>)>& use) {
    for (const Part& part : parts_) {
        part.flow->take_words(part.branch, part.words, use);
    }
    parts_.clear();
}

void StreamSink::on_event(std::uint64_t tag, base::Femtoseconds) {
    if (tag >= kPacket) {
        client_.on_packet(static_cast<std::int64_t>(tag - kPacket));
    } else if (tag == kNoHeader) {
        client_.on_packet(std::nullopt);
    } else {
        client_.on_stream_received(scheduler_->cycles(scheduler_->now()));
    }
}

}  // namespace tilesim::arch::npu::stream
