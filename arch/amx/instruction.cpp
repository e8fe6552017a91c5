#include "arch/amx/instruction.hpp"

#include "arch/base/check.hpp"

namespace tilesim::arch::amx {

namespace {

// Latencies and ports of the AVX-512 forms: LLVM's Sapphire Rapids model and OSACA's spr.yml.
constexpr std::array<OpcodeInfo, kOpcodes> kInfo{{
    {"tileloadd", Unit::Load, 0, 1, true, true, 0, false},
    {"tileloaddt1", Unit::Load, 0, 1, true, true, 0, false},
    {"tilestored", Unit::Store, 0, 1, true, true, 0, true},
    {"tilezero", Unit::None, 0, 1, true, false, 0, false},
    {"tdpbssd", Unit::Tmul, 0, 1, true, false, 2, true},
    {"tdpbsud", Unit::Tmul, 0, 1, true, false, 2, true},
    {"tdpbusd", Unit::Tmul, 0, 1, true, false, 2, true},
    {"tdpbuud", Unit::Tmul, 0, 1, true, false, 2, true},
    {"tdpbf16ps", Unit::Tmul, 0, 1, true, false, 2, true},
    {"ldtilecfg", Unit::None, 0, 1, false, false, 0, false},
    {"sttilecfg", Unit::Store, 0, 1, false, true, 0, false},
    {"tilerelease", Unit::None, 0, 1, false, false, 0, false},
    {"vmovups", Unit::Load, 0, 1, false, true, 0, false},
    {"vmovups", Unit::Store, 0, 1, false, true, 0, true},
    {"vbroadcastss", Unit::Load, 0, 1, false, true, 0, false},
    {"vpxord", Unit::None, 0, 1, false, false, 0, false},
    {"vcvtdq2ps", Unit::VectorMath, 4, 1, false, false, 1, false},
    {"vcvtps2dq", Unit::VectorMath, 4, 1, false, false, 1, false},
    {"vaddps", Unit::VectorMath, 4, 1, false, false, 2, false},
    {"vpaddd", Unit::VectorAny, 1, 1, false, false, 2, false},
    {"vsubps", Unit::VectorMath, 4, 1, false, false, 2, false},
    {"vmulps", Unit::VectorMath, 4, 1, false, false, 2, false},
    {"vmaxps", Unit::VectorMath, 4, 1, false, false, 2, false},
    {"vfmadd231ps", Unit::VectorMath, 4, 1, false, false, 2, true},
    {"vcvtneps2bf16", Unit::VectorMath, 7, 2, false, false, 1, false},
    {"vpmovsdb", Unit::Store, 4, 2, false, true, 0, true},
    {"vpmovzxwd", Unit::Shuffle, 3, 1, false, false, 1, false},
    {"vpslld", Unit::VectorAny, 1, 1, false, false, 1, false},
    {"vpermt2b", Unit::Shuffle, 4, 2, false, false, 2, false},
    {"vpermt2w", Unit::Shuffle, 4, 2, false, false, 2, false},
    {"kmovq", Unit::Load, 0, 1, false, true, 0, false},
    {"vpexpandb", Unit::Load, 0, 2, false, true, 0, false},
    {"prefetcht0", Unit::Load, 0, 1, false, true, 0, false},
    {"prefetcht1", Unit::Load, 0, 1, false, true, 0, false},
    {"scalar", Unit::Scalar, 1, 1, false, false, 0, false},
    {"loop", Unit::Scalar, 1, 2, false, false, 0, false},
    {"barrier", Unit::None, 0, 1, false, false, 0, false},
}};

}  // namespace

const OpcodeInfo& info_of(Opcode opcode) {
    return kInfo[static_cast<std::size_t>(opcode)];
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

}  // namespace tilesim::arch::amx
