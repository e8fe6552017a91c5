// What a product costs a PIM controller, command by command.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "arch/base/clock.hpp"
#include "arch/base/config.hpp"
#include "workloads/pim/gemv/natural_lowering.hpp"
#include "workloads/pim/gemv/pim_gemv_testing.hpp"
#include "workloads/pim/gemv/pim_placement.hpp"

namespace tilesim::workloads::pim::gemv {
namespace {

using arch::base::DataType;
using arch::pim::PimCommand;
using arch::pim::PimConfig;
using arch::pim::PimOp;

std::vector<PimCommand> commands(const GemvProblem& gemv, const PimConfig& config,
                                 const PimMapping& mapping = {}) {
    const auto memory = lpddr();
    return lower(gemv, place(gemv, mapping, memory, config), memory, config).commands;
}

// Commands of each operation of this purpose; 0: there is none. All are of one length.
std::int64_t count_of(const std::vector<PimCommand>& commands, PimOp op,
                      PimCommand::Purpose purpose) {
    std::int64_t count = 0;
    for (const PimCommand& command : commands) {
        if (command.op == op && command.purpose == purpose) {
            EXPECT_TRUE(count == 0 || count == command.count);
            count = command.count;
        }
    }
    return count;
}

// Registers of 16 sums: with m outputs each is shifted lane by lane until 16 - m lanes have passed
// (or once a halving), registers of the same outputs are added, and each halving is an addition.
TEST(PimLowering, LanesOfAnOutputAreFoldedByShiftsAndAdditions) {
    PimConfig config;
    const auto folds = [&](std::int64_t m, std::int64_t k) {
        return count_of(commands({m, k}, config), PimOp::Alu, PimCommand::Purpose::Fold);
    };
    EXPECT_EQ(folds(2304, 768), 28 + 1 + 6);       // tiles of 2 rows in 2 registers: 14 shifts each
    EXPECT_EQ(folds(3 * 2560, 2560), 24 + 1 + 4);  // of 4
    EXPECT_EQ(folds(2048, 2048), 0 + 1 + 0);       // of 16: the registers are added
    EXPECT_EQ(folds(4096, 4096), 0);               // of 32: every lane is an output
    config.fold = arch::pim::Fold::Log2;
    EXPECT_EQ(folds(2304, 768), 6 + 1 + 6);
    config.fold = arch::pim::Fold::Host;
    EXPECT_EQ(folds(2304, 768), 0);
    config.fold = arch::pim::Fold::SingleLane;
    config.reduction_tree = true;
    EXPECT_EQ(folds(2304, 768), 0);
}

TEST(PimLowering, AccumulatorsAreLoadedWhereAPassHasSeveralRowBlocks) {
    PimConfig config;
    config.accumulator_load = 3;
    std::int64_t loads = 0;
    for (const PimCommand& command : commands({2304, 768}, config)) {
        loads += command.purpose == PimCommand::Purpose::Load ? command.count : 0;
    }
    EXPECT_EQ(loads, 3 * 8 * 3);  // nine row blocks in passes of four, four and one; three batches
}

TEST(PimLowering, FoldsWithinARowBlockComeSoOften) {
    PimConfig config;
    config.fold_every = 256;
    std::int64_t folds = 0;
    for (const PimCommand& command : commands({2304, 768}, config)) {
        folds += command.purpose == PimCommand::Purpose::Fold ? command.count : 0;
    }
    EXPECT_EQ(folds, 9 * 3 * 35);  // of 768 elements: twice before the last
}

TEST(PimLowering, ResultsLeaveAsTheDeviceHasIt) {
    PimConfig config;
    const auto of = [&](arch::pim::Spill spill, bool packed, PimOp op) {
        config.spill = spill;
        config.spill_packed = packed;
        std::vector<std::int64_t> counts;
        for (const PimCommand& command : commands({2304, 768}, config)) {
            if (command.op == op) {
                counts.push_back(command.count);
            }
        }
        return counts;
    };
    using arch::pim::Spill;
    using Counts = std::vector<std::int64_t>;
    EXPECT_EQ(of(Spill::Stream, false, PimOp::Spill), Counts(9, 2));
    EXPECT_EQ(of(Spill::Visit, false, PimOp::SpillVisit), (Counts{8, 8, 2}));
    EXPECT_EQ(of(Spill::Visit, true, PimOp::SpillVisit), Counts{2});  // 16 row blocks a register
    config.result_bits = 32;
    EXPECT_EQ(of(Spill::Read, false, PimOp::ReadResults), Counts(9, 1));
}

TEST(PimLowering, EveryRowBlockIsFoldedAndSpilledOnce) {
    std::int64_t folds = 0;
    std::int64_t spills = 0;
    for (const PimCommand& command : commands({2304, 768}, {})) {
        folds += command.purpose == PimCommand::Purpose::Fold ? 1 : 0;
        spills += command.op == PimOp::Spill ? 1 : 0;
    }
    EXPECT_EQ(folds, 2304 / (128 * 2));
    EXPECT_EQ(spills, 2304 / (128 * 2));
}

TEST(PimLowering, ScaleBlocksAreAppliedBlockByBlock) {
    PimConfig config;
    config.scale_commands = 7;
    GemvProblem gemv{2304, 768};
    // Of the first row block, for each batch of inputs.
    const auto scales = [&](std::int64_t block) {
        gemv.scale_block = block;
        std::vector<std::int64_t> counts;
        for (const PimCommand& command : commands(gemv, config)) {
            if (command.purpose == PimCommand::Purpose::Scale && command.row_block == 0) {
                counts.push_back(command.count);
            }
        }
        return counts;
    };
    using Counts = std::vector<std::int64_t>;
    EXPECT_EQ(scales(0), Counts{});
    // Seven of eight input registers hold 224 elements: batches end at 224, 448, 672 and 768.
    EXPECT_EQ(scales(64), (Counts{3 * 7, 4 * 7, 3 * 7, 2 * 7}));
    EXPECT_EQ(scales(32), (Counts{7 * 7, 7 * 7, 7 * 7, 3 * 7}));
    config.scale_law = arch::pim::ScaleLaw::Register;  // two registers, shared by 16 row blocks
    const std::int64_t full = (7 * 7 * 2 + 15) / 16;
    EXPECT_EQ(scales(32), (Counts{full, full, full, (3 * 7 * 2 + 15) / 16}));
}

TEST(PimLowering, ScaleFactorsFillWordsBesideTheWeights) {
    const auto memory = lpddr();
    GemvProblem gemv{2304, 768};
    gemv.scale_block = 32;
    const PimConfig config;
    const auto program = lower(gemv, place(gemv, {}, memory, config), memory, config);
    const std::int64_t factors = 9 * 2 * 768 / 32;  // nine row blocks of two rows
    EXPECT_EQ(std::ssize(program.scale_words), (factors * GemvProblem::kScaleBits + 255) / 256);
}

TEST(PimLowering, InputsAndWeightsAreAsManyRegistersAndWordsAsTheyFill) {
    for (const PimCommand& command : commands({2304, 768}, {})) {
        if (command.op == PimOp::WriteInputs) {  // eight registers of 32 elements: two tiles of K
            EXPECT_EQ(command.count, 8);
        } else if (command.op == PimOp::Mac) {
            EXPECT_EQ(command.count, 2 * 256 / 32);
        }
    }
}

// What the batches of inputs write and what the first row block multiplies with them.
std::vector<std::pair<std::int64_t, std::int64_t>> batches(const GemvProblem& gemv,
                                                           std::int64_t input_registers) {
    std::vector<std::pair<std::int64_t, std::int64_t>> result;
    for (const PimCommand& command : commands(gemv, {}, {.input_registers = input_registers})) {
        if (command.row_block == 0 && command.op == PimOp::WriteInputs) {
            result.emplace_back(command.count, 0);
        } else if (command.row_block == 0 && command.op == PimOp::Mac) {
            result.back().second += command.count;
        }
    }
    return result;
}

TEST(PimLowering, ABatchOfInputsIsWhatTheRegistersHoldHoweverLongATileIs) {
    using Batches = std::vector<std::pair<std::int64_t, std::int64_t>>;
    // Tiles of 2 x 128, words of 2 x 16: a register of 32 inputs serves two words.
    EXPECT_EQ(batches({2304, 768}, 8), (Batches{{8, 16}, {8, 16}, {8, 16}}));
    EXPECT_EQ(batches({2304, 768}, 7), (Batches{{7, 14}, {7, 14}, {7, 14}, {3, 6}}));
    EXPECT_EQ(batches({2304, 768}, 1), Batches(24, {1, 2}));
}

TEST(PimLowering, WordsBehindTheLastColumnAreNotMultiplied) {
    using Batches = std::vector<std::pair<std::int64_t, std::int64_t>>;
    // Tiles of 1 x 256, words of 1 x 32.
    EXPECT_EQ(batches({100, 96}, 8), (Batches{{3, 3}}));
    EXPECT_EQ(batches({100, 97}, 8), (Batches{{4, 4}}));
    EXPECT_EQ(batches({100, 257}, 8), (Batches{{8, 8}, {1, 1}}));
}

TEST(PimLowering, TheInputsOfAWordNeedRegisters) {
    // A word of 1 x 32 weights meets 32 inputs of 16 bits: two registers.
    GemvProblem gemv{100, 97};
    gemv.input = arch::base::DataType::Int16;
    EXPECT_EQ(batches(gemv, 2).size(), 4U);
    EXPECT_THROW(batches(gemv, 1), arch::base::config::ConfigError);
}

// Writes of the mode visits, -1 for what lies between, a Yield as its CK times -10.
std::vector<std::int64_t> visits(const std::vector<PimCommand>& commands) {
    std::vector<std::int64_t> result;
    for (const PimCommand& command : commands) {
        if (command.op == PimOp::ModeVisit) {
            result.push_back(command.count);
        } else if (command.op == PimOp::Yield) {
            result.push_back(-10 * command.count);
        } else if (result.empty() || result.back() != -1) {
            result.push_back(-1);
        }
    }
    return result;
}

PimConfig modes() {
    using Kind = arch::pim::ModeStep::Kind;
    PimConfig config;
    config.modes.around = arch::pim::ModeConfig::Around::Kernel;
    config.modes.enter = {{Kind::Park, 0}, {Kind::Visit, 7}, {Kind::Visit, 3}};
    config.modes.leave = {{Kind::Visit, 5}, {Kind::Visit, 11}, {Kind::Park, 0}};
    return config;
}

TEST(PimLowering, TheBanksEnterAndLeaveThePimModeByItsSteps) {
    EXPECT_EQ(visits(commands({2304, 768}, modes())),
              (std::vector<std::int64_t>{0, 7, 3, -1, 5, 11, 0}));
    PimConfig none = modes();
    none.modes.around = arch::pim::ModeConfig::Around::Nothing;
    EXPECT_EQ(visits(commands({2304, 768}, none)), std::vector<std::int64_t>{-1});
    none.modes.on = {{arch::pim::ModeStep::Kind::Visit, 1}};
    EXPECT_EQ(visits(commands({2304, 768}, none)),
              (std::vector<std::int64_t>{1, -1, 1, -1, 1, -1}));
}

TEST(PimLowering, BetweenPhasesTheModeIsLeftAndEnteredAgain) {
    PimMapping mapping;
    mapping.phases = 3;
    mapping.between = arch::base::Femtoseconds{1'000'000'000};
    mapping.cr_degree = 1;
    const std::int64_t pause =
        arch::base::Clock{lpddr().clock}.first_cycle_from(mapping.between).count();
    const std::vector<std::int64_t> enter{0, 7, 3, -1};
    const std::vector<std::int64_t> leave{5, 11, 0};
    std::vector<std::int64_t> expected;
    for (int phase = 0; phase < 3; ++phase) {
        if (phase > 0) {
            expected.push_back(-10 * pause);
        }
        expected.insert(expected.end(), enter.begin(), enter.end());
        expected.insert(expected.end(), leave.begin(), leave.end());
    }
    EXPECT_EQ(visits(commands({2304, 768}, modes(), mapping)), expected);
}

// MACs of each tile of a product on 64 units of two banks, four registers for inputs and three for
// outputs, and the outputs that leave.
std::string tiles(const GemvProblem& gemv) {
    PimConfig config;
    config.banks_per_unit = 2;
    config.registers = 4;
    config.output_registers = 3;
    std::string text;
    for (const PimCommand& command : lower_tile_pairs(gemv, 1, lpddr(), config).commands) {
        if (command.op == PimOp::WriteInputs) {
            text += std::to_string(command.count) + ":";
        } else if (command.op == PimOp::Mac) {
            text += std::to_string(command.count) + "@" + std::to_string(command.word) + " ";
        } else if (command.op == PimOp::Spill) {
            text += std::to_string(command.count) + "@" + std::to_string(command.word) + "; ";
        }
    }
    return text;
}

// Words have 32 lanes: four of them are 128 columns.
TEST(PimLowering, TilesAtTheEndsHaveTheOutputsAndInputsThatAreLeft) {
    const auto of_size = [](std::int64_t m, std::int64_t k) {
        return tiles({m, k, DataType::Int8, DataType::Int8, DataType::Int8});
    };
    EXPECT_EQ(of_size(64 * 3, 128), "4:12@0 3@12; ");
    EXPECT_EQ(of_size(64 * 2, 128), "4:8@0 2@8; ");
    EXPECT_EQ(of_size(64 * 3, 33), "2:6@0 3@6; ");
    EXPECT_EQ(of_size(64 * 4, 129), "4:12@0 1:3@0 3@16; 4:4@12 1:1@12 1@19; ");
}

// Sums of 16 bits take two of the three registers an output, inputs of 8 bits two for a word of
// int4 weights.
TEST(PimLowering, TilesAreOfWhatTheRegistersHold) {
    EXPECT_EQ(tiles({64 * 2, 128}), "4:4@0 2@8; 4:4@4 2@10; ");
    EXPECT_EQ(tiles({64, 3 * 64, DataType::Int4, DataType::Int8, DataType::Int4}),
              "4:2@0 2:1@0 1@2; ");
    EXPECT_THROW(tiles({64, 64, DataType::Int8, DataType::Int8, DataType::Int32}),
                 arch::base::config::ConfigError);
}

// Which banks multiply, one letter a MAC.
std::string turns(const std::vector<PimCommand>& commands) {
    std::string text;
    for (const PimCommand& command : commands) {
        if (command.op == PimOp::Mac) {
            text += command.banks.all() ? 'a' : command.banks.holds(0) ? 'e' : 'o';
        }
    }
    return text;
}

TEST(PimLowering, BanksThatShareAUnitTakeTurns) {
    PimConfig config;
    EXPECT_EQ(turns(commands({4096, 768}, config)), "aaa");
    config.banks_per_unit = 2;
    EXPECT_EQ(turns(commands({4096, 768}, config)), "eeeooo");
}

TEST(PimLowering, MatrixRowsOfBanksThatShareAUnitTakeTurns) {
    PimConfig config;
    config.reduction_tree = true;
    config.spill = arch::pim::Spill::Read;
    const GemvProblem gemv{256, 512};  // two rows for each of 128 banks
    EXPECT_EQ(turns(lower_bank_rows(gemv, 1, lpddr(), config).commands), "aa");
    config.banks_per_unit = 2;
    EXPECT_EQ(turns(lower_bank_rows(gemv, 1, lpddr(), config).commands), "eoeo");
    config.reduction_tree = false;
    EXPECT_THROW(lower_bank_rows(gemv, 1, lpddr(), config), arch::base::config::ConfigError);
}

// A row of the matrix is 16 words, which a row of the bank has room for.
TEST(PimLowering, MatrixRowsAreMultipliedByAsManyInputsAsRegistersHold) {
    PimConfig config;
    config.reduction_tree = true;
    config.spill = arch::pim::Spill::Read;
    const auto steps = [&](std::int64_t registers, DataType accumulate = DataType::Int16) {
        config.registers = registers;
        std::string text;
        const GemvProblem gemv{256, 512, DataType::Int8, DataType::Int8, accumulate};
        for (const PimCommand& command : lower_bank_rows(gemv, 1, lpddr(), config).commands) {
            text += command.op == PimOp::Mac ? fmt::format("*{}@{} ", command.count, command.word)
                    : command.op == PimOp::ReadResults ? fmt::format("r{}; ", command.count)
                    : command.purpose == PimCommand::Purpose::None
                        ? fmt::format("{}:", command.count)
                        : "";
        }
        return text;
    };
    EXPECT_EQ(steps(16), "16:*16@0 r1; *16@64 r1; ");
    EXPECT_EQ(steps(12), "12:*12@0 4:*4@12 r1; 12:*12@64 4:*4@76 r1; ");
    EXPECT_EQ(steps(16, DataType::Int32), "16:*16@0 r2; *16@64 r2; ");
}

}  // namespace
}  // namespace tilesim::workloads::pim::gemv
