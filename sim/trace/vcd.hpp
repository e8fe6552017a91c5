// A value change dump: one wire for each component and state, high while the state holds.
#pragma once

#include <string>

#include "sim/trace/activity_log.hpp"

namespace tilesim::sim::trace {

// `signals`: only components whose name holds this text; empty: all.
std::string to_vcd(const ActivityLog& log, const std::string& signals);

}  // namespace tilesim::sim::trace
