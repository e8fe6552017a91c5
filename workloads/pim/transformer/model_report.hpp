// A model's times as a result: rates, and the tables by operator, by context, of the prompt and of
// the whole.
#pragma once

#include "arch/base/units.hpp"
#include "arch/pim/pim_config.hpp"
#include "workloads/pim/transformer/model_times.hpp"
#include "workloads/pim/transformer/model_workload.hpp"
#include "workloads/run.hpp"

namespace tilesim::workloads::pim::transformer {

// Fills all of the result but its status, events and where time went. Cycles are of `clock`.
void report(const ModelWorkload& workload, const ModelTimes& times, arch::base::Hertz clock,
            RunResult& result);

}  // namespace tilesim::workloads::pim::transformer
