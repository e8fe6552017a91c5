// A training step's totals as a result: times, rates, and the tables by phase, size, stage and
// operator.
#pragma once

#include <string>

#include "arch/base/units.hpp"
#include "workloads/npu/training/training_step.hpp"
#include "workloads/npu/training/training_totals.hpp"
#include "workloads/run.hpp"

namespace tilesim::workloads::npu::training {

// "m x k x n".
std::string name_of(const TrainingProduct::Size& size);

// Fills all of the result but its status and events. Cycles are of the array's clock.
void report(const TrainingTotals& totals, arch::base::Hertz clock, RunResult& result);

}  // namespace tilesim::workloads::npu::training
