// A GEMV with column-major placement in bytes: tiles of one column go round the banks, every bank
// keeps partial sums of its tiles' rows, and the system on chip adds those of all banks.
//
// Floating point: a bank adds its products in f32 in order of its tiles, rounding to the
// accumulator's type whenever it spills; the banks' sums are added in f32, channel by channel.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "workloads/pim/gemv/gemv_data.hpp"
#include "workloads/pim/gemv/gemv_operands.hpp"

namespace tilesim::workloads::pim::gemv {

class ColumnMajorGemv final : public FunctionalGemv {
  public:
    ColumnMajorGemv(const GemvProblem& gemv, std::int64_t vectors, const PimPlacement& placement,
                    const arch::memory::device::MemoryConfig& memory,
                    const arch::pim::PimConfig& pim, std::uint64_t seed);

    void on_pim_command(std::size_t channel, const arch::pim::PimCommand& command) override;
    void on_pass_ended(std::size_t channel) override;
    ProductCheck check() const override;

  private:
    struct Registers {               // of a vector
        std::vector<double> inputs;  // of the tiles from first_input on
        std::vector<double> sums;    // of the rows in the output registers; empty: zero
    };
    struct Unit {                          // of a bank
        std::vector<Registers> registers;  // of the vectors that share a pass
        std::int64_t first_input = 0;
    };
    // Where sums of a bank's tile have been written to.
    struct Spilled {
        std::int64_t tile = 0;
        std::int64_t first_row = 0;  // of the tile
        std::int64_t rows = 0;
        std::int64_t words = 0;  // of a vector
    };
    bool by_address() const { return placement_.mapping.order == PimMapping::Order::Address; }
    // From one tile to the next.
    std::int64_t tiles_apart() const { return by_address() ? 1 : blocks_; }
    std::int64_t index_of(const BankPlace& place) const;
    // A bank's tile: its number in the matrix, its column and its first row.
    std::int64_t tile_of(const BankPlace& place, std::int64_t tile) const;
    std::int64_t column_of(const BankPlace& place, std::int64_t tile) const;
    std::int64_t first_row_of(const BankPlace& place, std::int64_t tile) const;
    void take_inputs(const BankPlace& place, const arch::pim::PimCommand& command);
    void multiply(const BankPlace& place, const arch::pim::PimCommand& command);
    void load(const BankPlace& place, const arch::pim::PimCommand& command);
    void spill(const BankPlace& place, const arch::pim::PimCommand& command);
    std::vector<double> sums_at(const BankPlace& place, std::int64_t word, const Spilled& spilled,
                                std::int64_t alu) const;
    void check_vector(ProductCheck& check, std::int64_t vector) const;

    GemvProblem gemv_;
    std::int64_t vectors_;
    PimPlacement placement_;
    GemvOperands operands_;
    BankWords banks_;
    std::int64_t tiles_of_column_;
    std::int64_t tile_words_;
    std::int64_t inputs_held_;  // of a unit
    std::int64_t blocks_;       // of rows, that a bank's tiles go round
    std::int64_t tiles_ = 0;    // of a bank
    std::vector<bool> leaves_;  // by word of a bank's weights: its sums are spilled behind it
    std::vector<Unit> units_;
    std::map<std::int64_t, Spilled> results_;  // by their first word
    // By vector and bank: its results, spill by spill, as they lay there when its pass ended.
    std::map<std::int64_t, std::map<std::int64_t, std::vector<double>>> left_;
    std::map<std::int64_t, std::int64_t> passes_;  // by channel: that have ended
};

}  // namespace tilesim::workloads::pim::gemv
