#include "workloads/pim/gemv/balanced_gemv_data.hpp"

#include <utility>

namespace tilesim::workloads::pim::gemv {

using arch::base::ceil_div;
using arch::base::DataType;
using arch::pim::PimCommand;
using arch::pim::PimOp;

BalancedGemv::BalancedGemv(const GemvProblem& gemv, std::int64_t vectors,
                           const PimPlacement& placement,
                           const arch::memory::device::MemoryConfig& memory,
                           const arch::pim::PimConfig& pim, std::uint64_t seed)
    : gemv_(gemv),
      vectors_(vectors),
      placement_(placement),
      operands_(gemv, seed),
      banks_(memory, pim) {
    check_.method = operands_.arithmetic();
    check_.match = true;
    const arch::pim::PimProgram program = lower(gemv, placement, memory, pim);
    const std::int64_t words_of_block = placement.output_registers * placement.vectors;
    scale_words_ = program.scale_words;
    factors_of_word_ = pim.register_bits / GemvProblem::kScaleBits;
    for (const PimCommand& command : program.commands) {
        banks_.for_each_bank([&](const BankPlace& place) {
            if (!command.banks.holds(place.bank)) {
                return;
            }
            if (command.op == PimOp::Mac) {
                write_weights(place, command);
            } else if (command.purpose == PimCommand::Purpose::Scale) {
                write_scales(place, command);
            }
        });
        for (const std::int64_t block : blocks_leaving(command)) {
            results_[block] = command.word == PimCommand::kOpenRow || command.op != PimOp::Spill
                                  ? kElsewhere + block * words_of_block
                                  : command.word;
        }
    }
}

// The row blocks whose results leave with the command.
std::vector<std::int64_t> BalancedGemv::blocks_leaving(const PimCommand& command) const {
    std::vector<std::int64_t> blocks;
    if (command.op == PimOp::Spill || command.op == PimOp::ReadResults) {
        blocks.push_back(command.row_block);
    } else if (command.op == PimOp::SpillVisit) {
        for (std::int64_t i = 0; i < command.k; ++i) {
            blocks.push_back(command.row_block + i);
        }
    }
    return blocks;
}

std::int64_t BalancedGemv::first_row(const BankPlace& place, std::int64_t row_block) const {
    const std::int64_t bank =
        place.bank * placement_.channels + place.channel % placement_.channels;
    return (row_block * placement_.banks + bank) * placement_.m;
}

std::int64_t BalancedGemv::first_column(const BankPlace& place) const {
    return place.channel / placement_.channels * placement_.part_k;
}

std::int64_t BalancedGemv::columns_in_chunk(std::int64_t from) const {
    return std::min(placement_.chunk, placement_.part_k - from);
}

// Where an element of a tile is added: its lane, or with tall tiles its row.
std::size_t BalancedGemv::lane_of(std::int64_t element) const {
    return static_cast<std::size_t>(element % std::max(placement_.m, placement_.lanes));
}

void BalancedGemv::write_weights(const BankPlace& place, const PimCommand& command) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(banks_.word_bytes()));
    const std::int64_t tile = placement_.m * placement_.k;
    for (std::int64_t word = 0; word < command.count; ++word) {
        std::fill(bytes.begin(), bytes.end(), std::byte{0});
        for (std::int64_t lane = 0; lane < placement_.lanes; ++lane) {
            const std::int64_t element = word * placement_.lanes + lane;
            const std::int64_t row =
                first_row(place, command.row_block) + element % tile % placement_.m;
            const std::int64_t column =
                element / tile * placement_.k + element % tile / placement_.m;
            const bool inside = column < columns_in_chunk(command.k);
            store_element(
                bytes, gemv_.weights, lane,
                inside ? operands_.weight(row, first_column(place) + command.k + column) : 0.0);
        }
        banks_.write(place, command.word + word, bytes);
    }
}

std::vector<std::int64_t> BalancedGemv::blocks_ended(std::int64_t from) const {
    const std::int64_t to = from + columns_in_chunk(from);
    const std::int64_t last =
        to == placement_.part_k ? ceil_div(to, gemv_.scale_block) : to / gemv_.scale_block;
    std::vector<std::int64_t> blocks;
    for (std::int64_t block = from / gemv_.scale_block; block < last; ++block) {
        blocks.push_back(block);
    }
    return blocks;
}

