// Explains a standstill: who waits for what, held by whom, since when, and the cycle among them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilesim::arch::npu {

// One agent that waits.
struct Wait {
    std::string who;                   // "npu.tile(2,3).core"
    std::string what;                  // "lock A_full (id 1) >= 1, is 0"
    std::vector<std::string> held_by;  // the agents that could end the wait
    std::int64_t since = 0;            // cycles of the array's clock
    bool in_cycle = false;             // part of a cycle of waits
};

struct DeadlockReport {
    std::vector<Wait> waits;
    bool cycle = false;  // false: somebody waits for an agent that has nothing left to do
    std::vector<std::string> dropped_pushes;  // pushes lost to full task queues, a likely cause

    std::string text() const;
    std::string graphviz() const;
};

// Marks the waits that lie on a cycle of the wait-for graph (strongly connected components).
void find_cycles(DeadlockReport& report);

}  // namespace tilesim::arch::npu
