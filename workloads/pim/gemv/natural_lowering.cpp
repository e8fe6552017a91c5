#include "workloads/pim/gemv/natural_lowering.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/base/units.hpp"
#include "workloads/pim/gemv/pim_counts.hpp"
#include "workloads/pim/gemv/product.hpp"

namespace tilesim::workloads::pim::gemv {

using arch::base::bits_of;
using arch::base::ceil_div;
using arch::base::kBitsPerByte;
using arch::base::config::ConfigError;
using arch::memory::device::MemoryConfig;
using arch::pim::BankSet;
using arch::pim::PimCommand;
using arch::pim::PimConfig;
using arch::pim::PimOp;
using arch::pim::PimProgram;

namespace {

std::int64_t words_per_row(const MemoryConfig& memory, const PimConfig& pim) {
    return memory.row.count() * kBitsPerByte / pim.register_bits;
}

// Registers with the inputs of a word of weights.
std::int64_t input_registers(const GemvProblem& gemv, const PimConfig& pim) {
    return registers_for(lanes_of(gemv, pim), gemv.input, pim);
}

// Words of weights whose inputs the registers hold.
std::int64_t words_held(const GemvProblem& gemv, const PimConfig& pim) {
    const std::int64_t words = pim.registers / input_registers(gemv, pim);
    if (words == 0) {
        throw ConfigError(fmt::format(
            "workload.gemv.input: the inputs of a word of {} weights need {} registers of {} bits, "
            "pim.registers are {}",
            lanes_of(gemv, pim), input_registers(gemv, pim), pim.register_bits, pim.registers));
    }
    return words;
}

// Commands from `first` on are about the pass of this vector.
void mark_vector(PimProgram& program, std::size_t first, std::int64_t vector) {
    for (std::size_t i = first; i < program.commands.size(); ++i) {
        program.commands[i].vector = vector;
    }
}

void check_rows(const PimProgram& program, const MemoryConfig& memory) {
    for (const PimCommand& command : program.commands) {
        if (touches_array(command.op) &&
            command.word + command.count > (memory.rows - 1) * program.words_per_row) {
            throw ConfigError(fmt::format(
                "workload: the matrix needs more than the {} rows of a bank", memory.rows - 1));
        }
    }
}

}  // namespace

std::int64_t lanes_of(const GemvProblem& gemv, const PimConfig& pim) {
    return pim.register_bits / bits_of(gemv.weights);
}

PimProgram lower_bank_rows(const GemvProblem& gemv, std::int64_t vectors,
                           const MemoryConfig& memory, const PimConfig& pim) {
    if (!pim.reduction_tree || pim.spill != arch::pim::Spill::Read) {
        throw ConfigError(
            "mapping.bank_rows: needs units that add all lanes of a word and sums "
            "that the host reads (pim.reduction_tree: on, pim.spill: read)");
    }
    PimProgram program{words_per_row(memory, pim), {}};
    const std::int64_t banks = memory.channels * memory.banks();
    const std::int64_t lanes = lanes_of(gemv, pim);
    const std::int64_t words = ceil_div(gemv.k, lanes);  // of a matrix row
    const std::int64_t matrix_row = ceil_div(words, program.words_per_row) * program.words_per_row;
    const std::int64_t held = std::min(program.words_per_row, words_held(gemv, pim));
    const std::int64_t row_blocks = ceil_div(gemv.m, banks);
    // Inputs that fit together stay for all row blocks.
    bool inputs_stay = false;
    const auto add_row_block = [&](std::int64_t block, BankSet of, std::int64_t together) {
        for (std::int64_t from = 0; from < words; from += held) {
            const std::int64_t count = std::min(words - from, held);
            if (!inputs_stay) {
                program.commands.push_back({.op = PimOp::WriteInputs,
                                            .count = count * input_registers(gemv, pim) * together,
                                            .k = from * lanes});
                inputs_stay = count == words;
            }
            if (from == 0) {  // the bias
                program.commands.push_back({.op = PimOp::WriteInputs,
                                            .count = together,
                                            .purpose = PimCommand::Purpose::Load});
            }
            program.commands.push_back({.op = PimOp::Mac,
                                        .count = count,
                                        .word = block * matrix_row + from,
                                        .row_block = block,
                                        .k = from * lanes,
                                        .banks = of});
        }
        program.commands.push_back(
            {.op = PimOp::ReadResults,
             .count = ceil_div(bits_of(gemv.accumulate), pim.result_bits) * together,
             .row_block = block,
             .banks = of});
    };
    for (std::int64_t vector = 0; vector < vectors; vector += pim.alus) {
        inputs_stay = false;
        const std::size_t first = program.commands.size();
        for (std::int64_t block = 0; block < row_blocks; ++block) {
            for (const BankSet of : arch::pim::turns_of(pim.banks_per_unit)) {
                add_row_block(block, of, vectors_of_pass(vectors, vector, pim));
            }
        }
        mark_vector(program, first, vector);
    }
    check_rows(program, memory);
    return program;
}

namespace {

// A unit's matrix as tiles; the last along M and the last along K are what is left.
struct TilePairs {
    std::int64_t outputs;       // rows of the matrix a unit has
    std::int64_t input_words;   // of a matrix row
    std::int64_t tile_outputs;  // of a whole tile
    std::int64_t tile_inputs;   // words

