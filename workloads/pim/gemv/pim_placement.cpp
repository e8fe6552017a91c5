#include "workloads/pim/gemv/pim_placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <variant>

#include "arch/base/clock.hpp"
#include "arch/base/quantity.hpp"

namespace tilesim::workloads::pim::gemv {

using arch::base::bits_of;
using arch::base::ceil_div;
using arch::base::kBitsPerByte;
using arch::base::config::ConfigError;
using arch::base::config::Node;
using arch::memory::device::MemoryConfig;
using arch::pim::PimConfig;

namespace {

const std::vector<std::pair<std::string_view, std::int64_t>> kMaxDegree{{"max", 0}};

std::int64_t registers_for(std::int64_t elements, arch::base::DataType type, const PimConfig& pim) {
    return ceil_div(elements * bits_of(type), pim.register_bits);
}

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

// The first column vector, halved until M divides evenly and its registers fit; 1 at last.
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
    for (std::int64_t m = elements; m > 1; m /= 2) {
        if (gemv.m % (banks * m) == 0 && fits(gemv, mapping, m, elements, pim)) {
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
            "the tile of {} x {} needs {} output registers for {} sums beside {} input registers, "
            "{}",
            p.m, p.k, outputs, p.sums * p.accumulator_sets, p.mapping.input_registers,
            what_there_is(pim.output_registers > 0 ? pim.output_registers : pim.registers, pim)));
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

// Scale blocks of a row that end within K elements [from, to).
std::int64_t scale_blocks_in(const GemvProblem& gemv, std::int64_t from, std::int64_t to,
                             std::int64_t end) {
    if (gemv.scale_block == 0) {
        return 0;
    }
    const std::int64_t last = to == end ? ceil_div(to, gemv.scale_block) : to / gemv.scale_block;
    return last - from / gemv.scale_block;
}

// One row block's share of a chunk of K.
struct ChunkCost {
    std::int64_t mac_words = 0;
    std::int64_t scale_factors = 0;
    std::int64_t scale_commands = 0;
};

ChunkCost chunk_cost(const GemvProblem& gemv, const PimPlacement& p, std::int64_t from,
                     const PimConfig& pim) {
    const std::int64_t to = std::min(from + p.chunk, p.part_k);
    const std::int64_t blocks = scale_blocks_in(gemv, from, to, p.part_k);
    ChunkCost cost;
    cost.mac_words = ceil_div((to - from) * p.m, p.lanes);
    cost.scale_factors = blocks * p.m;
    // For the rows of a word together, or for a register of sums, which several row blocks share
    // where their rows do not fill it.
    cost.scale_commands =
        pim.scale_law == arch::pim::ScaleLaw::Word
            ? blocks * ceil_div(p.m, p.lanes) * pim.scale_commands
            : ceil_div(blocks * p.output_registers * pim.scale_commands, ceil_div(p.lanes, p.m));
    return cost;
}

std::int64_t inputs_of(const GemvProblem& gemv, const PimPlacement& p, std::int64_t from,
                       const PimConfig& pim) {
    const std::int64_t elements = std::min(p.chunk, p.part_k - from);
    return (registers_for(elements, gemv.input, pim) + (gemv.scale_block > 0 ? 1 : 0)) * p.vectors;
}

// How often the lanes are folded before `to` elements of K are done; the last fold is the row
// block's own.
std::int64_t folds_before(const PimPlacement& p, std::int64_t to, const PimConfig& pim) {
    return pim.fold_every == 0 ? 0 : std::min(to, p.part_k - 1) / pim.fold_every;
}

// Registers, or reads of the host, with which a row block's results leave.
std::int64_t results_of(const GemvProblem& gemv, const PimPlacement& p, const PimConfig& pim) {
    if (pim.spill != arch::pim::Spill::Read) {
        return p.output_registers * p.vectors;
    }
    const bool folded = pim.reduction_tree || pim.fold != arch::pim::Fold::Host;
    return ceil_div((folded ? p.m : std::max(p.m, p.lanes)) * bits_of(gemv.accumulate),
                    pim.result_bits) *
           p.vectors;
}

// Lays out the words of a bank's share, and with them the commands.
class Lowering {
  public:
    Lowering(const GemvProblem& gemv, const PimPlacement& p, const PimConfig& pim,
             std::int64_t words_per_row)
        : gemv_(gemv), p_(p), pim_(pim) {
        program.words_per_row = words_per_row;
    }

