// Machine code for a program: the instructions the simulator runs, on a real core.
//
// Addresses are the program's own (its buffers are mapped there), so a memory operand is a register
// that follows its loops plus a constant; row strides and loop counters have registers too.
//
// Source: Intel SDM volume 2: VEX and EVEX prefixes, opcodes of each instruction.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "arch/amx/instruction.hpp"

namespace tilesim::validation::amx {

class Assembler {
  public:
    // `configs`: address of the program's tile configurations, 64 bytes each. Throws ConfigError
    // for what it cannot encode.
    Assembler(const arch::amx::Program& program, std::int64_t configs);

    // A function without arguments and result.
    const std::vector<std::uint8_t>& code() const { return code_; }

  private:
    using Pattern = std::vector<std::pair<int, std::int64_t>>;  // loop variable, stride
    struct Memory {
        int base = -1;  // register; -1: none
        int index = -1;
        std::int64_t displacement = 0;
    };
    enum class Map : std::uint8_t { Of = 1, Of38 = 2 };
    enum class Prefix : std::uint8_t { None, P66, Pf3, Pf2 };

    static Pattern pattern_of(const arch::amx::Address& address);
    void assign_registers();
    int take_register();
    Memory memory_of(const arch::amx::Instruction& instruction);
    void begin_loop(const arch::amx::Statement& statement);
    void end_loop(const arch::amx::Statement& statement);
    void step_patterns(int variable, std::int64_t factor);
    void instruction(const arch::amx::Instruction& instruction);
    bool tile(const arch::amx::Instruction& instruction);
    bool vector(const arch::amx::Instruction& instruction);

    void byte(int value) { code_.push_back(static_cast<std::uint8_t>(value)); }
    void word32(std::int64_t value);
    void move(int reg, std::int64_t value);
    void add(int reg, std::int64_t value);
    void operand(int reg, const Memory& memory);
    void vex(Map map, Prefix prefix, int opcode, int reg, int vvvv, const Memory& memory);
    void vex_registers(Map map, Prefix prefix, int opcode, int reg, int vvvv, int rm);
    void evex(Map map, Prefix prefix, int opcode, int reg, int vvvv, int length);
    void evex_memory(Map map, Prefix prefix, int opcode, int reg, const Memory& memory,
                     std::int64_t bytes);
    void evex_registers(Map map, Prefix prefix, int opcode, int reg, int vvvv, int rm);

    const arch::amx::Program& program_;
    std::int64_t configs_;
    std::vector<std::uint8_t> code_;
    std::map<Pattern, int> patterns_;  // register of each
    std::map<std::int64_t, int> strides_;
    std::map<int, int> counters_;      // of each loop variable
    std::map<int, std::size_t> tops_;  // of each loop: where its body starts
    std::size_t taken_ = 0;            // registers given out
    bool x_ = false, b_ = false;       // high bits of index and base
};

}  // namespace tilesim::validation::amx
