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
    std::span<const std::byte> bytes;
    std::vector<std::byte> zeros;
    if (operands_.functional() && op.operand) {
        bytes = operands_.bytes(*op.operand);
    } else if (operands_.functional()) {
        zeros.resize(static_cast<std::size_t>(op.words * config_.width.count()));
        bytes = zeros;
    }
    out_->put(op.words, scheduler_.now(), bytes, *this);
}

void CascadePort::get(const program::GetCascadeOp& op) {
    getting_ = &op;
    begin();
    in_->get(op.words, scheduler_.now(), *this);
}

void CascadePort::on_cascade_done(Cycles now) {
    const std::int64_t words = putting_ != nullptr ? putting_->words : getting_->words;
    account_.charge_words(words, begin_, CoreState::WaitingForCascade);
    if (std::exchange(putting_, nullptr) != nullptr) {
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
        in_->take(op.words, op.operand ? operands_.bytes(*op.operand) : std::span<std::byte>{});
    }
    core_.on_operation_done();
}

}  // namespace tilesim::arch::npu::core
