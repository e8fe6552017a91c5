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
std::int64_t sets_of(const GemvProblem& gemv) {
    return gemv.scale_block > 0 ? 2 : 1;
}

// The first column vector, halved until M divides evenly and its registers fit; 1 at last.
std::int64_t tile_rows(const GemvProblem& gemv, const PimMapping& mapping, std::int64_t banks,
                       const PimConfig& pim) {
    const std::int64_t elements = pim.interleave.count() * kBitsPerByte / bits_of(gemv.weights);
    for (std::int64_t m = elements; m > 1; m /= 2) {
        const std::int64_t inputs =
            std::min(registers_for(elements / m, gemv.input, pim), mapping.input_registers);
        const std::int64_t outputs = registers_for(m, gemv.accumulate, pim) * sets_of(gemv);
        if (gemv.m % (banks * m) == 0 && inputs + outputs <= pim.registers) {
            return m;
        }
    }
    return 1;
}

std::int64_t largest_degree(const PimPlacement& p, const PimConfig& pim) {
    const std::int64_t room = pim.registers - p.mapping.input_registers;
    return std::min(p.row_blocks, room / (p.output_registers * p.accumulator_sets));
}

void set_degree(PimPlacement& p, const PimConfig& pim) {
    const std::int64_t outputs = p.output_registers * p.accumulator_sets;
    const std::int64_t left = pim.registers - outputs;
    if (left >= 1 && left < p.mapping.input_registers) {
        p.notes.push_back(
            fmt::format("{} of {} input registers: the outputs of a {} x {} tile take "
                        "{} of {} registers",
                        left, p.mapping.input_registers, p.m, p.k, outputs, pim.registers));
        p.mapping.input_registers = left;
    }
    const std::int64_t most = largest_degree(p, pim);
    if (most < 1) {
        throw ConfigError(fmt::format(
            "the tile of {} x {} needs {} output registers beside {} input registers, but there "
            "are {}",
            p.m, p.k, outputs, p.mapping.input_registers, pim.registers));
    }
    if (p.mapping.cr_degree > most) {
        throw ConfigError(fmt::format(
            "mapping.pimnast.cr_degree: must be 1..{} here ({} row blocks a bank, {} registers), "
            "got {}",
            most, p.row_blocks, pim.registers, p.mapping.cr_degree));
    }
    p.degree = p.mapping.cr_degree == 0 ? most : p.mapping.cr_degree;
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
    std::int64_t scale_words = 0;
    std::int64_t scale_commands = 0;
};

ChunkCost chunk_cost(const GemvProblem& gemv, const PimPlacement& p, std::int64_t from,
                     const PimConfig& pim) {
    const std::int64_t to = std::min(from + p.chunk, p.part_k);
    ChunkCost cost;
    cost.mac_words = ceil_div((to - from) * p.m, p.lanes);
    const std::int64_t blocks = scale_blocks_in(gemv, from, to, p.part_k);
    if (blocks > 0) {
        cost.scale_words = ceil_div(blocks * p.m * GemvProblem::kScaleBits, pim.register_bits);
        // A word's columns are scaled together: blocks shorter than them cost no more.
        const std::int64_t columns = std::max<std::int64_t>(1, p.lanes / p.m);
        const std::int64_t applied =
            std::min(blocks, ceil_div(to - from, std::max(columns, gemv.scale_block)));
        cost.scale_commands =
            std::max<std::int64_t>(applied, 1) * ceil_div(p.m, p.lanes) * pim.scale_commands;
    }
    return cost;
}

std::int64_t fold_commands(const PimPlacement& p, const PimConfig& pim) {
    if (pim.reduction_tree || p.m >= p.lanes) {
        return 0;
    }
    const auto halvings = std::bit_width(static_cast<std::uint64_t>(p.lanes / p.m)) - 1;
    return halvings * pim.fold_commands * p.output_registers;
}

std::int64_t inputs_of(const GemvProblem& gemv, const PimPlacement& p, std::int64_t from,
                       const PimConfig& pim) {
    const std::int64_t elements = std::min(p.chunk, p.part_k - from);
    return registers_for(elements, gemv.input, pim) + (gemv.scale_block > 0 ? 1 : 0);
}

