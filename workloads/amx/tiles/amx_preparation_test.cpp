#include "workloads/amx/tiles/amx_preparation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "arch/amx/program/instruction_stream.hpp"
#include "workloads/amx/tiles/amx_run_testing.hpp"

namespace tilesim::workloads::amx::tiles {
namespace {

TEST(AmxPreparation, SparseLinesHoldWhatTheirMasksSayAtEveryDensity) {
    for (const std::int64_t density : {1, 30, 100}) {
        for (const std::int64_t threads : {1, 3}) {
            AmxMapping mapping;
            mapping.b_layout = AmxMapping::BLayout::Sparse;
            mapping.density_percent = density;
            mapping.threads = threads;
            mapping.partition = AmxMapping::Partition::N;
            expect_product(gemm(37, 130, 121), mapping);
        }
    }
}

TEST(AmxPreparation, SparseLinesDifferInLengthAndAreReadNoFurther) {
    AmxMapping mapping;
    mapping.b_layout = AmxMapping::BLayout::Sparse;
    mapping.density_percent = 40;
    const LoweredAmx lowered = lower(gemm(32, 256, 64), mapping, 5);
    const std::vector<std::int64_t>& starts = lowered.lines.starts;
    ASSERT_EQ(starts.size(), 4U * 4 * 16 + 1);
    std::int64_t least = 64;
    std::int64_t most = 0;
    for (std::size_t i = 1; i < starts.size(); ++i) {
        least = std::min(least, starts[i] - starts[i - 1]);
        most = std::max(most, starts[i] - starts[i - 1]);
    }
    EXPECT_LT(least, 20);
    EXPECT_GT(most, 30);
    // 256 x 64 bytes, 40 % of them, within four standard deviations.
    EXPECT_NEAR(static_cast<double>(starts.back() - starts.front()), 6554, 4 * 63);
    const AmxRegion& values = lowered.reads[1];
    EXPECT_EQ(values.address, starts.front());
    EXPECT_EQ(values.bytes, starts.back() - starts.front());
    EXPECT_NE(lower(gemm(32, 256, 64), mapping, 6).line_masks, lowered.line_masks);
}

TEST(AmxPreparation, Int8WeightsOfBf16GiveTheProduct) {
    for (const auto decompress :
         {AmxMapping::Decompress::Ahead, AmxMapping::Decompress::Interleaved}) {
        for (const std::int64_t n : {16, 32, 70, 137, 160}) {
            AmxMapping mapping;
            mapping.decompress = decompress;
            mapping.prefetch_next = true;
            expect_product(narrow(29, 130, n), mapping);
            mapping.threads = 3;
            mapping.partition = AmxMapping::Partition::N;
            expect_product(narrow(29, 130, n), mapping);
            mapping.remainder = AmxMapping::Remainder::Smaller;
            expect_product(narrow(11, 130, n), mapping);
        }
    }
    AmxMapping mapping;
    mapping.outer = AmxMapping::Outer::M;
    expect_product(narrow(70, 130, 90), mapping);
}

GemmProblem nibbles(std::int64_t m, std::int64_t k, std::int64_t n, DataType c) {
    GemmProblem problem = gemm(m, k, n, DataType::Int8, c);
    problem.b = DataType::Int4;
    return problem;
}

TEST(AmxPreparation, Int4WeightsOfInt8GiveTheProduct) {
    for (const auto decompress :
         {AmxMapping::Decompress::Ahead, AmxMapping::Decompress::Interleaved}) {
        for (const auto post : {AmxMapping::Post::Fused, AmxMapping::Post::Interleaved}) {
            AmxMapping mapping;
            mapping.decompress = decompress;
            mapping.post = post;
            mapping.prefetch_next = true;
            expect_product(nibbles(29, 330, 70, DataType::F32), mapping);
            expect_product(nibbles(32, 130, 137, DataType::Int8), mapping);
            mapping.threads = 3;
            mapping.partition = AmxMapping::Partition::N;
            mapping.b_signed = false;
            expect_product(nibbles(29, 200, 160, DataType::Bf16), mapping);
        }
    }
    AmxMapping mapping;
    mapping.outer = AmxMapping::Outer::M;
    mapping.relu = false;
    expect_product(nibbles(70, 130, 90, DataType::F32), mapping);
}

TEST(AmxPreparation, Int8WeightsOfBf16HaveASignWhateverTheMappingSays) {
    AmxMapping mapping;
    mapping.b_signed = false;
    expect_product(narrow(29, 70, 40), mapping);
}

// Half the bytes, and for two lines one load, one shift, two masks and two stores.
TEST(AmxPreparation, TwoLinesOfInt4WeightsComeFromOne) {
    AmxMapping mapping;
    mapping.relu = false;
    const LoweredAmx lowered = lower(nibbles(32, 256, 64, DataType::F32), mapping);
    std::map<arch::amx::program::Opcode, std::int64_t> counts;
    for (arch::amx::program::InstructionStream stream(lowered.programs[0]); !stream.finished();
         stream.advance()) {
        ++counts[stream.current().instruction->opcode];
    }
    using arch::amx::program::Opcode;
    constexpr std::int64_t kLines = 256 * 64 / 64;
    EXPECT_EQ(counts[Opcode::Vpslld], kLines / 2);
    EXPECT_EQ(counts[Opcode::Vpandd], kLines);
    // Beside them a row of C in and out a post-operation, and a row of biases a tile across.
    EXPECT_EQ(counts[Opcode::Vmovups], kLines / 2 + 32 * 64 / 16 + 64 / 16);
    EXPECT_EQ(counts[Opcode::VmovupsStore], kLines + 32 * 64 / 16);
    EXPECT_EQ(lowered.nibbles - lowered.raw, 256 * 64 / 2);  // both on pages
}

// A pointer that moves evenly over values and masks: every line of the next columns' once.
TEST(AmxPreparation, SparseValuesAndMasksOfTheNextColumnsArePrefetched) {
    AmxMapping mapping;
    mapping.b_layout = AmxMapping::BLayout::Sparse;
    mapping.decompress = AmxMapping::Decompress::Interleaved;
    mapping.prefetch_next = true;
    mapping.density_percent = 40;
    const GemmProblem problem = gemm(32, 512, 256);
    const LoweredAmx lowered = lower(problem, mapping);
    std::map<std::int64_t, int> lines;
    for (arch::amx::program::InstructionStream stream(lowered.programs[0]); !stream.finished();
         stream.advance()) {
        if (stream.current().instruction->opcode == arch::amx::program::Opcode::Prefetcht2) {
            ++lines[stream.current().address / 64];
        }
    }
    const std::int64_t values = lowered.lines.starts.back() - lowered.raw;
    const std::int64_t tile = arch::base::ceil_div(values, std::int64_t{8 * 16});
    for (std::int64_t at = lowered.raw + 2 * 8 * tile; at < lowered.lines.starts.back(); at += 64) {
        EXPECT_EQ(lines.count(at / 64), 1U) << at;
    }
    for (std::int64_t at = 2 * 8 * 128; at < 8 * 16 * 128; at += 64) {
        EXPECT_GE(lines[(lowered.masks + at) / 64], 1) << at;  // the values' pointer runs on
    }
    expect_product(problem, mapping);
    mapping.threads = 2;
    mapping.partition = AmxMapping::Partition::N;
    expect_product(problem, mapping);
}

TEST(AmxPreparation, SparseWeightsGiveTheProductDecompressedAmongProducts) {
    for (const auto order : {AmxMapping::Order::Interleaved, AmxMapping::Order::Switched}) {
        AmxMapping mapping;
        mapping.b_layout = AmxMapping::BLayout::Sparse;
        mapping.decompress = AmxMapping::Decompress::Interleaved;
        mapping.order = order;
        mapping.nc = 96;
        for (const std::int64_t steps : {1, 2, 3, 9}) {
            mapping.decompress_steps = steps;
            expect_product(gemm(32, 330, 217), mapping);  // six k tiles: a ring of two, three, six
            expect_product(gemm(32, 520, 217), mapping);  // nine: of three, three, four
            expect_product(gemm(32, 450, 30), mapping);   // seven: of two, three, six
        }
    }
}

// Of 2 x 2 accumulators: eight of a k step's 32 lines behind each product of the step before, no
// product and no load more than without.
TEST(AmxPreparation, DecompressionStandsAmongTheProductsOfTheStepBefore) {
    AmxMapping mapping;
    const GemmProblem problem = narrow(32, 256, 256);
    const LoweredAmx ahead = lower(problem, mapping);
    mapping.decompress = AmxMapping::Decompress::Interleaved;
    mapping.decompress_steps = 1;
    const LoweredAmx among = lower(problem, mapping);
    constexpr std::int64_t kStores = 256 / 32 * 256;  // of panels: a line for 32 elements
    std::int64_t longest = 0;
    std::int64_t stores = 0;
    std::int64_t all = 0;
    bool begun = false;
    for (arch::amx::program::InstructionStream stream(among.programs[0]); !stream.finished();
         stream.advance()) {
        const auto opcode = stream.current().instruction->opcode;
        begun = begun || arch::amx::program::is_dot(opcode);
        if (arch::amx::program::is_dot(opcode)) {
            stores = 0;
        } else if (opcode == arch::amx::program::Opcode::VmovupsStore) {
            ++all;
            longest = begun ? std::max(longest, ++stores) : longest;
        }
    }
    EXPECT_EQ(all, kStores);
    EXPECT_EQ(longest, 8);  // two tiles of 16 lines behind four products
    mapping.decompress_steps = 2;
    EXPECT_EQ(lower(problem, mapping).warm.front().bytes, 4 * 2 * 1024);  // of eight, four do
    const Outcome slow = run(ahead, nullptr);
    const Outcome fast = run(among, nullptr);
    EXPECT_EQ(fast.counters.dots, slow.counters.dots);
    EXPECT_EQ(fast.counters.tile_loads, slow.counters.tile_loads);
    EXPECT_LT(fast.cycles * 4, slow.cycles * 3);
    EXPECT_EQ(among.warm.front().bytes, 2 * 2 * 1024);  // the ring: two k steps of two tiles
}

// Not the first steps of what follows, too: the next cache block and the narrow last tile begin
// with them.
TEST(AmxPreparation, ALineIsDecompressedOnceAmongProducts) {
    AmxMapping mapping;
    mapping.decompress = AmxMapping::Decompress::Interleaved;
    const auto stores = [&](std::int64_t n) {
        std::int64_t count = 0;
        const LoweredAmx lowered = lower(narrow(32, 256, n), mapping);
        for (arch::amx::program::InstructionStream stream(lowered.programs[0]); !stream.finished();
             stream.advance()) {
            const auto opcode = stream.current().instruction->opcode;
            count += opcode == arch::amx::program::Opcode::VmovupsStore ? 1 : 0;
        }
        return count;
    };
    constexpr std::int64_t kLinesOfColumn = 256 / 32 * 16;  // of tiles
    EXPECT_EQ(stores(7 * 16), 7 * kLinesOfColumn);
    mapping.nc = 64;
    EXPECT_EQ(stores(7 * 16), 7 * kLinesOfColumn);
    mapping.nc = 0;
    mapping.remainder = AmxMapping::Remainder::Smaller;
    EXPECT_EQ(stores(7 * 16 + 3), 8 * kLinesOfColumn);
}

// One more or one less k tile is about as much more or less work, be they prime in number.
TEST(AmxPreparation, ARingStaysSmallWhateverTheNumberOfKTilesIs) {
    AmxMapping mapping;
    mapping.decompress = AmxMapping::Decompress::Interleaved;
    constexpr std::int64_t kSlot = 2 * 1024;  // two tiles
    const auto ring = [&mapping](std::int64_t k_tiles) {
        return lower(narrow(32, 32 * k_tiles, 128), mapping).warm.front().bytes / kSlot;
    };
    EXPECT_EQ(ring(30), 2);
    EXPECT_EQ(ring(31), 3);  // the last turn is of three
    const auto cycles = [&mapping](std::int64_t k_tiles) {
        return run(lower(narrow(32, 32 * k_tiles, 128), mapping), nullptr).cycles;
    };
    EXPECT_LT(cycles(30), cycles(31));
    EXPECT_LT(cycles(31), cycles(32));
    mapping.decompress_steps = 3;
    EXPECT_EQ(ring(30), 5);
    EXPECT_EQ(ring(31), 6);  // five turns of five, and one of six
    EXPECT_EQ(ring(4), 4);
}

TEST(AmxPreparation, SaysWhyCompressedWeightsCannotRun) {
    const auto problems = [](const GemmProblem& problem, const auto& change) {
        AmxMapping mapping;
        change(mapping);
        return problems_of(problem, mapping, 56).size();
    };
    const auto interleaved = [](AmxMapping& map) {
        map.decompress = AmxMapping::Decompress::Interleaved;
    };
    EXPECT_EQ(problems(narrow(32, 64, 64), interleaved), 0U);
    EXPECT_EQ(problems(narrow(33, 64, 64), interleaved), 1U);  // more rows than a block has
    EXPECT_EQ(problems(narrow(32, 32, 64), interleaved), 1U);  // a single k tile
    EXPECT_EQ(problems(gemm(32, 128, 64), interleaved), 1U);   // nothing is compressed
    EXPECT_EQ(problems(narrow(32, 64, 64),
                       [](AmxMapping& map) { map.b_layout = AmxMapping::BLayout::Vnni; }),
              1U);
    EXPECT_EQ(problems(narrow(32, 64, 64),
                       [](AmxMapping& map) {
                           map.decompress = AmxMapping::Decompress::Interleaved;
                           map.outer = AmxMapping::Outer::M;
                       }),
              1U);
    EXPECT_EQ(problems(gemm(32, 64, 64),
                       [](AmxMapping& map) {
                           map.prefetch_next = true;
                           map.b_layout = AmxMapping::BLayout::Vnni;
                       }),
              1U);
    EXPECT_EQ(problems(gemm(32, 64, 64, DataType::F32, DataType::F32),
                       [](AmxMapping& map) { map.prefetch_next = true; }),
              1U);
    EXPECT_EQ(problems(nibbles(32, 128, 64, DataType::F32), interleaved), 0U);
    EXPECT_EQ(problems(nibbles(32, 128, 64, DataType::Int32), interleaved), 1U);  // 16 times C
    EXPECT_EQ(problems(nibbles(32, 128, 64, DataType::F32),
                       [](AmxMapping& map) { map.b_layout = AmxMapping::BLayout::Sparse; }),
              1U);
}

}  // namespace
}  // namespace tilesim::workloads::amx::tiles
