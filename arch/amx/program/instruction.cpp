#include "arch/amx/program/instruction.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "arch/base/check.hpp"

namespace tilesim::arch::amx::program {

namespace {

// A permutation of [0, count): multiplications and shifts, each a permutation of the next power of
// two, repeated until the result lies within.
std::int64_t shuffled(std::int64_t index, std::int64_t count) {
    constexpr std::uint64_t kOdd = 0x9E3779B1U;
    constexpr int kRounds = 3;
    const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(count - 1)));
    const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
    auto value = static_cast<std::uint64_t>(index);
    do {
        for (int round = 0; round < kRounds; ++round) {
            value = (value * kOdd + 0x7F4A7C15U) & mask;
            value ^= value >> (bits / 2 + 1);
        }
    } while (value >= static_cast<std::uint64_t>(count));
    return static_cast<std::int64_t>(value);
}

}  // namespace

std::int64_t AddressTable::entries() const {
    return count > 0 ? count : static_cast<std::int64_t>(starts.size()) - 1;
}

std::int64_t AddressTable::start(std::int64_t index) const {
    if (count == 0) {
        return starts.at(static_cast<std::size_t>(index));
    }
    const std::int64_t at = shuffled(index % count, count);
    return starts.front() + at * block + at * skew * kRowBytes % block;
}

std::int64_t AddressTable::bytes(std::int64_t index) const {
    return count > 0 ? kRowBytes : start(index + 1) - start(index);
}

Address Address::plus(std::int64_t bytes) const {
    Address result = *this;
    result.base += bytes;
    return result;
}

Address Address::per(int variable, std::int64_t stride) const {
    Address result = *this;
    if (variable >= 0 && stride != 0) {
        result.terms.push_back({variable, stride});
    }
    return result;
}

std::pair<std::int64_t, std::int64_t> reach(const Address& address,
                                            const std::vector<Turns>& turns) {
    std::int64_t least = address.base;
    std::int64_t most = address.base;
    for (const Address::Term& term : address.terms) {
        const auto loop = std::find_if(turns.begin(), turns.end(), [&](const Turns& each) {
            return each.variable == term.variable;
        });
        const std::int64_t stride = std::max<std::int64_t>(std::abs(term.stride), 1);
        const auto way = [&](std::int64_t turn) {
            return std::min(turn, kMostAddress / stride + 1) * term.stride;
        };
        least += std::min(way(loop->first), way(loop->last));
        most += std::max(way(loop->first), way(loop->last));
    }
    return {least, most};
}

int Program::open_loop(std::string name, std::int64_t count) {
    Statement begin;
    begin.kind = Statement::Kind::LoopBegin;
    begin.variable = static_cast<int>(variables.size());
    begin.count = count;
    variables.push_back(std::move(name));
    open_.push_back(static_cast<int>(statements.size()));
    statements.push_back(begin);
    return begin.variable;
}

void Program::close_loop() {
    SIM_CHECK(!open_.empty(), "a loop is closed that was not opened");
    Statement& begin = statements[static_cast<std::size_t>(open_.back())];
    begin.partner = static_cast<int>(statements.size());
    Statement end;
    end.kind = Statement::Kind::LoopEnd;
    end.variable = begin.variable;
    end.count = begin.count;
    end.partner = open_.back();
    end.instruction.opcode = Opcode::Loop;
    open_.pop_back();
    statements.push_back(end);
}

void Program::emit(Instruction instruction) {
    Statement statement;
    statement.instruction = std::move(instruction);
    statements.push_back(std::move(statement));
}

int Program::add_config(const std::array<TileShape, kTiles>& shapes) {
    for (std::size_t i = 0; i < configs.size(); ++i) {
        if (configs[i] == shapes) {
            return static_cast<int>(i);
        }
    }
    configs.push_back(shapes);
    return static_cast<int>(configs.size()) - 1;
}

std::int64_t Program::dynamic_instructions() const {
    std::int64_t total = 0;
    std::vector<std::int64_t> repeats{1};
    for (const Statement& statement : statements) {
        switch (statement.kind) {
            case Statement::Kind::LoopBegin:
                repeats.push_back(repeats.back() * statement.count);
                break;
            case Statement::Kind::LoopEnd:
                total += repeats.back();
                repeats.pop_back();
                break;
            case Statement::Kind::Instruction:
                total += repeats.back();
                break;
        }
    }
    return total;
}

}  // namespace tilesim::arch::amx::program
