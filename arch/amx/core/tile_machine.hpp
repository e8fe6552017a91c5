// Executes instructions on data: tile and vector registers over a store of bytes.
//
// Integers wrap modulo 2^32. TDPBF16PS follows the SDM: products of even and of odd k accumulate
// in two chains of fused multiply-adds, the two sums are added, then added to C; denormals are
// zero, in and out.
#pragma once

#include <array>
#include <cstdint>

#include "arch/amx/core/core.hpp"
#include "arch/memory/port/backing_store.hpp"

namespace tilesim::arch::amx::core {

class TileMachine final : public InstructionObserver {
  public:
    // Keeps references to both. Instructions must be legal: the core checks before it observes.
    TileMachine(const program::Program& program, memory::port::BackingStore& store);

    void on_instruction(const program::DynamicInstruction& dynamic) override;

    static constexpr std::size_t kLanes = 16;
    using Row = std::array<std::byte, program::kRowBytes>;
    const Row& tile_row(int tile, int row) const {
        return tiles_[static_cast<std::size_t>(tile)][static_cast<std::size_t>(row)];
    }

  private:
    using Tile = std::array<Row, program::kMaxRows>;
    using Floats = std::array<float, program::kRowBytes / 4>;
    static constexpr std::size_t kVectors = 32;

    void load_tile(const program::DynamicInstruction& dynamic);
    void store_tile(const program::DynamicInstruction& dynamic);
    void dot_int8(const program::Instruction& instruction, bool a_signed, bool b_signed);
    void dot_bf16(const program::Instruction& instruction);
    bool vector_memory(const program::DynamicInstruction& dynamic);
    void vector_math(const program::Instruction& instruction);
    void interleave(const program::Instruction& instruction, std::size_t element);
    Row& vector(std::int8_t name) { return vectors_[static_cast<std::size_t>(name)]; }

    const program::Program& program_;
    memory::port::BackingStore& store_;
    program::TileConfig config_;
    std::array<Tile, program::kTiles> tiles_{};
    std::array<Row, kVectors> vectors_{};
    std::uint64_t mask_ = 0;
};

// The additions of TDPBF16PS, for references that must agree bit for bit.
float fused_multiply_add(float a, float b, float c);
float flushed(float value);  // denormals to zero
std::uint16_t round_to_bf16(float value);
float from_bf16(std::uint16_t bits);

}  // namespace tilesim::arch::amx::core
