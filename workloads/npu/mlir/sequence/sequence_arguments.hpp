// What the host hands to a run-time sequence: buffers, which become external ones, and numbers,
// which `design.arguments` states.
//
// Errors:  ReadError where an argument is malformed.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/registers/register_writes.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

using registers::RegisterWrites;

class SequenceArguments {
  public:
    // `scope`: where the names are known from now on.
    SequenceArguments(Lowering& lowering, Scope& scope) : lowering_(lowering), scope_(scope) {}

    // (%a: memref<64xi32>, %n: i32); returns the buffers, in their order.
    std::vector<RegisterWrites::Argument> read(const Operation& operation);
    // Whatever failed for want of a number the host knows says so.
    void check_numbers(const Operation& operation, std::size_t errors_before);
    const std::vector<std::pair<std::string, Value>>& names() const { return names_; }

  private:
    // A number the host hands over at the launch.
    void add_number(const std::string& name);
    // The number of the external buffer that an argument becomes.
    std::int64_t add_buffer(const std::string& name, const MemrefType& type);

    Lowering& lowering_;
    Scope& scope_;
    std::vector<std::pair<std::string, Value>> names_;
    std::vector<std::string> unstated_;  // numbers that only the host knows
    std::set<std::string> stated_;
};

}  // namespace tilesim::workloads::npu::mlir::sequence