void lower_pass(const GemvProblem& gemv, const PimPlacement& p, const PimConfig& pim,
                std::int64_t first, std::int64_t& word, arch::pim::PimProgram& program) {
    using arch::pim::PimCommand;
    using arch::pim::PimOp;
    const std::int64_t blocks = std::min(p.degree, p.row_blocks - first);
    for (std::int64_t from = 0; from < p.part_k; from += p.chunk) {
        program.commands.push_back(
            {PimOp::WriteInputs, inputs_of(gemv, p, from, pim), 0, first, from});
        const ChunkCost cost = chunk_cost(gemv, p, from, pim);
        for (std::int64_t block = first; block < first + blocks; ++block) {
            program.commands.push_back({PimOp::Mac, cost.mac_words, word, block, from});
            word += cost.mac_words;
            if (cost.scale_words > 0) {
                program.commands.push_back({PimOp::Mac, cost.scale_words, word, block, from,
                                            PimCommand::Purpose::ScaleWord});
                word += cost.scale_words;
                program.commands.push_back(
                    {PimOp::Alu, cost.scale_commands, 0, block, from, PimCommand::Purpose::Scale});
            }
        }
    }
    for (std::int64_t block = first; block < first + blocks; ++block) {
        if (const std::int64_t folds = fold_commands(p, pim); folds > 0) {
            program.commands.push_back({PimOp::Alu, folds, 0, block, 0, PimCommand::Purpose::Fold});
        }
    }
    for (std::int64_t block = first; block < first + blocks; ++block) {
        program.commands.push_back({PimOp::Spill, p.output_registers, word, block, 0});
        word += p.output_registers;
    }
}

// A tile's outputs leave one register to the inputs: those of an equal share of its words are held
// at a time.
std::int64_t column_major_shares(const PimPlacement& p, const GemvProblem& gemv,
                                 const PimConfig& pim) {
    const std::int64_t of_word = registers_for(p.lanes, gemv.accumulate, pim);
    const std::int64_t words_held = (pim.registers - 1) / of_word;
    if (words_held == 0) {
        throw ConfigError(fmt::format(
            "mapping.column_major: the outputs of one word take {} registers, beside one for the "
            "inputs, but there are {}",
            of_word, pim.registers));
    }
    return ceil_div(ceil_div(p.m, p.lanes), words_held);
}

// Tiles of one column go round the banks, so a bank's neighbour works on another column and inputs
// are not broadcast: each bank's register is written for itself, a register's worth of columns at a
// time. The outputs of a tile fill the registers: where a bank's next tile has other rows, they are
// spilled and read back.
void lower_column_major(const GemvProblem& gemv, const PimPlacement& p, const PimConfig& pim,
                        arch::pim::PimProgram& program) {
    using arch::pim::PimOp;
    const std::int64_t tiles_of_column = p.padded_m / p.m;
    const std::int64_t tiles = ceil_div(tiles_of_column * p.part_k, p.banks);  // of a bank
    const std::int64_t tile_words = ceil_div(p.m, p.lanes);
    const std::int64_t blocks = tiles_of_column / std::gcd(tiles_of_column, p.banks);  // of a bank
    const std::int64_t inputs_of_register = pim.register_bits / bits_of(gemv.input);
    const std::int64_t registers = p.outputs_at_a_time;
    const std::int64_t shares = p.output_registers / registers;
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
        if (tile % inputs_of_register == 0) {
            program.commands.push_back({PimOp::WriteBankInputs, p.banks / p.channels, 0, 0, tile});
        }
        const bool kept = blocks == 1 && shares == 1;
        for (std::int64_t share = 0; share < shares; ++share) {
            const std::int64_t outputs =
                tiles * tile_words + tile % blocks * p.output_registers + share * registers;
            const std::int64_t first = tile_words * share / shares;
            const std::int64_t words = tile_words * (share + 1) / shares - first;
            if (!kept && tile >= blocks) {
                program.commands.push_back({PimOp::LoadOutputs, registers, outputs, 0, tile});
            }
            program.commands.push_back({PimOp::Mac, words, tile * tile_words + first, 0, tile});
            if (!kept || tile + 1 == tiles) {
                program.commands.push_back({PimOp::Spill, registers, outputs, 0, tile});
            }
        }
    }
}

