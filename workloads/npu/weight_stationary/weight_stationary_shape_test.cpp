#include "workloads/npu/weight_stationary/weight_stationary_shape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "workloads/npu/weight_stationary/weight_stationary_testing.hpp"

namespace tilesim::workloads::npu::weight_stationary {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> problems(const std::string& device, const GemmProblem& gemm,
                                  const WeightStationaryMapping& map) {
    return problems_of(gemm, map, machine(device).npu);
}

TEST(WeightStationaryShape, KBeyondTheBTilesOfAColumnIsRefused) {
    EXPECT_TRUE(problems("xdna", int8_gemm(64, 128, 64), small_map()).empty());
    EXPECT_THAT(problems("xdna", int8_gemm(64, 129, 64), small_map()),
                ElementsAre(HasSubstr("K (129) is more than the 4 rows of cores hold")));
    EXPECT_THAT(problems("xdna", int8_gemm(64, 128, 64), small_map(Reduction::MemoryTile)),
                ElementsAre(HasSubstr("K (128) is more than the 3 rows of cores hold")));
}

TEST(WeightStationaryShape, TilesThatDoNotFitAreRefusedToTheByte) {
    Machine m = machine("xdna");
    // Stack, B of 32 x 32, two A tiles of 16 x 32 and two C tiles of 16 x 32 words.
    const std::int64_t needed = 1024 + 1024 + 2 * 512 + 2 * 2048;
    m.npu.core.memory = arch::base::Bytes{needed};
    m.npu.core.bank = arch::base::Bytes{needed};
    EXPECT_TRUE(problems_of(int8_gemm(64, 128, 64), small_map(), m.npu).empty());
    m.npu.core.memory = arch::base::Bytes{needed - 1};
    EXPECT_THAT(problems_of(int8_gemm(64, 128, 64), small_map(), m.npu),
                ElementsAre(HasSubstr("the core tiles need 7168 B")));
    m = machine("xdna");
    // Two A tiles of one slice, two B tiles of four rows, two C tiles.
    const std::int64_t memory_tile = 2 * 512 + 4 * 2 * 1024 + 2 * 2048;
    m.npu.memory_tile.memory = arch::base::Bytes{memory_tile};
    EXPECT_TRUE(problems_of(int8_gemm(64, 128, 64), small_map(), m.npu).empty());
    m.npu.memory_tile.memory = arch::base::Bytes{memory_tile - 1};
    EXPECT_THAT(problems_of(int8_gemm(64, 128, 64), small_map(), m.npu),
                ElementsAre(HasSubstr("a memory tile needs 13312 B")));
}

TEST(WeightStationaryShape, ACoreNeedsADescriptorForEachBuffer) {
    Machine m = machine("xdna");
    m.npu.core_dma.descriptors = 5;  // two of A, one of B, two of C
    EXPECT_TRUE(problems_of(int8_gemm(64, 128, 64), small_map(), m.npu).empty());
    m.npu.core_dma.descriptors = 4;
    EXPECT_THAT(problems_of(int8_gemm(64, 128, 64), small_map(), m.npu),
                ElementsAre("a core tile needs 5 descriptors, it has 4"));
    m.npu.core_dma.parity_bound_descriptors = true;  // four of them on even channels
    m.npu.core_dma.descriptors = 6;
    EXPECT_THAT(problems_of(int8_gemm(64, 128, 64), small_map(), m.npu),
                ElementsAre("a core tile needs 4 descriptors for its even or its odd channels, it "
                            "has 3"));
}

TEST(WeightStationaryShape, WhatTheArrayLacksIsNamed) {
    const GemmProblem gemm = int8_gemm(64, 32, 64);
    WeightStationaryMapping map = small_map(Reduction::MemoryTile);
    map.rows = 4;
    EXPECT_THAT(problems("xdna", gemm, map),
                Contains(HasSubstr("4 rows of cores and one that adds")));
    map = small_map();
    map.m_ct = 18;
    EXPECT_THAT(problems("xdna", gemm, map), ElementsAre(HasSubstr("multiples of the mmul shape")));
    GemmProblem bf16 = gemm;
    bf16.a = bf16.b = bf16.c = DataType::Bf16;
    EXPECT_TRUE(problems("xdna", bf16, small_map()).empty());
    EXPECT_THAT(problems("xdna", bf16, small_map(Reduction::MemoryTile)),
                ElementsAre(HasSubstr("adds int8, int16, int32 or f32, not bf16")));
    Machine m = machine("xdna");
    m.npu.memory_rows = 0;
    EXPECT_THAT(problems_of(gemm, small_map(), m.npu), Contains(HasSubstr("the array has none")));
    EXPECT_THROW(lower(int8_gemm(64, 4096, 64), small_map(), m.npu),
                 arch::base::config::ConfigError);
}

}  // namespace
}  // namespace tilesim::workloads::npu::weight_stationary
