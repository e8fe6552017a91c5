#include "arch/npu/core/cascade_port.hpp"

#include <utility>

namespace tilesim::arch::npu::core {

using base::Cycles;

void CascadePort::begin() {
    begin_ = scheduler_.now();
    account_.enter(CoreState::Cascade);
}

void CascadePort::put(const program::PutCascadeOp& op) {
    putting_ = &op;
    begin();
    std::span<const std::byte> sent;
    if (operands_.functional()) {
        sent = operands_.words_to_put(op.place, bytes_of(op.words));
    }
    out_->put(op.words, scheduler_.now(), sent, *this);
}

void CascadePort::get(const program::GetCascadeOp& op) {
    getting_ = &op;
    begin();
    in_->get(op.words, scheduler_.now(), *this);
}

void CascadePort::on_cascade_done(Cycles now) {
    const std::int64_t words = putting_ != nullptr ? putting_->words : getting_->words;
    account_.charge_words(words, begin_, CoreState::WaitingForCascade);
    if (const auto* put = std::exchange(putting_, nullptr)) {
        operands_.leave(put->place);
        core_.on_operation_done();
        return;
    }
    // A word got in one cycle can be used read_latency cycles after that cycle began.
    scheduler_.at(now + config_.read_latency - Cycles{1}, *this);
}

// The last word got can be used.
void CascadePort::on_event(std::uint64_t, base::Femtoseconds) {
    const program::GetCascadeOp& op = *std::exchange(getting_, nullptr);
    if (operands_.functional()) {
        got_.resize(bytes_of(op.words));
        in_->take(op.words, got_);
        operands_.keep(op.place, got_);
    }
    operands_.leave(op.place);
    core_.on_operation_done();
}

}  // namespace tilesim::arch::npu::core
