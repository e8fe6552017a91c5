// A PIM program in bytes: banks full of random words, input registers, accumulators a row block.
//
// Word w of a row block's MACs holds, lane by lane, elements in column-major order of a tile of
// `tile_rows` rows: element e is of row e % tile_rows and column e / tile_rows, counted from the
// command's `k`. What is spilled is read back at the end and compared with sums over the same
// words and inputs made directly, without registers.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "arch/pim/pim_unit.hpp"
#include "workloads/pim/gemv/gemv_operands.hpp"
#include "workloads/pim/program/program_dataflow.hpp"
#include "workloads/product_check.hpp"

namespace tilesim::workloads::pim::program {

class ProgramBytes final : public arch::pim::PimListener {
  public:
    ProgramBytes(const ProgramWorkload& workload, const arch::memory::device::MemoryConfig& memory,
                 const arch::pim::PimConfig& pim, std::uint64_t seed);

    void on_pim_command(std::size_t channel, const arch::pim::PimCommand& command) override;
    ProductCheck check() const;

  private:
    using Lanes = std::vector<double>;
    struct Product {  // a MAC command, as it was
        std::int64_t word = 0, count = 0, k = 0;
    };
    struct Block {
        Lanes sums;
        std::vector<Product> made_of;
    };
    struct Result {
        Lanes got, expected;
        std::int64_t word = 0;
    };
    double weight(std::int64_t channel, std::int64_t bank, std::int64_t word,
                  std::int64_t lane) const;
    double input(std::int64_t element) const;
    Lanes direct(std::int64_t channel, std::int64_t bank, const Block& block) const;
    void multiply(std::int64_t channel, std::int64_t bank, const arch::pim::PimCommand& command);

    ProgramWorkload workload_;
    gemv::GemvOperands operands_;
    std::int64_t banks_;
    std::int64_t lanes_;
    std::int64_t rows_;                                              // of a tile
    std::map<std::int64_t, std::map<std::int64_t, double>> inputs_;  // channel: element, value
    std::map<std::array<std::int64_t, 3>, Block> blocks_;            // channel, bank, row block
    std::vector<Result> results_;
};

}  // namespace tilesim::workloads::pim::program
