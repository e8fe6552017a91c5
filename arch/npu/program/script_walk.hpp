// Whether anything in a core's script, bodies of loops included, is what is asked for.
#pragma once

#include <algorithm>
#include <variant>
#include <vector>

#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::program {

template <class Asked>
bool any_op(const std::vector<CoreOp>& script, const Asked& asked) {
    return std::any_of(script.begin(), script.end(), [&asked](const CoreOp& op) {
        const auto* loop = std::get_if<LoopOp>(&op.op);
        return asked(op) || (loop != nullptr && any_op(loop->body, asked));
    });
}

template <class... Ops>
bool holds_any_of(const std::vector<CoreOp>& script) {
    return any_op(script,
                  [](const CoreOp& op) { return (std::holds_alternative<Ops>(op.op) || ...); });
}

// Words of streams and cascades.
inline bool moves_words(const std::vector<CoreOp>& script) {
    return holds_any_of<PutCascadeOp, GetCascadeOp, PutStreamOp, GetStreamOp>(script);
}

}  // namespace tilesim::arch::npu::program
