#include "arch/npu/core/script_cursor.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/npu/program/program_fault.hpp"
#include "arch/npu/program/script_walk.hpp"

namespace tilesim::arch::npu::core {

namespace {

constexpr std::int64_t kMostLoops = 1'000'000;  // entered in one cycle

bool gives(const std::vector<program::CoreOp>& body) {
    return program::moves_words(body) || program::holds_any_of<program::ReleaseOp>(body);
}

}  // namespace

bool ScriptCursor::spins() const {
    return std::any_of(stack_.begin(), stack_.end(), [](const Frame& frame) {
        return frame.runs_left < 0 && !gives(*frame.body);
    });
}

void ScriptCursor::write_parameter(std::int64_t index, std::int64_t value) {
    const auto at = static_cast<std::size_t>(index);
    if (at >= parameters_.size()) {
        parameters_.resize(at + 1, 0);
    }
    parameters_[at] = value;
}

const program::CoreOp* ScriptCursor::next(base::Cycles now) {
    std::int64_t loops = 0;
    while (const program::CoreOp* op = fetch()) {
        const auto* loop = std::get_if<program::LoopOp>(&op->op);
        if (loop == nullptr) {
            return op;
        }
        if (++loops > kMostLoops) {
            throw program::ProgramFault(fmt::format(
                "cycle {}: {} runs a loop for ever that does nothing", now.count(), core_));
        }
        enter(*loop);
    }
    return nullptr;
}

// The next operation of the innermost block; leaves finished blocks, starts loops again.
const program::CoreOp* ScriptCursor::fetch() {
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

void ScriptCursor::enter(const program::LoopOp& loop) {
    std::int64_t count = loop.count;
    if (loop.parameter) {
        const auto index = static_cast<std::size_t>(*loop.parameter);
        count = index < parameters_.size() ? parameters_[index] : 0;
    }
    if (count != 0 && !loop.body.empty()) {
        stack_.push_back({&loop.body, 0, count});
    }
}

}  // namespace tilesim::arch::npu::core
