// Walks a program's loops and delivers its instructions one by one, addresses resolved.
#pragma once

#include "arch/amx/program/instruction.hpp"

namespace tilesim::arch::amx::program {

struct DynamicInstruction {
    const Instruction* instruction = nullptr;
    std::int64_t address = 0;
    std::int64_t bytes = 64;  // of vector loads and stores
};

class InstructionStream {
  public:
    // Keeps a reference to `program`, whose loops must be closed.
    explicit InstructionStream(const Program& program);

    bool finished() const { return finished_; }
    const DynamicInstruction& current() const { return current_; }
    // Index of its statement.
    std::size_t position() const { return at_; }
    void advance();
    void restart();

  private:
    void settle();  // from `at_` to the next instruction

    const Program& program_;
    std::size_t at_ = 0;
    bool finished_ = false;
    DynamicInstruction current_;
    std::vector<std::int64_t> values_;  // of loop variables
};

}  // namespace tilesim::arch::amx::program
