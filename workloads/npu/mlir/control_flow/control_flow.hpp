// The control-flow graph of a core's body: structured loops and branches turned into blocks, as the
// compiler's lowering to cf does, empty blocks taken out, loops found and nested.
//
// Models:  natural loops (an edge to a dominator of its source closes one), several latches and
//          exits, their nesting; where branches meet again; counters that a loop raises by a fixed
//          step and tests. Both spellings of a body lead to the same graph.
// Errors:  ReadError for a loop that has several entries, naming the block.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::control_flow {

using syntax::Item;
using syntax::Location;
using syntax::Operation;

// A way out of a block, and the values it hands over, by name.
struct Jump {
    std::size_t to = 0;
    std::vector<std::string> operands;
};

struct FlatBlock {
    std::string label;  // for messages
    std::vector<std::string> arguments;
    std::vector<Operation> operations;  // without the terminator
    Location where;                     // of the terminator
    std::string condition;              // of a test or a switch
    // None: the body ends. One: always. Two without cases: if true, if not. With cases: the first
    // is the default's, the others' are in the order of `cases`.
    std::vector<Jump> jumps;
    std::vector<std::int64_t> cases;
};

// The test a loop's number of runs follows from: a counter, or its next value, compared with what
// the loop does not change.
struct CountedTest {
    std::size_t block = 0;
    std::size_t argument = 0;     // of the header: the counter
    bool next_value = false;      // the counter is tested after its step
    std::string predicate;        // slt, ule, ne ...; counter on the left
    std::string bound;            // by name
    bool stays_when_true = true;  // inside the loop
};

struct Loop {
    std::size_t header = 0;
    std::set<std::size_t> blocks;
    std::optional<std::size_t> parent;
    // By argument of the header: the name of the step every latch adds to it; empty: none.
    std::vector<std::string> steps;
    std::multimap<std::size_t, const Operation*> raises;  // the additions, by argument
    std::optional<CountedTest> test;
    bool events = false;                             // lock operations, calls, cascades, streams
    std::map<std::string, std::string> other_names;  // of values, as blocks hand them on
    const std::string& first_name(const std::string& name) const;
};

class ControlFlow {
  public:
    explicit ControlFlow(const Item& region);
    ControlFlow(const ControlFlow&) = delete;
    ControlFlow& operator=(const ControlFlow&) = delete;

    const std::vector<FlatBlock>& blocks() const { return blocks_; }
    const std::vector<Loop>& loops() const { return loops_; }
    bool reachable(std::size_t block) const { return reachable_[block]; }
    // Whether all ways to a block pass another one, or it is the same.
    bool dominates(std::size_t above, std::size_t below) const;
    std::optional<std::size_t> loop_at(std::size_t header) const;
    // Where the ways out of a block meet again without leaving its loop or beginning its next run.
    std::optional<std::size_t> join_of(std::size_t block) const;
    // The counter's step and test: part of closing the loop, not work of its own.
    bool closes_loop(const Operation& operation) const { return closing_.contains(&operation); }
    // Whether a value may decide a branch, a lock count or a loop's bound.
    bool decides(const std::string& name) const { return deciding_.contains(name); }

  private:
    void thread_empty_blocks();
    void find_reachable();
    void find_loops();
    void nest_loops();
    void find_counters();
    void find_deciding_values();
    bool leaves(const std::optional<std::size_t>& level, std::size_t to) const;
    // The block that stands for `to` in a level: itself, or the header of the inner loop it is in.
    std::size_t at_level(const std::optional<std::size_t>& level, std::size_t to) const;
    void find_joins(const std::optional<std::size_t>& level);
    std::vector<std::size_t> successors_at(const std::optional<std::size_t>& level,
                                           std::size_t block) const;

    std::vector<FlatBlock> blocks_;
    std::vector<bool> reachable_;
    std::vector<std::size_t> dominators_;  // the nearest one, by block
    std::vector<Loop> loops_;
    std::vector<std::optional<std::size_t>> innermost_;  // loop, by block
    std::vector<std::optional<std::size_t>> joins_;      // by block
    std::set<const Operation*> closing_;
    std::set<std::string> deciding_;
};

// Lock operations, calls, cascades, streams: what a script keeps.
bool is_event(const Operation& operation);

}  // namespace tilesim::workloads::npu::mlir::control_flow
