#include "workloads/npu/mlir/core/script_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "arch/npu/program/script_walk.hpp"

namespace tilesim::workloads::npu::mlir::core {

namespace {

constexpr std::size_t kMostOperations = 200'000;  // of a script, unrolled parts included

constexpr const char* kOptimised =
    "innermost loops of scalar code are taken as the open compiler's hardware loops; "
    "inline.optimised: off takes the code as it is written";

// A core that only computes for ever is never heard of again.
bool touches_locks(const Script& ops) {
    return program::moves_words(ops) ||
           program::holds_any_of<program::AcquireOp, program::ReleaseOp>(ops);
}

bool same_op(const program::CoreOp& a, const program::CoreOp& b) {
    return std::visit(
        [](const auto& left, const auto& right) {
            using Left = std::decay_t<decltype(left)>;
            if constexpr (!std::is_same_v<Left, std::decay_t<decltype(right)>>) {
                return false;
            } else if constexpr (std::is_same_v<Left, program::AcquireOp> ||
                                 std::is_same_v<Left, program::ReleaseOp>) {
                return left.action.lock == right.action.lock &&
                       left.action.value == right.action.value;
            } else if constexpr (std::is_same_v<Left, program::CallOp>) {
                return left.kernel == right.kernel && left.operands == right.operands &&
                       left.advance == right.advance;
            } else if constexpr (std::is_same_v<Left, program::LoopOp>) {
                return left.count == right.count && left.parameter == right.parameter &&
                       same(left.body, right.body);
            } else if constexpr (std::is_same_v<Left, program::PutStreamOp>) {
                // Where nothing ends a packet, only the first of all words may be a header.
                return left.port == right.port && left.words == right.words &&
                       left.place == right.place && left.ends_packet == right.ends_packet &&
                       (!left.ends_packet || left.packet == right.packet);
            } else if constexpr (std::is_same_v<Left, program::GetStreamOp>) {
                return left.port == right.port && left.words == right.words &&
                       left.place == right.place;
            } else {
                return left.words == right.words && left.place == right.place;
            }
        },
        a.op, b.op);
}

}  // namespace

bool same(const Script& a, const Script& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_op);
}

std::int64_t InlineClock::ready_for(const Operation& operation) const {
    std::int64_t at = now_;
    for (const Item& item : operation.items) {
        visit(item, at);
    }
    return at;
}

// Scaled by all dimensions but the last, summed, scaled by the element and added to the buffer's.
std::int64_t InlineClock::address_cycles(const Operation& operation) const {
    if (costs_.optimised || !operation.name.starts_with("memref.")) {
        return 0;
    }
    std::int64_t indices = 0;
    for (const Item& item : operation.items) {
        if (item.opens("[")) {
            indices = std::count_if(item.items.begin(), item.items.end(),
                                    [](const Item& each) { return each.is(TokenKind::Value); });
        }
    }
    if (indices == 0) {
        return 0;
    }
    const std::int64_t sums = indices - 1;
    const std::int64_t last_product = sums > 0 ? costs_.multiply - 1 : 0;
    return sums + last_product + (sums + 2) * costs_.other;
}

void InlineClock::issue(const Operation& operation) {
    spend(address_cycles(operation));
    const std::int64_t at = ready_for(operation);
    now_ = at + 1;
    for (const std::string& result : operation.results) {
        ready_[result] = at + latency(operation.name);
    }
}

void InlineClock::hand_over(const std::vector<std::pair<std::string, std::string>>& arguments) {
    std::vector<std::int64_t> ready;
    for (const auto& [given, name] : arguments) {
        const auto place = ready_.find(given);
        ready.push_back(place == ready_.end() ? 0 : place->second);
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        ready_[arguments[i].second] = ready[i];
    }
}

void InlineClock::visit(const Item& item, std::int64_t& at) const {
    if (item.is(TokenKind::Value)) {
        const auto place = ready_.find(item.token.text);
        at = place == ready_.end() ? at : std::max(at, place->second);
    }
    for (const Item& inner : item.items) {
        visit(inner, at);
    }
}

std::int64_t InlineClock::latency(const std::string& name) const {
    if (name.find("load") != std::string::npos || name == "vector.transfer_read") {
        return costs_.load;
    }
    return name.starts_with("arith.mul") ? costs_.multiply : costs_.other;
}

void ScriptWriter::flush(Script& ops) {
    const std::int64_t cycles = clock_.now();
    begin_piece();
    if (cycles > 0) {
        ops.push_back(inline_call(cycles));
    }
}

void ScriptWriter::close_run(const Script& events) {
    const InlineCosts& costs = lowering_.options.costs.inline_code;
    if (!costs.optimised) {
        clock_.spend(costs.other);
        clock_.branch();  // the jump back; the next test goes before the run
    } else if (events.empty() && clock_.is_straight()) {
        lowering_.note(kOptimised);
        return;
    }
    clock_.branch();
}

