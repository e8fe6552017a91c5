#include "arch/amx/core/repetition.hpp"

#include <algorithm>

namespace tilesim::arch::amx::core {

namespace {

using program::Opcode;
using program::Statement;

// What a loop must not do, and must not ask its count for.
bool prevents(const Statement& statement, int variable) {
    const program::Instruction& instruction = statement.instruction;
    const auto& terms = instruction.address.terms;
    return instruction.opcode == Opcode::Barrier || instruction.opcode == Opcode::Ldtilecfg ||
           instruction.opcode == Opcode::Tilerelease ||
           std::any_of(terms.begin(), terms.end(),
                       [variable](const auto& term) { return term.variable == variable; });
}

}  // namespace

Repetition::Repetition(const program::Program& program)
    : watched_(program.statements.size(), false) {
    const auto& statements = program.statements;
    for (std::size_t i = 0; i < statements.size(); ++i) {
        if (statements[i].kind != Statement::Kind::LoopBegin) {
            continue;
        }
        const auto end = static_cast<std::size_t>(statements[i].partner);
        const int variable = statements[i].variable;
        const auto inside = statements.begin() + static_cast<std::ptrdiff_t>(i);
        if (std::none_of(inside, statements.begin() + static_cast<std::ptrdiff_t>(end),
                         [variable](const Statement& s) { return prevents(s, variable); })) {
            watched_[end] = true;
            i = end;
        }
    }
}

bool Repetition::wants(const Turn& turn) {
    if (!follows(turn, last_)) {
        forget();
    }
    last_ = turn;
    return !period_ && looks_++ < kPatience;
}

// Brent's spans.
bool Repetition::replaces(const Turn& turn) {
    if (seen_ && follows(turn, seen_->turn)) {
        if (++since_ < span_) {
            return false;
        }
        span_ *= 2;
    }
    since_ = 0;
    tries_ = 0;
    return true;
}

void Repetition::forget() {
    seen_.reset();
    period_.reset();
    looks_ = 0;
    since_ = 0;
    tries_ = 0;
    span_ = 1;
}

}  // namespace tilesim::arch::amx::core
