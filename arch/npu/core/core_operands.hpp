// The buffers a core works on, and in functional mode what its kernels make of their bytes.
//
// Models:  rotation: an operand's buffers, or parts of them, take turns (double buffering).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "arch/npu/core/kernel_timing.hpp"
#include "arch/npu/program/program.hpp"
#include "arch/npu/tile/tile_memory.hpp"

namespace tilesim::arch::npu::core {

class CoreOperands {
  public:
    // `memory`: nullptr in timing mode.
    CoreOperands(const program::CoreProgram& core, const KernelTiming& timing,
                 tile::TileMemory* memory)
        : core_(core), timing_(timing), memory_(memory), turn_(core.rotations.size(), 0) {}

    bool functional() const { return memory_ != nullptr; }
    // The buffer a rotation stands at (index into Program::buffers).
    std::int64_t buffer(std::int64_t rotation) const;
    // Its bytes, in functional mode.
    std::span<std::byte> bytes(std::int64_t rotation);

    // Does the arithmetic of a kernel whose operands all lie in memory; functional mode only.
    void compute(const program::Kernel& kernel, const std::vector<std::int64_t>& operands);
    // These rotations move on by one buffer.
    void advance(const std::vector<std::int64_t>& rotations);

  private:
    void compute_vector(const program::Kernel& kernel, const std::vector<std::int64_t>& operands);

    const program::CoreProgram& core_;
    const KernelTiming& timing_;
    tile::TileMemory* memory_;
    std::vector<std::size_t> turn_;  // how often each rotation has moved on
};

}  // namespace tilesim::arch::npu::core
