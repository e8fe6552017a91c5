#include "arch/npu/core/core_operands.hpp"

#include <algorithm>
#include <cstring>

#include "arch/npu/core/kernel_function.hpp"
#include "arch/npu/core/vector_kernel_function.hpp"

namespace tilesim::arch::npu::core {

std::int64_t CoreOperands::buffer(std::int64_t rotation) const {
    const auto index = static_cast<std::size_t>(rotation);
    const program::Rotation& turns = core_.rotations[index];
    if (turns.length > 0) {
        return turns.buffers.front();
    }
    return turns
        .buffers[turn_[index] / static_cast<std::size_t>(turns.parts) % turns.buffers.size()];
}

std::span<std::byte> CoreOperands::bytes(std::int64_t rotation) {
    const auto index = static_cast<std::size_t>(rotation);
    const program::Rotation& turns = core_.rotations[index];
    const auto all = memory_->buffer(buffer(rotation));
    if (turns.length > 0) {
        const auto words = program::place_of_turn(turns, static_cast<std::int64_t>(turn_[index]));
        return all.subspan(static_cast<std::size_t>(words * kWordBytes),
                           static_cast<std::size_t>(turns.length * kWordBytes));
    }
    const auto parts = static_cast<std::size_t>(turns.parts);
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
    const bool two = program::second_operand(kernel.operation) != program::SecondOperand::None;
    work_on_vectors(kernel, bytes(operands[0]),
                    two ? bytes(operands[1]) : std::span<const std::byte>{},
                    bytes(operands.back()));
}

std::span<std::byte> CoreOperands::register_bytes(std::int64_t number, std::size_t bytes) {
    std::vector<std::byte>& kept = registers_[number];
    kept.resize(std::max(kept.size(), bytes));
    return std::span(kept).first(bytes);
}

std::span<const std::byte> CoreOperands::words_to_put(const program::WordPlace& place,
                                                      std::size_t bytes) {
    if (place.operand) {
        const std::span<std::byte> there = this->bytes(*place.operand);
        return there.first(std::min(bytes, there.size()));
    }
    if (place.in_register) {
        return register_bytes(*place.in_register, bytes);
    }
    unnamed_.assign(bytes, std::byte{0});
    if (place.value) {
        const auto word = static_cast<std::uint32_t>(*place.value);
        std::memcpy(unnamed_.data(), &word, std::min(bytes, sizeof word));
    }
    return unnamed_;
}

void CoreOperands::keep(const program::WordPlace& place, std::span<const std::byte> got) {
    if (place.operand) {
        const std::span<std::byte> there = bytes(*place.operand);
        std::copy_n(got.begin(), std::min(got.size(), there.size()), there.begin());
    }
    if (place.in_register) {
        registers_[*place.in_register].assign(got.begin(), got.end());
    }
}

void CoreOperands::leave(const program::WordPlace& place) {
    if (place.operand && place.advance) {
        advance({*place.operand});
    }
}

void CoreOperands::advance(const std::vector<std::int64_t>& rotations) {
    for (const std::int64_t rotation : rotations) {
        ++turn_[static_cast<std::size_t>(rotation)];
    }
}

}  // namespace tilesim::arch::npu::core
