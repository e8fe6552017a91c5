#include "validation/amx/harness/counted_expands.hpp"

#include <algorithm>

#include "arch/amx/program/instruction_stream.hpp"

namespace tilesim::validation::amx::harness {

using arch::amx::program::Address;
using arch::amx::program::Instruction;
using arch::amx::program::Opcode;
using arch::amx::program::Program;
using arch::amx::program::Statement;

namespace {

bool is_scalar(const Statement& statement) {
    return statement.kind == Statement::Kind::Instruction &&
           statement.instruction.opcode == Opcode::Scalar;
}

// `a`, some entries further along.
bool follows(const Address& a, const Address& b, std::int64_t entries) {
    return a.table == b.table && a.base + entries == b.base &&
           std::equal(a.terms.begin(), a.terms.end(), b.terms.begin(), b.terms.end(),
                      [](const Address::Term& x, const Address::Term& y) {
                          return x.variable == y.variable && x.stride == y.stride;
                      });
}

// Takes the terms of `variable` out of `address` and returns their stride.
std::int64_t take_terms(Address& address, int variable) {
    std::int64_t stride = 0;
    std::erase_if(address.terms, [&](const Address::Term& term) {
        stride += term.variable == variable ? term.stride : 0;
        return term.variable == variable;
    });
    return stride;
}

std::uint64_t spread_bits(std::int64_t bits) {
    constexpr std::int64_t kWidth = 64;
    std::uint64_t mask = 0;
    for (std::int64_t i = 0; i < kWidth; ++i) {
        if ((i + 1) * bits / kWidth != i * bits / kWidth) {
            mask |= std::uint64_t{1} << static_cast<unsigned>(i);
        }
    }
    return mask;
}

}  // namespace

std::optional<Address> counted_expands(const Program& program, std::size_t begin) {
    const Statement& loop = program.statements[begin];
    const auto end = static_cast<std::size_t>(loop.partner);
    std::optional<Address> first;
    std::int64_t pieces = 0;
    bool mask_loaded = false;
    for (std::size_t i = begin + 1; i < end; ++i) {
        const Statement& statement = program.statements[i];
        const Instruction& each = statement.instruction;
        if (statement.kind != Statement::Kind::Instruction) {
            return std::nullopt;
        }
        if (each.opcode == Opcode::Kmovq) {
            mask_loaded = true;
        }
        if (each.opcode != Opcode::Vpexpandb || each.address.table < 0) {
            continue;
        }
        first = first ? first : each.address;
        if (!mask_loaded || !follows(*first, each.address, pieces) ||
            !is_scalar(program.statements[i + 1]) || !is_scalar(program.statements[i + 2])) {
            return std::nullopt;
        }
        mask_loaded = false;
        ++pieces;
    }
    if (first && take_terms(*first, loop.variable) != pieces) {
        return std::nullopt;
    }
    return first;
}

std::map<std::int64_t, std::uint64_t> line_masks(const Program& program) {
    std::map<std::int64_t, std::uint64_t> masks;
    if (program.tables.empty()) {
        return masks;
    }
    std::int64_t mask_at = -1;
    for (arch::amx::program::InstructionStream stream(program); !stream.finished();
         stream.advance()) {
        const auto& [instruction, address, bytes] = stream.current();
        if (instruction->opcode == Opcode::Kmovq) {
            mask_at = address;
        } else if (instruction->opcode == Opcode::Vpexpandb && instruction->address.table >= 0 &&
                   mask_at >= 0) {
            masks[mask_at] = spread_bits(bytes);
        }
    }
    return masks;
}

}  // namespace tilesim::validation::amx::harness
