// Explains a standstill: who waits for what, held by whom, since when, and the cycle among them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilesim::arch::base {

// One agent that waits.
struct Wait {
    std::string who;                        // "npu.tile(2,3).core"
    std::string what;                       // "lock A_full (id 1) >= 1, is 0"
    std::string on;                         // lock, stream, arbiter, cascade or token
    std::vector<std::string> held_by = {};  // the agents that could end the wait
    std::int64_t since = 0;                 // cycles of the system's clock
    bool in_cycle = false;                  // part of a cycle of waits
};

// An agent that goes on for ever without giving anybody anything.
struct Spinner {
    std::string who;
    std::int64_t calls = 0;  // kernel calls it has made
};

struct DeadlockReport {
    std::vector<Wait> waits;
    std::vector<Spinner> spinners;   // livelock: who still moves
    std::int64_t last_progress = 0;  // cycle in which something last finished that others see
    std::string last_progress_by;    // who finished it
    bool cycle = false;  // false: somebody waits for an agent that has nothing left to do
    std::vector<std::string> dropped_pushes;  // pushes lost to full task queues, a likely cause
    std::vector<std::string> queued;          // channels with tasks that wait for their turn

    std::string text() const;
    std::string progress() const;  // "last progress: cycle 12, npu.tile(0,1).s2mm0"
    std::string graphviz() const;
};

// Marks the waits that lie on a cycle of the wait-for graph (strongly connected components).
void find_cycles(DeadlockReport& report);

}  // namespace tilesim::arch::base
