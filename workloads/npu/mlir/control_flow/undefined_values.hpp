// Values that a core's body uses and nothing before has defined.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "workloads/npu/mlir/control_flow/control_flow.hpp"

namespace tilesim::workloads::npu::mlir::control_flow {

struct UndefinedValue {
    std::string name;
    Location where;  // of its use; of one that a branch hands over, the branch's
};

// The first such use: what a block uses must stand before it, in the block or in one that all ways
// to it pass. `outside` says which names are defined around the body. Operations with regions that
// are no control flow are not looked at.
std::optional<UndefinedValue> undefined_value(
    const ControlFlow& flow, const std::function<bool(const std::string&)>& outside);

}  // namespace tilesim::workloads::npu::mlir::control_flow
