#include "workloads/pim/gemv/natural_gemv_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "workloads/pim/gemv/natural_lowering.hpp"
#include "workloads/pim/gemv/pim_counts.hpp"
#include "workloads/pim/gemv/product.hpp"

namespace tilesim::workloads::pim::gemv {

using arch::pim::PimCommand;
using arch::pim::PimOp;

NaturalGemv::NaturalGemv(const GemvProblem& gemv, std::int64_t vectors,
                         const arch::pim::PimProgram& program, std::int64_t banks_of_sum,
                         const arch::memory::device::MemoryConfig& memory,
                         const arch::pim::PimConfig& pim, std::uint64_t seed)
    : gemv_(gemv),
      vectors_(vectors),
      pim_(pim),
      operands_(gemv, seed),
      banks_(memory, pim),
      tree_(pim.reduction_tree),
      banks_of_sum_(banks_of_sum),
      lanes_(lanes_of(gemv, pim)),
      registers_of_sum_(tree_ ? 1 : registers_for(lanes_, gemv.accumulate, pim)) {
    const std::int64_t registers_of_word = registers_for(lanes_, gemv.input, pim);
    for (const PimCommand& command : program.commands) {
        if (broadcasts_inputs(command)) {
            words_of_inputs_[command.k] = command.count / (registers_of_word * together(command));
        }
    }
    for (const PimCommand& command : program.commands) {
        for (std::int64_t channel = 0; command.op == PimOp::Mac && channel < banks_.channels();
             ++channel) {
            banks_.for_each_bank(channel, command.banks,
                                 [&](const BankPlace& place) { write_weights(place, command); });
        }
    }
}

std::int64_t NaturalGemv::together(const PimCommand& command) const {
    return vectors_of_pass(vectors_, command.vector, pim_);
}

std::int64_t NaturalGemv::row_of(const BankPlace& place, std::int64_t output) const {
    const std::int64_t owners = banks_.channels() * banks_.banks_per_channel() / banks_of_sum_;
    return output * owners + place.bank / banks_of_sum_ * banks_.channels() + place.channel;
}

template <class Action>
void NaturalGemv::for_each_word(const PimCommand& mac, Action action) const {
    const std::int64_t words = words_of_inputs_.at(mac.k);
    for (std::int64_t i = 0; i < mac.count; ++i) {
        action(mac.word + i, mac.row_block + i / words, mac.k + i % words * lanes_);
    }
}

void NaturalGemv::write_weights(const BankPlace& place, const PimCommand& mac) {
    for_each_word(mac, [&](std::int64_t word, std::int64_t output, std::int64_t column) {
        std::vector<std::byte> bytes(static_cast<std::size_t>(banks_.word_bytes()));
        for (std::int64_t lane = 0; lane < lanes_; ++lane) {
            store_element(bytes, gemv_.weights, lane,
                          operands_.weight(row_of(place, output), column + lane));
        }
        banks_.write(place, word, bytes);
    });
}

void NaturalGemv::on_pim_command(std::size_t channel, const PimCommand& command) {
    const auto at = static_cast<std::int64_t>(channel);
    if (broadcasts_inputs(command)) {
        Inputs& inputs = inputs_[at];
        inputs = {command.k, {}};
        for (std::int64_t alu = 0; alu < together(command); ++alu) {
            Lanes& values = inputs.values.emplace_back();
            for (std::int64_t i = 0; i < words_of_inputs_.at(command.k) * lanes_; ++i) {
                values.push_back(operands_.input(command.k + i, command.vector + alu));
            }
        }
        return;
    }
    banks_.for_each_bank(at, command.banks, [&](const BankPlace& place) {
        if (command.op == PimOp::Mac) {
            multiply(place, command);
        } else if (command.op == PimOp::Spill || command.op == PimOp::ReadResults) {
            give(place, command);
        }
    });
}

void NaturalGemv::multiply(const BankPlace& place, const PimCommand& mac) {
    const Inputs& inputs = inputs_[place.channel];
    for_each_word(mac, [&](std::int64_t word, std::int64_t output, std::int64_t column) {
        const std::vector<std::byte> bytes = banks_.read(place, word, 1);
        for (std::size_t alu = 0; alu < inputs.values.size(); ++alu) {
            Lanes products(static_cast<std::size_t>(lanes_));
            for (std::int64_t lane = 0; lane < lanes_; ++lane) {
                products[static_cast<std::size_t>(lane)] =
                    load_element(bytes, gemv_.weights, lane) *
                    inputs.values[alu].at(static_cast<std::size_t>(column - inputs.first + lane));
            }
            const std::int64_t vector = mac.vector + static_cast<std::int64_t>(alu);
            add_products(std::move(products), sums_[{vector, row_of(place, output)}]);
        }
    });
}

void NaturalGemv::add_products(Lanes products, Lanes& sums) const {
    if (tree_) {
        products = operands_.halved(std::move(products), 1);
    }
    sums.resize(products.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
        sums[i] = operands_.add(sums[i], products[i]);
    }
}

// As the host does.
double NaturalGemv::added(const Lanes& lanes) const {
    double sum = 0;
    for (const double lane : lanes) {
        sum = operands_.add(sum, lane);
    }
    return sum;
}

// Sums leave, to the host or to words of the bank; the next begin at zero.
void NaturalGemv::give(const BankPlace& place, const PimCommand& command) {
    const std::int64_t words = command.count / together(command);  // of a vector
    for (std::int64_t alu = 0; alu < together(command); ++alu) {
        const std::int64_t vector = command.vector + alu;
        if (command.op == PimOp::Spill) {
            spill({place, command.word + alu * words, command.row_block, words / registers_of_sum_,
                   vector});
            continue;
        }
        const Result result{vector, row_of(place, command.row_block)};
        results_[result] = operands_.stored(added(sums_[result]));
        sums_.erase(result);
    }
}

void NaturalGemv::spill(const Spilled& spilled) {
    for (std::int64_t output = 0; output < spilled.outputs; ++output) {
        const Result result{spilled.vector, row_of(spilled.place, spilled.first_output + output)};
        std::vector<std::byte> bytes(
            static_cast<std::size_t>(registers_of_sum_ * banks_.word_bytes()));
        const Lanes& sums = sums_[result];
        for (std::size_t lane = 0; lane < sums.size(); ++lane) {
            store_element(bytes, gemv_.accumulate, static_cast<std::int64_t>(lane),
                          operands_.stored(sums[lane]));
        }
        banks_.write(spilled.place, spilled.word + output * registers_of_sum_, bytes);
        sums_.erase(result);
    }
    spilled_.push_back(spilled);
}

// By plain loops, in the stated order.
double NaturalGemv::reference(std::int64_t row, std::int64_t vector) const {
    Lanes sums;
    for (std::int64_t column = 0; column < gemv_.k; column += lanes_) {
        Lanes products;
        for (std::int64_t lane = 0; lane < lanes_; ++lane) {
            products.push_back(operands_.weight(row, column + lane) *
                               operands_.input(column + lane, vector));
        }
        add_products(std::move(products), sums);
    }
    if (tree_) {
        return operands_.stored(sums.front());
    }
    std::transform(sums.begin(), sums.end(), sums.begin(),
                   [this](double sum) { return operands_.stored(sum); });
    return added(sums);
}

ProductCheck NaturalGemv::check() const {
    std::map<Result, double> got = results_;
    for (const Spilled& spilled : spilled_) {
        for (std::int64_t output = 0; output < spilled.outputs; ++output) {
            const std::vector<std::byte> bytes = banks_.read(
                spilled.place, spilled.word + output * registers_of_sum_, registers_of_sum_);
            Lanes lanes;
            for (std::int64_t lane = 0; lane < lanes_; ++lane) {
                lanes.push_back(load_element(bytes, gemv_.accumulate, lane));
            }
            got[{spilled.vector, row_of(spilled.place, spilled.first_output + output)}] =
                added(lanes);
        }
    }
    ProductCheck check;
    check.method = operands_.arithmetic();
    check.match = true;
    for (std::int64_t i = 0; i < vectors_ * gemv_.m; ++i) {
        const std::int64_t vector = i / gemv_.m;
        const std::int64_t row = i % gemv_.m;
        const auto found = got.find({vector, row});
        if (found == got.end()) {
            check.match = false;
            check.first_mismatch =
                fmt::format("row {} of vector {} has not left the units", row, vector);
            break;
        }
        compare_row(check, row, found->second, reference(row, vector), vector);
    }
    return check;
}

}  // namespace tilesim::workloads::pim::gemv