    void run() {
        for (std::int64_t first = 0; first < p_.row_blocks; first += p_.degree) {
            arch::pim::append(program.commands, pim_.modes.on);
            pass(first, std::min(p_.degree, p_.row_blocks - first));
            arch::pim::append(program.commands, pim_.modes.off);
        }
        place_visits();
    }

    arch::pim::PimProgram program;

  private:
    using Op = arch::pim::PimOp;
    using Purpose = arch::pim::PimCommand::Purpose;

    void pass(std::int64_t first, std::int64_t blocks);
    void chunk(std::int64_t first, std::int64_t blocks, std::int64_t from);
    void results(std::int64_t first, std::int64_t blocks);
    void place_visits();
    void scale_factors(std::int64_t count) {
        const std::int64_t per_word = pim_.register_bits / GemvProblem::kScaleBits;
        for (factors_ += count; std::ssize(program.scale_words) * per_word < factors_;) {
            program.scale_words.push_back(word_++);
        }
    }
    void alu(std::int64_t count, Purpose purpose, std::int64_t block, std::int64_t from,
             std::int64_t word = 0) {
        if (count > 0) {
            program.commands.push_back({Op::Alu, count, word, block, from, purpose});
        }
    }

    const GemvProblem& gemv_;
    const PimPlacement& p_;
    const PimConfig& pim_;
    std::int64_t word_ = 0;
    std::int64_t factors_ = 0;    // laid out so far
    std::int64_t unspilled_ = 0;  // row blocks whose results wait to share a visit
};

void Lowering::pass(std::int64_t first, std::int64_t blocks) {
    for (std::int64_t from = 0; from < p_.part_k; from += p_.chunk) {
        program.commands.push_back(
            {Op::WriteInputs, inputs_of(gemv_, p_, from, pim_), 0, first, from});
        chunk(first, blocks, from);
    }
    for (std::int64_t block = first; block < first + blocks; ++block) {
        alu(fold_commands(gemv_, p_, pim_), Purpose::Fold, block, 0);
    }
    results(first, blocks);
}

void Lowering::chunk(std::int64_t first, std::int64_t blocks, std::int64_t from) {
    const ChunkCost cost = chunk_cost(gemv_, p_, from, pim_);
    const std::int64_t to = std::min(from + p_.chunk, p_.part_k);
    const std::int64_t folds = folds_before(p_, to, pim_) - folds_before(p_, from, pim_);
    for (std::int64_t block = first; block < first + blocks; ++block) {
        alu(blocks > 1 ? pim_.accumulator_load : 0, Purpose::Load, block, from);
        program.commands.push_back({Op::Mac, cost.mac_words, word_, block, from});
        word_ += cost.mac_words;
        const std::int64_t factor = factors_;
        scale_factors(cost.scale_factors);
        if (cost.scale_factors > 0) {
            alu(std::max<std::int64_t>(cost.scale_commands, 1), Purpose::Scale, block, from,
                factor);
        }
        // No block's last: those sums are not results yet.
        alu(folds * fold_commands(gemv_, p_, pim_), Purpose::Fold, PimPlacement::kUnfinished, from);
    }
}

void Lowering::results(std::int64_t first, std::int64_t blocks) {
    using arch::pim::Spill;
    const std::int64_t registers = results_of(gemv_, p_, pim_);
    if (pim_.spill != Spill::Visit) {
        for (std::int64_t block = first; block < first + blocks; ++block) {
            const bool behind = pim_.spill == Spill::Row;
            program.commands.push_back({pim_.spill == Spill::Read ? Op::ReadResults : Op::Spill,
                                        registers, behind ? word_ : arch::pim::PimCommand::kOpenRow,
                                        block, 0});
            word_ += behind ? registers : 0;
        }
        return;
    }
    const std::int64_t packed = pim_.spill_packed ? ceil_div(p_.lanes, p_.m) : 1;
    unspilled_ += blocks;
    if (unspilled_ >= packed * p_.degree || first + blocks == p_.row_blocks) {
        program.commands.push_back({Op::SpillVisit, ceil_div(unspilled_, packed) * registers, 0,
                                    first + blocks - unspilled_, unspilled_});
        unspilled_ = 0;
    }
}

// Rows of their own, behind the weights.
void Lowering::place_visits() {
    std::int64_t row = ceil_div(word_, program.words_per_row);
    std::int64_t used = 0;
    for (arch::pim::PimCommand& command : program.commands) {
        if (command.op == Op::SpillVisit) {
            if (used + command.count > program.words_per_row) {
                ++row;
                used = 0;
            }
            command.word = row * program.words_per_row + used;
            used += command.count;
        }
    }
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
            p.lanes, of_word, what_there_is(pim.all_registers(), pim)));
    }
    return ceil_div(ceil_div(p.m, p.lanes), words_held);
}