void check_capacity(const GemvProblem& gemv, PimPlacement& p, const MemoryConfig& memory,
                    const PimConfig& pim) {
    arch::pim::PimProgram program = lower(gemv, p, memory, pim);
    const std::int64_t word_bytes = pim.register_bits / kBitsPerByte;
    const std::int64_t share = p.words * word_bytes;
    const std::int64_t bank = memory.row.count() * (memory.rows - 1);  // one row: mode registers
    if (share > bank) {
        throw ConfigError(fmt::format(
            "the matrix needs {} bytes of every bank, but a bank holds {}", share, bank));
    }
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

}  // namespace

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
    node.done();
}

void read_column_major(Node& node, PimMapping& mapping) {
    mapping.placement = PimMapping::Placement::ColumnMajor;
    mapping.input_registers = 1;
    read_phases(node, mapping);
    node.done();
}

PimPlacement place(const GemvProblem& gemv, const PimMapping& mapping, const MemoryConfig& memory,
                   const PimConfig& pim) {
    PimPlacement p;
    p.mapping = mapping;
    if (memory.channels % mapping.split_k != 0) {
        throw ConfigError(fmt::format("mapping.pimnast.split_k: {} parts do not share {} channels",
                                      mapping.split_k, memory.channels));
    }
    if (mapping.input_registers >= pim.registers) {
        throw ConfigError(
            fmt::format("mapping.pimnast.input_registers: must be below the {} registers, got {}",
                        pim.registers, mapping.input_registers));
    }
    const std::int64_t elements = pim.interleave.count() * kBitsPerByte / bits_of(gemv.weights);
    p.channels = memory.channels / mapping.split_k;
    p.banks = p.channels * memory.banks();
    p.lanes = pim.register_bits / bits_of(gemv.weights);
    p.page_needed = pim.interleave.count() * memory.channels * memory.banks();
    p.accumulator_sets = sets_of(gemv);
    if (mapping.placement == PimMapping::Placement::ColumnMajor) {
        p.m = elements;
        p.k = 1;
        p.padded_m = ceil_div(gemv.m, p.m) * p.m;
        p.part_k = gemv.k;
        p.row_blocks = ceil_div(p.padded_m / p.m, p.banks);
        p.degree = 1;
        const std::int64_t shares = column_major_shares(p, gemv, pim);
        p.outputs_at_a_time =
            ceil_div(ceil_div(p.m, p.lanes), shares) * registers_for(p.lanes, gemv.accumulate, pim);
        p.output_registers = shares * p.outputs_at_a_time;
    } else {
        p.m = tile_rows(gemv, mapping, p.banks, pim);
        p.k = elements / p.m;
        p.row_blocks = ceil_div(gemv.m, p.banks * p.m);
        p.padded_m = p.row_blocks * p.banks * p.m;
        p.part_k = ceil_div(ceil_div(gemv.k, mapping.split_k), p.k) * p.k;
        p.output_registers = registers_for(p.m, gemv.accumulate, pim);
        set_degree(p, pim);
    }
    const std::int64_t for_inputs = p.mapping.input_registers - (gemv.scale_block > 0 ? 1 : 0);
    if (for_inputs < 1) {
        throw ConfigError(
            "mapping.pimnast.input_registers: scale factors of the input take one "
            "register, which leaves none");
    }
    p.chunk = for_inputs * pim.register_bits / bits_of(gemv.input);
    p.chunk = std::max(p.k, p.chunk / p.k * p.k);
    if (p.padded_m != gemv.m) {
        p.notes.push_back(fmt::format("{} rows do not spread evenly over {} banks: padded to {}",
                                      gemv.m, p.banks, p.padded_m));
    }
    if (p.part_k * mapping.split_k != gemv.k) {
        p.notes.push_back(
            fmt::format("{} columns padded to {}", gemv.k, p.part_k * mapping.split_k));
    }
    const arch::pim::PimProgram program = lower(gemv, p, memory, pim);
    for (const arch::pim::PimCommand& command : program.commands) {
        if (command.op == arch::pim::PimOp::Mac || command.op == arch::pim::PimOp::Spill) {
            p.words = std::max(p.words, command.word + command.count);
        }
    }
    check_capacity(gemv, p, memory, pim);
    return p;
}

