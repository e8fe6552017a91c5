#include "workloads/pim/gemv/column_major_gemv_data.hpp"

#include <algorithm>

namespace tilesim::workloads::pim::gemv {

using arch::base::bits_of;
using arch::base::ceil_div;
using arch::pim::PimCommand;
using arch::pim::PimOp;

ColumnMajorGemv::ColumnMajorGemv(const GemvProblem& gemv, std::int64_t vectors,
                                 const PimPlacement& placement,
                                 const arch::memory::device::MemoryConfig& memory,
                                 const arch::pim::PimConfig& pim, std::uint64_t seed)
    : gemv_(gemv),
      vectors_(vectors),
      placement_(placement),
      operands_(gemv, seed),
      banks_(memory, pim),
      tiles_of_column_(placement.padded_m / placement.m),
      tile_words_(ceil_div(placement.m, placement.lanes)),
      inputs_held_(pim.register_bits / bits_of(gemv.input)),
      blocks_(column_major_blocks(placement)),
      units_(static_cast<std::size_t>(banks_.channels() * banks_.banks_per_channel())) {
    const arch::pim::PimProgram program = lower(gemv, placement, memory, pim);
    const PimCommand* multiplied = nullptr;
    for (const PimCommand& command : program.commands) {
        if (command.op == PimOp::Mac) {
            multiplied = &command;
            tiles_ = std::max(tiles_, command.k + 1);
            leaves_.resize(static_cast<std::size_t>(tiles_ * tile_words_));
        } else if (command.op == PimOp::Spill) {
            results_[command.word] = {
                command.k, (multiplied->word - command.k * tile_words_) * placement_.lanes,
                multiplied->count * placement_.lanes, command.count / placement_.vectors};
            std::fill_n(leaves_.begin() + multiplied->word, multiplied->count, true);
        }
    }
    banks_.for_each_bank([&](const BankPlace& place) {
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
            std::vector<std::byte> bytes(
                static_cast<std::size_t>(tile_words_ * banks_.word_bytes()));
            for (std::int64_t r = 0; r < placement_.m; ++r) {
                store_element(
                    bytes, gemv_.weights, r,
                    operands_.weight(first_row_of(place, tile) + r, column_of(place, tile)));
            }
            banks_.write(place, tile * tile_words_, bytes);
        }
    });
}

std::int64_t ColumnMajorGemv::index_of(const BankPlace& place) const {
    return place.bank * banks_.channels() + place.channel;
}

std::int64_t ColumnMajorGemv::tile_of(const BankPlace& place, std::int64_t tile) const {
    return tile * placement_.banks + index_of(place);
}

std::int64_t ColumnMajorGemv::column_of(const BankPlace& place, std::int64_t tile) const {
    return tile_of(place, tile) / tiles_of_column_;
}

std::int64_t ColumnMajorGemv::first_row_of(const BankPlace& place, std::int64_t tile) const {
    return tile_of(place, tile) % tiles_of_column_ * placement_.m;
}

void ColumnMajorGemv::on_pim_command(std::size_t channel, const PimCommand& command) {
    const auto at = static_cast<std::int64_t>(channel);
    banks_.for_each_bank(at, command.banks, [&](const BankPlace& place) {
        if (command.op == PimOp::WriteBankInputs) {
            take_inputs(place, command);
        } else if (command.op == PimOp::LoadOutputs) {
            load(place, command);
        } else if (command.op == PimOp::Mac) {
            multiply(place, command);
        } else if (command.op == PimOp::Spill) {
            spill(place, command);
        }
    });
}

void ColumnMajorGemv::take_inputs(const BankPlace& place, const PimCommand& command) {
    Unit& unit = units_[static_cast<std::size_t>(index_of(place))];
    unit.first_input = command.k;
    unit.registers.resize(static_cast<std::size_t>(placement_.vectors));
    std::int64_t vector = passes_[place.channel] * placement_.vectors;
    for (Registers& registers : unit.registers) {
        registers.inputs.clear();
        for (std::int64_t i = 0; i < inputs_held_; ++i) {
            registers.inputs.push_back(
                operands_.input(column_of(place, command.k + i * tiles_apart()), vector));
        }
        ++vector;
    }
}

void ColumnMajorGemv::multiply(const BankPlace& place, const PimCommand& command) {
    Unit& unit = units_[static_cast<std::size_t>(index_of(place))];
    const std::vector<std::byte> bytes = banks_.read(place, command.word, command.count);
    const auto input = static_cast<std::size_t>((command.k - unit.first_input) / tiles_apart());
    for (Registers& registers : unit.registers) {
        registers.sums.resize(static_cast<std::size_t>(command.count * placement_.lanes));
        for (std::size_t i = 0; i < registers.sums.size(); ++i) {
            const double weight = load_element(bytes, gemv_.weights, static_cast<std::int64_t>(i));
            registers.sums[i] = operands_.add(registers.sums[i], weight * registers.inputs[input]);
        }
    }
}

