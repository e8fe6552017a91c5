// A GEMV with balanced placement in bytes.
//
// Floating point: each lane sums its products in f32 in order of K; at the end of a pass the lanes
// of an output are halved and added until one is left, and the sum is rounded to the accumulator's
// type. With scale factors a block's sums are multiplied by the block's weight and input factors
// (small integers) and added to a second set of accumulators.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "workloads/pim/gemv/gemv_data.hpp"
#include "workloads/pim/gemv/gemv_operands.hpp"

namespace tilesim::workloads::pim::gemv {

class BalancedGemv final : public FunctionalGemv {
  public:
    // Writes matrix and scale factors, random from `seed`, to where the placement wants them.
    BalancedGemv(const GemvProblem& gemv, std::int64_t vectors, const PimPlacement& placement,
                 const arch::memory::device::MemoryConfig& memory, const arch::pim::PimConfig& pim,
                 std::uint64_t seed);

    void on_pim_command(std::size_t channel, const arch::pim::PimCommand& command) override;
    void on_pass_ended(std::size_t channel) override;
    ProductCheck check() const override { return check_; }

  private:
    using Lanes = std::vector<double>;       // exact: integers below 2^53, or f32
    struct RowBlock {                        // of a bank and a vector, while its pass runs
        std::map<std::int64_t, Lanes> sums;  // by scale block
        Lanes scaled;
    };
    std::int64_t first_row(const BankPlace& place, std::int64_t row_block) const;
    std::int64_t first_column(const BankPlace& place) const;
    std::int64_t columns_in_chunk(std::int64_t from) const;
    std::size_t lane_of(std::int64_t element) const;
    void write_weights(const BankPlace& place, const arch::pim::PimCommand& command);
    void write_scales(const BankPlace& place, const arch::pim::PimCommand& command);
    // For one of the vectors that share a pass, each of which has an ALU.
    void multiply(const BankPlace& place, const arch::pim::PimCommand& command, std::int64_t alu);
    void apply_scales(const BankPlace& place, const arch::pim::PimCommand& command,
                      std::int64_t alu);
    void spill(const BankPlace& place, std::int64_t block, std::int64_t alu);
    // Of an ALU's results, where a row block's begin.
    std::int64_t word_of_result(std::int64_t block, std::int64_t alu) const {
        return results_.at(block) + alu * placement_.output_registers;
    }
    std::int64_t vector_of(std::int64_t channel, std::int64_t alu) const;
    std::vector<std::int64_t> blocks_leaving(const arch::pim::PimCommand& command) const;
    std::pair<std::int64_t, std::int64_t> place_of_factor(std::int64_t factor) const;
    std::vector<std::int64_t> blocks_ended(std::int64_t from) const;
    double reference(std::int64_t row, std::int64_t first_column, std::int64_t vector) const;
    RowBlock& row_block(const BankPlace& place, std::int64_t index, std::int64_t alu);

    // Words for results that leave to no word of the share.
    static constexpr std::int64_t kElsewhere = std::int64_t{1} << 32;

    GemvProblem gemv_;
    std::int64_t vectors_;
    PimPlacement placement_;
    GemvOperands operands_;
    BankWords banks_;
    // By channel: the elements in its input registers, of each vector of the pass.
    std::map<std::int64_t, std::vector<Lanes>> inputs_;
    std::map<std::int64_t, std::int64_t> passes_;  // by channel: that have ended
    std::map<std::int64_t, RowBlock> row_blocks_;
    std::vector<std::int64_t> scale_words_;
    std::int64_t factors_of_word_ = 1;
    std::map<std::int64_t, std::int64_t> results_;  // row block of a bank -> word of its results
    ProductCheck check_;
};

}  // namespace tilesim::workloads::pim::gemv
