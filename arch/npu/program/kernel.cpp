#include "arch/npu/program/kernel.hpp"

#include <algorithm>

#include "arch/base/units.hpp"

namespace tilesim::arch::npu::program {

namespace {

template <class Enum>
std::string_view name_in(const std::vector<std::pair<std::string_view, Enum>>& table, Enum value) {
    return std::find_if(table.begin(), table.end(),
                        [value](const auto& entry) { return entry.second == value; })
        ->first;
}

constexpr std::int64_t kScaleBits = 16;  // a bf16

}  // namespace

std::string_view name_of(KernelKind kind) {
    return name_in(kKernelKinds, kind);
}

std::string_view name_of(VectorOperation operation) {
    return name_in(kVectorOperations, operation);
}

bool has_second_operand(VectorOperation operation) {
    switch (operation) {
        case VectorOperation::Add:
        case VectorOperation::Multiply:
        case VectorOperation::RmsNorm:
        case VectorOperation::Rope:
            return true;
        default:
            return false;
    }
}

bool sums_rows(VectorOperation operation) {
    switch (operation) {
        case VectorOperation::RmsNorm:
        case VectorOperation::UnweightedRmsNorm:
        case VectorOperation::LayerNorm:
        case VectorOperation::Softmax:
            return true;
        default:
            return false;
    }
}

std::int64_t row_bytes(const Kernel& kernel, std::int64_t elements) {
    const std::int64_t scales =
        kernel.scale_block > 0 ? base::ceil_div(elements, kernel.scale_block) * kScaleBits : 0;
    return base::ceil_div(elements * bits_of(kernel.a) + scales, base::kBitsPerByte);
}

}  // namespace tilesim::arch::npu::program
