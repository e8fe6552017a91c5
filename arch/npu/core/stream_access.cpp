#include "arch/npu/core/stream_access.hpp"

#include <fmt/format.h>

#include <utility>

namespace tilesim::arch::npu::core {

using base::Cycles;

std::string StreamAccess::streamed() const {
    return fmt::format("{} word{}", words_, words_ == 1 ? "" : "s");
}

void StreamAccess::begin(program::Direction direction, std::int64_t port, std::int64_t words,
                         const program::WordPlace& place) {
    port_ = program::ChannelId{tile_, direction, port, program::PortKind::Core};
    words_ = words;
    place_ = place;
    begin_ = scheduler_.now();
    moved_until_ = begin_ * words_per_cycle_;
    account_.enter(CoreState::Stream);
}

void StreamAccess::put(const program::PutStreamOp& op) {
    begin(program::Direction::MM2S, op.port, op.words, op.place);
    std::span<const std::byte> sent;
    if (operands_.functional()) {
        sent = operands_.words_to_put(op.place, bytes());
    }
    ports_.output(op.port).begin(op.words, sent, begin_, *this, {op.packet, op.ends_packet});
}

void StreamAccess::get(const program::GetStreamOp& op) {
    begin(program::Direction::S2MM, op.port, op.words, op.place);
    ports_.input(op.port).begin(op.words, begin_, *this);
}

// The trace unit sees the core stall while no word moves.
void StreamAccess::on_core_words(std::int64_t words, Cycles start) {
    if (const Cycles stalled = start - moved_until_; stalled.count() >= words_per_cycle_) {
        account_.tell(".stream", "stall", Cycles{moved_until_.count() / words_per_cycle_},
                      Cycles{stalled.count() / words_per_cycle_});
    }
    moved_until_ = start + Cycles{words};
}

void StreamAccess::on_event(std::uint64_t, base::Femtoseconds) {
    account_.charge_words(base::ceil_div(words_, words_per_cycle_) + latency().count(), begin_,
                          CoreState::WaitingForStream);
    const program::ChannelId port = *std::exchange(port_, std::nullopt);
    if (operands_.functional() && port.direction == program::Direction::S2MM) {
        got_.clear();
        ports_.input(port.index).take_words(got_);
        operands_.keep(place_, std::as_bytes(std::span(got_)));
    }
    operands_.leave(place_);
    core_.on_operation_done();
}

}  // namespace tilesim::arch::npu::core