void ScriptWriter::append(const Script& more, Location where, Script& ops) {
    if (ops.size() + more.size() > kMostOperations) {
        throw ReadError(
            where, fmt::format("this core's script is longer than {} operations", kMostOperations));
    }
    flush(ops);
    ops.insert(ops.end(), more.begin(), more.end());
}

void ScriptWriter::repeat(const Script& body, std::int64_t count,
                          std::optional<std::int64_t> parameter, Script& ops) {
    if (body.empty() || (count == 0 && !parameter)) {
        return;
    }
    const bool only_work = body.size() == 1 && is_inline(body.front());
    if (only_work && count > 0 && !parameter && work_of(body.front()) <= kMostCycles / count) {
        clock_.run_loop(work_of(body.front()) * count);
        return;
    }
    flush(ops);
    if (count < 0 && !parameter && !touches_locks(body)) {
        return;
    }
    program::LoopOp loop;
    loop.count = parameter ? 0 : count;
    loop.parameter = parameter;
    loop.body = body;
    ops.push_back({std::move(loop)});
}

std::int64_t ScriptWriter::work_in(const Script& ops) const {
    std::int64_t cycles = 0;
    for (const program::CoreOp& op : ops) {
        cycles += is_inline(op) ? work_of(op) : 0;
    }
    return cycles;
}

Script ScriptWriter::events_of(const Script& ops) const {
    Script events;
    for (const program::CoreOp& op : ops) {
        const auto* loop = std::get_if<program::LoopOp>(&op.op);
        program::LoopOp inside = loop != nullptr ? *loop : program::LoopOp{};
        inside.body = events_of(inside.body);
        if (loop != nullptr && !inside.body.empty()) {
            events.push_back({std::move(inside)});
        } else if (loop == nullptr && !is_inline(op)) {
            events.push_back(op);
        }
    }
    return events;
}

// Work before and behind the run's events stays apart; without events it is one piece.
Script ScriptWriter::as_body(Script ops) {
    flush(ops);
    if (ops.size() > 1 && std::all_of(ops.begin(), ops.end(), [this](const program::CoreOp& op) {
            return is_inline(op);
        })) {
        return {inline_call(work_in(ops))};
    }
    return ops;
}

bool ScriptWriter::is_inline(const program::CoreOp& op) const {
    const auto* call = std::get_if<program::CallOp>(&op.op);
    return call != nullptr &&
           lowering_.program.kernels[static_cast<std::size_t>(call->kernel)].kind ==
               program::KernelKind::Inline;
}

std::int64_t ScriptWriter::work_of(const program::CoreOp& op) const {
    const auto& call = std::get<program::CallOp>(op.op);
    return *lowering_.program.kernels[static_cast<std::size_t>(call.kernel)].cycles;
}

program::CoreOp ScriptWriter::inline_call(std::int64_t cycles) {
    program::CallOp call;
    const std::string name = fmt::format("inline_{}", cycles);
    auto& kernels = lowering_.program.kernels;
    const auto place =
        std::find_if(kernels.begin(), kernels.end(), [&name](const program::Kernel& k) {
            return k.kind == program::KernelKind::Inline && k.name == name;
        });
    call.kernel = place - kernels.begin();
    if (place == kernels.end()) {
        program::Kernel kernel;
        kernel.name = name;
        kernel.kind = program::KernelKind::Inline;
        kernel.cycles = cycles;
        kernels.push_back(kernel);
    }
    return {call};
}

void ScriptWriter::lay_out(const std::vector<Script>& bodies, std::size_t first, const Runs& runs,
                           Location where, Script& ops) {
    if (bodies.empty()) {
        return;
    }
    if (all_alike(bodies)) {
        repeat(bodies.front(), runs.count, runs.parameter, ops);
        return;
    }
    if (runs.parameter) {
        throw ReadError(where, "the runs of a loop to a run-time parameter must be alike");
    }
    for (std::size_t i = 0; i < first; ++i) {
        append(bodies[i], where, ops);
    }
    if (first == bodies.size()) {
        return;
    }
    const auto period = static_cast<std::int64_t>(bodies.size() - first);
    const std::int64_t rest = runs.count - static_cast<std::int64_t>(first);
    Script round;
    for (std::size_t i = first; i < bodies.size(); ++i) {
        round.insert(round.end(), bodies[i].begin(), bodies[i].end());
    }
    repeat(round, runs.count < 0 ? -1 : rest / period, {}, ops);
    for (std::int64_t i = 0; runs.count >= 0 && i < rest % period; ++i) {
        append(bodies[first + static_cast<std::size_t>(i)], where, ops);
    }
}

bool all_alike(const std::vector<Script>& scripts) {
    return std::all_of(scripts.begin(), scripts.end(),
                       [&scripts](const Script& body) { return same(body, scripts.front()); });
}

}  // namespace tilesim::workloads::npu::mlir::core
