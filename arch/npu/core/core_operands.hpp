// The buffers a core works on, and in functional mode what its kernels make of their bytes.
//
// Models:  rotation: an operand's buffers, or parts of them, take turns (double buffering); walks
//          through a buffer; registers, for words that a core gets and puts again.
#pragma once

#include <cstdint>
#include <map>
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

    // Functional mode: what an operation puts on a stream or cascade; valid until the next one.
    std::span<const std::byte> words_to_put(const program::WordPlace& place, std::size_t bytes);
    // Functional mode: what an operation has got.
    void keep(const program::WordPlace& place, std::span<const std::byte> got);
    // The operation has ended.
    void leave(const program::WordPlace& place);

  private:
    void compute_vector(const program::Kernel& kernel, const std::vector<std::int64_t>& operands);
    std::span<std::byte> register_bytes(std::int64_t number, std::size_t bytes);

    const program::CoreProgram& core_;
    const KernelTiming& timing_;
    tile::TileMemory* memory_;
    std::vector<std::size_t> turn_;  // how often each rotation has moved on
    std::map<std::int64_t, std::vector<std::byte>> registers_;
    std::vector<std::byte> unnamed_;  // words of an operation that names no place
};

}  // namespace tilesim::arch::npu::core
