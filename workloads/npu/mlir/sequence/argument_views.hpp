// Views of the run-time sequence's arguments, and of the data a design holds for it.
//
// Errors:  ReadError where a view names what is not there or lies too far from its buffer.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

class ArgumentViews {
  public:
    explicit ArgumentViews(const Lowering& lowering) : lowering_(lowering) {}

    void get_global(const Operation& operation, Scope& scope);
    // memref.subview %x[o] [s] [1], memref.reinterpret_cast %x to offset: [o], ...: the same buffer
    // further on.
    void view(const Operation& operation, Scope& scope);
    // memref.view %x[%bytes][] : memref<1024xi8> to memref<128xi16>: other elements, so many bytes
    // further on.
    void retyped_view(const Operation& operation, Scope& scope);

  private:
    static void check_steps(const Operation& subview);
    static void check_view(const Value& view, Location where);
    // Behind ":" stands what is viewed: memref<4x64xi32>. Nothing where a size or stride is not
    // known.
    static std::vector<std::int64_t> strides_of_source(const Operation& operation);

    const Lowering& lowering_;
};

}  // namespace tilesim::workloads::npu::mlir::sequence
