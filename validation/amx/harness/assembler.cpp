#include "validation/amx/harness/assembler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "arch/base/config.hpp"

namespace tilesim::validation::amx {

using arch::amx::Instruction;
using arch::amx::Opcode;
using arch::amx::Statement;
using arch::base::config::ConfigError;

namespace {

// All but the stack pointer; the ones a callee must keep come last.
constexpr std::array<int, 15> kRegisters{0, 1, 2, 6, 7, 8, 9, 10, 11, 3, 5, 12, 13, 14, 15};
constexpr std::array<int, 6> kSaved{3, 5, 12, 13, 14, 15};
constexpr int kNoBase = 5;   // in a SIB byte with mod 00: displacement only
constexpr int kNoIndex = 4;  // in a SIB byte
constexpr int kSib = 4;      // in a ModRM byte
constexpr int kLength512 = 2;

int low(int reg) {
    return reg & 7;
}
int high(int reg) {
    return reg >> 3 & 1;
}

}  // namespace

Assembler::Assembler(const arch::amx::Program& program, std::int64_t configs)
    : program_(program), configs_(configs) {
    for (const int reg : kSaved) {
        if (high(reg) != 0) {
            byte(0x41);
        }
        byte(0x50 + low(reg));
    }
    assign_registers();
    for (std::size_t i = 0; i < program.statements.size(); ++i) {
        const Statement& statement = program.statements[i];
        if (statement.kind == Statement::Kind::LoopBegin && statement.count == 0) {
            i = static_cast<std::size_t>(statement.partner);
        } else if (statement.kind == Statement::Kind::LoopBegin) {
            begin_loop(statement);
        } else if (statement.kind == Statement::Kind::LoopEnd) {
            end_loop(statement);
        } else {
            instruction(statement.instruction);
        }
    }
    for (auto reg = kSaved.rbegin(); reg != kSaved.rend(); ++reg) {
        if (high(*reg) != 0) {
            byte(0x41);
        }
        byte(0x58 + low(*reg));
    }
    byte(0xC3);
}

Assembler::Pattern Assembler::pattern_of(const arch::amx::Address& address) {
    Pattern pattern;
    for (const auto& term : address.terms) {
        pattern.emplace_back(term.variable, term.stride);
    }
    std::sort(pattern.begin(), pattern.end());
    return pattern;
}

int Assembler::take_register() {
    if (taken_ == kRegisters.size()) {
        throw ConfigError("more address patterns, strides and loops than registers");
    }
    return kRegisters[taken_++];
}

void Assembler::assign_registers() {
    for (const Statement& statement : program_.statements) {
        if (statement.kind == Statement::Kind::LoopBegin) {
            counters_[statement.variable] = take_register();
            continue;
        }
        const Instruction& each = statement.instruction;
        if (statement.kind == Statement::Kind::LoopEnd || !info_of(each.opcode).memory) {
            continue;
        }
        const Pattern pattern = pattern_of(each.address);
        if (!pattern.empty() && !patterns_.contains(pattern)) {
            patterns_[pattern] = take_register();
            move(patterns_[pattern], 0);
        }
        if (info_of(each.opcode).tile && !strides_.contains(each.row_stride)) {
            strides_[each.row_stride] = take_register();
            move(strides_[each.row_stride], each.row_stride);
        }
    }
}

Assembler::Memory Assembler::memory_of(const Instruction& each) {
    Memory memory;
    const Pattern pattern = pattern_of(each.address);
    memory.base = pattern.empty() ? -1 : patterns_.at(pattern);
    memory.index = info_of(each.opcode).tile ? strides_.at(each.row_stride) : -1;
    memory.displacement = each.address.base;
    return memory;
}

void Assembler::begin_loop(const Statement& statement) {
    move(counters_[statement.variable], statement.count);
    tops_[statement.variable] = code_.size();
}

void Assembler::end_loop(const Statement& statement) {
    step_patterns(statement.variable, 1);
    add(counters_[statement.variable], -1);
    byte(0x0F);  // jnz
    byte(0x85);
    word32(static_cast<std::int64_t>(tops_[statement.variable]) -
           static_cast<std::int64_t>(code_.size()) - 4);
    step_patterns(statement.variable, -statement.count);
}

void Assembler::step_patterns(int variable, std::int64_t factor) {
    for (const auto& [pattern, reg] : patterns_) {
        for (const auto& [of, stride] : pattern) {
            if (of == variable) {
                add(reg, stride * factor);
            }
        }
    }
}

void Assembler::word32(std::int64_t value) {
    if (value < INT32_MIN || value > INT32_MAX) {
        throw ConfigError(fmt::format("{} does not fit in 32 bits", value));
    }
    for (int shift = 0; shift < 32; shift += 8) {
        byte(static_cast<int>(value >> shift & 0xFF));
    }
}

void Assembler::move(int reg, std::int64_t value) {
    byte(0x48 | high(reg));
    byte(0xC7);
    byte(0xC0 | low(reg));
    word32(value);
}

void Assembler::add(int reg, std::int64_t value) {
    byte(0x48 | high(reg));
    byte(0x81);
    byte(0xC0 | low(reg));
    word32(value);
}

// ModRM, SIB and a 32-bit displacement, always in this long form.
void Assembler::operand(int reg, const Memory& memory) {
    byte((memory.base < 0 ? 0x00 : 0x80) | low(reg) << 3 | kSib);
    byte((memory.index < 0 ? kNoIndex : low(memory.index)) << 3 |
         (memory.base < 0 ? kNoBase : low(memory.base)));
    word32(memory.displacement);
}

void Assembler::vex(Map map, Prefix prefix, int opcode, int reg, int vvvv, const Memory& memory) {
    const int x = memory.index < 0 ? 0 : high(memory.index);
    const int b = memory.base < 0 ? 0 : high(memory.base);
    byte(0xC4);
    byte((high(reg) ^ 1) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5 | static_cast<int>(map));
    byte((vvvv ^ 15) << 3 | static_cast<int>(prefix));
    byte(opcode);
    operand(reg, memory);
}

void Assembler::vex_registers(Map map, Prefix prefix, int opcode, int reg, int vvvv, int rm) {
    byte(0xC4);
    byte((high(reg) ^ 1) << 7 | 1 << 6 | (high(rm) ^ 1) << 5 | static_cast<int>(map));
    byte((vvvv ^ 15) << 3 | static_cast<int>(prefix));
    byte(opcode);
    byte(0xC0 | low(reg) << 3 | low(rm));
}

void Assembler::evex(Map map, Prefix prefix, int opcode, int reg, int vvvv, int length) {
    byte(0x62);
    byte((high(reg) ^ 1) << 7 | (x_ ? 0 : 1) << 6 | (b_ ? 0 : 1) << 5 | ((reg >> 4 & 1) ^ 1) << 4 |
         static_cast<int>(map));
    byte(((vvvv & 15) ^ 15) << 3 | 1 << 2 | static_cast<int>(prefix));
    byte(length << 5 | ((vvvv >> 4 & 1) ^ 1) << 3);
    byte(opcode);
}

void Assembler::evex_memory(Map map, Prefix prefix, int opcode, int reg, const Memory& memory,
                            std::int64_t bytes) {
    if (bytes != 16 && bytes != 32 && bytes != 64) {
        throw ConfigError(fmt::format("vector operand of {} bytes needs a mask", bytes));
    }
    x_ = memory.index >= 0 && high(memory.index) != 0;
    b_ = memory.base >= 0 && high(memory.base) != 0;
    evex(map, prefix, opcode, reg, 0, bytes == 64 ? kLength512 : bytes == 32 ? 1 : 0);
    operand(reg, memory);
}

void Assembler::evex_registers(Map map, Prefix prefix, int opcode, int reg, int vvvv, int rm) {
    x_ = (rm >> 4 & 1) != 0;
    b_ = high(rm) != 0;
    evex(map, prefix, opcode, reg, vvvv, kLength512);
    byte(0xC0 | low(reg) << 3 | low(rm));
}

void Assembler::instruction(const Instruction& each) {
    if (tile(each) || vector(each)) {
        return;
    }
    switch (each.opcode) {
        case Opcode::Prefetcht0:
        case Opcode::Prefetcht1: {
            const Memory memory = memory_of(each);
            if (memory.base >= 0 && high(memory.base) != 0) {
                byte(0x41);
            }
            byte(0x0F);
            byte(0x18);
            operand(each.opcode == Opcode::Prefetcht0 ? 1 : 2, memory);
            return;
        }
        case Opcode::Scalar:  // cmp eax, eax: one uop that keeps every register
            byte(0x39);
            byte(0xC0);
            return;
        default:
            throw ConfigError(fmt::format("{} is not measured", info_of(each.opcode).mnemonic));
    }
}

bool Assembler::tile(const Instruction& each) {
    const int c = each.destination;
    switch (each.opcode) {
        case Opcode::Tileloadd:
            vex(Map::Of38, Prefix::Pf2, 0x4B, c, 0, memory_of(each));
            return true;
        case Opcode::Tileloaddt1:
            vex(Map::Of38, Prefix::P66, 0x4B, c, 0, memory_of(each));
            return true;
        case Opcode::Tilestored:
            vex(Map::Of38, Prefix::Pf3, 0x4B, c, 0, memory_of(each));
            return true;
        case Opcode::Tilezero:
            vex_registers(Map::Of38, Prefix::Pf2, 0x49, c, 0, 0);
            return true;
        case Opcode::Tdpbssd:
            vex_registers(Map::Of38, Prefix::Pf2, 0x5E, c, each.source_b, each.source_a);
            return true;
        case Opcode::Tdpbsud:
            vex_registers(Map::Of38, Prefix::Pf3, 0x5E, c, each.source_b, each.source_a);
            return true;
        case Opcode::Tdpbusd:
            vex_registers(Map::Of38, Prefix::P66, 0x5E, c, each.source_b, each.source_a);
            return true;
        case Opcode::Tdpbuud:
            vex_registers(Map::Of38, Prefix::None, 0x5E, c, each.source_b, each.source_a);
            return true;
        case Opcode::Tdpbf16ps:
            vex_registers(Map::Of38, Prefix::Pf3, 0x5C, c, each.source_b, each.source_a);
            return true;
        case Opcode::Ldtilecfg:
            vex(Map::Of38, Prefix::None, 0x49, 0, 0,
                {-1, -1, configs_ + each.immediate * arch::amx::kTileConfigBytes});
            return true;
        case Opcode::Sttilecfg:
            vex(Map::Of38, Prefix::P66, 0x49, 0, 0, memory_of(each));
            return true;
        case Opcode::Tilerelease:
            vex_registers(Map::Of38, Prefix::None, 0x49, 0, 0, 0);
            return true;
        default:
            return false;
    }
}

bool Assembler::vector(const Instruction& each) {
    struct Form {
        Opcode opcode;
        Map map;
        Prefix prefix;
        int code;
    };
    constexpr std::array<Form, 10> kForms{{{Opcode::Vpxord, Map::Of, Prefix::P66, 0xEF},
                                           {Opcode::Vcvtdq2ps, Map::Of, Prefix::None, 0x5B},
                                           {Opcode::Vcvtps2dq, Map::Of, Prefix::P66, 0x5B},
                                           {Opcode::Vaddps, Map::Of, Prefix::None, 0x58},
                                           {Opcode::Vpaddd, Map::Of, Prefix::P66, 0xFE},
                                           {Opcode::Vsubps, Map::Of, Prefix::None, 0x5C},
                                           {Opcode::Vmulps, Map::Of, Prefix::None, 0x59},
                                           {Opcode::Vmaxps, Map::Of, Prefix::None, 0x5F},
                                           {Opcode::Vfmadd231ps, Map::Of38, Prefix::P66, 0xB8},
                                           {Opcode::Vcvtneps2bf16, Map::Of38, Prefix::Pf3, 0x72}}};
    const int reg = each.destination;
    switch (each.opcode) {
        case Opcode::Vmovups:
            evex_memory(Map::Of, Prefix::None, 0x10, reg, memory_of(each), each.bytes);
            return true;
        case Opcode::VmovupsStore:
            evex_memory(Map::Of, Prefix::None, 0x11, reg, memory_of(each), each.bytes);
            return true;
        case Opcode::Vbroadcastss:
            evex_memory(Map::Of38, Prefix::P66, 0x18, reg, memory_of(each), 64);
            return true;
        case Opcode::VpmovsdbStore:
            evex_memory(Map::Of38, Prefix::Pf3, 0x21, reg, memory_of(each), each.bytes * 4);
            return true;
        default:
            break;
    }
    for (const Form& form : kForms) {
        if (form.opcode == each.opcode) {
            const int sources = info_of(each.opcode).sources;
            const bool zero = each.opcode == Opcode::Vpxord;
            evex_registers(form.map, form.prefix, form.code, reg,
                           sources == 2 ? each.source_a
                           : zero       ? reg
                                        : 0,
                           sources == 2 ? each.source_b
                           : zero       ? reg
                                        : each.source_a);
            return true;
        }
    }
    return false;
}

}  // namespace tilesim::validation::amx
