// A placed product's commands.
#include <algorithm>
#include <bit>
#include <numeric>

#include "arch/base/clock.hpp"
#include "workloads/pim/gemv/pim_counts.hpp"
#include "workloads/pim/gemv/pim_placement.hpp"

namespace tilesim::workloads::pim::gemv {

using arch::base::bits_of;
using arch::base::ceil_div;
using arch::base::kBitsPerByte;
using arch::memory::device::MemoryConfig;
using arch::pim::PimConfig;

namespace {

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

// Tiles of one column go round the banks, so a bank's neighbour works on another column and inputs
// are not broadcast: each bank's register is written for itself, a register's worth of columns at a
// time. The outputs of a tile fill the registers, a share of them at a time. Each vector of a pass
// has registers, and so inputs and outputs, of its own.
class ColumnMajorLowering {
  public:
    ColumnMajorLowering(const GemvProblem& gemv, const PimPlacement& p, const PimConfig& pim)
        : p_(p),
          tiles_(column_major_tiles(p)),
          blocks_(column_major_blocks(p)),
          tile_words_(ceil_div(p.m, p.lanes)),
          shares_(p.output_registers / p.outputs_at_a_time),
          inputs_of_register_(pim.register_bits / bits_of(gemv.input)) {}

    // As the tiles lie: where what follows is about other rows, outputs are spilled and read back.
    // Tiles that all have the same rows take their shares back and forth, so that one stays.
    void by_address() {
        const bool same_rows = blocks_ == 1;
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
            inputs(tile, tile);
            for (std::int64_t turn = 0; turn < shares_; ++turn) {
                const std::int64_t share = same_rows && tile % 2 == 1 ? shares_ - 1 - turn : turn;
                const bool stayed = same_rows && turn == 0;
                if (tile >= blocks_ && !stayed) {
                    outputs(PimOp::LoadOutputs, tile, share);
                }
                multiply(tile, share);
                const bool stays = same_rows && turn + 1 == shares_ && tile + 1 < tiles_;
                if (!stays) {
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

    // Those of the next tiles, before the first of as many as a register holds: of the banks that
    // still have one, the most of a channel.
    void inputs(std::int64_t turn, std::int64_t tile) {
        if (turn % inputs_of_register_ == 0) {
            const std::int64_t left = p_.padded_m / p_.m * p_.part_k - tile * p_.banks;
            const std::int64_t banks = ceil_div(std::min(left, p_.banks), p_.channels);
            commands.push_back({PimOp::WriteBankInputs, banks * p_.vectors, 0, 0, tile});
        }
    }
    void multiply(std::int64_t tile, std::int64_t share) {
        const std::int64_t first = tile_words_ * share / shares_;
        const std::int64_t words = tile_words_ * (share + 1) / shares_ - first;
        commands.push_back({PimOp::Mac, words, tile * tile_words_ + first, 0, tile});
    }
    void outputs(PimOp op, std::int64_t tile, std::int64_t share) {
        const std::int64_t word =
            tiles_ * tile_words_ +
            (tile % blocks_ * p_.output_registers + share * p_.outputs_at_a_time) * p_.vectors;
        commands.push_back({op, p_.outputs_at_a_time * p_.vectors, word, 0, tile});
    }

    const PimPlacement& p_;
    std::int64_t tiles_;
    std::int64_t blocks_;
    std::int64_t tile_words_;
    std::int64_t shares_;
    std::int64_t inputs_of_register_;
};

// All of it for one of a unit's banks, then for the other.
std::vector<arch::pim::PimCommand> in_turns(const std::vector<arch::pim::PimCommand>& of_a_bank,
                                            const PimConfig& pim) {
    using arch::pim::PimOp;
    std::vector<arch::pim::PimCommand> commands;
    for (const arch::pim::BankSet banks : arch::pim::turns_of(pim.banks_per_unit)) {
        for (arch::pim::PimCommand command : of_a_bank) {
            command.banks = arch::pim::names_banks(command.op) ? banks : command.banks;
            if (command.op == PimOp::WriteBankInputs) {
                command.count = ceil_div(command.count, pim.banks_per_unit);
            }
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

}  // namespace

std::int64_t column_major_tiles(const PimPlacement& p) {
    return ceil_div(p.padded_m / p.m * p.part_k, p.banks);
}

std::int64_t column_major_blocks(const PimPlacement& p) {
    const std::int64_t of_column = p.padded_m / p.m;
    return of_column / std::gcd(of_column, p.banks);
}

std::int64_t parts_of_sum(const PimPlacement& p) {
    return p.mapping.placement == PimMapping::Placement::Balanced
               ? p.mapping.split_k
               : std::min(p.part_k, p.banks / std::gcd(p.padded_m / p.m, p.banks));
}

std::int64_t fold_commands(const GemvProblem& gemv, const PimPlacement& p, const PimConfig& pim) {
    if (pim.reduction_tree || p.m >= p.lanes || pim.fold == arch::pim::Fold::Host) {
        return 0;
    }
    const std::int64_t registers = registers_for(p.lanes, gemv.accumulate, pim);
    const std::int64_t lanes = pim.register_bits / bits_of(gemv.accumulate);  // of a register
    const std::int64_t apart = std::max<std::int64_t>(1, ceil_div(lanes, p.m));
    const auto halvings =
        static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(apart))) - 1;
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

}  // namespace tilesim::workloads::pim::gemv
