#include "arch/npu/core/core_operands.hpp"

#include "arch/npu/core/kernel_function.hpp"
#include "arch/npu/core/vector_kernel_function.hpp"

namespace tilesim::arch::npu::core {

std::int64_t CoreOperands::buffer(std::int64_t rotation) const {
    const auto index = static_cast<std::size_t>(rotation);
    const program::Rotation& turns = core_.rotations[index];
    return turns
        .buffers[turn_[index] / static_cast<std::size_t>(turns.parts) % turns.buffers.size()];
}

std::span<std::byte> CoreOperands::bytes(std::int64_t rotation) {
    const auto index = static_cast<std::size_t>(rotation);
    const auto parts = static_cast<std::size_t>(core_.rotations[index].parts);
    const auto all = memory_->buffer(buffer(rotation));
    const std::size_t part = all.size() / parts;
    return all.subspan(turn_[index] % parts * part, part);
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
        case program::KernelKind::Matvec:
            multiply_vector(kernel, bytes(operands[0]), bytes(operands[1]), bytes(operands[2]));
            return;
        case program::KernelKind::Vector:
            compute_vector(kernel, operands);
            return;
        case program::KernelKind::Fixed:
        case program::KernelKind::Inline:
        case program::KernelKind::Stream:  // whose A and C are on streams
            return;
    }
}

void CoreOperands::compute_vector(const program::Kernel& kernel,
                                  const std::vector<std::int64_t>& operands) {
    const bool two = program::has_second_operand(kernel.operation);
    work_on_vectors(kernel, bytes(operands[0]),
                    two ? bytes(operands[1]) : std::span<const std::byte>{},
                    bytes(operands.back()));
}

void CoreOperands::advance(const std::vector<std::int64_t>& rotations) {
    for (const std::int64_t rotation : rotations) {
        ++turn_[static_cast<std::size_t>(rotation)];
    }
}

}  // namespace tilesim::arch::npu::core
