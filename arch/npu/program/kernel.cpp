#include "arch/npu/program/kernel.hpp"

#include "arch/base/units.hpp"

namespace tilesim::arch::npu::program {

namespace {

constexpr std::int64_t kScaleBits = 16;  // a bf16

}  // namespace

std::string_view name_of(KernelKind kind) {
    return kKernelKinds[kind];
}

std::string_view name_of(VectorOperation operation) {
    return kVectorOperations[operation];
}

SecondOperand second_operand(VectorOperation operation) {
    switch (operation) {
        case VectorOperation::RmsNorm:
            return SecondOperand::Row;
        case VectorOperation::Add:
        case VectorOperation::Multiply:
        case VectorOperation::Rope:
            return SecondOperand::Rows;
        case VectorOperation::Silu:
        case VectorOperation::Copy:
        case VectorOperation::Relu:
        case VectorOperation::Sigmoid:
        case VectorOperation::Tanh:
        case VectorOperation::Gelu:
        case VectorOperation::UnweightedRmsNorm:
        case VectorOperation::LayerNorm:
        case VectorOperation::Softmax:
        case VectorOperation::Dequantise:
        case VectorOperation::Cast:
            return SecondOperand::None;
    }
    return SecondOperand::None;
}

Reach reach_of(VectorOperation operation) {
    switch (operation) {
        case VectorOperation::RmsNorm:
        case VectorOperation::UnweightedRmsNorm:
        case VectorOperation::LayerNorm:
        case VectorOperation::Softmax:
            return Reach::Row;
        case VectorOperation::Rope:        // its pair
        case VectorOperation::Dequantise:  // its scale factor, behind the row
            return Reach::Neighbours;
        case VectorOperation::Add:
        case VectorOperation::Multiply:
        case VectorOperation::Silu:
        case VectorOperation::Copy:
        case VectorOperation::Relu:
        case VectorOperation::Sigmoid:
        case VectorOperation::Tanh:
        case VectorOperation::Gelu:
        case VectorOperation::Cast:
            return Reach::Element;
    }
    return Reach::Element;
}

std::int64_t row_bytes(const Kernel& kernel, std::int64_t elements) {
    const std::int64_t scales =
        kernel.scale_block > 0 ? base::ceil_div(elements, kernel.scale_block) * kScaleBits : 0;
    return base::ceil_div(elements * bits_of(kernel.a) + scales, base::kBitsPerByte);
}

}  // namespace tilesim::arch::npu::program
