// Where a GEMV's matrix lies in the banks of a memory with processing in memory, and the commands
// that follow from it.
//
// Balanced placement: a tile of m x k weights fills one interleave unit. Tiles are walked down M
// until `banks * degree` row blocks are filled, then along K, so that a matrix row stays in one
// bank; chunks of as many K elements as the input registers hold lie next to each other for the row
// blocks of a pass. Within a tile elements are column-major, so that lanes work on different
// outputs. Source: Ibrahim, Islam, Aga, "Balanced Data Placement for GEMV Acceleration with
// Processing-In-Memory" (2024); the degree search here ends where the published one does not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/memory/device/memory_config.hpp"
#include "arch/pim/pim_config.hpp"
#include "arch/pim/pim_program.hpp"
#include "workloads/gemv.hpp"

namespace tilesim::workloads::pim::gemv {

struct PimMapping {
    enum class Placement { Balanced, ColumnMajor } placement = Placement::Balanced;
    std::int64_t input_registers = 8;
    std::int64_t cr_degree = 0;  // row blocks of a pass; 0: as many as fit
    std::int64_t split_k = 1;    // parts of K, each on its share of the channels
    // Rows of a tile; 0: the most that pad no further than one does, kLanes: a word's lanes.
    static constexpr std::int64_t kLanes = -1;
    std::int64_t tile_rows = 0;
    enum class Walk { ColumnRow, RowColumn, Column } walk = Walk::ColumnRow;
    bool padding = true;  // rows and columns may be padded
    // Column-major: a bank's tiles as their addresses have them, or those of the same outputs one
    // after the other.
    enum class Order { Address, Outputs } order = Order::Address;
    std::int64_t phases = 1;  // between them the channels serve ordinary requests
    arch::base::Femtoseconds between{2'000'000'000};  // phases
};

// The keys below `mapping.pimnast` and `mapping.column_major`.
void read_pimnast(arch::base::config::Node& node, PimMapping& mapping);
void read_column_major(arch::base::config::Node& node, PimMapping& mapping);

struct PimPlacement {
    // The row block of a fold that is not its last.
    static constexpr std::int64_t kUnfinished = -1;
    PimMapping mapping;
    std::int64_t m = 0, k = 0;           // tile
    std::int64_t degree = 0;             // row blocks of a pass
    std::int64_t row_blocks = 0;         // of a bank
    std::int64_t banks = 0;              // that share a part of the matrix
    std::int64_t channels = 0;           // of a part
    std::int64_t padded_m = 0;           // rows after padding
    std::int64_t part_k = 0;             // columns of a part, after padding
    std::int64_t lanes = 0;              // weights of a word
    std::int64_t chunk = 0;              // K elements of a batch of input registers
    std::int64_t sums = 0;               // of a row block, one accumulator set, as held
    std::int64_t output_registers = 0;   // that hold them
    std::int64_t vectors = 1;            // that share a pass, an ALU each
    std::int64_t accumulator_sets = 1;   // a second one where scale factors apply
    std::int64_t outputs_at_a_time = 0;  // output registers in use together
    std::int64_t page_needed = 0;        // bytes of contiguous memory for the interleave
    std::vector<std::string> notes;      // what a user must know: padding

    std::int64_t registers_used() const { return outputs_at_a_time + mapping.input_registers; }
};

// Weights of an interleave unit: of a tile.
std::int64_t elements_of_unit(const GemvProblem& gemv, const arch::pim::PimConfig& pim);

// Throws ConfigError with the reason where the matrix cannot be placed.
PimPlacement place(const GemvProblem& gemv, const PimMapping& mapping,
                   const arch::memory::device::MemoryConfig& memory,
                   const arch::pim::PimConfig& pim, std::int64_t vectors = 1);
// The same, but for results that a bank may not hold beside the weights.
PimPlacement shaped(const GemvProblem& gemv, const PimMapping& mapping,
                    const arch::memory::device::MemoryConfig& memory,
                    const arch::pim::PimConfig& pim, std::int64_t vectors = 1);
// For a matrix of which no balanced placement fits: throws what the smallest tile lacks, and which
// type or scale factors would fit.
[[noreturn]] void refuse_balanced(const GemvProblem& gemv,
                                  const arch::memory::device::MemoryConfig& memory,
                                  const arch::pim::PimConfig& pim);

// Commands that fold the lanes of a row block's sums once.
std::int64_t fold_commands(const GemvProblem& gemv, const PimPlacement& placement,
                           const arch::pim::PimConfig& pim);

// Column-major: tiles of a bank, and the row blocks they go round.
std::int64_t column_major_tiles(const PimPlacement& placement);
std::int64_t column_major_blocks(const PimPlacement& placement);
// Sums of an output that different banks hold: of the parts of a split K, or of columns that go
// round the banks.
std::int64_t parts_of_sum(const PimPlacement& placement);

// What every channel's controller issues: the same for all.
arch::pim::PimProgram lower(const GemvProblem& gemv, const PimPlacement& placement,
                            const arch::memory::device::MemoryConfig& memory,
                            const arch::pim::PimConfig& pim);

// CK of that program without refresh, from counts alone; for balanced placements in one phase
// whose results do not leave by visits and whose modes do not change.
std::int64_t closed_form_cycles(const GemvProblem& gemv, const PimPlacement& placement,
                                const arch::memory::device::MemoryConfig& memory,
                                const arch::pim::PimConfig& pim);
// CK of them that may pass beside the commands of the vector before: rows close and open while the
// modes of registers and banks change.
std::int64_t overlap_of_vectors(const arch::memory::device::MemoryConfig& memory,
                                const arch::pim::PimConfig& pim);

}  // namespace tilesim::workloads::pim::gemv
