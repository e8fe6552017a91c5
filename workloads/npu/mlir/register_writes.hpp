// The operations of the run-time sequence that write registers (npu.write32, maskwrite32,
// blockwrite, writebd, address_patch, push_queue), as writes to Registers.
//
// Errors:  ReadError where an operation is malformed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/registers.hpp"

namespace tilesim::workloads::npu::mlir {

class RegisterWrites {
  public:
    RegisterWrites(const Lowering& lowering, Registers& registers)
        : lowering_(lowering), registers_(registers) {}

    // The next argument of the sequence: an external buffer, or nothing that has an address.
    void add_argument(std::optional<std::int64_t> buffer) { arguments_.push_back(buffer); }

    void write32(const Operation& operation, Scope& scope);
    void maskwrite32(const Operation& operation, Scope& scope);
    void blockwrite(const Operation& operation, Scope& scope);
    // The descriptor's registers, field by field; put together as the words of a block write.
    void writebd(const Operation& operation, Scope& scope);
    void address_patch(const Operation& operation, Scope& scope);
    // (column, row, MM2S : 0) {bd_id, repeat_count, issue_token}
    void push_queue(const Operation& operation, Scope& scope);

  private:
    std::optional<std::int64_t> argument(std::size_t index) const {
        return index < arguments_.size() ? arguments_[index] : std::nullopt;
    }

    const Lowering& lowering_;
    Registers& registers_;
    std::vector<std::optional<std::int64_t>> arguments_;
};

}  // namespace tilesim::workloads::npu::mlir
