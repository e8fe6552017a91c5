// Where a core stands in its script.
//
// Models:  loops that run a constant number of times, as often as a run-time parameter says when
//          they are entered, or for ever.
// Ignores: the cycles of loop control, which zero-overhead loops do not take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/base/units.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::core {

class ScriptCursor {
  public:
    // `core`: whom a fault names.
    // `parameters`: what they hold at start.
    ScriptCursor(const std::vector<program::CoreOp>& script, std::string core,
                 std::vector<std::int64_t> parameters = {})
        : script_(script), core_(std::move(core)), parameters_(std::move(parameters)) {}

    // Stands in a loop without end whose body gives nobody anything: no release, no cascade or
    // stream.
    bool spins() const;

    void start() { stack_ = {{&script_, 0, 1}}; }
    void write_parameter(std::int64_t index, std::int64_t value);
    // The next operation that is no loop; nullptr at the end. Throws ProgramFault when a loop for
    // ever has none.
    const program::CoreOp* next(base::Cycles now);

  private:
    struct Frame {  // a block of the script being executed
        const std::vector<program::CoreOp>* body;
        std::size_t next;
        std::int64_t runs_left;  // of a loop, this run included; -1 for ever
    };
    const program::CoreOp* fetch();
    void enter(const program::LoopOp& loop);

    const std::vector<program::CoreOp>& script_;
    std::string core_;
    std::vector<Frame> stack_;
    std::vector<std::int64_t> parameters_;
};

}  // namespace tilesim::arch::npu::core
