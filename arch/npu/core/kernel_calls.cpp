#include "arch/npu/core/kernel_calls.hpp"

#include <algorithm>
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
        case KernelKind::Matvec:
        case KernelKind::Stream:
            return CoreState::Multiply;
        case KernelKind::Zero:
            return CoreState::Zero;
        case KernelKind::Add:
        case KernelKind::AddValue:
            return CoreState::Add;
        case KernelKind::Vector:
            return CoreState::Vector;
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
    switch (kernel.kind) {
        case KernelKind::Multiply:
        case KernelKind::Stream:
            return kernel.m * kernel.k * kernel.n;
        case KernelKind::Matvec:
            return kernel.m * kernel.k;
        default:
            return 0;
    }
}

}  // namespace

KernelCalls::KernelCalls(const program::Program& program, program::TileCoordinate tile,
                         const NpuConfig& config, const KernelTiming& timing, CorePorts& ports,
                         CycleScheduler& scheduler, CoreOperands& operands,
                         const memory::port::BackingStore* store, CoreAccount& account,
                         OperationClient& core)
    : program_(program),
      config_(config.core),
      scheduler_(scheduler),
      operands_(operands),
      account_(account),
      core_(core),
      stream_fed_(program, tile, config, ports, scheduler, operands, store, account, *this),
      timing_(timing) {
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
    tell_marker("event_0");
    scheduler_.at(scheduler_.now() + cycles(), *this, kFinished);
}

Cycles KernelCalls::cycles() {
    if (kernel().kind != KernelKind::Multiply || kernel().cycles) {
        return cycles_[static_cast<std::size_t>(call_->kernel)];
    }
    const std::int64_t a = operands_.buffer(call_->operands[0]);
    const std::int64_t b = operands_.buffer(call_->operands[1]);
    const auto known = std::find_if(
        multiplications_.begin(), multiplications_.end(), [&](const Multiplication& each) {
            return each.kernel == call_->kernel && each.a == a && each.b == b;
        });
    if (known != multiplications_.end()) {
        return known->cycles;
    }
    multiplications_.push_back({call_->kernel, a, b, multiply_cycles(a, b)});
    return multiplications_.back().cycles;
}

Cycles KernelCalls::multiply_cycles(std::int64_t a, std::int64_t b) const {
    const program::Buffer& a_buffer = program_.buffers[static_cast<std::size_t>(a)];
    const program::Buffer& b_buffer = program_.buffers[static_cast<std::size_t>(b)];
    if (a_buffer.tile != b_buffer.tile) {
        return timing_.cycles(kernel()).total();
    }
    return timing_.cycles(kernel(), {a_buffer.address, b_buffer.address, config_.bank.count()})
        .total();
}

// Programs mark a kernel's begin and end so; the script's own instructions are no kernel.
void KernelCalls::tell_marker(const char* marker) const {
    if (kernel().kind != KernelKind::Inline && kernel().marked) {
        account_.tell(".kernel", marker, scheduler_.now());
    }
}

void KernelCalls::finish() {
    tell_marker("event_1");
    account_.count_call(macs_of(kernel()), kernel().kind != KernelKind::Zero);
    if (operands_.functional()) {
        operands_.compute(kernel(), call_->operands);
    }
    operands_.advance(std::exchange(call_, nullptr)->advance);
    core_.on_operation_done();
}

}  // namespace tilesim::arch::npu::core
