// The marked graph of a program: what can be said about its progress before it runs.
//
// Frames are the chains of descriptors that channels execute again and again and the bodies of the
// cores' loops; nodes the begin and end of each descriptor and the operations of the scripts; edges
// the order within a frame, the locks, and the streams in both directions. Every edge is a
// necessary condition with a time no longer than the model's, so a cycle that cannot move is a
// certain deadlock and the ratio a lower bound of the steady-state period.
//
// Left out, because they give no necessary condition of this form: locks that several agents
// release or acquire, that wait for equality or that the sequence sets; channels the sequence
// starts, the shim's among them; DRAM.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

struct PeriodBound {
    double cycles = 0;                  // of one round of `channel`'s chain of descriptors
    program::ChannelId channel;         // the slowest channel of the largest connected part
    std::int64_t descriptors = 1;       // of its chain
    std::vector<std::string> critical;  // what the tightest cycle consists of
};

struct ProgramAnalysis {
    std::vector<std::string> deadlocks;  // certain ones, one sentence each
    std::optional<PeriodBound> period;   // nothing when nothing repeats
};

// The program must have passed `verify` and have its routes' paths.
ProgramAnalysis analyse(const program::Program& program, const NpuConfig& config);

}  // namespace tilesim::arch::npu::check
