// Runs programs on the cores of a socket: caches prepared, statistics, bounds and notes collected,
// the product checked in functional mode.
#pragma once

#include <memory>

#include "workloads/amx/tiles/amx_work.hpp"
#include "workloads/dataflow.hpp"

namespace tilesim::workloads::amx::tiles {

// The case must outlive the job.
std::unique_ptr<Job> amx_job(const Case& a_case, AmxWork work);

}  // namespace tilesim::workloads::amx::tiles
