// A result as people read it.
#pragma once

#include <string>

#include "workloads/result.hpp"

namespace tilesim::sim {

std::string to_table(const workloads::RunResult& result);

}  // namespace tilesim::sim