arch::pim::PimProgram lower(const GemvProblem& gemv, const PimPlacement& p,
                            const MemoryConfig& memory, const PimConfig& pim) {
    using arch::pim::PimOp;
    arch::pim::PimProgram program;
    program.words_per_row = memory.row.count() * kBitsPerByte / pim.register_bits;
    arch::pim::PimProgram work;
    if (p.mapping.placement == PimMapping::Placement::ColumnMajor) {
        lower_column_major(gemv, p, pim, work);
    } else {
        std::int64_t word = 0;
        for (std::int64_t first = 0; first < p.row_blocks; first += p.degree) {
            lower_pass(gemv, p, pim, first, word, work);
        }
    }
    const std::vector<arch::pim::PimCommand> parking(
        static_cast<std::size_t>(pim.modes.parking_visits), {PimOp::ModeWrite, 0});
    std::vector<arch::pim::PimCommand> enter = parking;
    enter.push_back({PimOp::ModeWrite, pim.modes.enter_writes});
    enter.push_back({PimOp::ModeWrite, pim.modes.on_writes});
    std::vector<arch::pim::PimCommand> leave{{PimOp::ModeWrite, pim.modes.off_writes},
                                             {PimOp::ModeWrite, pim.modes.leave_writes}};
    leave.insert(leave.end(), parking.begin(), parking.end());
    std::vector<arch::pim::PimCommand> pause = leave;
    const arch::base::Clock clock{memory.clock};
    pause.push_back({PimOp::Yield, clock.first_cycle_from(p.mapping.between).count()});
    pause.insert(pause.end(), enter.begin(), enter.end());
    program.commands = enter;
    add_phases(work.commands, p.mapping.phases, pause, program.commands);
    program.commands.insert(program.commands.end(), leave.begin(), leave.end());
    return program;
}

std::int64_t closed_form_cycles(const GemvProblem& gemv, const PimPlacement& p,
                                const MemoryConfig& memory, const PimConfig& pim) {
    const auto& t = memory.timing;
    const std::int64_t slot = pim.command_interval.count();
    const std::int64_t row_switch = (pim.precharge_all + t.tRCD).count();
    const std::int64_t to_mac = (t.write_latency + t.burst + t.tWTR_L).count();
    const std::int64_t to_write =
        (t.read_latency + t.burst + t.tRTW + pim.drain - t.write_latency).count();
    const std::int64_t recovery = (t.write_latency + t.burst + t.tWR).count();
    std::int64_t slots = 0;
    std::int64_t turns = 0;
    const std::int64_t passes = ceil_div(p.row_blocks, p.degree);
    for (std::int64_t from = 0; from < p.part_k; from += p.chunk) {
        const ChunkCost cost = chunk_cost(gemv, p, from, pim);
        slots += passes * inputs_of(gemv, p, from, pim) +
                 p.row_blocks * (cost.mac_words + cost.scale_words + cost.scale_commands);
        turns += passes;
    }
    slots += p.row_blocks * (fold_commands(p, pim) + p.output_registers);
    const std::int64_t rows =
        ceil_div(p.words, memory.row.count() * kBitsPerByte / pim.register_bits);
    const std::int64_t mode_writes[] = {pim.modes.enter_writes, pim.modes.on_writes,
                                        pim.modes.off_writes, pim.modes.leave_writes};
    std::int64_t modes = 2 * pim.modes.parking_visits * (t.tRAS + pim.precharge_all).count();
    for (const std::int64_t writes : mode_writes) {
        modes += row_switch + (writes - 1) * slot + recovery;
    }
    const std::int64_t turn = (to_mac - slot) + (to_write - slot);
    // The first inputs are written while the row of the mode registers closes.
    const std::int64_t hidden = pim.precharge_all.count() - 1;
    return modes + slots * slot + rows * row_switch + (pim.bus_turnaround ? turns * turn : 0) +
           recovery - slot - hidden;
}

}  // namespace tilesim::workloads::pim::gemv
