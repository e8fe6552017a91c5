#include "arch/npu/core/core_operands.hpp"

#include "arch/npu/core/kernel_function.hpp"

namespace tilesim::arch::npu::core {

std::int64_t CoreOperands::buffer(std::int64_t rotation) const {
    const auto index = static_cast<std::size_t>(rotation);
    const auto& buffers = core_.rotations[index].buffers;
    return buffers[turn_[index] % buffers.size()];
}

void CoreOperands::compute(const program::Kernel& kernel,
                           const std::vector<std::int64_t>& operands) {
    switch (kernel.kind) {
        case program::KernelKind::Multiply:
            multiply(kernel, timing_.mode_of(kernel), bytes(operands[0]), bytes(operands[1]),
                     bytes(operands[2]));
            return;
        case program::KernelKind::Zero:
            zero(bytes(operands[0]));
            return;
        case program::KernelKind::Add:
            add(kernel, bytes(operands[0]), bytes(operands[1]), bytes(operands[2]));
            return;
        case program::KernelKind::AddValue:
            add_value(kernel, bytes(operands[0]), bytes(operands[1]));
            return;
        case program::KernelKind::Fixed:
        case program::KernelKind::Inline:
        case program::KernelKind::Stream:  // whose A and C are on streams
            return;
    }
}

void CoreOperands::advance(const std::vector<std::int64_t>& rotations) {
    for (const std::int64_t rotation : rotations) {
        ++turn_[static_cast<std::size_t>(rotation)];
    }
}

}  // namespace tilesim::arch::npu::core
