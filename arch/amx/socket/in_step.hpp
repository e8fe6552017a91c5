// Cores that execute the same program on data of their own, in step with one that is simulated.
//
// What such a core does to its private caches and its time are those of the simulated one; what it
// asks of the uncore it asks for its own lines, so that L3, snoop filter and DRAM see every core.
//
// Ignores: what differs between such cores in time (which of their answers comes first) and in
//          which sets of their caches their page frames fall.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "arch/amx/caches/cache.hpp"
#include "arch/amx/core/core.hpp"
#include "arch/amx/program/instruction_stream.hpp"

namespace tilesim::arch::amx::socket {

// Where a core has what another has elsewhere: pieces of memory, each moved as a whole. What lies
// in none of them both have in common.
class Displacement {
  public:
    struct Piece {
        caches::Line first = 0;  // of the simulated core
        caches::Line end = 0;
        caches::Line by = 0;
    };
    explicit Displacement(std::vector<Piece> pieces = {}) : pieces_(std::move(pieces)) {}

    caches::Line of(caches::Line line) const;
    // The simulated core's line of one of the other's.
    caches::Line back(caches::Line line) const;

  private:
    std::vector<Piece> pieces_;
};

// How data of `other` lie beside those of `program`, where that is all in which the two differ.
// Programs with address tables, or whose buffers do not move as wholes, are never alike.
std::optional<Displacement> displacement(const program::Program& program,
                                         const program::Program& other);

struct Member {
    std::size_t core = 0;   // of those simulated, which stands for it
    bool simulated = true;  // is that one
    Displacement displacement;
};

// One a program. Where there are more than `most`, about as many are simulated, each for its share
// of those like it; 0, or where all programs together execute no more than `instructions`: every
// one is.
std::vector<Member> members_of(const std::vector<program::Program>& programs, std::int64_t most,
                               std::int64_t instructions = 0);

// Shows every instruction of the simulated core to its observer, and to those of the cores in step
// their own instruction of the same place.
class InStepObserver final : public core::InstructionObserver {
  public:
    explicit InStepObserver(core::InstructionObserver& simulated) : simulated_(simulated) {}
    // Keeps references.
    void add(const program::Program& program, core::InstructionObserver& observer);

    void on_instruction(const program::DynamicInstruction& instruction) override;

  private:
    struct Follower {
        program::InstructionStream stream;
        core::InstructionObserver* observer;
    };
    core::InstructionObserver& simulated_;
    std::vector<Follower> followers_;
};

}  // namespace tilesim::arch::amx::socket
