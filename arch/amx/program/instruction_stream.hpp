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
    // Turns that are over of the loop that ends at statement `end`.
    std::int64_t turns(std::size_t end) const { return values_[variable_of(end)]; }
    // Is the next instruction one of the loop that ends at statement `end`?
    bool inside(std::size_t end) const {
        const auto begin = static_cast<std::size_t>(program_.statements[end].partner);
        return !finished_ && at_ > begin && at_ <= end;
    }
    // Turns of it that may be skipped so that one follows.
    std::int64_t turns_left(std::size_t end) const {
        return program_.statements[end].count - 1 - turns(end);
    }
    // So many turns are over without having been delivered. No address depends on them.
    void skip(std::size_t end, std::int64_t turns) { values_[variable_of(end)] += turns; }
    // Counts of all loops but the one that ends at `end`.
    template <class Body>
    void each_count_but(std::size_t end, Body body) const {
        for (std::size_t variable = 0; variable < values_.size(); ++variable) {
            if (variable != variable_of(end)) {
                body(values_[variable]);
            }
        }
    }

  private:
    std::size_t variable_of(std::size_t end) const {
        return static_cast<std::size_t>(program_.statements[end].variable);
    }
    void settle();  // from `at_` to the next instruction

    const Program& program_;
    std::size_t at_ = 0;
    bool finished_ = false;
    DynamicInstruction current_;
    std::vector<std::int64_t> values_;  // of loop variables
};

}  // namespace tilesim::arch::amx::program
