#include "workloads/amx/tiles/amx_gemm.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "workloads/amx/tiles/amx_run_testing.hpp"

namespace tilesim::workloads::amx::tiles {
namespace {

TEST(AmxGemm, EveryOrderGivesTheProduct) {
    for (const auto order :
         {AmxMapping::Order::Reference, AmxMapping::Order::KInnermost, AmxMapping::Order::Preloaded,
          AmxMapping::Order::Switched, AmxMapping::Order::Interleaved}) {
        expect_product(gemm(53, 131, 71), mapping_with(order));
        expect_product(gemm(53, 131, 71, DataType::Bf16, DataType::F32), mapping_with(order));
        expect_product(gemm(53, 67, 39, DataType::F32, DataType::F32), mapping_with(order));
    }
}

TEST(AmxGemm, EveryBlockShapeGivesTheProduct) {
    for (const auto& [m, n] :
         {std::pair{1, 1}, {1, 4}, {1, 6}, {2, 2}, {3, 1}, {2, 1}, {4, 1}, {6, 1}}) {
        AmxMapping mapping;
        mapping.m_acc = m;
        mapping.n_acc = n;
        expect_product(gemm(83, 67, 103), mapping);
    }
}

TEST(AmxGemm, EverySignCombinationGivesTheProduct) {
    for (const bool a : {false, true}) {
        for (const bool b : {false, true}) {
            AmxMapping mapping;
            mapping.a_signed = a;
            mapping.b_signed = b;
            expect_product(gemm(17, 70, 19), mapping);
        }
    }
}

TEST(AmxGemm, EveryLayoutOfBGivesTheProduct) {
    for (const auto layout :
         {AmxMapping::BLayout::Vnni, AmxMapping::BLayout::RowMajor, AmxMapping::BLayout::Sparse}) {
        for (const auto outer : {AmxMapping::Outer::N, AmxMapping::Outer::M}) {
            AmxMapping mapping;
            mapping.b_layout = layout;
            mapping.outer = outer;
            expect_product(gemm(37, 130, 73), mapping);
        }
    }
    AmxMapping mapping;
    mapping.b_layout = AmxMapping::BLayout::RowMajor;
    expect_product(gemm(37, 70, 73, DataType::Bf16, DataType::F32), mapping);
}

TEST(AmxGemm, PostOperationsGiveTheResultFusedAndInterleaved) {
    for (const auto post : {AmxMapping::Post::Fused, AmxMapping::Post::Interleaved}) {
        for (const auto type : {DataType::Int8, DataType::Bf16, DataType::F32}) {
            AmxMapping mapping;
            mapping.post = post;
            expect_product(gemm(71, 130, 70, DataType::Int8, type), mapping);
            mapping.remainder = AmxMapping::Remainder::Smaller;
            expect_product(gemm(71, 130, 70, DataType::Int8, type), mapping);
        }
    }
}

TEST(AmxGemm, CacheBlocksRemaindersAndPrefetchGiveTheProduct) {
    AmxMapping mapping;
    mapping.mc = 32;
    mapping.nc = 48;
    mapping.kc = 128;
    mapping.prefetch_a = 2;
    mapping.prefetch_b = 3;
    mapping.a_nontemporal = true;
    mapping.a_padding = 64;
    mapping.c_padding = 128;
    mapping.remainder = AmxMapping::Remainder::Smaller;
    expect_product(gemm(101, 401, 89), mapping);
}

// Two blocks of rows of two of columns, of one k tile: for each four zeros, four loads, products
// and stores; the turns of two loops; ldtilecfg and tilerelease.
TEST(AmxGemm, LoopsWithoutABodyAreNotThere) {
    constexpr std::int64_t kInstructions = 4 * (4 + 4 + 4 + 4) + 4 + 2 + 2;
    for (const auto outer : {AmxMapping::Outer::N, AmxMapping::Outer::M}) {
        AmxMapping mapping;
        mapping.outer = outer;
        EXPECT_EQ(lower(gemm(64, 64, 64), mapping).programs[0].dynamic_instructions(),
                  kInstructions);
    }
}

TEST(AmxGemm, TheFirstColumnsAreApartWhereAIsPrefetchedWithThemOnly) {
    AmxMapping mapping;
    const auto instructions = [&] {
        return lower(gemm(64, 128, 96), mapping).programs[0].dynamic_instructions();
    };
    const std::int64_t plain = instructions();
    mapping.prefetch_a_once = true;
    EXPECT_EQ(instructions(), plain);
    mapping.prefetch_a = 1;
    const std::int64_t once = instructions();
    mapping.prefetch_a_once = false;
    EXPECT_GT(instructions(), once);
    EXPECT_GT(once, plain);
}

TEST(AmxGemm, ThreeBf16PartsEmulateF32) {
    for (const auto order : {AmxMapping::Order::Reference, AmxMapping::Order::KInnermost}) {
        const LoweredAmx lowered =
            lower(gemm(32, 64, 32, DataType::F32, DataType::F32), mapping_with(order));
        EXPECT_EQ(run(lowered, nullptr).counters.dots, 4 * 2 * 6);  // six of nine products
    }
}

TEST(AmxGemm, MoreOfAResourceIsNeverSlower) {
    const LoweredAmx lowered = lower(gemm(128, 256, 128), AmxMapping{});
    const std::int64_t cycles = run(lowered, nullptr).cycles;
    arch::amx::AmxConfig more;
    more.tiles.physical_tiles = 24;
    EXPECT_LT(run(lowered, nullptr, more).cycles, cycles);
    more = {};
    more.caches.fill_width = arch::base::BytesPerCycle{64};
    EXPECT_LT(run(lowered, nullptr, more).cycles, cycles);
    more = {};
    more.tiles.store_reads_tmul = false;
    EXPECT_LT(run(lowered, nullptr, more).cycles, cycles);
    more = {};
    more.caches.fill_buffers = 4;
    EXPECT_GT(run(lowered, nullptr, more).cycles, cycles);
}

}  // namespace
}  // namespace tilesim::workloads::amx::tiles
