#include "arch/npu/stream/stream_flow.hpp"

#include <algorithm>
#include <utility>

#include "arch/base/check.hpp"

namespace tilesim::arch::npu::stream {

using base::Cycles;

StreamFlow::StreamFlow(std::string name, CycleScheduler& scheduler, StreamSourceClient& source,
                       const std::vector<Branch>& branches, std::vector<StreamArbiter*> arbiters,
                       std::optional<std::uint32_t> header, bool keep_header, bool functional)
    : name_(std::move(name)),
      scheduler_(scheduler),
      source_(source),
      arbiters_(std::move(arbiters)),
      header_(header),
      keep_header_(keep_header),
      functional_(functional) {
    for (const Branch& branch : branches) {
        branches_.push_back({.branch = branch});
        branch.sink->feeds_.push_back(this);
        branch.sink->functional_ = functional;
        branch.sink->scheduler_ = &scheduler_;
    }
}

void StreamFlow::set_sending_port(StreamArbiter& port) {
    arbiters_.insert(arbiters_.begin(), &port);
    has_sending_port_ = true;
}

void StreamFlow::begin(std::int64_t words, std::int64_t available, Cycles from,
                       const PacketPart& part) {
    SIM_CHECK(!active_, "{}: a transfer began before the last one had ended", name_);
    active_ = true;
    unsent_ = words;
    available_ = available;
    transfer_unpumped_ = words;
    push_free_ = std::max(push_free_, scheduler_.ticks(from));
    ends_packet_ = part.ends;
    if (header_ && part.begins) {
        begin_packet(part);
    }
    if (hold_arbiters()) {
        progress();
    }
}

void StreamFlow::begin_packet(const PacketPart& part) {
    std::int64_t taken = pushed_;
    for (const BranchState& state : branches_) {
        taken = std::min(taken, state.taken);
    }
    while (packets_.size() > 1 && packets_[1].from <= taken) {
        packets_.pop_front();
    }
    packets_.push_back({pushed_, part.descriptor});
    if (part.header_in_data) {
        header_due_ = !keep_header_;
        header_unread_ = header_due_;
        transfer_unpumped_ -= header_due_ ? 1 : 0;
    } else if (keep_header_) {
        ++unsent_;
        ++available_;
        header_unpumped_ = true;
    } else {
        push_free_ += Cycles{1};  // the header passes the switches and is dropped at the end
    }
    for (BranchState& state : branches_) {
        if (keep_header_ && state.branch.drops_header) {
            state.headers.push_back(pushed_);
            if (functional_) {
                state.unread_headers.push_back(pushed_);
            }
        }
    }
}

// The same for a header that the source has among its words.
void StreamFlow::pass_header() {
    header_due_ = false;
    --unsent_;
    --available_;
    push_free_ += Cycles{1};
    source_.on_stream_pushed(1, 1, push_free_);
    if (unsent_ == 0) {
        scheduler_.at(push_free_, *this);
    }
}

void StreamFlow::supply(std::int64_t words, Cycles from) {
    available_ += words;
    push_free_ = std::max(push_free_, scheduler_.ticks(from));
    progress();
}

void StreamFlow::sink_ready(StreamSink& sink) {
    if (unsent_ > 0 && available_ > 0 && push_free_ < scheduler_.now()) {
        follow(source_.critical_path(), sink.client_.critical_path());
    }
    progress();
}

bool StreamFlow::hold_arbiters() {
    while (arbiters_held_ < arbiters_.size()) {
        if (!arbiters_[arbiters_held_]->request(*this)) {
            return false;
        }
        ++arbiters_held_;
    }
    return true;
}

void StreamFlow::on_arbiter_granted() {
    ++arbiters_held_;
    if (hold_arbiters()) {
        progress();
    }
}

// Adds a segment, as part of the last one where it follows without a gap.
void StreamFlow::append(base::Ring<Segment>& segments, std::int64_t words, Cycles start) {
    if (!segments.empty() && segments.back().start + Cycles{segments.back().words} == start) {
        segments.back().words += words;
    } else {
        Segment& segment = base::append(segments);
        segment.words = words;
        segment.start = start;
    }
}

// Hands arriving words to a receiver that accepts them.
void StreamFlow::deliver(BranchState& state, std::size_t index) {
    StreamSink& sink = *state.branch.sink;
    while (!state.arriving.empty()) {
        if (drop_header(state)) {
            continue;
        }
        if (!sink.waiting()) {
            return;
        }
        Segment& segment = state.arriving.front();
        const std::int64_t in_front =
            state.headers.empty() ? segment.words : state.headers.front() - state.taken;
        const auto [words, start] =
            sink.consume(*this, index, std::min(segment.words, in_front), segment.start);
        state.taken += words;
        append(state.taken_at, words, start);
        if (words == segment.words) {
            state.arriving.pop_front();
        } else {
            segment = {segment.words - words, segment.start + Cycles{words}};
        }
    }
}

// A header among the words that arrive goes no further than the receiver's port.
bool StreamFlow::drop_header(BranchState& state) {
    if (state.headers.empty() || state.headers.front() != state.taken) {
        return false;
    }
    state.headers.pop_front();
    Segment& segment = state.arriving.front();
    append(state.taken_at, 1, segment.start);
    ++state.taken;
    if (segment.words == 1) {
        state.arriving.pop_front();
    } else {
        segment = {segment.words - 1, segment.start + Cycles{1}};
    }
    return true;
}

// Words the receivers leave room for: what they have asked for, headers that their ports drop, and
// what fits in between.
std::int64_t StreamFlow::pushable() const {
    std::int64_t words = std::min(unsent_, available_);
    for (const BranchState& state : branches_) {
        const std::int64_t asked =
            state.branch.sink->remaining_ + static_cast<std::int64_t>(state.headers.size());
        words = std::min(words, state.taken + asked + state.branch.capacity - pushed_);
    }
    return words;
}

// Pushes the longest piece that moves without a gap; false when nothing can move.
bool StreamFlow::push_piece() {
    std::int64_t words = pushable();
    if (words <= 0) {
        return false;
    }
    Cycles start = push_free_;
    for (BranchState& state : branches_) {
        // Word w enters when word w - window has left: look up when that one is taken.
        const std::int64_t leaving = pushed_ - state.window();
        std::int64_t& begin = state.taken_at_begin;
        while (!state.taken_at.empty() && begin + state.taken_at.front().words <= leaving) {
            begin += state.taken_at.front().words;
            state.taken_at.pop_front();
        }
        if (leaving >= begin && !state.taken_at.empty()) {
            const Segment& segment = state.taken_at.front();
            const std::int64_t into = leaving - begin;
            const Cycles room = segment.start + Cycles{into + 1};
            if (room > start) {
                start = room;
                follow(source_.critical_path(), state.branch.sink->client_.critical_path());
            }
            words = std::min(words, segment.words - into);
        }
    }
    // A receiver that starts later than the words arrive fills its FIFO first; of the first words
    // ever, those that are in it already count.
    for (const BranchState& state : branches_) {
        const StreamSink& sink = *state.branch.sink;
        if (sink.free_ > start + state.branch.latency) {
            const std::int64_t window = state.window();
            words = std::min(words, pushed_ < window ? window - pushed_ : window);
        }
    }
    for (BranchState& state : branches_) {
        append(state.arriving, words, start + state.branch.latency);
        if (state.branch.sink->awaiting_packet()) {
            follow(state.branch.sink->client_.critical_path(), source_.critical_path());
            state.branch.sink->announce(state.arriving.front().start,
                                        descriptor_of_first(*state.branch.sink));
        }
    }
    push_free_ = start + Cycles{words};
    pushed_ += words;
    unsent_ -= words;
    available_ -= words;
    source_.on_stream_pushed(1, words, push_free_);
    return true;
}

bool StreamFlow::BranchState::keeps_up(std::int64_t pushed, Cycles next) const {
    const Cycles arrival = next + branch.latency;
    return taken == pushed && branch.capacity > 0 && !taken_at.empty() &&
           taken_at.back().words >= window() &&
           taken_at.back().start + Cycles{taken_at.back().words} == arrival &&
           branch.sink->free_ <= arrival;
}

// While every receiver keeps up, each piece is as long as the shortest window and follows without a
// gap: moves all that is there at once, but for the last piece where something ends with it.
void StreamFlow::push_steady_pieces() {
    std::int64_t left = unsent_;
    std::int64_t piece = INT64_MAX;
    for (const BranchState& state : branches_) {
        if (!state.keeps_up(pushed_, push_free_) || !state.headers.empty()) {
            return;
        }
        left = std::min(left, state.branch.sink->remaining_);
        piece = std::min(piece, state.window());
    }
    const bool ends = available_ >= left;
    const std::int64_t pieces = (ends ? left - 1 : available_) / piece;
    const std::int64_t rest = ends ? 0 : available_ % piece;
    if (pieces <= 0 && rest == 0) {
        return;
    }
    const std::int64_t words = pieces * piece + rest;
    for (std::size_t i = 0; i < branches_.size(); ++i) {
        BranchState& state = branches_[i];
        state.branch.sink->consume(*this, i, words, push_free_ + state.branch.latency);
        state.taken += words;
        state.taken_at.back().words += words;
    }
    const Cycles first_end = push_free_ + Cycles{piece};
    push_free_ += Cycles{words};
    pushed_ += words;
    unsent_ -= words;
    available_ -= words;
    if (pieces > 0) {
        source_.on_stream_pushed(pieces, piece, first_end);
    }
    if (rest > 0) {
        source_.on_stream_pushed(1, rest, push_free_);
    }
}

// The words nobody has taken or asked for yet find room behind the last arbiter.
bool StreamFlow::tail_fits() const {
    return std::all_of(branches_.begin(), branches_.end(), [this](const BranchState& state) {
        return state.taken + state.branch.sink->remaining_ + state.branch.arbiter_capacity >=
               pushed_;
    });
}

// The end of the packet has passed; the next one, if it has begun, queues behind those who wait.
void StreamFlow::release_arbiters() {
    tail_pending_ = false;
    const std::size_t held = std::exchange(arbiters_held_, 0);
    for (std::size_t i = has_sending_port_ ? 1 : 0; i < held; ++i) {
        arbiters_[i]->release();
    }
    if (active_) {
        hold_arbiters();
    }
}

void StreamFlow::progress() {
    if (in_progress_) {
        return;
    }
    in_progress_ = true;
    push_free_ = std::max(push_free_, active_ && unsent_ > 0 ? scheduler_.now() : push_free_);
    bool moved = true;
    while (moved) {
        for (std::size_t i = 0; i < branches_.size(); ++i) {
            deliver(branches_[i], i);
        }
        if (tail_pending_ && tail_fits()) {
            release_arbiters();
        }
        const bool passing = !tail_pending_ && arbiters_held_ == arbiters_.size();
        moved = false;
        if (passing && active_ && header_due_ && available_ > 0) {
            pass_header();
        }
        if (passing && active_ && unsent_ > 0 && available_ > 0 && !header_due_) {
            push_steady_pieces();
            moved = available_ > 0 && push_piece();
        }
        if (moved && unsent_ == 0) {
            scheduler_.at(push_free_, *this);
        }
    }
    in_progress_ = false;
}

void StreamFlow::on_event(std::uint64_t, base::Femtoseconds) {
    const Cycles now = scheduler_.now();
    if (functional_) {
        pump(transfer_unpumped_);
    }
    active_ = false;
    if (ends_packet_ && has_sending_port_) {
        arbiters_.front()->release();
    }
    if (!ends_packet_) {
        // Its arbiters stay held for what is still to come.
    } else if (tail_fits()) {
        release_arbiters();
    } else {
        tail_pending_ = !arbiters_.empty();
    }
    source_.on_stream_sent(scheduler_.cycles(now));
}

std::vector<const StreamSink*> StreamFlow::blocked_by() const {
    std::vector<const StreamSink*> result;
    for (const BranchState& state : branches_) {
        if (holds_back(state)) {
            result.push_back(state.branch.sink);
        }
    }
    return result;
}

bool StreamFlow::blocked() const {
    return std::any_of(branches_.begin(), branches_.end(),
                       [this](const BranchState& state) { return holds_back(state); });
}

bool StreamFlow::holds_back(const BranchState& state) const {
    const std::int64_t asked = state.branch.sink->remaining_;
    const std::int64_t room =
        tail_pending_ ? state.branch.arbiter_capacity : state.branch.capacity - 1;
    return (active_ || tail_pending_) && state.taken + asked + room < pushed_;
}

const StreamArbiter* StreamFlow::waiting_arbiter() const {
    return active_ && !tail_pending_ && arbiters_held_ < arbiters_.size()
               ? arbiters_[arbiters_held_]
               : nullptr;
}

Cycles StreamFlow::first_arrival(const StreamSink& sink) const {
    for (const BranchState& state : branches_) {
        if (state.branch.sink == &sink && !state.arriving.empty()) {
            return state.arriving.front().start;
        }
    }
    return Cycles{INT64_MAX};
}

std::optional<std::int64_t> StreamFlow::descriptor_of_first(const StreamSink& sink) const {
    for (const BranchState& state : branches_) {
        for (const Named& packet : packets_) {
            if (state.branch.sink == &sink && packet.from == state.taken) {
                return packet.descriptor;
            }
        }
    }
    return std::nullopt;
}

}  // namespace tilesim::arch::npu::stream
