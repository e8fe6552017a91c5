// What a loop counts: arguments of its header that a fixed step raises, and the test its number of
// runs follows from.
#pragma once

#include <set>
#include <vector>

#include "workloads/npu/mlir/control_flow/control_flow.hpp"

namespace tilesim::workloads::npu::mlir::control_flow {

class LoopCounters {
  public:
    LoopCounters(const std::vector<FlatBlock>& blocks, const std::vector<bool>& reachable)
        : blocks_(blocks), reachable_(reachable) {}

    // `own`: the loop's blocks that are in no inner loop. Returns the operations that close the
    // loop: its counter's step and test.
    std::set<const Operation*> find(Loop& loop, const std::set<std::size_t>& own) const;

  private:
    // Arguments of the loop's blocks that one jump alone hands over, by the value it hands over:
    // another name of it, as the second part of a scf.while has for the counter.
    void find_other_names(Loop& loop) const;
    // Header arguments that every latch raises by the same value from outside the loop.
    void find_counters(Loop& loop) const;
    // The one block that leaves the loop, when it compares a counter with what does not change. A
    // loop's other ways out are followed run by run.
    void find_test(Loop& loop, const std::set<std::size_t>& own,
                   std::set<const Operation*>& closing) const;

    const std::vector<FlatBlock>& blocks_;
    const std::vector<bool>& reachable_;
};

}  // namespace tilesim::workloads::npu::mlir::control_flow
