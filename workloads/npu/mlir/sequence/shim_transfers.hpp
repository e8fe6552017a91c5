// Transfers of the run-time sequence that state buffer, layout and channel in one operation:
// npu.dma_memcpy_nd, a descriptor and its task.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/registers/registers.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

using registers::Registers;

class ShimTransfers {
  public:
    ShimTransfers(Lowering& lowering, Registers& registers)
        : lowering_(lowering), registers_(registers) {}

    // (%arg[offsets][sizes][strides], packet = <...>) {id, metadata = @x, issue_token}; before 2025
    // the innermost stride was left out.
    void memcpy_nd(const Operation& operation, Scope& scope);

  private:
    static void packet_of(const Operation& operation, Cursor& inside,
                          program::BufferDescriptor& descriptor);
    static void no_padding(const Operation& operation);
    static std::vector<std::int64_t> numbers(Cursor& cursor, const Scope& scope);

    Lowering& lowering_;
    Registers& registers_;
};

}  // namespace tilesim::workloads::npu::mlir::sequence
