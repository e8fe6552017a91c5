// Machine code for a program: the instructions the simulator runs, on a real core.
//
// Addresses are the program's own (its buffers are mapped there), so a memory operand is a register
// that follows its loops plus a constant; row strides and loop counters have registers too, as long
// as they are needed. Where they are too few, outer loops count in memory. Lengths that are no
// whole vector take a mask register.
//
// Source: Intel SDM volume 2: opcodes of each instruction.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "arch/amx/program/instruction.hpp"
#include "validation/amx/harness/constant_pool.hpp"
#include "validation/amx/harness/encoder.hpp"

namespace tilesim::validation::amx::harness {

// Where code finds what is not in the program's buffers.
struct Placement {
    std::int64_t constants = 0;  // address of the program's ConstantPool
    std::int64_t barrier = 0;    // address of the word in which all cores count arrivals, from 0
    std::int64_t parties = 1;    // cores that come to each barrier
};

class Assembler {
  public:
    // Throws ConfigError for what it cannot encode.
    Assembler(const arch::amx::program::Program& program, const Placement& placement);

    // A function without arguments and result.
    const std::vector<std::uint8_t>& code() const { return encoder_.code(); }

  private:
    using Pattern = std::vector<std::pair<int, std::int64_t>>;  // loop variable, stride

    static Pattern pattern_of(const arch::amx::program::Address& address);
    void note_pattern(const arch::amx::program::Address& address);
    void analyse();
    std::size_t registers_needed() const;
    bool counts_in_memory(const arch::amx::program::Statement& statement) const;
    MemoryOperand counter_memory() const;  // of the innermost loop that counts in memory
    void load_constants();
    int take_register();
    void give_register(int reg) { free_.insert(reg); }
    MemoryOperand memory_of(const arch::amx::program::Address& address) const;
    MemoryOperand tile_memory(const arch::amx::program::Instruction& instruction) const;
    MemoryOperand piece_start(const arch::amx::program::Address& address) const;
    WriteMask mask_of(std::int64_t elements, bool zeroes) const;
    void begin_loop(std::size_t at);
    void end_loop(const arch::amx::program::Statement& statement);
    void step_patterns(int variable, std::int64_t factor);
    // Returns how many of the statements from `at` it encoded.
    std::size_t instruction(std::size_t at);
    bool tile(const arch::amx::program::Instruction& instruction);
    bool vector_memory(const arch::amx::program::Instruction& instruction);
    bool vector(const arch::amx::program::Instruction& instruction);
    void masked(const arch::amx::program::Instruction& instruction);
    void interleave(const arch::amx::program::Instruction& instruction);
    std::size_t expand(const arch::amx::program::Instruction& instruction);
    void barrier();

    const arch::amx::program::Program& program_;
    Placement placement_;
    ConstantPool constants_;
    Encoder encoder_;
    std::set<int> free_;                       // registers, as indices of the order of use
    std::map<int, std::set<Pattern>> starts_;  // patterns, by the outermost loop they follow
    std::map<Pattern, int> patterns_;          // register of each whose loop is open
    std::map<std::int64_t, int> strides_;      // of tile rows
    std::map<int, int> counters_;              // of each open loop
    std::map<int, std::size_t> tops_;          // of each loop: where its body starts
    std::map<std::size_t, arch::amx::program::Address>
        counted_;                        // loops that follow a table by a pointer
    std::map<std::int64_t, int> masks_;  // mask register, by elements
    std::map<std::pair<arch::amx::program::Opcode, std::int64_t>, int>
        shuffles_;              // vector register
    bool spills_ = false;       // outer loops count in memory
    std::int64_t spilled_ = 0;  // open loops that do
    int pointer_ = -1;          // of the counted loop that is open
    const arch::amx::program::Instruction* last_mask_ = nullptr;
};

}  // namespace tilesim::validation::amx::harness
