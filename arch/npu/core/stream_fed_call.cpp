#include "arch/npu/core/stream_fed_call.hpp"

#include <algorithm>
#include <span>

#include "arch/npu/core/stream_kernel_function.hpp"

namespace tilesim::arch::npu::core {

using base::Cycles;

namespace {

constexpr std::uint64_t kMultiplied = 0;  // the multiplications are done,
constexpr std::uint64_t kFed = 1;         // and their A has arrived
constexpr std::uint64_t kMoved = 2;       // C's last word has, a way

// Where C comes from and goes to.
constexpr std::int64_t kInputOfC = 1;
constexpr std::int64_t kOutputOfC = 0;

}  // namespace

StreamFedCall::StreamFedCall(const program::Program& program, program::TileCoordinate tile,
                             const NpuConfig& config, CorePorts& ports, CycleScheduler& scheduler,
                             CoreOperands& operands, const memory::port::BackingStore* store,
                             CoreAccount& account, OperationClient& client)
    : tile_(tile),
      timing_(config.kernels, config.stream),
      ports_(ports),
      scheduler_(scheduler),
      operands_(operands),
      store_(store),
      account_(account),
      client_(client) {
    for (const program::LogicStream& stream : program.logic_streams) {
        if (stream.tile == tile) {
            a_stream_.emplace(program, stream);
        }
    }
}

std::optional<program::ChannelId> StreamFedCall::streaming() const {
    if (account_.state() == CoreState::ReadingC) {
        return program::ChannelId{tile_, program::Direction::S2MM, kInputOfC,
                                  program::PortKind::Core};
    }
    if (account_.state() == CoreState::WritingC) {
        return program::ChannelId{tile_, program::Direction::MM2S, kOutputOfC,
                                  program::PortKind::Core};
    }
    return std::nullopt;
}

void StreamFedCall::look_up(const program::Kernel& kernel) {
    kernel_ = &kernel;
    c_words_ = c_words(kernel);
    c_cycles_ = timing_.c_cycles(kernel).count();
    // The streams carry C, each way; what the kernel hides of that comes off here.
    const Cycles whole = kernel.cycles ? Cycles{*kernel.cycles} : timing_.cycles(kernel).total();
    multiply_ = std::max(Cycles{0}, whole - Cycles{2 * c_cycles_});
    const Cycles arrival = a_stream_ ? a_stream_->time_of(a_bytes(kernel)) : Cycles{0};
    starved_ = std::max(Cycles{0}, arrival - multiply_);
}

void StreamFedCall::begin(const program::Kernel& kernel, const program::CallOp& call) {
    if (kernel_ != &kernel) {
        look_up(kernel);
    }
    call_ = &call;
    account_.enter(CoreState::Multiply);
    scheduler_.at(scheduler_.now() + multiply_, *this, kMultiplied);
}

void StreamFedCall::on_event(std::uint64_t tag, base::Femtoseconds) {
    if (tag == kMoved) {
        go_on();
    } else if (tag == kMultiplied && starved_ > Cycles{0}) {
        account_.enter(CoreState::WaitingForStream);
        scheduler_.at(scheduler_.now() + starved_, *this, kFed);
    } else {
        read_c();
    }
}

// The sums are added to C, whose words have been waiting on their stream or come now.
void StreamFedCall::read_c() {
    transfer_begin_ = scheduler_.now();
    account_.enter(CoreState::ReadingC);
    ports_.input(kInputOfC).begin(c_words_, transfer_begin_, *this);
}

void StreamFedCall::write_c() {
    if (operands_.functional()) {
        a_.resize(static_cast<std::size_t>(a_bytes(*kernel_)));
        c_.clear();
        ports_.input(kInputOfC).take_words(c_);
    }
    a_stream_->play(a_bytes(*kernel_), store_, a_, scheduler_.now());
    if (operands_.functional()) {
        multiply_stream(*kernel_, a_, operands_.bytes(call_->operands[0]),
                        std::as_writable_bytes(std::span{c_}));
    }
    transfer_begin_ = scheduler_.now();
    account_.enter(CoreState::WritingC);
    ports_.output(kOutputOfC).begin(c_words_, std::as_bytes(std::span{c_}), transfer_begin_, *this);
}

// Of a stream wider than a word the last ones may have moved within a cycle.
void StreamFedCall::on_core_stream(Cycles now) {
    if (now > scheduler_.now()) {
        scheduler_.at(now, *this, kMoved);
    } else {
        go_on();
    }
}

void StreamFedCall::go_on() {
    account_.charge_words(c_cycles_, transfer_begin_, CoreState::WaitingForStream);
    if (account_.state() == CoreState::ReadingC) {
        write_c();
    } else {
        client_.on_operation_done();
    }
}

}  // namespace tilesim::arch::npu::core
