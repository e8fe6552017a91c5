// What a functional GEMV multiplies, and the words of the banks it lies in.
//
// Random values from a seed, one for each place of the matrix, the vectors and the scale factors.
// Integers accumulate modulo 2^bits, floating point in f32.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/memory/device/memory_config.hpp"
#include "arch/memory/port/backing_store.hpp"
#include "arch/pim/bank_set.hpp"
#include "arch/pim/pim_config.hpp"
#include "workloads/gemv.hpp"
#include "workloads/product_check.hpp"

namespace tilesim::workloads::pim::gemv {

class GemvOperands {
  public:
    GemvOperands(const GemvProblem& gemv, std::uint64_t seed);

    // Zero outside the matrix.
    double weight(std::int64_t row, std::int64_t column) const;
    double input(std::int64_t column, std::int64_t vector) const;
    double weight_scale(std::int64_t row, std::int64_t block) const;
    double input_scale(std::int64_t block, std::int64_t vector) const;
    double add(double a, double b) const;
    // Adds each half of the values to the other until so many are left.
    std::vector<double> halved(std::vector<double> values, std::size_t left) const;
    // As the accumulator's type keeps it in memory.
    double stored(double value) const;
    // How sums are made, for reports.
    const char* arithmetic() const;

  private:
    GemvProblem gemv_;
    std::uint64_t seed_;
    bool floating_;
};

// Element `index` of a packed array of the type.
void store_element(std::vector<std::byte>& bytes, arch::base::DataType type, std::int64_t index,
                   double value);
double load_element(const std::vector<std::byte>& bytes, arch::base::DataType type,
                    std::int64_t index);

// One result more that has been compared.
void compare_row(ProductCheck& check, std::int64_t row, double got, double expected,
                 std::int64_t vector = 0);

struct BankPlace {
    std::int64_t channel = 0;
    std::int64_t bank = 0;  // of the channel
};

// The banks' words at their physical addresses: interleave units go to channels first, then to
// banks, then along the rows.
class BankWords {
  public:
    BankWords(const arch::memory::device::MemoryConfig& memory, const arch::pim::PimConfig& pim);

    std::int64_t channels() const { return channels_; }
    std::int64_t banks_per_channel() const { return banks_per_channel_; }
    std::int64_t word_bytes() const { return word_bytes_; }
    std::vector<std::byte> read(const BankPlace& place, std::int64_t word,
                                std::int64_t words) const;
    void write(const BankPlace& place, std::int64_t word, const std::vector<std::byte>& bytes);
    // Calls action(place) for the banks of a channel that a command goes to.
    template <class Action>
    void for_each_bank(std::int64_t channel, arch::pim::BankSet banks, Action action) const {
        for (std::int64_t bank = 0; bank < banks_per_channel_; ++bank) {
            if (banks.holds(bank)) {
                action(BankPlace{channel, bank});
            }
        }
    }
    // Calls action(place) for every bank.
    template <class Action>
    void for_each_bank(Action action) const {
        for (std::int64_t channel = 0; channel < channels_; ++channel) {
            for_each_bank(channel, {}, action);
        }
    }

  private:
    std::int64_t address_of(const BankPlace& place, std::int64_t word) const;

    std::int64_t channels_;
    std::int64_t banks_per_channel_;
    std::int64_t interleave_;  // bytes
    std::int64_t word_bytes_;
    arch::memory::port::BackingStore store_;
};

}  // namespace tilesim::workloads::pim::gemv
