// A kernel of the AMX measuring harness, simulated as the harness runs it.
#pragma once

#include <string>

#include "arch/amx/program/instruction.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim::compare {

// Of an iteration of the kernel's outermost loop where its file leaves the count open (COUNT),
// otherwise of one run.
struct AmxKernelRun {
    double cycles = 0;
    double operations = 0;  // 2 a multiply-accumulate of the tile products
    double bytes = 0;       // loaded and stored, by tiles and by vectors
};

// Operations and bytes of everything the program executes; no cycles.
AmxKernelRun work_of(const arch::amx::program::Program& program);

// `text`: the kernel; `file`: its name in messages; `like`: whose device and data it runs with.
// Throws ConfigError when the text is no kernel, faults or is too long to simulate.
AmxKernelRun run_amx_kernel(const sim::Scenario& like, const std::string& text,
                            const std::string& file);

}  // namespace tilesim::sim::compare
