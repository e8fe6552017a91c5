// A GEMV of a shipped design in bytes: the words of the banks, the inputs that are broadcast, the
// sums of a bank or, where two banks share a unit's registers, of a unit.
//
// Floating point: behind an adder tree the products of a word are added in halves, then to the
// bank's sum; otherwise every lane adds its own products, in order of K, and the host adds the
// lanes in their order. Sums are f32 and rounded to the accumulator's type as they leave.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "arch/pim/pim_program.hpp"
#include "workloads/pim/gemv/gemv_data.hpp"
#include "workloads/pim/gemv/gemv_operands.hpp"

namespace tilesim::workloads::pim::gemv {

class NaturalGemv final : public FunctionalGemv {
  public:
    // `program`: of natural_lowering.hpp, for so many vectors. `banks_of_sum`: so many neighbours
    // add to the same sums.
    NaturalGemv(const GemvProblem& gemv, std::int64_t vectors, const arch::pim::PimProgram& program,
                std::int64_t banks_of_sum, const arch::memory::device::MemoryConfig& memory,
                const arch::pim::PimConfig& pim, std::uint64_t seed);

    void on_pim_command(std::size_t channel, const arch::pim::PimCommand& command) override;
    // What the host has read, or reads from the banks, against plain loops.
    ProductCheck check() const override;

  private:
    using Lanes = std::vector<double>;
    // The inputs a channel's registers hold: of the elements of K from there on, for each vector of
    // a pass.
    struct Inputs {
        std::int64_t first = 0;
        std::vector<Lanes> values;
    };
    // Sums that have been written to a bank: of these outputs of a vector, from that word on.
    struct Spilled {
        BankPlace place;
        std::int64_t word = 0;
        std::int64_t first_output = 0;
        std::int64_t outputs = 0;
        std::int64_t vector = 0;
    };
    using Result = std::pair<std::int64_t, std::int64_t>;  // its vector and row

    // The row of the matrix that is an output of those that add there.
    std::int64_t row_of(const BankPlace& place, std::int64_t output) const;
    // Of a MAC's word, the output; calls action(word, output, first column) for each.
    template <class Action>
    void for_each_word(const arch::pim::PimCommand& mac, Action action) const;
    void write_weights(const BankPlace& place, const arch::pim::PimCommand& mac);
    void multiply(const BankPlace& place, const arch::pim::PimCommand& mac);
    void give(const BankPlace& place, const arch::pim::PimCommand& command);
    void spill(const Spilled& spilled);
    void add_products(Lanes products, Lanes& sums) const;
    double added(const Lanes& lanes) const;
    // Vectors of the pass that a command is about.
    std::int64_t together(const arch::pim::PimCommand& command) const;
    double reference(std::int64_t row, std::int64_t vector) const;

    GemvProblem gemv_;
    std::int64_t vectors_;
    arch::pim::PimConfig pim_;
    GemvOperands operands_;
    BankWords banks_;
    bool tree_;
    std::int64_t banks_of_sum_;
    std::int64_t lanes_;                                    // of a word
    std::int64_t registers_of_sum_;                         // that hold an output's lanes
    std::map<std::int64_t, std::int64_t> words_of_inputs_;  // of weights, by the first of them
    std::map<std::int64_t, Inputs> inputs_;                 // by channel
    std::map<Result, Lanes> sums_;
    std::map<Result, double> results_;  // that the host has read
    std::vector<Spilled> spilled_;
};

}  // namespace tilesim::workloads::pim::gemv