// Tiles of one column go round the banks, so a bank's neighbour works on another column and inputs
// are not broadcast: each bank's register is written for itself, a register's worth of columns at a
// time. The outputs of a tile fill the registers, a share of them at a time.
class ColumnMajorLowering {
  public:
    ColumnMajorLowering(const GemvProblem& gemv, const PimPlacement& p, const PimConfig& pim)
        : p_(p),
          tiles_(column_major_tiles(p)),
          blocks_(column_major_blocks(p)),
          tile_words_(ceil_div(p.m, p.lanes)),
          shares_(p.output_registers / p.outputs_at_a_time),
          inputs_of_register_(pim.register_bits / bits_of(gemv.input)) {}

    // As the tiles lie: where a bank's next tile has other rows, outputs are spilled and read back.
    void by_address() {
        const bool kept = blocks_ == 1 && shares_ == 1;
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
            inputs(tile, tile);
            for (std::int64_t share = 0; share < shares_; ++share) {
                if (!kept && tile >= blocks_) {
                    outputs(PimOp::LoadOutputs, tile, share);
                }
                multiply(tile, share);
                if (!kept || tile + 1 == tiles_) {
                    outputs(PimOp::Spill, tile, share);
                }
            }
        }
    }
    // Tiles of the same rows one after the other: outputs leave once, but every DRAM row is opened
    // for each share of each row block in it.
    void by_outputs() {
        for (std::int64_t block = 0; block < std::min(blocks_, tiles_); ++block) {
            for (std::int64_t share = 0; share < shares_; ++share) {
                std::int64_t last = block;
                for (std::int64_t tile = block; tile < tiles_; tile += blocks_) {
                    inputs(tile / blocks_, tile);
                    multiply(tile, share);
                    last = tile;
                }
                outputs(PimOp::Spill, last, share);
            }
        }
    }
    std::vector<arch::pim::PimCommand> commands;

  private:
    using PimOp = arch::pim::PimOp;

    // Those of the next tiles, before the first of as many as a register holds.
    void inputs(std::int64_t turn, std::int64_t tile) {
        if (turn % inputs_of_register_ == 0) {
            commands.push_back({PimOp::WriteBankInputs, p_.banks / p_.channels, 0, 0, tile});
        }
    }
    void multiply(std::int64_t tile, std::int64_t share) {
        const std::int64_t first = tile_words_ * share / shares_;
        const std::int64_t words = tile_words_ * (share + 1) / shares_ - first;
        commands.push_back({PimOp::Mac, words, tile * tile_words_ + first, 0, tile});
    }
    void outputs(PimOp op, std::int64_t tile, std::int64_t share) {
        const std::int64_t word = tiles_ * tile_words_ + tile % blocks_ * p_.output_registers +
                                  share * p_.outputs_at_a_time;
        commands.push_back({op, p_.outputs_at_a_time, word, 0, tile});
    }

    const PimPlacement& p_;
    std::int64_t tiles_;
    std::int64_t blocks_;
    std::int64_t tile_words_;
    std::int64_t shares_;
    std::int64_t inputs_of_register_;
};

void check_capacity(std::int64_t share, const MemoryConfig& memory) {
    const std::int64_t bank = memory.row.count() * (memory.rows - 1);  // one row: mode registers
    if (share > bank) {
        throw ConfigError(fmt::format(
            "the matrix needs {} bytes of every bank, but a bank holds {}", share, bank));
    }
}

