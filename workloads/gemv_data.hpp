// A GEMV in bytes: the matrix at its physical addresses, the input registers, the accumulators.
//
// Integers accumulate modulo 2^bits. Floating point: each lane sums its products in f32 in order of
// K; at the end of a pass the lanes of an output are halved and added until one is left, and the
// sum is rounded to the accumulator's type. With scale factors a block's sums are multiplied by the
// block's weight and input factors (small integers) and added to a second set of accumulators.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "arch/memory/backing_store.hpp"
#include "arch/pim/pim_unit.hpp"
#include "workloads/gemm_data.hpp"
#include "workloads/pim_placement.hpp"

namespace tilesim::workloads {

class FunctionalGemv final : public arch::pim::PimListener {
  public:
    // Writes matrix and scale factors, random from `seed`, to where the placement wants them.
    FunctionalGemv(const GemvProblem& gemv, const PimPlacement& placement,
                   const arch::memory::MemoryConfig& memory, const arch::pim::PimConfig& pim,
                   std::uint64_t seed);

    void on_pim_command(std::size_t channel, const arch::pim::PimCommand& command) override;
    // Reads the results from memory, adds the parts of K and compares with plain loops.
    ProductCheck check() const;

  private:
    using Lanes = std::vector<double>;       // exact: integers below 2^53, or f32
    struct RowBlock {                        // of a bank, while its pass runs
        std::map<std::int64_t, Lanes> sums;  // by scale block
        Lanes scaled;
    };
    struct Place {
        std::int64_t channel = 0;
        std::int64_t bank = 0;
    };

    std::int64_t address_of(const Place& place, std::int64_t word) const;
    std::int64_t first_row(const Place& place, std::int64_t row_block) const;
    std::int64_t first_column(const Place& place) const;
    std::int64_t columns_in_chunk(std::int64_t from) const;
    std::size_t lane_of(std::int64_t element) const;
    void write_weights(const Place& place, const arch::pim::PimCommand& command);
    void write_scales(const Place& place, const arch::pim::PimCommand& command);
    void multiply(const Place& place, const arch::pim::PimCommand& command);
    void apply_scales(const Place& place, const arch::pim::PimCommand& command);
    void spill(const Place& place, const arch::pim::PimCommand& command);
    std::vector<std::int64_t> blocks_ended(std::int64_t from) const;
    double weight(std::int64_t row, std::int64_t column) const;
    double input(std::int64_t column) const;
    double weight_scale(std::int64_t row, std::int64_t block) const;
    double input_scale(std::int64_t block) const;
    double add(double a, double b) const;
    Lanes folded(Lanes lanes) const;
    double reference(std::int64_t row, std::int64_t first_column) const;
    RowBlock& row_block(const Place& place, std::int64_t index);

    GemvProblem gemv_;
    PimPlacement placement_;
    std::int64_t banks_per_channel_;
    std::int64_t all_channels_;
    std::int64_t interleave_;  // bytes
    std::int64_t word_bytes_;
    std::uint64_t seed_;
    bool floating_;
    arch::memory::BackingStore store_;
    std::map<std::int64_t, Lanes> inputs_;  // by channel: the elements in its input registers
    std::map<std::int64_t, RowBlock> row_blocks_;
    std::map<std::int64_t, std::int64_t> results_;  // row block of a bank -> word of its results
};

}  // namespace tilesim::workloads
