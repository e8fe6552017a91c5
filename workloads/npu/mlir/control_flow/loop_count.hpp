// How often a counted loop runs.
#pragma once

#include <cstdint>
#include <string>

namespace tilesim::workloads::npu::mlir::control_flow {

// The predicate that holds where this one does not: sge for slt.
std::string negated(const std::string& predicate);
// How often a counter passes its test: it begins at `first` and is raised by `step` each time; -1:
// for ever. `predicate`: of the way that stays.
std::int64_t times_passed(const std::string& predicate, std::int64_t first, std::int64_t step,
                          std::int64_t bound);

}  // namespace tilesim::workloads::npu::mlir::control_flow
