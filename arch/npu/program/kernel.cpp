#include "arch/npu/program/kernel.hpp"

#include "arch/base/units.hpp"

namespace tilesim::arch::npu::program {

namespace {

constexpr std::int64_t kScaleBits = 16;  // a bf16

// What C depends on.
struct Dependence {
    SecondOperand second;
    Reach reach;
};

Dependence dependence_of(VectorOperation operation) {
    switch (operation) {
        case VectorOperation::Add:
        case VectorOperation::Multiply:
            return {SecondOperand::Rows, Reach::Element};
        case VectorOperation::Silu:
        case VectorOperation::Copy:
        case VectorOperation::Relu:
        case VectorOperation::Sigmoid:
        case VectorOperation::Tanh:
        case VectorOperation::Gelu:
        case VectorOperation::Cast:
            return {SecondOperand::None, Reach::Element};
        case VectorOperation::Rope:  // on its pair
            return {SecondOperand::Rows, Reach::Neighbours};
        case VectorOperation::Dequantise:  // on its scale factor, behind the row
            return {SecondOperand::None, Reach::Neighbours};
        case VectorOperation::RmsNorm:
            return {SecondOperand::Row, Reach::Row};
        case VectorOperation::UnweightedRmsNorm:
        case VectorOperation::LayerNorm:
        case VectorOperation::Softmax:
            return {SecondOperand::None, Reach::Row};
    }
    return {};
}

}  // namespace

std::string_view name_of(KernelKind kind) {
    return kKernelKinds[kind];
}

std::string_view name_of(VectorOperation operation) {
    return kVectorOperations[operation];
}

SecondOperand second_operand(VectorOperation operation) {
    return dependence_of(operation).second;
}

Reach reach_of(VectorOperation operation) {
    return dependence_of(operation).reach;
}

std::int64_t row_bytes(const Kernel& kernel, std::int64_t elements) {
    const std::int64_t scales =
        kernel.scale_block > 0 ? base::ceil_div(elements, kernel.scale_block) * kScaleBits : 0;
    return base::ceil_div(elements * bits_of(kernel.a) + scales, base::kBitsPerByte);
}

}  // namespace tilesim::arch::npu::program
