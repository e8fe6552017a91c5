// What every run has at its ends: the blocks of its model, and how it came out.
#pragma once

#include <string>
#include <vector>

#include "arch/base/block.hpp"
#include "arch/base/clock.hpp"
#include "arch/base/stats.hpp"
#include "arch/systemc/run.hpp"
#include "workloads/result.hpp"
#include "workloads/run.hpp"

namespace tilesim::sim::session {

// Of a model and its statistics, without the memory's; `prefix` before their names: "npu0.".
std::vector<arch::base::Block> blocks_of(const workloads::Model& model,
                                         const arch::base::stats::Group& root,
                                         const std::string& prefix);

workloads::RunEnd end_of(arch::systemc::Outcome outcome, const workloads::Model& model);

// A run that did not end well is reported as far as it came, to `reached`.
void note_end(workloads::RunEnd end, const workloads::Model& model, arch::base::Clock clock,
              arch::base::Femtoseconds reached, workloads::RunResult& result);

// What the memory's commands and its standby have taken, where the device file says what they do;
// from the result's `memory` and `banks`.
void add_energy(const arch::memory::device::MemoryConfig& memory, arch::base::Cycles cycles,
                workloads::RunResult& result);

}  // namespace tilesim::sim::session