    std::int64_t tiles_down() const { return ceil_div(outputs, tile_outputs); }
    std::int64_t tiles_along() const { return ceil_div(input_words, tile_inputs); }
    // The even bank has the first half of them.
    std::int64_t even_tiles() const { return ceil_div(tiles_along(), 2); }
    std::int64_t outputs_of(std::int64_t down) const {
        return std::min(tile_outputs, outputs - down * tile_outputs);
    }
    std::int64_t inputs_of(std::int64_t along) const {
        return std::min(tile_inputs, input_words - along * tile_inputs);
    }
    // Words an output has in the even bank, which is the fuller one.
    std::int64_t words_of_output() const {
        return std::min(input_words, even_tiles() * tile_inputs);
    }
};

// Registers with the lanes of an output.
std::int64_t output_registers(const GemvProblem& gemv, const PimConfig& pim) {
    return registers_for(lanes_of(gemv, pim), gemv.accumulate, pim);
}

TilePairs tile_pairs_of(const GemvProblem& gemv, const MemoryConfig& memory, const PimConfig& pim) {
    const std::int64_t units = memory.channels * memory.banks() / pim.banks_per_unit;
    const std::int64_t outputs = pim.output_registers / output_registers(gemv, pim);
    if (outputs == 0) {
        throw ConfigError(
            fmt::format("workload.gemv.accumulate: {} lanes of a sum need {} registers of {} bits, "
                        "pim.output_registers are {}",
                        lanes_of(gemv, pim), output_registers(gemv, pim), pim.register_bits,
                        pim.output_registers));
    }
    return {ceil_div(gemv.m, units), ceil_div(gemv.k, lanes_of(gemv, pim)), outputs,
            words_held(gemv, pim)};
}

}  // namespace

PimProgram lower_tile_pairs(const GemvProblem& gemv, std::int64_t vectors,
                            const MemoryConfig& memory, const PimConfig& pim) {
    if (pim.banks_per_unit != 2 || pim.output_registers == 0) {
        throw ConfigError(
            "mapping.tile_pairs: needs units of two banks with registers of their "
            "own for outputs (pim.banks_per_unit, pim.output_registers)");
    }
    PimProgram program{words_per_row(memory, pim), {}};
    const TilePairs tiles = tile_pairs_of(gemv, memory, pim);
    // The word behind the tiles, then behind the sums that have left.
    std::int64_t results = tiles.outputs * tiles.words_of_output();
    std::int64_t first = 0;  // word of these outputs' tiles
    // A word for each output and input.
    const auto add_tile = [&](std::int64_t down, std::int64_t along, std::int64_t together,
                              std::int64_t& word) {
        const bool in_even = along < tiles.even_tiles();
        const std::int64_t inputs = tiles.inputs_of(along);
        const std::int64_t k = along * tiles.tile_inputs * lanes_of(gemv, pim);
        const std::int64_t words = tiles.outputs_of(down) * inputs;
        program.commands.push_back({.op = PimOp::WriteInputs,
                                    .count = inputs * input_registers(gemv, pim) * together,
                                    .k = k});
        program.commands.push_back({.op = PimOp::Barrier});
        program.commands.push_back({.op = PimOp::Mac,
                                    .count = words,
                                    .word = word,
                                    .row_block = down * tiles.tile_outputs,
                                    .k = k,
                                    .banks = {in_even ? BankSet::kEven : BankSet::kOdd}});
        program.commands.push_back({.op = PimOp::Barrier});
        word += words;
    };
    arch::pim::append(program.commands, pim.modes.enter);
    for (std::int64_t down = 0; down < tiles.tiles_down(); ++down) {
        const std::int64_t outputs = tiles.outputs_of(down);
        for (std::int64_t vector = 0; vector < vectors; vector += pim.alus) {
            const std::int64_t together = vectors_of_pass(vectors, vector, pim);
            const std::size_t begin = program.commands.size();
            arch::pim::append(program.commands, pim.modes.on);
            std::int64_t even = first;
            std::int64_t odd = first;
            for (std::int64_t along = 0; along < tiles.tiles_along(); ++along) {
                add_tile(down, along, together, along < tiles.even_tiles() ? even : odd);
            }
            const std::int64_t registers = outputs * output_registers(gemv, pim) * together;
            program.commands.push_back({.op = PimOp::Spill,
                                        .count = registers,
                                        .word = results,
                                        .row_block = down * tiles.tile_outputs,
                                        .banks = {BankSet::kOdd}});
            results += registers;
            program.commands.push_back({.op = PimOp::Barrier});
            arch::pim::append(program.commands, pim.modes.off);
            mark_vector(program, begin, vector);
        }
        first += outputs * tiles.words_of_output();
    }
    arch::pim::append(program.commands, pim.modes.leave);
    check_rows(program, memory);
    return program;
}

}  // namespace tilesim::workloads::pim::gemv
