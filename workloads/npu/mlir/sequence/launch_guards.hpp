// What the host checks of its numbers before it hands a sequence over: a launch that fails a check
// does not begin.
//
// Errors:  ReadError with the design's own message where a check fails. One of a number that is not
//          known says nothing: whoever needs the number asks for it.
#pragma once

#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

class LaunchGuards {
  public:
    // aiex.npu.require(%holds) {message = "n must be positive"} : i1
    void require(const Operation& operation, Scope& scope);
    // cf.assert %holds, "n must be positive"
    void assertion(const Operation& operation, Scope& scope);
    // aiex.npu.assert_bd_field(%n) {max = 1023, min = 1} : i32
    void field(const Operation& operation, Scope& scope);
    // aiex.npu.assert_bd_divisible(%n) {divisor = 4, allow_unit} : i32
    void divisible(const Operation& operation, Scope& scope);
};

}  // namespace tilesim::workloads::npu::mlir::sequence
