// What a product costs a PIM controller, command by command.
#include <gtest/gtest.h>

#include "arch/base/clock.hpp"
#include "arch/base/config.hpp"
#include "arch/memory/controller/memory_config_reader.hpp"
#include "workloads/pim/gemv/pim_placement.hpp"

namespace tilesim::workloads::pim::gemv {
namespace {

using arch::pim::PimCommand;
using arch::pim::PimConfig;
using arch::pim::PimOp;

// 128 banks; a word of 256 bits is 32 lanes of int8.
arch::memory::device::MemoryConfig lpddr() {
    auto document = arch::base::config::Document::load(std::string{TILESIM_SOURCE_DIR} +
                                                       "/configs/devices/lpddr5x_7500.yaml");
    return arch::memory::controller::read_memory_config(document.root().child("memory", ""));
}

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

TEST(PimLowering, LanesOfAnOutputAreFoldedOnceForEachHalving) {
    PimConfig config;
    config.fold_commands = 5;
    const auto folds = [&](std::int64_t m, std::int64_t k) {
        return count_of(commands({m, k}, config), PimOp::Alu, PimCommand::Purpose::Fold);
    };
    EXPECT_EQ(folds(2304, 768), 4 * 5);       // tiles of 2 rows: 16 lanes an output
    EXPECT_EQ(folds(3 * 2560, 2560), 3 * 5);  // of 4: 8
    EXPECT_EQ(folds(2048, 2048), 1 * 5);      // of 16: 2
    EXPECT_EQ(folds(4096, 4096), 0);          // of 32: every lane is an output
    config.reduction_tree = true;
    EXPECT_EQ(folds(2304, 768), 0);
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

TEST(PimLowering, ScaleBlocksAreAppliedWordByWord) {
    PimConfig config;
    config.scale_commands = 7;
    GemvProblem gemv{2304, 768};
    // Tiles of 2 x 128. Seven of eight input registers hold 224 elements, which is one tile of K;
    // a word has 16 of its columns.
    const auto scales = [&](std::int64_t block) {
        gemv.scale_block = block;
        return count_of(commands(gemv, config), PimOp::Alu, PimCommand::Purpose::Scale);
    };
    EXPECT_EQ(scales(0), 0);
    EXPECT_EQ(scales(64), 128 / 64 * 7);
    EXPECT_EQ(scales(32), 128 / 32 * 7);
    EXPECT_EQ(scales(8), 128 / 16 * 7);  // shorter than a word's columns
    // Its own factor of 8 bits for each block and row.
    EXPECT_EQ(count_of(commands(gemv, config), PimOp::Mac, PimCommand::Purpose::ScaleWord),
              128 / 8 * 2 * GemvProblem::kScaleBits / 256);
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

// Writes of the mode visits, -1 for what lies between, a Yield as its CK times -10.
std::vector<std::int64_t> visits(const std::vector<PimCommand>& commands) {
    std::vector<std::int64_t> result;
    for (const PimCommand& command : commands) {
        if (command.op == PimOp::ModeWrite) {
            result.push_back(command.count);
        } else if (command.op == PimOp::Yield) {
            result.push_back(-10 * command.count);
        } else if (result.back() != -1) {
            result.push_back(-1);
        }
    }
    return result;
}

PimConfig modes() {
    PimConfig config;
    config.modes = {2, 7, 3, 5, 11};
    return config;
}

TEST(PimLowering, TheBanksAreParkedBeforeEnteringAndAfterLeavingThePimMode) {
    EXPECT_EQ(visits(commands({2304, 768}, modes())),
              (std::vector<std::int64_t>{0, 0, 7, 3, -1, 5, 11, 0, 0}));
}

TEST(PimLowering, BetweenPhasesTheModeIsLeftAndEnteredAgain) {
    PimMapping mapping;
    mapping.phases = 3;
    mapping.between = arch::base::Femtoseconds{1'000'000'000};
    mapping.cr_degree = 1;
    const std::int64_t pause =
        arch::base::Clock{lpddr().clock}.first_cycle_from(mapping.between).count();
    const std::vector<std::int64_t> enter{0, 0, 7, 3, -1};
    const std::vector<std::int64_t> leave{5, 11, 0, 0};
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

}  // namespace
}  // namespace tilesim::workloads::pim::gemv
