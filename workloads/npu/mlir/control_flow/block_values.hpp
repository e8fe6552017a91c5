// Values that a core's blocks hand to each other, where they are known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/npu/mlir/control_flow/control_flow.hpp"
#include "workloads/npu/mlir/syntax/scope.hpp"

namespace tilesim::workloads::npu::mlir::control_flow {

using syntax::Scope;
using syntax::Value;

using Values = std::vector<std::optional<Value>>;

bool same_values(const Values& a, const Values& b);
std::size_t hash_of(const Values& values);

class BlockValues {
  public:
    BlockValues(const ControlFlow& flow, Scope& scope) : flow_(flow), scope_(scope) {}

    // What a jump hands over.
    Values handed_by(const Jump& jump) const;
    // What the arguments of a block are now.
    Values of(std::size_t header) const;
    // What may decide something in the loop and changes from run to run, counters aside.
    Values carried_of(std::size_t number, const Values& values) const;
    // `computed`: numbers that the core has as it runs, which instructions on them cost.
    void bind(std::size_t block, const Values& values, bool computed);

  private:
    std::optional<Value> known(const std::string& name) const;

    const ControlFlow& flow_;
    Scope& scope_;
};

}  // namespace tilesim::workloads::npu::mlir::control_flow