// The word and the place in it of a scale factor of a bank.
std::pair<std::int64_t, std::int64_t> BalancedGemv::place_of_factor(std::int64_t factor) const {
    return {scale_words_[static_cast<std::size_t>(factor / factors_of_word_)],
            factor % factors_of_word_};
}

void BalancedGemv::write_scales(const BankPlace& place, const PimCommand& command) {
    std::int64_t factor = command.word;
    for (const std::int64_t block : blocks_ended(command.k)) {
        for (std::int64_t r = 0; r < placement_.m; ++r) {
            const auto [word, at] = place_of_factor(factor++);
            std::vector<std::byte> bytes = banks_.read(place, word, 1);
            store_element(bytes, DataType::Int8, at,
                          operands_.weight_scale(first_row(place, command.row_block) + r, block));
            banks_.write(place, word, bytes);
        }
    }
}

BalancedGemv::RowBlock& BalancedGemv::row_block(const BankPlace& place, std::int64_t index,
                                                std::int64_t alu) {
    const std::int64_t of_alu = index * placement_.vectors + alu;
    return row_blocks_[(of_alu * banks_.banks_per_channel() + place.bank) * banks_.channels() +
                       place.channel];
}

std::int64_t BalancedGemv::vector_of(std::int64_t channel, std::int64_t alu) const {
    const auto ended = passes_.find(channel);
    return (ended == passes_.end() ? 0 : ended->second) * placement_.vectors + alu;
}

void BalancedGemv::on_pim_command(std::size_t channel, const PimCommand& command) {
    const auto at = static_cast<std::int64_t>(channel);
    if (command.op == PimOp::WriteInputs) {
        std::vector<Lanes>& registers = inputs_[at];
        registers.assign(static_cast<std::size_t>(placement_.vectors), {});
        for (std::int64_t alu = 0; alu < placement_.vectors; ++alu) {
            for (std::int64_t c = 0; c < columns_in_chunk(command.k); ++c) {
                registers[static_cast<std::size_t>(alu)].push_back(
                    operands_.input(first_column({at, 0}) + command.k + c, vector_of(at, alu)));
            }
        }
        return;
    }
    banks_.for_each_bank(at, command.banks, [&](const BankPlace& place) {
        for (std::int64_t alu = 0; alu < placement_.vectors; ++alu) {
            if (command.op == PimOp::Mac) {
                multiply(place, command, alu);
            } else if (command.purpose == PimCommand::Purpose::Scale) {
                apply_scales(place, command, alu);
            }
            for (const std::int64_t block : blocks_leaving(command)) {
                spill(place, block, alu);
            }
        }
    });
}

void BalancedGemv::multiply(const BankPlace& place, const PimCommand& command, std::int64_t alu) {
    RowBlock& target = row_block(place, command.row_block, alu);
    const Lanes& inputs = inputs_[place.channel][static_cast<std::size_t>(alu)];
    const std::int64_t tile = placement_.m * placement_.k;
    const auto lanes = static_cast<std::size_t>(std::max(placement_.m, placement_.lanes));
    for (std::int64_t word = 0; word < command.count; ++word) {
        const std::vector<std::byte> bytes = banks_.read(place, command.word + word, 1);
        for (std::int64_t lane = 0; lane < placement_.lanes; ++lane) {
            const std::int64_t element = word * placement_.lanes + lane;
            const std::int64_t column =
                element / tile * placement_.k + element % tile / placement_.m;
            if (column >= columns_in_chunk(command.k)) {
                continue;
            }
            const std::int64_t block =
                gemv_.scale_block > 0 ? (command.k + column) / gemv_.scale_block : 0;
            Lanes& sums = target.sums[block];
            sums.resize(lanes);
            const double product =
                load_element(bytes, gemv_.weights, lane) * inputs[static_cast<std::size_t>(column)];
            double& sum = sums[lane_of(element % tile)];
            sum = operands_.add(sum, product);
        }
    }
}

