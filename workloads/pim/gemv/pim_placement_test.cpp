#include "workloads/pim/gemv/pim_placement.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/base/event_queue.hpp"
#include "arch/memory/controller/memory_system.hpp"
#include "arch/memory/traffic/stream_driver.hpp"
#include "workloads/pim/gemv/gemv_data.hpp"
#include "workloads/pim/gemv/pim_gemv_testing.hpp"
#include "workloads/pim/gemv/pim_run.hpp"

namespace tilesim::workloads::pim::gemv {
namespace {

namespace pim = arch::pim;
namespace memory = arch::memory;
using arch::base::DataType;

std::string placed(std::int64_t m, std::int64_t k, std::int64_t bank_groups = 4,
                   std::int64_t split = 1, DataType weights = DataType::Int8) {
    GemvProblem gemv{m, k, weights};
    PimMapping mapping;
    mapping.split_k = split;
    pim::PimConfig config;
    config.unreduced_sums = false;  // as published: registers for reduced sums
    const PimPlacement p = place(gemv, mapping, lpddr(bank_groups), config);
    return fmt::format("{}x{}/{}/{}", p.m, p.k, p.degree, p.row_blocks);
}

struct Golden {
    std::int64_t hidden;
    const char* expected[4];  // QKV, projection, FC1, FC2: tile / degree / row blocks
};

class OptFamily : public testing::TestWithParam<Golden> {};
INSTANTIATE_TEST_SUITE_P(
    Published, OptFamily,
    testing::Values(Golden{768, {"2x128/8/9", "2x128/3/3", "8x32/3/3", "2x128/3/3"}},
                    Golden{1024, {"8x32/3/3", "8x32/1/1", "32x8/1/1", "8x32/1/1"}},
                    Golden{2048, {"16x16/3/3", "16x16/1/1", "64x4/1/1", "16x16/1/1"}},
                    Golden{2560, {"4x64/8/15", "4x64/5/5", "16x16/5/5", "4x64/5/5"}},
                    Golden{4096, {"32x8/3/3", "32x8/1/1", "128x2/1/1", "32x8/1/1"}},
                    Golden{5120, {"8x32/8/15", "8x32/5/5", "32x8/4/5", "8x32/5/5"}},
                    Golden{7168, {"8x32/8/21", "8x32/7/7", "32x8/4/7", "8x32/7/7"}}));

TEST_P(OptFamily, IsPlacedAsPublished) {
    const auto& [d, expected] = GetParam();
    EXPECT_EQ(placed(3 * d, d), expected[0]);
    EXPECT_EQ(placed(d, d), expected[1]);
    EXPECT_EQ(placed(4 * d, d), expected[2]);
    EXPECT_EQ(placed(d, 4 * d), expected[3]);
}

TEST(PimPlacement, FollowsBanksFormatsAndSplitK) {
    EXPECT_EQ(placed(16384, 4096, 2), "128x2/1/2");  // 64 banks: m would not fit
    EXPECT_EQ(placed(2304, 768, 8), "1x256/8/9");    // 256 banks
    EXPECT_EQ(placed(2304, 768, 4, 8), "16x16/8/9");
    EXPECT_EQ(placed(3072, 768, 4, 8), "64x4/2/3");
    EXPECT_EQ(placed(2304, 768, 4, 1, DataType::Int4), "2x256/8/9");
    EXPECT_EQ(placed(2304, 768, 4, 1, DataType::Int16), "2x64/8/9");
}

TEST(PimPlacement, RefusesWithTheReason) {
    const auto reason = [](const GemvProblem& gemv, const PimMapping& mapping,
                           const pim::PimConfig& config) {
        try {
            place(gemv, mapping, lpddr(), config);
        } catch (const arch::base::config::ConfigError& error) {
            return std::string{error.what()};
        }
        return std::string{};
    };
    const GemvProblem gemv{2304, 768};
    EXPECT_NE(reason({1 << 20, 1 << 20}, {}, {}).find("a bank holds"), std::string::npos);
    PimMapping mapping;
    mapping.cr_degree = 9;
    EXPECT_NE(reason(gemv, mapping, {}).find("must be 1..4"), std::string::npos);
    mapping = {};
    mapping.split_k = 16;
    EXPECT_NE(reason(gemv, mapping, {}).find("do not share 8 channels"), std::string::npos);
    pim::PimConfig small_page;
    small_page.page = arch::base::Bytes{16'384};
    EXPECT_NE(reason(gemv, {}, small_page).find("pim.page"), std::string::npos);
    pim::PimConfig few;
    few.registers = 8;
    EXPECT_EQ(reason(gemv, {}, few),
              "mapping.pimnast.input_registers: must be at most 7, of 8 registers, one of which "
              "holds outputs, got 8");
    few.output_registers = 8;
    few.registers = 7;
    EXPECT_EQ(reason(gemv, {}, few),
              "mapping.pimnast.input_registers: must be at most 7, of 7 registers, got 8");
}

TEST(PimPlacement, UnevenRowsArePaddedAndSaidSo) {
    const PimPlacement p = place({1000, 768}, {}, lpddr(), {});
    EXPECT_EQ(p.padded_m, 1024);
    EXPECT_EQ(p.m, 8);  // as for 1024 rows: tiles of one row are padded as far
    EXPECT_EQ(place({1100, 768}, {}, lpddr(), {}).m, 1);  // nine for a bank
    ASSERT_FALSE(p.notes.empty());
    EXPECT_NE(p.notes[0].find("padded to 1024"), std::string::npos);
}

struct Outcome {
    std::int64_t cycles = 0;
    std::optional<ProductCheck> check;
};

Outcome run(const GemvProblem& gemv, const PimMapping& mapping, bool functional,
            const pim::PimConfig& config = {}, std::int64_t vectors = 1) {
    const arch::memory::device::MemoryConfig dram = lpddr();
    const PimPlacement placement = place(gemv, mapping, dram, config, vectors);
    pim::PimProgram program = lower(gemv, placement, dram, config);
    program.passes = arch::base::ceil_div(vectors, placement.vectors);
    arch::base::EventQueue queue;
    arch::base::stats::Group root("");
    arch::memory::controller::MemorySystem system(
        dram, arch::memory::traffic::StreamDriver::latency(dram), queue, root);
    std::unique_ptr<FunctionalGemv> data;
    if (functional) {
        data = functional_gemv(gemv, vectors, placement, dram, config, 7);
    }
    std::vector<std::unique_ptr<pim::PimUnit>> units;
    for (std::size_t i = 0; i < static_cast<std::size_t>(dram.channels); ++i) {
        units.push_back(std::make_unique<pim::PimUnit>(dram, config, program, i, root, data.get()));
        system.lend(
            i, *units.back(),
            arch::memory::traffic::StreamDriver::latency(dram) + arch::base::Femtoseconds{1});
    }
    while (!queue.empty()) {
        queue.run_until(queue.next_time());
    }
    Outcome outcome;
    outcome.cycles = units[0]->ended() - *units[0]->began();
    if (functional) {
        outcome.check = data->check();
    }
    return outcome;
}

pim::PimConfig device(const char* name) {
    auto document = arch::base::config::Document::load(std::string{TILESIM_SOURCE_DIR} +
                                                       "/configs/devices/" + name + ".yaml");
    auto root = document.root();
    return pim::read_pim_config(root.child("pim", ""));
}

// 21 tiles of 256 x 1 a bank, in three row blocks, whose 16 output registers are held in two shares
// of eight: as they lie, all but the first three are read back and all are spilled; those of the
// same outputs together leave once.
TEST(PimPlacement, ColumnMajorTilesOfTheSameOutputsTogetherSpillThemOnce) {
    const GemvProblem gemv{768, 896};
    const auto commands_of = [&](const PimMapping& mapping, pim::PimOp op) {
        const PimPlacement p = place(gemv, mapping, lpddr(), {});
        std::int64_t count = 0;
        for (const pim::PimCommand& command : lower(gemv, p, lpddr(), {}).commands) {
            count += command.op == op ? command.count : 0;
        }
        return count;
    };
    const PimMapping as_they_lie{PimMapping::Placement::ColumnMajor, 1};
    PimMapping together = as_they_lie;
    together.order = PimMapping::Order::Outputs;
    EXPECT_EQ(commands_of(as_they_lie, pim::PimOp::Spill), 21 * 16);
    EXPECT_EQ(commands_of(as_they_lie, pim::PimOp::LoadOutputs), (21 - 3) * 16);
    EXPECT_EQ(commands_of(as_they_lie, pim::PimOp::WriteBankInputs), 16);  // 32 columns a register
    EXPECT_EQ(commands_of(together, pim::PimOp::Spill), 3 * 16);
    EXPECT_EQ(commands_of(together, pim::PimOp::LoadOutputs), 0);
    EXPECT_EQ(commands_of(together, pim::PimOp::WriteBankInputs), 3 * 2 * 16);
    for (const PimMapping& mapping : {as_they_lie, together}) {
        EXPECT_EQ(commands_of(mapping, pim::PimOp::Mac), 21 * 8);
    }
}

// A tile a column, over 8 channels of 16 banks, 32 columns a register: the last register is written
// for the banks that have a tile left, in units of two banks for half of them at a time.
TEST(PimPlacement, ColumnMajorInputsAreWrittenForBanksThatHaveTiles) {
    const auto written = [&](std::int64_t columns, std::int64_t banks_per_unit) {
        pim::PimConfig config;
        config.banks_per_unit = banks_per_unit;
        const GemvProblem gemv{256, columns};
        const PimPlacement p =
            place(gemv, {PimMapping::Placement::ColumnMajor, 1}, lpddr(), config);
        std::vector<std::int64_t> counts;
        for (const pim::PimCommand& command : lower(gemv, p, lpddr(), config).commands) {
            if (command.op == pim::PimOp::WriteBankInputs) {
                counts.push_back(command.count);
            }
        }
        return counts;
    };
    EXPECT_THAT(written(1, 1), testing::ElementsAre(1));
    EXPECT_THAT(written(8, 1), testing::ElementsAre(1));
    EXPECT_THAT(written(20, 1), testing::ElementsAre(3));
    EXPECT_THAT(written(130, 1), testing::ElementsAre(16));
    EXPECT_THAT(written(32 * 128 + 20, 1), testing::ElementsAre(16, 3));
    EXPECT_THAT(written(20, 2), testing::ElementsAre(2, 2));
}

// Seven tiles of the same 256 rows a bank: one of the two shares of eight registers is spilled and
// the other read back at each step to the next tile, which begins with the share that the last
// ended with.
TEST(PimPlacement, ColumnMajorSumsThatTheNextTileAddsToStayInTheirRegisters) {
    const GemvProblem gemv{256, 896};
    const PimPlacement p = place(gemv, {PimMapping::Placement::ColumnMajor, 1}, lpddr(), {});
    std::vector<std::int64_t> spilled;
    std::vector<std::int64_t> loaded;
    for (const pim::PimCommand& command : lower(gemv, p, lpddr(), {}).commands) {
        const std::int64_t share = (command.word - 7 * 8) / 8;
        if (command.op == pim::PimOp::Spill) {
            spilled.push_back(share);
        } else if (command.op == pim::PimOp::LoadOutputs) {
            loaded.push_back(share);
        }
    }
    EXPECT_THAT(spilled, testing::ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
    EXPECT_THAT(loaded, testing::ElementsAre(0, 1, 0, 1, 0, 1));
    EXPECT_THAT(p.notes, testing::Contains(
                             "the sums of 256 rows, an interleave unit, take 16 registers beside "
                             "one for the inputs, but there are 16: they are held in 2 shares, "
                             "which leave and come back with the tiles"));
}

// The degrees of sums that are held unreduced (AMD GeniePIM's, with 8 output registers).
TEST(PimPlacement, UnreducedSumsLeaveRoomForFewerRowBlocks) {
    const auto degree = [](std::int64_t m, std::int64_t k) {
        const PimPlacement p = place({m, k}, {}, lpddr(), {});
        return fmt::format("{}x{}/{}", p.m, p.k, p.degree);
    };
    EXPECT_EQ(degree(2304, 768), "2x128/4");
    EXPECT_EQ(degree(3072, 768), "8x32/3");
    EXPECT_EQ(degree(7680, 2560), "4x64/4");
    EXPECT_EQ(degree(16384, 4096), "128x2/1");
    EXPECT_EQ(degree(21504, 7168), "8x32/4");
}

TEST(PimPlacement, TheClosedFormIsTheCommandStreamToHalfAPercent) {
    std::vector<pim::PimConfig> configs{device("lpddr5x_pim"), device("lpddr5x_aim"), {}};
    configs[0].fold_every = 512;
    configs.push_back(device("lpddr5x_pim"));
    configs.push_back(device("lpddr5x_pim"));
    configs.back().spill = pim::Spill::Row;
    configs.push_back(device("lpddr5x_pim"));
    configs.back().banks_per_unit = 2;
    configs.push_back(device("lpddr5x_pim"));
    configs.back().activates_at_once = false;
    for (std::size_t i = 0; i < configs.size(); ++i) {
        for (const std::int64_t d : {768, 2048, 2560}) {
            for (const std::int64_t degree : {0, 1}) {
                for (const std::int64_t block : {0, 32}) {
                    GemvProblem gemv{3 * d, d};
                    gemv.scale_block = block;
                    PimMapping mapping;
                    mapping.cr_degree = degree;
                    const arch::memory::device::MemoryConfig dram = lpddr();
                    const PimPlacement placement = place(gemv, mapping, dram, configs[i]);
                    const auto closed =
                        static_cast<double>(closed_form_cycles(gemv, placement, dram, configs[i]));
                    EXPECT_NEAR(static_cast<double>(run(gemv, mapping, false, configs[i]).cycles),
                                closed, 0.005 * closed)
                        << i << ": " << d << " degree " << degree << " block " << block;
                }
            }
        }
    }
}

// What a device hides behind turns of the bus, and rows of results and modes: a bound must not say
// that a product takes longer than it does.
TEST(PimPlacement, TheClosedFormIsNoMoreThanTheCommandStream) {
    const auto changed = [](const char* name, auto change) {
        pim::PimConfig config = device(name);
        change(config);
        return config;
    };
    const std::vector<pim::PimConfig> configs{
        changed("lpddr5x_pim", [](auto& pim) { pim.overlap_row_switch = true; }),
        changed("lpddr5x_pim",
                [](auto& pim) {
                    pim.overlap_row_switch = true;
                    pim.spill = pim::Spill::Row;
                }),
        changed("lpddr5x_pim", [](auto& pim) { pim.fold_overlaps_turn = true; }),
        changed("lpddr5x_pim",
                [](auto& pim) {
                    pim.fold_overlaps_turn = true;
                    pim.overlap_row_switch = true;
                    pim.spill = pim::Spill::Read;
                }),
        changed("lpddr5x_aim",
                [](auto& pim) {
                    pim.mode_change = arch::base::Cycles{32};
                    pim.host_turn = arch::base::Femtoseconds{150'000'000};
                }),
        changed("lpddr5x_pim",
                [](auto& pim) {
                    pim.spill = pim::Spill::Read;
                    pim.program_end = pim::ProgramEnd::RowsClosed;
                }),
        changed("lpddr5x_pim",
                [](auto& pim) {
                    pim.spill = pim::Spill::Visit;
                    pim.spill_packed = true;
                }),
        changed("lpddr5x_pim",
                [](auto& pim) {
                    pim.modes.on = {{pim::ModeStep::Kind::Write, 3}};
                    pim.modes.off = {{pim::ModeStep::Kind::Visit, 2}};
                }),
    };
    const arch::memory::device::MemoryConfig dram = lpddr();
    for (std::size_t i = 0; i < configs.size(); ++i) {
        for (const GemvProblem& gemv :
             {GemvProblem{2304, 768}, GemvProblem{3072, 64}, GemvProblem{4224, 256}}) {
            for (const std::int64_t degree : {0, 1}) {
                PimMapping mapping;
                mapping.cr_degree = degree;
                const PimPlacement placement = place(gemv, mapping, dram, configs[i]);
                const std::int64_t cycles = run(gemv, mapping, false, configs[i]).cycles;
                const std::int64_t closed = closed_form_cycles(gemv, placement, dram, configs[i]);
                EXPECT_LE(closed, cycles) << i << ": " << gemv.m << " degree " << degree;
                // Recovery of writes to the rows of modes is left out.
                const double least = configs[i].modes.off.empty() ? 0.94 : 0.8;
                EXPECT_GE(closed, least * static_cast<double>(cycles)) << i << ": " << gemv.m;
            }
        }
    }
}

// 384 words of weights fill six rows; twelve words of scale factors lie behind the last MAC, in a
// seventh that nothing opens.
TEST(PimPlacement, ARowOfScaleFactorsAloneIsNotOpened) {
    const GemvProblem gemv{1024, 768, DataType::Bf16, DataType::Bf16, DataType::F32, 32};
    const pim::PimConfig config = device("lpddr5x_aim");
    const PimMapping mapping{.input_registers = 62};
    const PimPlacement placement = place(gemv, mapping, lpddr(), config);
    EXPECT_EQ(closed_form_cycles(gemv, placement, lpddr(), config),
              run(gemv, mapping, false, config).cycles);
}

struct Case {
    const char* name;
    GemvProblem gemv;
    PimMapping mapping;
};

constexpr PimMapping kColumnMajor{PimMapping::Placement::ColumnMajor, 1};
constexpr PimMapping kByOutputs{.placement = PimMapping::Placement::ColumnMajor,
                                .input_registers = 1,
                                .order = PimMapping::Order::Outputs};

class Functional : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    Gemv, Functional,
    testing::Values(
        Case{"int8", {768, 768}, {}}, Case{"int4", {768, 768, DataType::Int4, DataType::Int8}, {}},
        Case{"int16", {768, 256, DataType::Int16, DataType::Int16, DataType::Int32}, {}},
        Case{"bf16", {768, 256, DataType::Bf16, DataType::Bf16, DataType::F32}, {}},
        Case{"f16", {768, 256, DataType::F16, DataType::F16, DataType::F16}, {}},
        Case{"scaled", {768, 768, DataType::Int8, DataType::Int8, DataType::Int16, 32}, {}},
        Case{"scaled_across_chunks",
             {768, 768, DataType::Int8, DataType::Int8, DataType::Int32, 300},
             {}},
        Case{"scaled_bf16", {768, 256, DataType::Bf16, DataType::Bf16, DataType::F32, 64}, {}},
        Case{"scaled_f16", {768, 256, DataType::F16, DataType::F16, DataType::F16, 64}, {}},
        Case{"tall_tiles", {4096, 300}, {}}, Case{"padded", {1000, 333}, {}},
        Case{"split_k", {768, 768}, {PimMapping::Placement::Balanced, 8, 0, 4}},
        Case{"few_inputs", {2304, 768}, {PimMapping::Placement::Balanced, 3, 2, 1}},
        Case{"inputs_of_a_word", {300, 200}, {.input_registers = 1}},
        Case{"batches_across_tiles", {2304, 700}, {.input_registers = 7}},
        Case{"in_phases", {2304, 768}, {.input_registers = 3, .cr_degree = 2, .phases = 5}},
        Case{"column_major", {768, 700}, kColumnMajor},
        Case{"column_major_one_block", {256, 300}, kColumnMajor},
        Case{"column_major_int4", {1000, 300, DataType::Int4, DataType::Int8}, kColumnMajor},
        Case{"column_major_kept",
             {256, 300, DataType::Int8, DataType::Int8, DataType::Int8},
             kColumnMajor},
        Case{"column_major_by_outputs", {768, 700}, kByOutputs},
        Case{"column_major_int4_by_outputs",
             {1000, 300, DataType::Int4, DataType::Int8},
             kByOutputs},
        Case{"column_major_bf16_by_outputs",
             {768, 512, DataType::Bf16, DataType::Bf16, DataType::Bf16},
             kByOutputs},
        Case{"column_major_f16",
             {512, 256, DataType::F16, DataType::F16, DataType::F16},
             kColumnMajor},
        Case{"column_major_bf16",
             {512, 256, DataType::Bf16, DataType::Bf16, DataType::Bf16},
             kColumnMajor}),
    [](const auto& one) { return std::string{one.param.name}; });

TEST_P(Functional, MatchesTheReferenceAndTimingModeAgrees) {
    const Outcome functional = run(GetParam().gemv, GetParam().mapping, true);
    ASSERT_TRUE(functional.check.has_value());
    EXPECT_TRUE(functional.check->match) << functional.check->first_mismatch;
    EXPECT_GE(functional.check->checked, GetParam().gemv.m);
    EXPECT_EQ(functional.cycles, run(GetParam().gemv, GetParam().mapping, false).cycles);
}

// Eight registers of f16 sums, beside one for the inputs of eight: they are rounded as often as
// they leave.
TEST(PimPlacement, SharesOfColumnMajorSumsThatStayAreRoundedWhenTheyLeave) {
    pim::PimConfig config;
    config.registers = 8;
    const GemvProblem gemv{128, 700, DataType::F16, DataType::F16, DataType::F16};
    ASSERT_GT(place(gemv, kColumnMajor, lpddr(), config).output_registers, 7);
    const Outcome functional = run(gemv, kColumnMajor, true, config);
    ASSERT_TRUE(functional.check.has_value());
    EXPECT_TRUE(functional.check->match) << functional.check->first_mismatch;
}

// Half as many units take twice as long for the same words in the same banks; inputs of a bank's
// own are written to half as many.
TEST(PimPlacement, UnitsOfTwoBanksMultiplyForOneOfThemAtATime) {
    pim::PimConfig pairs;
    pairs.banks_per_unit = 2;
    const GemvProblem scaled{768, 768, DataType::Int8, DataType::Int8, DataType::Int16, 32};
    for (const auto& [gemv, mapping] :
         {std::pair{GemvProblem{768, 768}, PimMapping{}}, std::pair{scaled, PimMapping{}},
          std::pair{GemvProblem{768, 700}, kColumnMajor},
          std::pair{GemvProblem{768, 700}, kByOutputs}}) {
        const Outcome functional = run(gemv, mapping, true, pairs);
        ASSERT_TRUE(functional.check.has_value());
        EXPECT_TRUE(functional.check->match) << functional.check->first_mismatch;
        EXPECT_EQ(functional.cycles, run(gemv, mapping, false, pairs).cycles);
        const auto alone = static_cast<double>(run(gemv, mapping, false).cycles);
        EXPECT_GT(static_cast<double>(functional.cycles), 1.7 * alone);
        EXPECT_LT(static_cast<double>(functional.cycles), 2.05 * alone);
    }
}

TEST(PimPlacement, AUnitWithOneSumTakesTilesOfOneRow) {
    pim::PimConfig config = device("lpddr5x_aim");
    config.sums = 1;
    const PimPlacement placement = place({4096, 4096}, {}, lpddr(), config);
    EXPECT_EQ(placement.m, 1);
    EXPECT_EQ(placement.degree, 1);
    PimMapping wider;
    wider.tile_rows = 8;
    EXPECT_THROW(place({4096, 4096}, wider, lpddr(), config), arch::base::config::ConfigError);
    EXPECT_THROW(place({4096, 4096}, kColumnMajor, lpddr(), config),
                 arch::base::config::ConfigError);
}

// What there is of what is lacking, and the key that was given.
TEST(PimPlacement, ColumnsThatFindNoRegistersAreToldHowManyThereAre) {
    const auto refusal = [](const GemvProblem& gemv, const char* name) -> std::string {
        try {
            place(gemv, kColumnMajor, lpddr(), device(name));
        } catch (const arch::base::config::ConfigError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(
        refusal({16, 16, DataType::Int8, DataType::Int8, DataType::Int32}, "lpddr5x_aim"),
        "mapping.column_major: the outputs of one word, 32 sums, take 4 registers, beside one "
        "for the inputs, but there are 2");
    GemvProblem scaled{16, 16};
    scaled.scale_block = 8;
    EXPECT_EQ(refusal(scaled, "lpddr5x_pim"),
              "mapping.column_major: has one register for inputs, which their scale factors take "
              "(workload.gemv.scale_block)");
}

// Two or three share a pass, of which the last is not full: each has its inputs and its results.
TEST(PimPlacement, EveryVectorOfAProductIsRight) {
    for (const auto placement :
         {PimMapping::Placement::Balanced, PimMapping::Placement::ColumnMajor}) {
        for (const std::int64_t alus : {1, 2, 3}) {
            PimMapping mapping;
            mapping.placement = placement;
            pim::PimConfig config;
            config.alus = alus;
            const GemvProblem gemv{300, 200};
            const Outcome functional = run(gemv, mapping, true, config, 5);
            ASSERT_TRUE(functional.check.has_value());
            EXPECT_TRUE(functional.check->match) << functional.check->first_mismatch;
            EXPECT_GE(functional.check->checked, 5 * 300);
            EXPECT_EQ(functional.cycles, run(gemv, mapping, false, config, 5).cycles);
        }
    }
}

// Inputs and results are those of one more vector, the weights are read once.
TEST(PimPlacement, ColumnsForTwoVectorsTakeTheInputsOfBoth) {
    PimMapping mapping;
    mapping.placement = PimMapping::Placement::ColumnMajor;
    pim::PimConfig config;
    const GemvProblem gemv{1024, 1024};
    const auto alone = run(gemv, mapping, false, config).cycles;
    config.alus = 2;
    const auto together = run(gemv, mapping, false, config, 2).cycles;
    EXPECT_GT(together, alone * 5 / 4);
    EXPECT_LT(together, alone * 2);
}

// 4096 words of 32 weights a bank; of seven vectors three share a pass.
TEST(MultiplyBound, CountsMacSlotsOfThePassesThatVectorsShare) {
    pim::PimConfig config;
    config.command_interval = arch::base::Cycles{4};
    const auto cycles = [&config] {
        workloads::Case a_case;
        a_case.device.memory = lpddr();
        a_case.device.put(config);
        return multiply_bound_ns(a_case, {{4096, 4096}, 7}) *
               static_cast<double>(a_case.device.memory.clock.count()) / 1e9;
    };
    EXPECT_NEAR(cycles(), 7 * 4096 * 4, 1e-6);
    config.mac_interval = arch::base::Cycles{3};
    EXPECT_NEAR(cycles(), 7 * 4096 * 3, 1e-6);
    config.alus = 3;
    EXPECT_NEAR(cycles(), 3 * 4096 * 3, 1e-6);
}

}  // namespace
}  // namespace tilesim::workloads::pim::gemv
