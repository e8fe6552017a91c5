#include "workloads/amx/tiles/amx_block.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "arch/amx/program/instruction_stream.hpp"
#include "arch/amx/program/program_text.hpp"
#include "workloads/amx/tiles/amx_run_testing.hpp"

namespace tilesim::workloads::amx::tiles {
namespace {

// Of thread 0.
std::int64_t count(const LoweredAmx& lowered, arch::amx::program::Opcode opcode) {
    std::int64_t found = 0;
    for (arch::amx::program::InstructionStream stream(lowered.programs[0]); !stream.finished();
         stream.advance()) {
        found += stream.current().instruction->opcode == opcode ? 1 : 0;
    }
    return found;
}

// Each line of the next block of columns once, a share behind each product.
TEST(AmxBlock, PrefetchOfTheNextColumnsIsSpreadOverTheRowsOfBlocks) {
    AmxMapping mapping;
    mapping.prefetch_next = true;
    const GemmProblem problem = gemm(256, 256, 128, DataType::Bf16, DataType::F32);
    const LoweredAmx lowered = lower(problem, mapping);
    std::map<std::int64_t, int> lines;
    std::int64_t between = 0;
    std::int64_t most = 0;
    for (arch::amx::program::InstructionStream stream(lowered.programs[0]); !stream.finished();
         stream.advance()) {
        const auto opcode = stream.current().instruction->opcode;
        if (arch::amx::program::is_dot(opcode)) {
            between = 0;
        } else if (opcode == arch::amx::program::Opcode::Prefetcht2) {
            ++lines[stream.current().address / 64];
            most = std::max(most, ++between);
        }
    }
    EXPECT_EQ(lines.size(), 256U * (128 - 32) * 2 / 64);  // B but for its first block
    EXPECT_EQ(lines.begin()->first, (lowered.b + 2 * 8 * 1024) / 64);
    EXPECT_EQ(lines.rbegin()->first, lowered.b / 64 + 8 * 8 * 16 - 1);
    EXPECT_EQ(lines.begin()->second, 1);
    EXPECT_EQ(most, 1);  // 2 x 2 lines a step of four products
    expect_product(problem, mapping);
}

// There lie another thread's, or none. Of fewer columns in the last block fewer tiles are fetched.
TEST(AmxBlock, BehindTheLastBlockOfColumnsNothingIsPrefetched) {
    AmxMapping mapping;
    mapping.prefetch_next = true;
    const auto prefetches = [&](std::int64_t n) {
        return count(lower(gemm(64, 256, n, DataType::Bf16, DataType::F32), mapping),
                     arch::amx::program::Opcode::Prefetcht2);
    };
    constexpr std::int64_t kColumn = 8 * 16;  // lines of eight tiles
    EXPECT_EQ(prefetches(32), 0);
    EXPECT_EQ(prefetches(33), kColumn);
    EXPECT_EQ(prefetches(64), 2 * kColumn);
    EXPECT_EQ(prefetches(10 * 16 + 1), 9 * kColumn);
    for (const auto& [nc, kc] : {std::pair{64, 0}, {48, 0}, {64, 128}, {0, 96}}) {
        mapping.nc = nc;
        mapping.kc = kc;
        EXPECT_EQ(prefetches(10 * 16 + 1), 9 * kColumn) << nc << " " << kc;
    }
    mapping.remainder = AmxMapping::Remainder::Smaller;  // the last column alone
    EXPECT_EQ(prefetches(10 * 16 + 1), 9 * kColumn);
    mapping.threads = 2;
    mapping.partition = AmxMapping::Partition::N;
    EXPECT_EQ(prefetches(8 * 16), 2 * kColumn);
    mapping = {};
    mapping.prefetch_next = mapping.prefetch_first = true;  // but itself
    EXPECT_EQ(prefetches(32), 2 * kColumn);
}

// Cache blocks of columns within which nothing else is repeated.
TEST(AmxBlock, CacheBlocksThatChangeNoOrderAreNone) {
    const auto same = [](const GemmProblem& problem, std::int64_t nc, AmxMapping mapping) {
        const LoweredAmx whole = lower(problem, mapping);
        mapping.nc = nc;
        const LoweredAmx blocks = lower(problem, mapping);
        return arch::amx::program::print(whole.programs[0]) ==
               arch::amx::program::print(blocks.programs[0]);
    };
    AmxMapping mapping;
    const GemmProblem problem = gemm(64, 256, 192);
    EXPECT_TRUE(same(problem, 64, mapping));
    EXPECT_FALSE(same(problem, 48, mapping)) << "blocks of one tile of columns between";
    mapping.mc = 64;
    EXPECT_TRUE(same(problem, 64, mapping));
    mapping.mc = 32;
    EXPECT_FALSE(same(problem, 64, mapping));
    mapping = {};
    mapping.kc = 128;
    EXPECT_FALSE(same(problem, 64, mapping));
    mapping = {};
    mapping.outer = AmxMapping::Outer::M;
    EXPECT_FALSE(same(problem, 64, mapping));
    mapping = {};
    mapping.remainder = AmxMapping::Remainder::Smaller;
    EXPECT_FALSE(same(gemm(65, 256, 192), 64, mapping)) << "the last row of each";
}

// In front of everything each line of the first two columns of tiles, all k, and no line twice.
TEST(AmxBlock, PrefetchOfTheFirstColumnsStandsInFront) {
    AmxMapping mapping;
    mapping.prefetch_next = true;
    mapping.prefetch_first = true;
    const GemmProblem problem = gemm(64, 256, 128, DataType::Bf16, DataType::F32);
    const LoweredAmx lowered = lower(problem, mapping);
    std::map<std::int64_t, int> lines;
    for (arch::amx::program::InstructionStream stream(lowered.programs[0]); !stream.finished();
         stream.advance()) {
        const auto opcode = stream.current().instruction->opcode;
        if (arch::amx::program::is_tile_load(opcode)) {
            break;
        }
        if (opcode == arch::amx::program::Opcode::Prefetcht2) {
            ++lines[stream.current().address / 64];
        }
    }
    EXPECT_EQ(lines.size(), 2U * 8 * 16);  // two columns of eight tiles
    EXPECT_EQ(lines.begin()->first, lowered.b / 64);
    EXPECT_EQ(lines.rbegin()->first, lowered.b / 64 + 2 * 8 * 16 - 1);
    expect_product(problem, mapping);
    mapping.prefetch_next = false;
    EXPECT_EQ(problems_of(problem, mapping, 56).size(), 1U);
}

// Rows of A are asked for with the first of two blocks of columns: 4 x 2 tiles of 16 lines.
TEST(AmxBlock, AIsPrefetchedWithTheFirstBlockOfColumnsOnly) {
    const auto expect_half = [](const GemmProblem& problem, AmxMapping mapping) {
        mapping.prefetch_a = 2;
        const auto prefetches = [&] {
            return count(lower(problem, mapping), arch::amx::program::Opcode::Prefetcht0);
        };
        constexpr std::int64_t kLines = 4 * 2 * 16;
        EXPECT_EQ(prefetches(), 2 * kLines);
        mapping.prefetch_a_once = true;
        EXPECT_EQ(prefetches(), kLines);
    };
    AmxMapping mapping;
    expect_half(gemm(64, 128, 64), mapping);
    mapping.remainder = AmxMapping::Remainder::Smaller;
    expect_half(gemm(64, 128, 40), mapping);  // the narrow last tile is a block of its own
    mapping = {};
    mapping.nc = 32;  // blocks of columns are cache blocks
    mapping.kc = 64;
    expect_half(gemm(64, 128, 64), mapping);
    mapping = {};
    mapping.decompress = AmxMapping::Decompress::Interleaved;
    expect_half(narrow(32, 128, 64), mapping);
}

TEST(AmxBlock, PrefetchingAOnceGivesTheProduct) {
    AmxMapping mapping;
    mapping.prefetch_a = 3;
    mapping.prefetch_a_once = true;
    expect_product(gemm(101, 270, 89), mapping);
    mapping.remainder = AmxMapping::Remainder::Smaller;
    mapping.nc = 32;
    mapping.kc = 128;
    expect_product(gemm(101, 270, 21), mapping);
    expect_product(gemm(101, 270, 7), mapping);
    mapping.kc = 0;
    mapping.decompress = AmxMapping::Decompress::Interleaved;
    for (const std::int64_t n : {7, 32, 89, 104}) {
        expect_product(narrow(16, 270, n), mapping);
    }
}

// Each of two blocks of columns turns to the last five rows and back; the last nine columns to
// their own configuration, to their last five rows and back.
TEST(AmxBlock, SmallerTilesAreConfiguredOnceForTheirBlocks) {
    const auto configurations = [](AmxMapping::Order order, std::int64_t m_acc, std::int64_t n) {
        AmxMapping mapping = mapping_with(order);
        mapping.remainder = AmxMapping::Remainder::Smaller;
        mapping.m_acc = m_acc;
        mapping.nc = 32;
        return count(lower(gemm(16 * 8 + 5, 64, n), mapping),
                     arch::amx::program::Opcode::Ldtilecfg);
    };
    EXPECT_EQ(configurations(AmxMapping::Order::Switched, 2, 64 + 9), 1 + 2 * 2 + 3);
    EXPECT_EQ(configurations(AmxMapping::Order::Switched, 1, 64 + 9), 1 + 2);  // rows fit beside
}

TEST(AmxBlock, OrdersDifferInTheLoadsTheyNeed) {
    const auto loads = [](AmxMapping::Order order) {  // 4 x 4 tiles, 3 k steps, 2 x 2 blocks
        return run(lower(gemm(64, 192, 64), mapping_with(order)), nullptr).counters.tile_loads;
    };
    constexpr std::int64_t kSteps = 4 * 3;
    EXPECT_EQ(loads(AmxMapping::Order::Reference), kSteps * (2 + 4));
    EXPECT_EQ(loads(AmxMapping::Order::KInnermost), kSteps * 4 * 2);
    EXPECT_EQ(loads(AmxMapping::Order::Preloaded), kSteps * 4);
    EXPECT_EQ(loads(AmxMapping::Order::Switched), kSteps * 4);
    EXPECT_EQ(loads(AmxMapping::Order::Interleaved), kSteps * 4);
}

}  // namespace
}  // namespace tilesim::workloads::amx::tiles
