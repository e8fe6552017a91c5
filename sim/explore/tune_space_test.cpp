#include "sim/explore/tune_space.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "arch/base/units.hpp"
#include "arch/npu/npu_config.hpp"
#include "sim/session/session.hpp"

namespace tilesim::sim::explore {
namespace {

const std::string kGemv =
    "device: lpddr5x_pim\n"
    "workload: {gemv: {M: 768, K: 1024}}\n"
    "mapping: {pimnast: {}}\n";
const std::string kAmx =
    "device: sapphire_rapids\n"
    "workload: {gemm: {M: 64, K: 320, N: 96, a: int8, b: int8, c: int32}}\n"
    "mapping: {amx: {data_in: l1, threads: 1}}\n";

void expect_bound_holds(const std::string& text, const TuneCandidate& candidate) {
    const workloads::RunResult result =
        session::run(parse_scenario(text, "test", candidate.settings()));
    ASSERT_EQ(result.status, workloads::Status::Ok);
    EXPECT_GE(result.time_ns, candidate.bound_ns()) << candidate.name;
}

TEST(TuneSpace, PlacementsDifferAndTheirBoundsHold) {
    const auto space = tune_space(parse_scenario(kGemv, "test", {}));
    std::vector<std::string> names;
    // Every seventh is simulated, a prime: all tiles, registers and degrees come up.
    for (std::size_t i = 0; i < space.size(); ++i) {
        names.push_back(space[i].name);
        if (i % 7 == 0) {
            expect_bound_holds(kGemv, space[i]);
        }
    }
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
    EXPECT_GT(names.size(), 20U);
    EXPECT_NE(std::find(names.begin(), names.end(), "column-major"), names.end());
}

// Rows open for a vector while the modes change after the one before: eight take 416.5 ns, where
// the closed form of one times eight is 584.
TEST(TuneSpace, BoundsOfSeveralVectorsHoldWhereRowsOpenWhileModesChange) {
    const std::string text =
        "device: gddr6_aim\n"
        "workload: {gemm: {M: 8, K: 192, N: 64, a: int8, b: int8, c: int32}}\n";
    const auto space = tune_space(parse_scenario(text, "test", {}));
    for (std::size_t i = 0; i < space.size(); i += 7) {
        if (space[i].name.find("column-major") == std::string::npos) {  // which do not fit here
            expect_bound_holds(text, space[i]);
        }
    }
}

// Where a launch is most of the time, a search that did not know so could rule nothing out.
TEST(TuneSpace, NothingOnAnArrayIsFasterThanItsLaunchAndItsWork) {
    const std::string device = "device: xdna2\nworkload: ";
    const std::string gemm =
        "{gemm: {M: 32, K: 128, N: 256, a: bf16, b: bf16, c: bf16}}\nmapping: ";
    for (const std::string& text :
         {device + "{gemv: {M: 256, K: 256, weights: int8, input: int8, accumulate: int32}}\n",
          device + "{elementwise: {operation: silu, rows: 64, elements: 512}}\n",
          device + gemm + "{weight_stationary: {m_ct: 16, k_ct: 32, n_ct: 32}}\n",
          device + gemm + "{fused_cast: {output_stationary: {m_ct: 16, k_ct: 32, n_ct: 32}}}\n"}) {
        const Scenario scenario = parse_scenario(text, "test", {});
        const double launch_ns = arch::base::ns_of(
            scenario.device.get<arch::npu::NpuConfig>().command_processor.dispatch);
        ASSERT_GT(launch_ns, 0);
        const auto space = tune_space(scenario);
        ASSERT_FALSE(space.empty()) << text;
        const std::size_t step = space.size() / 5 + 1;
        for (std::size_t i = 0; i < space.size(); ++i) {
            EXPECT_GT(space[i].bound_ns(), launch_ns) << text << space[i].name;
            if (i % step == 0) {
                expect_bound_holds(text, space[i]);
            }
        }
    }
}

TEST(TuneSpace, ACastOfItsOwnIsSearchedWhereItIsNamedOnly) {
    const std::string gemm =
        "device: xdna2\nworkload: {gemm: {M: 64, K: 64, N: 64, a: bf16, b: bf16, c: bf16}}\n";
    const auto fused = [](const TuneCandidate& each) {
        return each.described().contains("fused_cast");
    };
    const auto all = tune_space(parse_scenario(gemm, "test", {}));
    EXPECT_TRUE(std::none_of(all.begin(), all.end(), fused));
    const Scenario named = parse_scenario(
        gemm + "mapping: {fused_cast: {output_stationary: {m_ct: 16, k_ct: 32, n_ct: 32}}}\n",
        "test", {});
    auto space = tune_space(named);
    const auto more = variants(named, space.front());
    EXPECT_FALSE(more.empty());
    space.insert(space.end(), more.begin(), more.end());
    EXPECT_TRUE(std::all_of(space.begin(), space.end(), fused));
}

// A table of mappings whose lines are alike says nothing.
TEST(TuneSpace, MappingsOfAnArrayAreToldApartByTheirNames) {
    for (const char* workload :
         {"gemv: {M: 512, K: 256, weights: bf16, input: bf16, accumulate: bf16}",
          "gemm: {M: 256, K: 128, N: 256, a: bf16, b: bf16, c: bf16}",
          "elementwise: {operation: add, rows: 64, elements: 256}"}) {
        const Scenario scenario =
            parse_scenario(fmt::format("device: xdna2\nworkload: {{{}}}\n", workload), "test", {});
        auto space = tune_space(scenario);
        const auto more = variants(scenario, space.front());
        space.insert(space.end(), more.begin(), more.end());
        std::map<std::string, std::string> mappings;
        for (const TuneCandidate& each : space) {
            const std::string mapping = each.described().dump();
            const auto place = mappings.emplace(each.name, mapping).first;
            EXPECT_EQ(place->second, mapping) << each.name;
        }
        EXPECT_GT(mappings.size(), 20U);
    }
}

// 4096 rows are a tile of 128 for each of 32 banks; of 4160, tiles of more than four rows pad.
TEST(TuneSpace, ALargerTileMayCostLessThanItPads) {
    const auto ns = [](const std::string& rows) {
        return session::run(parse_scenario("device: lpddr5x_pim\n"
                                           "workload: {gemv: {M: " +
                                               rows + ", K: 4096}}\n",
                                           "test", {}))
            .time_ns;
    };
    EXPECT_LT(ns("4160"), 1.15 * ns("4096"));  // 1.64 without padding
}

TEST(TuneSpace, AmxBlocksFitTheTilesAndTheirBoundsHold) {
    const auto space = tune_space(parse_scenario(kAmx, "test", {}));
    EXPECT_GT(space.size(), 50U);
    // Every seventh, a prime: all orders and layouts come up.
    for (std::size_t i = 0; i < space.size(); i += 7) {
        expect_bound_holds(kAmx, space[i]);
    }
}

// From DRAM everything is read once at least: 64 x 512 of A and as many of B, of which sparse
// weights may have none.
TEST(TuneSpace, AmxProductsFromDramAreBoundByIt) {
    const auto space_of = [](const std::string& rest) {
        return tune_space(
            parse_scenario("device: sapphire_rapids\n"
                           "workload: {gemm: {M: 64, K: 512, N: 64, a: int8, b: "
                           "int8, c: int32}}\n"
                           "mapping: {amx: {threads: 4, " +
                               rest + "}}\n",
                           "test", {}));
    };
    const auto space = space_of("data_in: dram");
    for (std::size_t i = 0; i < space.size(); i += 23) {
        EXPECT_EQ(space[i].bounds.dram_bytes, 2 * 64 * 512);
        EXPECT_GT(space[i].bounds.memory_ns, 0);
    }
    EXPECT_EQ(space_of("data_in: dram, runs: 2")[0].bounds.memory_ns, 0);
    EXPECT_EQ(space_of("data_in: l3")[0].bounds.memory_ns, 0);
    EXPECT_EQ(space_of("data_in: dram, b_layout: sparse")[0].bounds.dram_bytes, 64 * 512);
    const std::string text =
        "device: sapphire_rapids\n"
        "workload: {gemm: {M: 16, K: 1024, N: 256, a: int8, b: int8, c: int32}}\n";
    const auto whole = tune_space(parse_scenario(text, "test", {}));
    for (std::size_t i = 0; i < whole.size(); i += 97) {
        expect_bound_holds(text, whole[i]);
    }
    // Of a convolution the filters: its input may be strided over.
    const std::string convolution =
        "device: sapphire_rapids\nworkload: {conv: {height: 7, width: 7, channels: 64, filters: "
        "32, kh: 3, kw: 3, a: int8, b: int8, c: int32}}\n";
    const auto convolutions = tune_space(parse_scenario(convolution, "test", {}));
    EXPECT_EQ(convolutions[0].bounds.dram_bytes, 9 * 64 * 32);
    expect_bound_holds(convolution, convolutions[0]);
}

TEST(TuneSpace, WhatTheScenarioSaysBeyondTheSearchStays) {
    const auto space = tune_space(parse_scenario(kAmx, "test", {}));
    const Scenario scenario = parse_scenario(kAmx, "test", space[0].settings());
    EXPECT_EQ(scenario.mapping.dataflow().describe(scenario.mapping)["amx"]["data_in"], "l1");
}

TEST(TuneSpace, ShorterBlocksAreTheMultiplesBelow) {
    const std::string text =
        "device: xdna2\n"
        "workload: {gemm: {M: 512, K: 864, N: 1152, a: int8, b: int8, c: int8}}\n"
        "mapping: {output_stationary: {m_ct: 64, k_ct: 72, n_ct: 64, k_mt: 432}}\n";
    const Scenario scenario = parse_scenario(text, "test", {});
    std::vector<std::int64_t> blocks;
    for (const TuneCandidate& shorter :
         reduced(scenario, TuneCandidate{{"as it is", scenario.mapping, {}, 0, 0}})) {
        blocks.push_back(shorter.described()["output_stationary"]["k_mt"]);
    }
    EXPECT_EQ(blocks, (std::vector<std::int64_t>{72, 144, 216, 288, 360}));
}

TEST(TuneSpace, AMemoryAloneHasNothingToTune) {
    EXPECT_THROW(tune_space(parse_scenario(
                     "device: ddr5_5600\nworkload: {memory_stream: {requests: 1}}\n", "test", {})),
                 arch::base::config::ConfigError);
}

}  // namespace
}  // namespace tilesim::sim::explore
