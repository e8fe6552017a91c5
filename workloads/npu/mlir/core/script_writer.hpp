// A core's script as it is being written: the time of scalar instructions, and where it goes.
//
// Models:  instructions issue one a cycle in order, each when its operands are there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::core {

using Script = std::vector<program::CoreOp>;

inline constexpr std::int64_t kMostCycles = std::int64_t{1} << 40;

class InlineClock {
  public:
    explicit InlineClock(const InlineCosts& costs) : costs_(costs) {}

    // A load or store takes the instructions of its address first, where code is not optimised.
    void issue(const Operation& operation);
    // A function's own names for what it is given, ready when that is: (given, name).
    void hand_over(const std::vector<std::pair<std::string, std::string>>& arguments);
    // What the operation needs is there.
    void wait_for_operands(const Operation& operation) { now_ = ready_for(operation); }
    void spend(std::int64_t cycles) { now_ = std::min(now_ + cycles, kMostCycles); }
    std::int64_t now() const { return now_; }
    // There has been no branch and no loop that is left of one: a loop around it may be the
    // hardware's.
    bool is_straight() const { return straight_; }
    void branch() {
        spend(costs_.branch);
        straight_ = false;
    }
    // A loop that is only work, all its runs.
    void run_loop(std::int64_t cycles) {
        spend(cycles);
        straight_ = false;
    }

  private:
    std::int64_t ready_for(const Operation& operation) const;
    std::int64_t address_cycles(const Operation& operation) const;
    void visit(const Item& item, std::int64_t& at) const;
    std::int64_t latency(const std::string& name) const;

    InlineCosts costs_;
    std::int64_t now_ = 0;
    bool straight_ = true;
    std::unordered_map<std::string, std::int64_t> ready_;
};

// How often a loop runs.
struct Runs {
    std::int64_t count = -1;  // -1: for ever
    std::optional<std::int64_t> parameter{};
};

class ScriptWriter {
  public:
    explicit ScriptWriter(Lowering& lowering) : lowering_(lowering) {}

    InlineClock& clock() { return clock_; }
    void begin_piece() { clock_ = InlineClock(lowering_.options.costs.inline_code); }
    // Choosing a way as the core runs.
    void spend_branch() { clock_.branch(); }
    // Closing a loop behind a run that has put these events into the script.
    void close_run(const Script& events);
    // Puts the time spent since the last event into the script.
    void flush(Script& ops);
    // Adds the pieces behind what was spent so far. Throws ReadError where it grows too long.
    void append(const Script& more, Location where, Script& ops);
    // A body, run `count` times (-1: for ever) or as often as a parameter says. Work alone adds to
    // the time being spent.
    void repeat(const Script& body, std::int64_t count, std::optional<std::int64_t> parameter,
                Script& ops);
    // The runs of a loop. `first`: the run that the last one is followed by again; the number of
    // runs where none is. Throws ReadError where runs that a parameter counts differ.
    void lay_out(const std::vector<Script>& bodies, std::size_t first, const Runs& runs,
                 Location where, Script& ops);
    // The work in a script without events. `ops` has no others.
    std::int64_t work_in(const Script& ops) const;
    // What a script does besides work of its own.
    Script events_of(const Script& ops) const;
    // A run's pieces; work alone becomes one.
    Script as_body(Script ops);

  private:
    bool is_inline(const program::CoreOp& op) const;
    std::int64_t work_of(const program::CoreOp& op) const;
    // One kernel per number of cycles: "inline_12".
    program::CoreOp inline_call(std::int64_t cycles);

    Lowering& lowering_;
    InlineClock clock_{lowering_.options.costs.inline_code};
};

bool same(const Script& a, const Script& b);
bool all_alike(const std::vector<Script>& scripts);

}  // namespace tilesim::workloads::npu::mlir::core
