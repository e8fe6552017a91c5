// Walks a core's control flow and writes its script: loops once with a count where a run is like
// another, else run by run until what decides repeats.
//
// Models:  counts from a compare and a step, run-time parameters as bounds, branches on values that
//          are known or carried from run to run, ways out of the middle of a loop; branches on data
//          that hold no event, or the same ones on each way, cost their longer way.
// Errors:  DependsOnData where data decides about lock operations or calls; nothing is guessed.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workloads/npu/mlir/control_flow/block_values.hpp"
#include "workloads/npu/mlir/control_flow/control_flow.hpp"
#include "workloads/npu/mlir/core/script_writer.hpp"

namespace tilesim::workloads::npu::mlir::core {

using control_flow::BlockValues;
using control_flow::ControlFlow;
using control_flow::CountedTest;
using control_flow::FlatBlock;
using control_flow::Jump;
using control_flow::Values;

// What cannot be lowered because data decides; an outer loop may know more run by run.
class DependsOnData : public ReadError {
    using ReadError::ReadError;
};

// A loop whose bound lies behind a buffer's end: nobody can know it.
class BehindBuffer : public DependsOnData {
    using DependsOnData::DependsOnData;
};

// Elements a core holds of object FIFOs, by fifo and port: the next element's number, how many.
using HeldElements = std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>>;

// A loop whose runs are walked as one: what its counters begin with and are raised by.
struct OpenLoop {
    struct Counter {
        std::string name;
        std::int64_t start = 0;
        std::int64_t step = 0;
    };
    const Scope* scope = nullptr;  // of the names
    std::vector<Counter> counters;
    const std::optional<Runs>* runs = nullptr;  // once its test is passed
};
using OpenLoops = std::vector<OpenLoop>;

class FlowWalker {
  public:
    // What one operation without control flow adds to a script.
    using Step = std::function<void(const Operation&, Scope&, Script&)>;
    // `open`: the loops around what a step is given, the innermost last.
    FlowWalker(Lowering& lowering, ScriptWriter& writer, HeldElements& held, OpenLoops& open,
               const ControlFlow& flow, Scope& scope, Step step)
        : lowering_(lowering),
          writer_(writer),
          held_(held),
          open_(open),
          flow_(flow),
          scope_(scope),
          values_(flow, scope),
          step_(std::move(step)) {}

    void run(Script& ops);

  private:
    // A way taken; nowhere: the body has ended, or a loop never does.
    struct Edge {
        std::optional<std::size_t> to;
        Values values{};
    };
    // The part of the graph being walked.
    struct Frame {
        std::optional<std::size_t> loop{};
        std::optional<std::size_t> stop{};  // where branches meet again
        const Values* entry = nullptr;  // the loop's test counts from these; without: run by run
        bool leaving = false;           // the test's other way
        std::optional<Runs> runs{};     // found at the test
    };
    struct State {
        Values carried;
        HeldElements held;
    };

    Edge follow(std::size_t block, Frame& frame, Script& ops);
    Edge run_block(std::size_t block, Frame& frame, Script& ops);
    Edge choose(const FlatBlock& block, std::size_t number, Frame& frame, Script& ops);
    Edge test(const CountedTest& test, const FlatBlock& block, Frame& frame);
    Edge branch_by_data(std::size_t number, Frame& frame, Script& ops);
    [[noreturn]] void refuse_branch(const FlatBlock& block, const char* reason) const;
    Edge run_loop(std::size_t number, Script& ops);
    // Walks one run of a loop for all of them.
    Edge run_once(std::size_t number, const Values& entry, Frame& frame, Script& ops);
    Edge repeated(std::size_t number, const Values& entry, std::optional<Runs>& runs, Script& ops);
    Edge unrolled(std::size_t number, const Values& entry, Script& ops);
    Edge leave(std::size_t number, const Values& entry, const std::vector<State>& states,
               std::size_t first, const Runs& runs, Script& ops);

    bool ends(const Frame& frame, std::optional<std::size_t> to) const;
    Edge edge_of(const Jump& jump) const;
    std::string block_name(const FlatBlock& block) const;

    Lowering& lowering_;
    ScriptWriter& writer_;
    HeldElements& held_;
    OpenLoops& open_;
    const ControlFlow& flow_;
    Scope& scope_;
    BlockValues values_;
    Step step_;
};

}  // namespace tilesim::workloads::npu::mlir::core