void BalancedGemv::apply_scales(const BankPlace& place, const PimCommand& command,
                                std::int64_t alu) {
    RowBlock& target = row_block(place, command.row_block, alu);
    const auto lanes = static_cast<std::size_t>(std::max(placement_.m, placement_.lanes));
    target.scaled.resize(lanes);
    std::int64_t first = command.word;
    for (const std::int64_t block : blocks_ended(command.k)) {
        const Lanes& sums = target.sums[block];
        Lanes factors;
        for (std::int64_t r = 0; r < placement_.m; ++r) {
            const auto [word, at] = place_of_factor(first + r);
            factors.push_back(load_element(banks_.read(place, word, 1), DataType::Int8, at) *
                              operands_.input_scale(block, vector_of(place.channel, alu)));
        }
        for (std::size_t lane = 0; lane < sums.size(); ++lane) {
            const double factor = factors[lane % static_cast<std::size_t>(placement_.m)];
            target.scaled[lane] = operands_.add(target.scaled[lane], factor * sums[lane]);
        }
        target.sums.erase(block);
        first += placement_.m;
    }
}

void BalancedGemv::spill(const BankPlace& place, std::int64_t block, std::int64_t alu) {
    RowBlock& done = row_block(place, block, alu);
    // One lane is left for each of the m outputs.
    const Lanes outputs = operands_.halved(gemv_.scale_block > 0 ? done.scaled : done.sums[0],
                                           static_cast<std::size_t>(placement_.m));
    std::vector<std::byte> bytes(
        static_cast<std::size_t>(placement_.output_registers * banks_.word_bytes()));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        store_element(bytes, gemv_.accumulate, static_cast<std::int64_t>(i),
                      operands_.stored(outputs[i]));
    }
    banks_.write(place, word_of_result(block, alu), bytes);
    done = {};
}

// One part of K by plain loops, in the stated order.
double BalancedGemv::reference(std::int64_t row, std::int64_t first_column,
                               std::int64_t vector) const {
    const std::int64_t lanes = std::max<std::int64_t>(1, placement_.lanes / placement_.m);
    const std::int64_t block =
        gemv_.scale_block > 0 ? gemv_.scale_block : std::max<std::int64_t>(1, placement_.part_k);
    Lanes total(static_cast<std::size_t>(lanes));
    for (std::int64_t from = 0; from < placement_.part_k; from += block) {
        Lanes sums(static_cast<std::size_t>(lanes));
        for (std::int64_t c = from; c < std::min(from + block, placement_.part_k); ++c) {
            double& sum = sums[static_cast<std::size_t>(c % placement_.k % lanes)];
            sum = operands_.add(sum, operands_.weight(row, first_column + c) *
                                         operands_.input(first_column + c, vector));
        }
        const double factor = gemv_.scale_block > 0
                                  ? operands_.weight_scale(row, from / block) *
                                        operands_.input_scale(from / block, vector)
                                  : 1.0;
        for (std::size_t lane = 0; lane < sums.size(); ++lane) {
            total[lane] = operands_.add(total[lane], factor * sums[lane]);
        }
    }
    return operands_.stored(operands_.halved(std::move(total), 1).front());
}

// The next pass's results will lie where these do.
void BalancedGemv::on_pass_ended(std::size_t channel) {
    const auto at = static_cast<std::int64_t>(channel);
    banks_.for_each_bank(at, {}, [&](const BankPlace& place) {
        for (const auto& [block, word] : results_) {
            for (std::int64_t alu = 0; alu < placement_.vectors; ++alu) {
                const std::int64_t vector = vector_of(at, alu);
                const std::vector<std::byte> bytes =
                    banks_.read(place, word_of_result(block, alu), placement_.output_registers);
                const std::int64_t rows = vector < vectors_ ? placement_.m : 0;
                for (std::int64_t r = 0; r < rows && first_row(place, block) + r < gemv_.m; ++r) {
                    const std::int64_t row = first_row(place, block) + r;
                    compare_row(check_, row, load_element(bytes, gemv_.accumulate, r),
                                reference(row, first_column(place), vector), vector);
                }
            }
        }
    });
    ++passes_[at];
}

}  // namespace tilesim::workloads::pim::gemv
