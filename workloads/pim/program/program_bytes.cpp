#include "workloads/pim/program/program_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tilesim::workloads::pim::program {

using arch::pim::PimCommand;
using arch::pim::PimOp;

namespace {

GemvProblem format_of(const ProgramWorkload& workload) {
    GemvProblem gemv;
    gemv.m = gemv.k = INT64_MAX / 2;  // every place holds something
    gemv.weights = workload.weights;
    gemv.input = workload.input;
    gemv.accumulate = workload.accumulate;
    return gemv;
}

}  // namespace

ProgramBytes::ProgramBytes(const ProgramWorkload& workload,
                           const arch::memory::device::MemoryConfig& memory,
                           const arch::pim::PimConfig& pim, std::uint64_t seed)
    : workload_(workload),
      operands_(format_of(workload), seed),
      banks_(memory.banks()),
      lanes_(pim.register_bits / arch::base::bits_of(workload.weights)),
      rows_(workload.tile_rows > 0 ? workload.tile_rows : lanes_) {}

double ProgramBytes::weight(std::int64_t channel, std::int64_t bank, std::int64_t word,
                            std::int64_t lane) const {
    return operands_.weight(channel * banks_ + bank, word * lanes_ + lane);
}

double ProgramBytes::input(std::int64_t element) const {
    return operands_.input(element, 0);
}

void ProgramBytes::on_pim_command(std::size_t at, const PimCommand& command) {
    const auto channel = static_cast<std::int64_t>(at);
    if (broadcasts_inputs(command)) {
        auto& registers = inputs_[channel];
        registers.clear();
        const std::int64_t bits = lanes_ * arch::base::bits_of(workload_.weights);
        const std::int64_t elements = command.count * bits / arch::base::bits_of(workload_.input);
        for (std::int64_t i = 0; i < elements; ++i) {
            registers[command.k + i] = input(command.k + i);
        }
        return;
    }
    for (std::int64_t bank = 0; bank < banks_; ++bank) {
        if (!command.banks.holds(bank)) {
            continue;
        }
        if (command.op == PimOp::Mac) {
            multiply(channel, bank, command);
        } else if (command.op == PimOp::Spill || command.op == PimOp::SpillVisit ||
                   command.op == PimOp::ReadResults) {
            Block& block = blocks_[{channel, bank, command.row_block}];
            if (!block.made_of.empty()) {
                results_.push_back({block.sums, direct(channel, bank, block), command.word});
            }
            block = {};
        }
    }
}

void ProgramBytes::multiply(std::int64_t channel, std::int64_t bank, const PimCommand& command) {
    Block& block = blocks_[{channel, bank, command.row_block}];
    block.made_of.push_back({command.word, command.count, command.k});
    block.sums.resize(static_cast<std::size_t>(std::max(rows_, lanes_)));
    const auto& registers = inputs_[channel];
    for (std::int64_t i = 0; i < command.count * lanes_; ++i) {
        const auto value = registers.find(command.k + i / rows_);
        if (value == registers.end()) {
            continue;  // not held: contributes nothing, and the check will say so
        }
        double& sum = block.sums[static_cast<std::size_t>(i % std::max(rows_, lanes_))];
        sum = operands_.add(
            sum, weight(channel, bank, command.word + i / lanes_, i % lanes_) * value->second);
    }
}

// The sums of the same words with the inputs their place asks for.
ProgramBytes::Lanes ProgramBytes::direct(std::int64_t channel, std::int64_t bank,
                                         const Block& block) const {
    Lanes sums(static_cast<std::size_t>(std::max(rows_, lanes_)));
    for (const Product& product : block.made_of) {
        for (std::int64_t i = 0; i < product.count * lanes_; ++i) {
            double& sum = sums[static_cast<std::size_t>(i % std::max(rows_, lanes_))];
            sum = operands_.add(sum, weight(channel, bank, product.word + i / lanes_, i % lanes_) *
                                         input(product.k + i / rows_));
        }
    }
    return sums;
}

ProductCheck ProgramBytes::check() const {
    ProductCheck check;
    check.method = "sums that left, against sums made directly";
    const bool kept = std::any_of(blocks_.begin(), blocks_.end(),
                                  [](const auto& block) { return !block.second.made_of.empty(); });
    check.match = !results_.empty() || !kept;
    if (!check.match) {
        check.first_mismatch = "no sums have left the registers";
    }
    for (const Result& result : results_) {
        for (std::size_t lane = 0; lane < result.got.size(); ++lane) {
            gemv::compare_row(check, static_cast<std::int64_t>(lane), result.got[lane],
                              result.expected[lane]);
        }
    }
    return check;
}

}  // namespace tilesim::workloads::pim::program
