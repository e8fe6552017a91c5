#include "arch/npu/core/kernel_calls.hpp"

#include <utility>

namespace tilesim::arch::npu::core {

using base::Cycles;
using program::KernelKind;

namespace {

constexpr std::uint64_t kCalled = 0;    // the call has been made: the kernel runs
constexpr std::uint64_t kFinished = 1;  // the kernel has finished

CoreState state_of(KernelKind kind) {
    switch (kind) {
        case KernelKind::Multiply:
        case KernelKind::Stream:
            return CoreState::Multiply;
        case KernelKind::Zero:
            return CoreState::Zero;
        case KernelKind::Add:
        case KernelKind::AddValue:
            return CoreState::Add;
        case KernelKind::Fixed:
        case KernelKind::Inline:
            return CoreState::Fixed;
    }
    return CoreState::Fixed;
}

Cycles cycles_of(const program::Kernel& kernel, const KernelTiming& timing) {
    if (kernel.kind == KernelKind::Stream) {
        return Cycles{0};  // StreamFedCall's
    }
    return kernel.cycles ? Cycles{*kernel.cycles} : timing.cycles(kernel).total();
}

std::int64_t macs_of(const program::Kernel& kernel) {
    const bool multiplies =
        kernel.kind == KernelKind::Multiply || kernel.kind == KernelKind::Stream;
    return multiplies ? kernel.m * kernel.k * kernel.n : 0;
}

}  // namespace

KernelCalls::KernelCalls(const program::Program& program, program::TileCoordinate tile,
                         const NpuConfig& config, const KernelTiming& timing,
                         CycleScheduler& scheduler, CoreOperands& operands,
                         const memory::port::BackingStore* store, CoreAccount& account,
                         OperationClient& core)
    : program_(program),
      config_(config.core),
      scheduler_(scheduler),
      operands_(operands),
      account_(account),
      core_(core),
      stream_fed_(program, tile, config, scheduler, operands, store, account, *this) {
    for (const program::Kernel& each : program.kernels) {
        cycles_.push_back(cycles_of(each, timing));
    }
}

const program::Kernel& KernelCalls::kernel() const {
    return program_.kernels[static_cast<std::size_t>(call_->kernel)];
}

void KernelCalls::begin(const program::CallOp& call) {
    call_ = &call;
    const bool called = kernel().kind != KernelKind::Inline;
    account_.enter(CoreState::Call);
    scheduler_.at(scheduler_.now() + (called ? config_.call_cycles : Cycles{0}), *this, kCalled);
}

void KernelCalls::on_event(std::uint64_t tag, base::Femtoseconds) {
    tag == kCalled ? run() : finish();
}

void KernelCalls::run() {
    if (kernel().kind == KernelKind::Stream) {
        stream_fed_.begin(kernel(), *call_);
        return;
    }
    account_.enter(state_of(kernel().kind));
    scheduler_.at(scheduler_.now() + cycles_[static_cast<std::size_t>(call_->kernel)], *this,
                  kFinished);
}

void KernelCalls::finish() {
    account_.count_call(macs_of(kernel()));
    if (operands_.functional()) {
        operands_.compute(kernel(), call_->operands);
    }
    operands_.advance(std::exchange(call_, nullptr)->advance);
    core_.on_operation_done();
}

}  // namespace tilesim::arch::npu::core