void check_pages(const PimPlacement& p, const PimConfig& pim) {
    if (p.page_needed > pim.page.count()) {
        throw ConfigError(
            fmt::format("the placement interleaves {} bytes, but pages (pim.page) are {} bytes",
                        p.page_needed, pim.page.count()));
    }
}

void read_phases(Node& node, PimMapping& mapping) {
    node.optional("phases", mapping.phases, {1, 100'000},
                  "parts of the work; between them the memory serves ordinary requests");
    node.optional("between", mapping.between, {1, 1'000'000'000'000'000},
                  "time for ordinary requests between two phases");
}

// All of it for one of a unit's banks, then for the other.
std::vector<arch::pim::PimCommand> in_turns(const std::vector<arch::pim::PimCommand>& of_a_bank,
                                            const PimConfig& pim) {
    using arch::pim::PimOp;
    std::vector<arch::pim::PimCommand> commands;
    for (const arch::pim::BankSet banks : arch::pim::turns_of(pim.banks_per_unit)) {
        for (arch::pim::PimCommand command : of_a_bank) {
            command.banks = arch::pim::names_banks(command.op) ? banks : command.banks;
            command.count /= command.op == PimOp::WriteBankInputs ? pim.banks_per_unit : 1;
            commands.push_back(command);
        }
    }
    return commands;
}

// Cuts the work before batches of inputs, into phases of about as many commands each.
void add_phases(const std::vector<arch::pim::PimCommand>& work, std::int64_t phases,
                const std::vector<arch::pim::PimCommand>& leave_and_enter,
                std::vector<arch::pim::PimCommand>& into) {
    using arch::pim::PimOp;
    const std::int64_t size = std::ssize(work);
    std::int64_t phase = 1;
    for (std::int64_t i = 0; i < size; ++i) {
        const arch::pim::PimCommand& command = work[static_cast<std::size_t>(i)];
        const bool inputs =
            command.op == PimOp::WriteInputs || command.op == PimOp::WriteBankInputs;
        if (inputs && phase < phases && i * phases >= phase * size) {
            into.insert(into.end(), leave_and_enter.begin(), leave_and_enter.end());
            ++phase;
        }
        into.push_back(command);
    }
}

// Rows of a tile: a power of two, `lanes` or `auto`.
void read_tile(Node& node, PimMapping& mapping) {
    std::string rows = mapping.tile_rows == 0 ? "auto"
                       : mapping.tile_rows == PimMapping::kLanes
                           ? "lanes"
                           : std::to_string(mapping.tile_rows);
    node.optional(
        "tile_rows", rows,
        "rows of a tile: auto (the most without padding), lanes (of a word), or a number");
    const auto parsed = arch::base::config::parse_integer(rows);
    const auto* number = std::get_if<std::int64_t>(&parsed);
    const bool given = number != nullptr && *number >= 1 &&
                       std::has_single_bit(static_cast<std::uint64_t>(*number));
    if (rows != "auto" && rows != "lanes" && !given) {
        node.error("tile_rows",
                   fmt::format("must be auto, lanes or a power of two, got '{}'", rows));
    }
    mapping.tile_rows = rows == "auto"    ? 0
                        : rows == "lanes" ? PimMapping::kLanes
                        : given           ? *number
                                          : 0;
}

}  // namespace

std::int64_t elements_of_unit(const GemvProblem& gemv, const PimConfig& pim) {
    return pim.interleave.count() * kBitsPerByte / bits_of(gemv.weights);
}

void read_pimnast(Node& node, PimMapping& mapping) {
    read_phases(node, mapping);
    node.optional("input_registers", mapping.input_registers, {1, 4096},
                  "registers that hold the input vector");
    std::string degree = mapping.cr_degree == 0 ? "max" : std::to_string(mapping.cr_degree);
    node.optional("cr_degree", degree, "row blocks of a pass, or max");
    const auto parsed = arch::base::config::parse_integer(degree);
    const auto* number = std::get_if<std::int64_t>(&parsed);
    if (degree != "max" && (number == nullptr || *number < 1)) {
        node.error("cr_degree", fmt::format("must be max or at least 1, got '{}'", degree));
    }
    mapping.cr_degree = degree == "max" || number == nullptr ? 0 : *number;
    node.optional("split_k", mapping.split_k, {1, 64}, "parts of K on their own channels");
    if (!std::has_single_bit(static_cast<std::uint64_t>(mapping.split_k))) {
        node.error("split_k", "must be a power of two");
    }
    read_tile(node, mapping);
    node.optional("walk", mapping.walk,
                  {{"column_row", PimMapping::Walk::ColumnRow},
                   {"row_column", PimMapping::Walk::RowColumn},
                   {"column", PimMapping::Walk::Column}},
                  "order of tiles: cr_degree row blocks, then along K; each row block by itself; "
                  "all row blocks, then along K");
    node.optional("padding", mapping.padding, "whether rows and columns may be padded");
    node.done();
}

void read_column_major(Node& node, PimMapping& mapping) {
    mapping.placement = PimMapping::Placement::ColumnMajor;
    mapping.input_registers = 1;
    read_phases(node, mapping);
    node.optional(
        "order", mapping.order,
        {{"address", PimMapping::Order::Address}, {"outputs", PimMapping::Order::Outputs}},
        "of a bank's tiles: as they lie, outputs spilled and read back where the next "
        "tile has others; or those of the same outputs together, rows opened again");
    node.done();
}

namespace {

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

PimPlacement place(const GemvProblem& gemv, const PimMapping& mapping, const MemoryConfig& memory,
                   const PimConfig& pim, std::int64_t vectors) {
    PimPlacement p;
    p.mapping = mapping;
    if (memory.channels % mapping.split_k != 0) {
        throw ConfigError(fmt::format("mapping.pimnast.split_k: {} parts do not share {} channels",
                                      mapping.split_k, memory.channels));
    }
    if (mapping.input_registers >= pim.registers + (pim.output_registers > 0 ? 1 : 0)) {
        throw ConfigError(
            fmt::format("mapping.pimnast.input_registers: must be below the {} registers, got {}",
                        pim.registers, mapping.input_registers));
    }
    p.channels = memory.channels / mapping.split_k;
    p.banks = p.channels * memory.banks();
    p.lanes = pim.register_bits / bits_of(gemv.weights);
    p.page_needed = pim.interleave.count() * memory.channels * memory.banks();
    p.accumulator_sets = sets_of(gemv, pim);
    p.vectors = std::min(vectors, pim.alus);
    mapping.placement == PimMapping::Placement::ColumnMajor ? shape_columns(p, gemv, pim)
                                                            : shape_balanced(p, gemv, pim);
    const std::int64_t for_inputs = p.mapping.input_registers - (gemv.scale_block > 0 ? 1 : 0);
    if (for_inputs < 1) {
        throw ConfigError(
            "mapping.pimnast.input_registers: scale factors of the input take one "
            "register, which leaves none");
    }
    p.chunk = columns_held(gemv, p, for_inputs, pim);
    say_padding(p, gemv);
    check_pages(p, pim);
    // Its weights alone, before a program is written that may be beyond all measure.
    check_capacity(p.padded_m * p.part_k / p.banks * bits_of(gemv.weights) / kBitsPerByte, memory);
    const arch::pim::PimProgram program = lower(gemv, p, memory, pim);
    for (const arch::pim::PimCommand& command : program.commands) {
        if (arch::pim::touches_array(command.op)) {
            p.words = std::max(p.words, command.word + command.count);
        }
    }
    check_capacity(p.words * pim.register_bits / kBitsPerByte, memory);
    return p;
}

std::int64_t column_major_tiles(const PimPlacement& p) {
    return ceil_div(p.padded_m / p.m * p.part_k, p.banks);
}

std::int64_t column_major_blocks(const PimPlacement& p) {
    const std::int64_t of_column = p.padded_m / p.m;
    return of_column / std::gcd(of_column, p.banks);
}

std::int64_t fold_commands(const GemvProblem& gemv, const PimPlacement& p, const PimConfig& pim) {
    if (pim.reduction_tree || p.m >= p.lanes || pim.fold == arch::pim::Fold::Host) {
        return 0;
    }
    const std::int64_t registers = registers_for(p.lanes, gemv.accumulate, pim);
    const std::int64_t lanes = pim.register_bits / bits_of(gemv.accumulate);  // of a register
    const std::int64_t apart = std::max<std::int64_t>(1, ceil_div(lanes, p.m));
    const std::int64_t halvings = std::bit_width(static_cast<std::uint64_t>(apart)) - 1;
    // Registers of the same rows are added first.
    const std::int64_t merges = registers - ceil_div(registers, ceil_div(p.lanes, p.m));
    const std::int64_t shifts =
        pim.fold == arch::pim::Fold::Log2 ? halvings : std::max<std::int64_t>(lanes - p.m, 0);
    return shifts * registers + merges + halvings * registers;
}

arch::pim::PimProgram lower(const GemvProblem& gemv, const PimPlacement& p,
                            const MemoryConfig& memory, const PimConfig& pim) {
    using arch::pim::PimOp;
    const std::int64_t words_per_row = memory.row.count() * kBitsPerByte / pim.register_bits;
    Lowering work(gemv, p, pim, words_per_row);
    if (p.mapping.placement == PimMapping::Placement::ColumnMajor) {
        ColumnMajorLowering columns(gemv, p, pim);
        p.mapping.order == PimMapping::Order::Address ? columns.by_address() : columns.by_outputs();
        work.program.commands = std::move(columns.commands);
    } else {
        work.run();
    }
    arch::pim::PimProgram program{words_per_row, {}, std::move(work.program.scale_words)};
    const bool changes = pim.modes.around != arch::pim::ModeConfig::Around::Nothing;
    const arch::base::Clock clock{memory.clock};
    std::vector<arch::pim::PimCommand> pause;
    if (changes) {
        arch::pim::append(program.commands, pim.modes.enter);
        arch::pim::append(pause, pim.modes.leave);
    }
    pause.push_back({PimOp::Yield, clock.first_cycle_from(p.mapping.between).count()});
    if (changes) {
        arch::pim::append(pause, pim.modes.enter);
    }
    add_phases(in_turns(work.program.commands, pim), p.mapping.phases, pause, program.commands);
    if (changes) {
        arch::pim::append(program.commands, pim.modes.leave);
    }
    return program;
}

namespace {

// From the end of the last MAC's slot of a batch of inputs until its results or the next inputs can
// be written, and from the end of the last input's slot until the next MAC.
std::int64_t turns_of_batch(const arch::pim::BankTiming& times, const MemoryConfig& memory,
                            const PimConfig& pim, std::int64_t hidden) {
    const std::int64_t host =
        arch::base::Clock{memory.clock}.first_cycle_from(pim.host_turn).count();
    if (!pim.bus_turnaround) {
        const std::int64_t change =
            std::max<std::int64_t>(0, 1 + pim.mode_change.count() - pim.command_interval.count());
        return host + (pim.mode_change.count() > 0 ? 2 * change : 0);
    }
    return host + (times.write_to_mac - pim.command_interval).count() +
           std::max<std::int64_t>(0, (times.mac_to_write - pim.mac_slot()).count() - hidden);
}

// CK by which a row closes later because results were written to it shortly before its end: after
// the last of them come the next pass's inputs, and MACs up to the end of the row.
std::int64_t recovery_of_results(const GemvProblem& gemv, const PimPlacement& p,
                                 const MemoryConfig& memory, const PimConfig& pim) {
    if (pim.spill != arch::pim::Spill::Stream && pim.spill != arch::pim::Spill::Row) {
        return 0;
    }
    const arch::pim::BankTiming times(memory.timing, pim);
    const std::int64_t words_per_row = memory.row.count() * kBitsPerByte / pim.register_bits;
    const std::int64_t slot = pim.command_interval.count();
    const std::int64_t turn =
        pim.bus_turnaround
            ? (times.write_to_mac - pim.command_interval).count() +
                  arch::base::Clock{memory.clock}.first_cycle_from(pim.host_turn).count()
            : 0;
    std::int64_t words = 0;  // of a row block, but for its results
    std::int64_t factors = 0;
    for (std::int64_t from = 0; from < p.part_k; from += p.chunk) {
        const ChunkCost cost = chunk_cost(gemv, p, from, pim);
        words += cost.mac_words;
        factors += cost.scale_factors;
    }
    std::int64_t waits = 0;
    for (std::int64_t done = p.degree; done < p.row_blocks; done += p.degree) {
        const std::int64_t laid_out =
            done * words + ceil_div(done * factors * GemvProblem::kScaleBits, pim.register_bits) +
            (pim.spill == arch::pim::Spill::Row ? done * results_of(gemv, p, pim) : 0);
        const std::int64_t loads =
            std::min(p.degree, p.row_blocks - done) > 1 ? pim.accumulator_load : 0;
        const std::int64_t before_end =
            (1 + inputs_of(gemv, p, 0, pim) + loads) * slot + turn +
            (words_per_row - laid_out % words_per_row) % words_per_row * pim.mac_slot().count();
        waits += std::max<std::int64_t>(0, times.write_to_precharge.count() - before_end);
    }
    return waits;
}

}  // namespace

std::int64_t closed_form_cycles(const GemvProblem& gemv, const PimPlacement& p,
                                const MemoryConfig& memory, const PimConfig& pim) {
    const arch::pim::BankTiming times(memory.timing, pim);
    const std::int64_t slot = pim.command_interval.count();
    const std::int64_t passes = ceil_div(p.row_blocks, p.degree);
    const std::int64_t alone = p.degree == 1 ? p.row_blocks : p.row_blocks % p.degree == 1 ? 1 : 0;
    const std::int64_t fold = fold_commands(gemv, p, pim);
    std::int64_t commands = 0;  // at the command interval
    std::int64_t words = 0;
    std::int64_t factors = 0;
    std::int64_t turns = 0;
    for (std::int64_t from = 0; from < p.part_k; from += p.chunk) {
        const ChunkCost cost = chunk_cost(gemv, p, from, pim);
        const std::int64_t scales =
            cost.scale_factors > 0 ? std::max<std::int64_t>(1, cost.scale_commands) : 0;
        const std::int64_t to = std::min(from + p.chunk, p.part_k);
        const std::int64_t folds = folds_before(p, to, pim) - folds_before(p, from, pim);
        commands += passes * inputs_of(gemv, p, from, pim) +
                    p.row_blocks * (scales + folds * fold) +
                    (p.row_blocks - alone) * pim.accumulator_load;
        words += p.row_blocks * cost.mac_words;
        factors += p.row_blocks * cost.scale_factors;
        turns += passes * turns_of_batch(times, memory, pim, scales * slot);
        // Folds before the last wait for their own block's sums; those of a pass's last block do
        // so while the bus turns for the next inputs.
        if (folds * fold > 0 && pim.bus_turnaround && !pim.fold_overlaps_turn) {
            turns += (p.row_blocks - passes) *
                     std::max<std::int64_t>(
                         0, (times.mac_to_write - pim.mac_slot()).count() - scales * slot);
        }
    }
    const std::int64_t results = results_of(gemv, p, pim);
    commands += p.row_blocks * (fold + results);
    const std::int64_t scale_words = ceil_div(factors * GemvProblem::kScaleBits, pim.register_bits);
    const std::int64_t share =
        words + scale_words + (pim.spill == arch::pim::Spill::Row ? p.row_blocks * results : 0);
    const std::int64_t rows =
        ceil_div(share, memory.row.count() * kBitsPerByte / pim.register_bits);
    const std::int64_t row_switch = (pim.precharge_all + times.activate_to_mac).count();
    const std::int64_t last_close = (times.write_to_precharge - pim.command_interval).count();
    turns += recovery_of_results(gemv, p, memory, pim);
    const std::int64_t of_a_bank =
        commands * slot + words * pim.mac_slot().count() + turns + rows * row_switch;
    // The last row of a unit's first bank closes while the other works.
    return pim.banks_per_unit * of_a_bank - (pim.banks_per_unit - 1) * pim.precharge_all.count() -
           (pim.program_end == arch::pim::ProgramEnd::LastCommand ? pim.precharge_all.count() : 0) +
           (pim.ends_at_last_command() ? 0 : last_close);
}

}  // namespace tilesim::workloads::pim::gemv
