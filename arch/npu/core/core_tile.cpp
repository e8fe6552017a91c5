#include "arch/npu/core/core_tile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "arch/npu/core/kernel_function.hpp"
#include "arch/npu/program/program_fault.hpp"
#include "arch/npu/core/stream_kernel_function.hpp"

namespace tilesim::arch::npu::core {

using base::Cycles;

namespace {

constexpr std::uint64_t kStep = 0;      // go on with the script
constexpr std::uint64_t kCalled = 1;    // the call has been made: the kernel runs
constexpr std::uint64_t kFinished = 2;  // the kernel has finished
constexpr std::uint64_t kRelease = 3;   // the release takes effect
constexpr std::uint64_t kStarved = 4;   // the stream-fed kernel's multiplications are done,
constexpr std::uint64_t kFed = 5;       // and its A has arrived
constexpr std::uint64_t kGot = 6;       // the last cascade word can be used

constexpr std::int64_t kMostIdleSteps = 1'000'000;  // loops entered in one cycle

// Where a stream-fed kernel's C comes from and goes to.
constexpr std::int64_t kInputOfC = 1;
constexpr std::int64_t kOutputOfC = 0;

std::vector<base::stats::StateAccount::State> core_states() {
    return {{"multiply", "in the matrix-multiply kernel"},
            {"zero", "in the kernel that clears the C tile"},
            {"add", "in a kernel that adds element by element"},
            {"fixed_kernel", "in a kernel of stated cost"},
            {"call", "calling a kernel and returning from it"},
            {"lock_operation", "executing lock acquires and releases that did not have to wait"},
            {"cascade", "putting words on or getting them from the cascade, one a cycle"},
            {"waiting_for_input", "stopped at a lock an arriving stream releases: A or B"},
            {"waiting_for_output", "stopped at a lock a leaving stream releases: C drain"},
            {"waiting_for_lock", "stopped at another lock"},
            {"waiting_for_host", "stopped at a parameter or lock the host gives: dispatch, B's copy"},
            {"c_load", "reading C from its stream, a word a cycle"},
            {"c_store", "writing C to its stream, a word a cycle"},
            {"waiting_for_stream", "A or C does not arrive, or C is not taken"},
            {"waiting_for_cascade", "the cascade's other end does not take or give words"},
            {"done", "script finished, or not started"}};
}

CoreState state_of(program::KernelKind kind) {
    switch (kind) {
        case program::KernelKind::Multiply:
        case program::KernelKind::Stream:
            return CoreState::Multiply;
        case program::KernelKind::Zero:
            return CoreState::Zero;
        case program::KernelKind::Add:
        case program::KernelKind::AddValue:
            return CoreState::Add;
        case program::KernelKind::Fixed:
        case program::KernelKind::Inline:
            return CoreState::Fixed;
    }
    return CoreState::Fixed;
}

}  // namespace

CoreStats::CoreStats(Group& parent, std::string_view name)
    : Group(parent, name),
      time(*this, "time", base::stats::Unit::Cycle, core_states(),
           static_cast<std::size_t>(CoreState::Done)) {}

CoreTile::CoreTile(const program::CoreProgram& script, const program::Program& program, const NpuConfig& config,
                   const KernelTiming& timing, std::vector<LockRole> lock_roles,
                   CycleScheduler& scheduler, tile::LockUnit& locks, base::stats::Group& parent,
                   tile::TileMemory* memory, const memory::port::BackingStore* store)
    : script_(script),
      program_(program),
      config_(config.core),
      cascade_(config.cascade),
      timing_(timing),
      lock_roles_(std::move(lock_roles)),
      scheduler_(scheduler),
      locks_(locks),
      memory_(memory),
      store_(store),
      stream_timing_(config.kernels),
      stats_(parent, "core"),
      rotation_(script.rotations.size(), 0) {
    for (std::int64_t i = 0; i < config_.stream_inputs; ++i) {
        inputs_.push_back(std::make_unique<CoreInput>(scheduler, *this));
    }
    for (std::int64_t i = 0; i < config_.stream_outputs; ++i) {
        outputs_.push_back(std::make_unique<CoreOutput>(*this));
    }
    for (const program::LogicStream& stream : program.logic_streams) {
        if (stream.tile == script.tile) {
            a_stream_.emplace(program, stream);
        }
    }
    for (const program::Kernel& kernel : program.kernels) {
        kernels_.push_back(cost_of(kernel));
    }
}

CoreTile::KernelCost CoreTile::cost_of(const program::Kernel& kernel) const {
    KernelCost cost;
    cost.state = state_of(kernel.kind);
    if (kernel.kind == program::KernelKind::Stream) {
        const StreamKernelCycles cycles = stream_timing_.cycles(kernel);
        cost.c_words = c_words(kernel);
        // The streams take a cycle a word; what the kernel hides of that comes off here.
        const Cycles whole = kernel.cycles ? Cycles{*kernel.cycles} : cycles.total();
        cost.cycles = std::max(Cycles{0}, whole - Cycles{2 * cost.c_words});
        const Cycles arrival = a_stream_ ? a_stream_->time_of(a_bytes(kernel)) : Cycles{0};
        cost.starved = std::max(Cycles{0}, arrival - cost.cycles);
    } else {
        cost.cycles = kernel.cycles ? Cycles{*kernel.cycles} : timing_.cycles(kernel).total();
    }
    if (kernel.kind == program::KernelKind::Multiply || kernel.kind == program::KernelKind::Stream) {
        cost.macs = kernel.m * kernel.k * kernel.n;
    }
    return cost;
}

const program::Kernel& CoreTile::called_kernel() const {
    return program_.kernels[static_cast<std::size_t>(called_->kernel)];
}

std::optional<program::ChannelId> CoreTile::streaming() const {
    if (state() == CoreState::ReadingC) {
        return program::ChannelId{tile(), program::Direction::S2MM, kInputOfC, program::PortKind::Core};
    }
    if (state() == CoreState::WritingC) {
        return program::ChannelId{tile(), program::Direction::MM2S, kOutputOfC, program::PortKind::Core};
    }
    return std::nullopt;
}

void CoreTile::start() {
    stack_.push_back({&script_.script, 0, 1});
    enter(CoreState::LockOperation);
    scheduler_.at(scheduler_.now(), *this, kStep);
}

void CoreTile::write_parameter(std::int64_t index, std::int64_t value) {
    const auto at = static_cast<std::size_t>(index);
    if (at >= parameters_.size()) {
        parameters_.resize(at + 1, 0);
    }
    parameters_[at] = value;
}

void CoreTile::enter(CoreState state) {
    static const auto states = core_states();
    if (probe_) {
        probe_.end(name(), states[stats_.time.current()].name, scheduler_.queue().now());
        probe_.begin(name(), states[static_cast<std::size_t>(state)].name,
                     scheduler_.queue().now());
    }
    stats_.time.enter(state, scheduler_.now().count());
}

void CoreTile::resume_after(Cycles cycles, CoreState state, std::uint64_t tag) {
    enter(state);
    scheduler_.at(scheduler_.now() + cycles, *this, tag);
}

void CoreTile::on_event(std::uint64_t tag, base::Femtoseconds) {
    switch (tag) {
        case kCalled: {
            const KernelCost& cost = kernels_[static_cast<std::size_t>(called_->kernel)];
            const bool stream = called_kernel().kind == program::KernelKind::Stream;
            resume_after(cost.cycles, cost.state, stream ? kStarved : kFinished);
            return;
        }
        case kStarved: {
            const KernelCost& cost = kernels_[static_cast<std::size_t>(called_->kernel)];
            if (cost.starved > Cycles{0}) {
                resume_after(cost.starved, CoreState::WaitingForStream, kFed);
            } else {
                read_c();
            }
            return;
        }
        case kFed:
            read_c();
            return;
        case kFinished:
            compute(*std::exchange(called_, nullptr));
            step();
            return;
        case kRelease:
            locks_.release(*std::exchange(releasing_, nullptr), scheduler_.now());
            step();
            return;
        case kGot: {
            const program::GetCascadeOp& op = *std::exchange(getting_, nullptr);
            if (memory_ != nullptr && op.operand) {
                cascade_in_->take(op.words, memory_->buffer(buffer_of(*op.operand)));
            } else if (memory_ != nullptr) {
                cascade_in_->take(op.words, {});
            }
            step();
            return;
        }
        default:
            waiting_ = nullptr;
            step();
    }
}

// Executes script operations until one takes time.
void CoreTile::step() {
    std::int64_t idle_steps = 0;
    while (const program::CoreOp* op = fetch()) {
        if (++idle_steps > kMostIdleSteps) {
            throw program::ProgramFault(fmt::format("cycle {}: {} runs a loop for ever that does nothing",
                                           scheduler_.now().count(), name()));
        }
        const bool takes_time = !std::holds_alternative<program::LoopOp>(op->op);
        std::visit([this](const auto& operation) { execute(operation); }, op->op);
        if (takes_time) {
            return;
        }
    }
    enter(CoreState::Done);
}

// The next operation of the innermost block; leaves finished blocks, starts loops again.
const program::CoreOp* CoreTile::fetch() {
    while (!stack_.empty()) {
        Frame& frame = stack_.back();
        if (frame.next < frame.body->size()) {
            return &(*frame.body)[frame.next++];
        }
        if (frame.runs_left < 0 || --frame.runs_left > 0) {
            frame.next = 0;
            continue;
        }
        stack_.pop_back();
    }
    return nullptr;
}

void CoreTile::execute(const program::LoopOp& op) {
    std::int64_t count = op.count;
    if (op.parameter) {
        const auto index = static_cast<std::size_t>(*op.parameter);
        count = index < parameters_.size() ? parameters_[index] : 0;
    }
    if (count != 0 && !op.body.empty()) {
        stack_.push_back({&op.body, 0, count});
    }
}

void CoreTile::execute(const program::AcquireOp& op) {
    if (locks_.acquire(op.action, *this)) {
        resume_after(config_.lock_cycles, CoreState::LockOperation, kStep);
        return;
    }
    waiting_ = &op.action;
    switch (lock_roles_[static_cast<std::size_t>(op.action.lock)]) {
        case LockRole::Input:
            enter(CoreState::WaitingForInput);
            break;
        case LockRole::Output:
            enter(CoreState::WaitingForOutput);
            break;
        case LockRole::Host:
            enter(CoreState::WaitingForHost);
            break;
        case LockRole::Other:
            enter(CoreState::WaitingForLock);
            break;
    }
}

void CoreTile::on_lock_granted(Cycles when) {
    scheduler_.at(when + config_.lock_wake, *this, kStep);
}

void CoreTile::execute(const program::ReleaseOp& op) {
    releasing_ = &op.action;
    resume_after(config_.lock_cycles, CoreState::LockOperation, kRelease);
}

void CoreTile::execute(const program::CallOp& op) {
    called_ = &op;
    const bool inlined =
        program_.kernels[static_cast<std::size_t>(op.kernel)].kind == program::KernelKind::Inline;
    resume_after(inlined ? Cycles{0} : config_.call_cycles, CoreState::Call, kCalled);
}

void CoreTile::execute(const program::PutCascadeOp& op) {
    putting_ = &op;
    begin_cascade();
    std::span<const std::byte> bytes;
    std::vector<std::byte> zeros;
    if (memory_ != nullptr && op.operand) {
        bytes = memory_->buffer(buffer_of(*op.operand));
    } else if (memory_ != nullptr) {
        zeros.resize(static_cast<std::size_t>(op.words * cascade_.width.count()));
        bytes = zeros;
    }
    cascade_out_->put(op.words, scheduler_.now(), bytes, *this);
}

void CoreTile::execute(const program::GetCascadeOp& op) {
    getting_ = &op;
    begin_cascade();
    cascade_in_->get(op.words, scheduler_.now(), *this);
}

void CoreTile::begin_cascade() {
    cascade_begin_ = scheduler_.now();
    enter(CoreState::Cascade);
}

void CoreTile::on_cascade_done(Cycles now) {
    // What the operation took beyond a word a cycle, it waited for the other core.
    const std::int64_t words = putting_ != nullptr ? putting_->words : getting_->words;
    stats_.time.charge_until(now.count());
    stats_.time.reclassify(CoreState::Cascade, CoreState::WaitingForCascade,
                           (now - cascade_begin_).count() - words);
    if (std::exchange(putting_, nullptr) != nullptr) {
        step();
        return;
    }
    // A word got in one cycle can be used read_latency cycles after that cycle began.
    scheduler_.at(now + cascade_.read_latency - Cycles{1}, *this, kGot);
}

namespace {

bool gives(const std::vector<program::CoreOp>& body) {
    return std::any_of(body.begin(), body.end(), [](const program::CoreOp& op) {
        const auto* loop = std::get_if<program::LoopOp>(&op.op);
        return std::holds_alternative<program::ReleaseOp>(op.op) ||
               std::holds_alternative<program::PutCascadeOp>(op.op) ||
               std::holds_alternative<program::GetCascadeOp>(op.op) ||
               (loop != nullptr && gives(loop->body));
    });
}

}  // namespace

bool CoreTile::spins() const {
    for (const Frame& frame : stack_) {
        if (frame.runs_left < 0 && !gives(*frame.body)) {
            return true;
        }
    }
    return false;
}

std::int64_t CoreTile::operand(const program::CallOp& op, std::size_t index) const {
    return buffer_of(op.operands[index]);
}

std::int64_t CoreTile::buffer_of(std::int64_t rotation) const {
    const auto index = static_cast<std::size_t>(rotation);
    const auto& buffers = script_.rotations[index].buffers;
    return buffers[rotation_[index] % buffers.size()];
}

// The multiplications are done: their sums are added to C, whose words have been waiting on their
// stream or come now.
void CoreTile::read_c() {
    transfer_begin_ = scheduler_.now();
    enter(CoreState::ReadingC);
    inputs_[kInputOfC]->begin(kernels_[static_cast<std::size_t>(called_->kernel)].c_words,
                              transfer_begin_);
}

void CoreTile::write_c() {
    const program::Kernel& kernel = called_kernel();
    const auto bytes = static_cast<std::size_t>(a_bytes(kernel));
    if (memory_ != nullptr) {
        a_.resize(bytes);
        c_.clear();
        inputs_[kInputOfC]->take_words(c_);
    }
    a_stream_->play(a_bytes(kernel), store_, a_, scheduler_.now());
    if (memory_ != nullptr) {
        multiply_stream(kernel, a_, memory_->buffer(operand(*called_, 0)),
                        std::as_writable_bytes(std::span{c_}));
    }
    transfer_begin_ = scheduler_.now();
    enter(CoreState::WritingC);
    outputs_[kOutputOfC]->begin(kernels_[static_cast<std::size_t>(called_->kernel)].c_words,
                                std::as_bytes(std::span{c_}), transfer_begin_);
}

// What a transfer took beyond a word a cycle, the core waited for the stream.
void CoreTile::charge_transfer() {
    const Cycles now = scheduler_.now();
    const std::int64_t words = kernels_[static_cast<std::size_t>(called_->kernel)].c_words;
    stats_.time.charge_until(now.count());
    const std::int64_t waited = (now - transfer_begin_).count() - words;
    if (waited > 0) {
        stats_.time.reclassify(state(), CoreState::WaitingForStream, waited);
    }
}

void CoreTile::on_core_stream(Cycles) {
    charge_transfer();
    if (state() == CoreState::ReadingC) {
        write_c();
        return;
    }
    compute(*std::exchange(called_, nullptr));
    step();
}

// Counts the finished kernel, does its arithmetic in functional mode, and rotates its operands.
void CoreTile::compute(const program::CallOp& op) {
    const auto index = static_cast<std::size_t>(op.kernel);
    const program::Kernel& kernel = program_.kernels[index];
    ++stats_.calls;
    stats_.macs += kernels_[index].macs;
    if (memory_ != nullptr && kernel.kind == program::KernelKind::Multiply) {
        multiply(kernel, timing_.mode_of(kernel), memory_->buffer(operand(op, 0)),
                 memory_->buffer(operand(op, 1)), memory_->buffer(operand(op, 2)));
    } else if (memory_ != nullptr && kernel.kind == program::KernelKind::Zero) {
        zero(memory_->buffer(operand(op, 0)));
    } else if (memory_ != nullptr && kernel.kind == program::KernelKind::Add) {
        add(kernel, memory_->buffer(operand(op, 0)), memory_->buffer(operand(op, 1)),
            memory_->buffer(operand(op, 2)));
    } else if (memory_ != nullptr && kernel.kind == program::KernelKind::AddValue) {
        add_value(kernel, memory_->buffer(operand(op, 0)), memory_->buffer(operand(op, 1)));
    }
    for (const std::int64_t rotation : op.advance) {
        ++rotation_[static_cast<std::size_t>(rotation)];
    }
}

}  // namespace tilesim::arch::npu::core
