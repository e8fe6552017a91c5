#include "workloads/pim/gemv/pim_placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "arch/base/config.hpp"
#include "workloads/pim/gemv/pim_counts.hpp"
#include "workloads/pim/gemv/product.hpp"

namespace tilesim::workloads::pim::gemv {

using arch::base::bits_of;
using arch::base::ceil_div;
using arch::base::DataType;
using arch::base::is_float;
using arch::base::kBitsPerByte;
using arch::base::config::ConfigError;
using arch::memory::device::MemoryConfig;
using arch::pim::PimConfig;

std::int64_t elements_of_unit(const GemvProblem& gemv, const PimConfig& pim) {
    return pim.interleave.count() * kBitsPerByte / bits_of(gemv.weights);
}

namespace {

// Scale factors are applied to a block's sums, which are added to a second set of accumulators.
std::int64_t sets_of(const GemvProblem& gemv, const PimConfig& pim) {
    return gemv.scale_block > 0 ? pim.scale_sets : 1;
}

// Sums of m rows until they are folded, and the registers that hold them.
std::int64_t held_sums(const GemvProblem& gemv, std::int64_t m, const PimConfig& pim) {
    const bool reduced = !pim.unreduced_sums || (pim.reduction_tree && pim.tree_frees_registers);
    const std::int64_t lanes = pim.register_bits / bits_of(gemv.weights);
    return reduced ? m : std::max(m, lanes);
}

std::int64_t held_registers(const GemvProblem& gemv, std::int64_t m, const PimConfig& pim) {
    return registers_for(held_sums(gemv, m, pim), gemv.accumulate, pim);
}

// Those left for outputs beside so many for inputs.
std::int64_t room_for_outputs(const PimConfig& pim, std::int64_t inputs) {
    return pim.output_registers > 0 ? pim.output_registers : pim.registers - inputs;
}

// Those that outputs may take at most, beside inputs or in registers of their own.
std::int64_t most_for_outputs(const PimConfig& pim) {
    return pim.output_registers > 0 ? pim.output_registers : pim.registers;
}

// For a message that something does not fit.
std::string what_there_is(std::int64_t registers, const PimConfig& pim) {
    return fmt::format("but there are {}{}", registers,
                       pim.sums == 0 ? "" : fmt::format(" for {} sums", pim.sums));
}

bool fits(const GemvProblem& gemv, const PimMapping& mapping, std::int64_t m, std::int64_t elements,
          const PimConfig& pim) {
    const std::int64_t inputs =
        std::min(registers_for(elements / m, gemv.input, pim), mapping.input_registers);
    const std::int64_t sets = sets_of(gemv, pim);
    return held_registers(gemv, m, pim) * sets <= room_for_outputs(pim, inputs) &&
           (pim.sums == 0 || held_sums(gemv, m, pim) * sets <= pim.sums);
}

// The first column vector, halved until M divides evenly and its registers fit; 1 at last. An M
// that is padded for tiles of one row, too, is taken as it is then.
std::int64_t tile_rows(const GemvProblem& gemv, const PimMapping& mapping, std::int64_t banks,
                       const PimConfig& pim) {
    const std::int64_t elements = elements_of_unit(gemv, pim);
    if (mapping.tile_rows != 0) {
        const std::int64_t m = mapping.tile_rows == PimMapping::kLanes
                                   ? pim.register_bits / bits_of(gemv.weights)
                                   : mapping.tile_rows;
        if (m > elements || !fits(gemv, mapping, m, elements, pim)) {
            throw ConfigError(fmt::format(
                "mapping.pimnast.tile_rows: a tile of {} rows {}", m,
                m > elements
                    ? fmt::format("exceeds the {} elements of an interleave unit", elements)
                    : fmt::format(
                          "needs {} output registers for {} sums, {}",
                          held_registers(gemv, m, pim) * sets_of(gemv, pim),
                          held_sums(gemv, m, pim) * sets_of(gemv, pim),
                          what_there_is(room_for_outputs(pim, mapping.input_registers), pim))));
        }
        return m;
    }
    const std::int64_t rows = ceil_div(gemv.m, banks) * banks;
    for (std::int64_t m = elements; m > 1; m /= 2) {
        if (rows % (banks * m) == 0 && fits(gemv, mapping, m, elements, pim)) {
            return m;
        }
    }
    return 1;
}

std::int64_t largest_degree(const PimPlacement& p, const PimConfig& pim) {
    const std::int64_t room = room_for_outputs(pim, p.mapping.input_registers);
    const std::int64_t most =
        std::min(p.row_blocks, room / (p.output_registers * p.accumulator_sets));
    return pim.sums == 0 ? most : std::min(most, pim.sums / (p.sums * p.accumulator_sets));
}

// Row blocks of a pass as the mapping wants them; 0: as many as fit.
std::int64_t wanted_degree(const PimPlacement& p) {
    switch (p.mapping.walk) {
        case PimMapping::Walk::RowColumn:
            return 1;
        case PimMapping::Walk::Column:
            return p.row_blocks;
        case PimMapping::Walk::ColumnRow:
            break;
    }
    return p.mapping.cr_degree;
}

void set_degree(PimPlacement& p, const PimConfig& pim) {
    const std::int64_t outputs = p.output_registers * p.accumulator_sets;
    const std::int64_t left = pim.registers - outputs;
    if (pim.output_registers == 0 && left >= 1 && left < p.mapping.input_registers) {
        p.notes.push_back(
            fmt::format("{} of {} input registers: the outputs of a {} x {} tile take "
                        "{} of {} registers",
                        left, p.mapping.input_registers, p.m, p.k, outputs, pim.registers));
        p.mapping.input_registers = left;
    }
    const std::int64_t most = largest_degree(p, pim);
    if (most < 1) {
        throw ConfigError(fmt::format(
            "mapping.pimnast: the tile of {} x {} needs {} output registers for {} sums beside {} "
            "input registers, "
            "{}",
            p.m, p.k, outputs, p.sums * p.accumulator_sets, p.mapping.input_registers,
            what_there_is(most_for_outputs(pim), pim)));
    }
    const std::int64_t wanted = wanted_degree(p);
    if (wanted > most) {
        throw ConfigError(fmt::format(
            "mapping.pimnast.{}: must be 1..{} here ({} row blocks a bank, {} registers), "
            "got {}",
            p.mapping.walk == PimMapping::Walk::Column ? "walk" : "cr_degree", most, p.row_blocks,
            pim.registers, wanted));
    }
    p.degree = wanted == 0 ? most : wanted;
    p.outputs_at_a_time = p.degree * outputs;
}

// A tile's outputs leave one register to the inputs: those of an equal share of its words are held
// at a time.
std::int64_t column_major_shares(const PimPlacement& p, const GemvProblem& gemv,
                                 const PimConfig& pim) {
    const std::int64_t of_word = registers_for(p.lanes, gemv.accumulate, pim);
    const std::int64_t words_held = room_for_outputs(pim, 1) / of_word;
    if (words_held == 0 || (pim.sums > 0 && pim.sums < p.lanes)) {
        throw ConfigError(fmt::format(
            "mapping.column_major: the outputs of one word, {} sums, take {} registers, beside one "
            "for the inputs, {}",
            p.lanes, of_word, what_there_is(most_for_outputs(pim), pim)));
    }
    return ceil_div(ceil_div(p.m, p.lanes), words_held);
}

// Bytes of a bank.
std::int64_t capacity_of(const MemoryConfig& memory) {
    return memory.row.count() * (memory.rows - 1);  // one row: mode registers
}

void check_capacity(std::int64_t share, const MemoryConfig& memory) {
    if (share > capacity_of(memory)) {
        throw ConfigError(
            fmt::format("workload: the matrix needs {} bytes of every bank, but a bank holds {}",
                        share, capacity_of(memory)));
    }
}

// Words of a bank that the program of a placement reaches, at most: weights with their scale
// factors, and results, each visit of which may begin a row.
std::int64_t words_at_most(const GemvProblem& gemv, const PimPlacement& p,
                           const MemoryConfig& memory, const PimConfig& pim) {
    if (p.mapping.placement == PimMapping::Placement::ColumnMajor) {
        return column_major_tiles(p) * ceil_div(p.m, p.lanes) +
               column_major_blocks(p) * p.output_registers * p.vectors;
    }
    std::int64_t words =
        results_of(gemv, p, pim) + memory.row.count() * kBitsPerByte / pim.register_bits;
    std::int64_t factors = 0;
    for (std::int64_t from = 0; from < p.part_k; from += p.chunk) {
        const ChunkCost cost = chunk_cost(gemv, p, from, pim);
        words += cost.mac_words;
        factors += cost.scale_factors;
    }
    return p.row_blocks * words +
           ceil_div(p.row_blocks * factors * GemvProblem::kScaleBits, pim.register_bits);
}

void check_pages(const PimPlacement& p, const PimConfig& pim) {
    if (p.page_needed > pim.page.count()) {
        throw ConfigError(fmt::format(
            "mapping: the placement interleaves {} bytes, but pages (pim.page) are {} bytes",
            p.page_needed, pim.page.count()));
    }
}

// K elements a word of weights has of each of its rows.
std::int64_t columns_of_word(const PimPlacement& p) {
    return ceil_div(p.lanes, p.m);
}

// K elements that so many registers hold: of whole words, so that each meets its inputs at once.
std::int64_t columns_held(const GemvProblem& gemv, const PimPlacement& p, std::int64_t registers,
                          const PimConfig& pim) {
    const std::int64_t of_word = columns_of_word(p);
    const std::int64_t held = registers * pim.register_bits / bits_of(gemv.input);
    if (held < of_word) {
        throw ConfigError(fmt::format(
            "mapping.pimnast.input_registers: a word of a tile of {} x {} has {} columns, whose "
            "inputs take {} registers{}, got {}",
            p.m, p.k, of_word, registers_for(of_word, gemv.input, pim),
            gemv.scale_block > 0 ? " beside one for their scale factors" : "",
            p.mapping.input_registers));
    }
    return held / of_word * of_word;
}

void shape_columns(PimPlacement& p, const GemvProblem& gemv, const PimConfig& pim) {
    p.m = elements_of_unit(gemv, pim);
    p.k = 1;
    p.padded_m = ceil_div(gemv.m, p.m) * p.m;
    p.part_k = gemv.k;
    p.row_blocks = ceil_div(p.padded_m / p.m, p.banks);
    p.degree = 1;
    const std::int64_t shares = column_major_shares(p, gemv, pim);
    p.outputs_at_a_time =
        ceil_div(ceil_div(p.m, p.lanes), shares) * registers_for(p.lanes, gemv.accumulate, pim);
    p.output_registers = shares * p.outputs_at_a_time;
    if (shares > 1) {
        p.notes.push_back(fmt::format(
            "the sums of {} rows, an interleave unit, take {} registers beside one for the inputs, "
            "{}: they are held in {} shares, {}",
            p.m, registers_for(p.m, gemv.accumulate, pim),
            what_there_is(most_for_outputs(pim), pim), shares,
            p.mapping.order == PimMapping::Order::Address
                ? "which leave and come back with the tiles"
                : "for each of which every DRAM row is opened"));
    }
}

void shape_balanced(PimPlacement& p, const GemvProblem& gemv, const PimConfig& pim) {
    p.m = tile_rows(gemv, p.mapping, p.banks, pim);
    p.k = elements_of_unit(gemv, pim) / p.m;
    p.row_blocks = ceil_div(gemv.m, p.banks * p.m);
    p.padded_m = p.row_blocks * p.banks * p.m;
    // Words of a last tile that hold nothing are not read.
    const std::int64_t of_word = columns_of_word(p);
    p.part_k = ceil_div(ceil_div(gemv.k, p.mapping.split_k), of_word) * of_word;
    p.sums = held_sums(gemv, p.m, pim);
    p.output_registers = held_registers(gemv, p.m, pim);
    set_degree(p, pim);
}

// Notes it, or refuses where the mapping does.
void say_padding(PimPlacement& p, const GemvProblem& gemv) {
    const std::int64_t padded_k = p.part_k * p.mapping.split_k;
    if (p.padded_m != gemv.m) {
        p.notes.push_back(fmt::format("{} rows do not spread evenly over {} banks: padded to {}",
                                      gemv.m, p.banks, p.padded_m));
    }
    if (padded_k != gemv.k) {
        p.notes.push_back(fmt::format("{} columns padded to {}", gemv.k, padded_k));
    }
    if (!p.mapping.padding && (p.padded_m != gemv.m || padded_k != gemv.k)) {
        throw ConfigError(fmt::format(
            "mapping.pimnast.padding: refused, but {} x {} takes {} x {} with tiles of {} x {}",
            gemv.m, gemv.k, p.padded_m, padded_k, p.m, p.k));
    }
}

}  // namespace

PimPlacement shaped(const GemvProblem& gemv, const PimMapping& mapping, const MemoryConfig& memory,
                    const PimConfig& pim, std::int64_t vectors) {
    PimPlacement p;
    p.mapping = mapping;
    if (memory.channels % mapping.split_k != 0) {
        throw ConfigError(fmt::format("mapping.pimnast.split_k: {} parts do not share {} channels",
                                      mapping.split_k, memory.channels));
    }
    const bool shared = pim.output_registers == 0;
    const std::int64_t most = pim.registers - (shared ? 1 : 0);
    if (mapping.input_registers > most) {
        throw ConfigError(
            fmt::format("mapping.pimnast.input_registers: must be at most {}, of {} registers{}, "
                        "got {}",
                        most, pim.registers, shared ? ", one of which holds outputs" : "",
                        mapping.input_registers));
    }
    p.channels = memory.channels / mapping.split_k;
    p.banks = p.channels * memory.banks();
    p.lanes = pim.register_bits / bits_of(gemv.weights);
    p.page_needed = pim.interleave.count() * memory.channels * memory.banks();
    p.accumulator_sets = sets_of(gemv, pim);
    p.vectors = vectors_of_pass(vectors, 0, pim);
    mapping.placement == PimMapping::Placement::ColumnMajor ? shape_columns(p, gemv, pim)
                                                            : shape_balanced(p, gemv, pim);
    const std::int64_t for_inputs = p.mapping.input_registers - (gemv.scale_block > 0 ? 1 : 0);
    if (for_inputs < 1) {
        throw ConfigError(
            mapping.placement == PimMapping::Placement::ColumnMajor
                ? "mapping.column_major: has one register for inputs, which their scale factors "
                  "take (workload.gemv.scale_block)"
                : "mapping.pimnast.input_registers: scale factors of the input take one "
                  "register, which leaves none");
    }
    p.chunk = columns_held(gemv, p, for_inputs, pim);
    say_padding(p, gemv);
    check_pages(p, pim);
    // Its weights alone, before a program is written that may be beyond all measure.
    check_capacity(p.padded_m * p.part_k / p.banks * bits_of(gemv.weights) / kBitsPerByte, memory);
    return p;
}

PimPlacement place(const GemvProblem& gemv, const PimMapping& mapping, const MemoryConfig& memory,
                   const PimConfig& pim, std::int64_t vectors) {
    PimPlacement p = shaped(gemv, mapping, memory, pim, vectors);
    const auto bytes = [&](std::int64_t words) { return words * pim.register_bits / kBitsPerByte; };
    if (bytes(words_at_most(gemv, p, memory, pim)) > capacity_of(memory)) {
        std::int64_t words = 0;
        for (const arch::pim::PimCommand& command : lower(gemv, p, memory, pim).commands) {
            if (arch::pim::touches_array(command.op)) {
                words = std::max(words, command.word + command.count);
            }
        }
        check_capacity(bytes(words), memory);
    }
    return p;
}

void refuse_balanced(const GemvProblem& gemv, const MemoryConfig& memory, const PimConfig& pim) {
    const auto lack_of = [&](const GemvProblem& each) -> std::string {
        PimMapping smallest;
        smallest.input_registers = each.scale_block > 0 ? 2 : 1;
        try {
            shaped(each, smallest, memory, pim);
            return "";
        } catch (const ConfigError& error) {
            return error.what();
        }
    };
    std::string lack = lack_of(gemv);
    if (lack.starts_with("workload")) {
        throw ConfigError(lack);
    }
    constexpr std::string_view kMapping = "mapping.pimnast: ";
    lack.erase(0, lack.starts_with(kMapping) ? kMapping.size() : 0);
    GemvProblem narrow = gemv;
    narrow.accumulate = is_float(gemv.accumulate) ? DataType::F16 : DataType::Int16;
    if (lack_of(narrow).empty()) {
        lack += fmt::format("; accumulate: {} would fit", name_of(narrow.accumulate));
    }
    GemvProblem unscaled = gemv;
    unscaled.scale_block = 0;
    if (lack_of(unscaled).empty()) {
        lack += "; scale_block: 0 would fit";
    }
    throw ConfigError(fmt::format("workload: no balanced placement fits this device: {}", lack));
}

}  // namespace tilesim::workloads::pim::gemv