// What was spilled from that word on, of one vector.
std::vector<double> ColumnMajorGemv::sums_at(const BankPlace& place, std::int64_t word,
                                             const Spilled& spilled, std::int64_t alu) const {
    const std::vector<std::byte> bytes =
        banks_.read(place, word + alu * spilled.words, spilled.words);
    std::vector<double> sums;
    for (std::int64_t i = 0; i < spilled.rows; ++i) {
        sums.push_back(load_element(bytes, gemv_.accumulate, i));
    }
    return sums;
}

void ColumnMajorGemv::load(const BankPlace& place, const PimCommand& command) {
    Unit& unit = units_[static_cast<std::size_t>(index_of(place))];
    std::int64_t alu = 0;
    for (Registers& registers : unit.registers) {
        registers.sums = sums_at(place, command.word, results_.at(command.word), alu++);
    }
}

void ColumnMajorGemv::spill(const BankPlace& place, const PimCommand& command) {
    Unit& unit = units_[static_cast<std::size_t>(index_of(place))];
    const std::int64_t words = command.count / placement_.vectors;
    std::int64_t word = command.word;
    for (Registers& registers : unit.registers) {
        std::vector<std::byte> bytes(static_cast<std::size_t>(words * banks_.word_bytes()));
        for (std::size_t i = 0; i < registers.sums.size(); ++i) {
            store_element(bytes, gemv_.accumulate, static_cast<std::int64_t>(i),
                          operands_.stored(registers.sums[i]));
        }
        banks_.write(place, word, bytes);
        registers.sums.clear();
        word += words;
    }
}

// The next pass's results will lie where these do.
void ColumnMajorGemv::on_pass_ended(std::size_t channel) {
    const auto at = static_cast<std::int64_t>(channel);
    const std::int64_t first = passes_[at]++ * placement_.vectors;
    banks_.for_each_bank(at, {}, [&](const BankPlace& place) {
        for (std::int64_t alu = 0; alu < placement_.vectors; ++alu) {
            std::vector<double>& left = left_[first + alu][index_of(place)];
            for (const auto& [word, spilled] : results_) {
                const std::vector<double> sums = sums_at(place, word, spilled, alu);
                left.insert(left.end(), sums.begin(), sums.end());
            }
        }
    });
}

void ColumnMajorGemv::check_vector(ProductCheck& check, std::int64_t vector) const {
    std::vector<double> got(static_cast<std::size_t>(placement_.padded_m));
    std::vector<double> expected(got.size());
    banks_.for_each_bank([&](const BankPlace& place) {
        auto left = left_.at(vector).at(index_of(place)).begin();
        for (const auto& [word, spilled] : results_) {
            const std::int64_t first = first_row_of(place, spilled.tile) + spilled.first_row;
            for (std::int64_t i = 0; i < spilled.rows; ++i) {
                double& sum = got[static_cast<std::size_t>(first + i)];
                sum = operands_.add(sum, *left++);
            }
        }
        // The same by plain loops over the matrix.
        std::vector<double> of_bank(got.size());
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
            const std::int64_t column = column_of(place, tile);
            for (std::int64_t r = 0; r < placement_.m; ++r) {
                const std::int64_t row = first_row_of(place, tile) + r;
                double& sum = of_bank[static_cast<std::size_t>(row)];
                sum = operands_.add(
                    sum, operands_.weight(row, column) * operands_.input(column, vector));
                const std::int64_t word = tile * tile_words_ + r / placement_.lanes;
                sum = leaves_[static_cast<std::size_t>(word)] ? operands_.stored(sum) : sum;
            }
        }
        for (std::size_t row = 0; row < expected.size(); ++row) {
            expected[row] = operands_.add(expected[row], of_bank[row]);
        }
    });
    for (std::int64_t row = 0; row < gemv_.m; ++row) {
        compare_row(check, row, got[static_cast<std::size_t>(row)],
                    expected[static_cast<std::size_t>(row)], vector);
    }
}

ProductCheck ColumnMajorGemv::check() const {
    ProductCheck check;
    check.method = operands_.arithmetic();
    check.match = true;
    for (const auto& [vector, left] : left_) {
        if (vector < vectors_) {
            check_vector(check, vector);
        }
    }
    return check;
}

}  // namespace tilesim::workloads::pim::gemv
