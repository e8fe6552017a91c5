#include "workloads/amx/tiles/amx_gemm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "arch/amx/core/tile_machine.hpp"
#include "arch/amx/program/instruction_stream.hpp"
#include "arch/amx/socket/socket.hpp"
#include "arch/memory/controller/memory_system.hpp"
#include "workloads/amx/tiles/amx_data.hpp"
#include "workloads/amx/tiles/amx_tuning.hpp"
#include "workloads/amx/tiles/mapping_problems.hpp"

namespace tilesim::workloads::amx::tiles {
namespace {

// With private caches as by default: 2 MiB of L2.
arch::amx::AmxConfig socket_of(std::int64_t cores) {
    arch::amx::AmxConfig socket;
    socket.cores = cores;
    return socket;
}

using arch::amx::AmxConfig;
using arch::amx::socket::Socket;

GemmProblem gemm(std::int64_t m, std::int64_t k, std::int64_t n, DataType in = DataType::Int8,
                 DataType out = DataType::Int32) {
    GemmProblem problem;
    problem.m = m;
    problem.k = k;
    problem.n = n;
    problem.a = problem.b = in;
    problem.c = out;
    return problem;
}

struct Outcome {
    std::int64_t cycles = 0;
    arch::amx::core::CoreCounters counters;  // of core 0
};

Outcome run(const LoweredAmx& lowered, arch::memory::port::BackingStore* store,
            const AmxConfig& config = {}) {
    arch::base::EventQueue queue;
    arch::base::stats::Group root("");
    arch::memory::controller::MemorySystem memory(
        arch::memory::device::MemoryConfig{}, arch::amx::socket::Uncore::memory_lookahead(config),
        queue, root);
    std::vector<std::unique_ptr<arch::amx::core::TileMachine>> machines;
    std::vector<arch::amx::core::InstructionObserver*> observers;
    for (const arch::amx::program::Program& program : lowered.programs) {
        if (store != nullptr) {
            machines.push_back(std::make_unique<arch::amx::core::TileMachine>(program, *store));
            observers.push_back(machines.back().get());
        }
    }
    Socket socket(config, lowered.programs, observers, memory, queue);
    for (const AmxRegion& region : lowered.warm) {
        socket.warm(static_cast<std::size_t>(region.thread), region.address, region.bytes,
                    arch::amx::caches::Level::L2, false);
    }
    socket.start();
    while (!socket.finished() && !queue.empty()) {
        queue.run_until(queue.next_time());
    }
    EXPECT_TRUE(socket.finished());
    EXPECT_EQ(socket.fault(), "");
    return {socket.finish_cycle(), socket.core(0).counters()};
}

// The product is right, and moving bytes changes no cycle.
void expect_product(const GemmProblem& problem, const AmxMapping& mapping) {
    ASSERT_EQ(problems_of(problem, mapping, 56), std::vector<std::string>{});
    const LoweredAmx lowered = lower(problem, mapping);
    arch::memory::port::BackingStore store;
    const AmxData data(problem, mapping, lowered, 7);
    data.fill(store);
    const std::int64_t cycles = run(lowered, &store).cycles;
    const ProductCheck check = data.check(store);
    EXPECT_TRUE(check.match) << check.first_mismatch;
    EXPECT_EQ(check.checked, problem.m * problem.n);
    EXPECT_EQ(cycles, run(lowered, nullptr).cycles);
}

AmxMapping mapping_with(AmxMapping::Order order) {
    AmxMapping mapping;
    mapping.order = order;
    return mapping;
}

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

TEST(AmxGemm, SparseLinesHoldWhatTheirMasksSayAtEveryDensity) {
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

TEST(AmxGemm, SparseLinesDifferInLengthAndAreReadNoFurther) {
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

GemmProblem narrow(std::int64_t m, std::int64_t k, std::int64_t n) {
    GemmProblem problem = gemm(m, k, n, DataType::Bf16, DataType::F32);
    problem.b = DataType::Int8;
    return problem;
}

TEST(AmxGemm, Int8WeightsOfBf16GiveTheProduct) {
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

TEST(AmxGemm, Int4WeightsOfInt8GiveTheProduct) {
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

// Half the bytes, and for two lines one load, one shift, two masks and two stores.
TEST(AmxGemm, TwoLinesOfInt4WeightsComeFromOne) {
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
TEST(AmxGemm, SparseValuesAndMasksOfTheNextColumnsArePrefetched) {
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

TEST(AmxGemm, SparseWeightsGiveTheProductDecompressedAmongProducts) {
    for (const auto order : {AmxMapping::Order::Interleaved, AmxMapping::Order::Switched}) {
        AmxMapping mapping;
        mapping.b_layout = AmxMapping::BLayout::Sparse;
        mapping.decompress = AmxMapping::Decompress::Interleaved;
        mapping.order = order;
        mapping.nc = 96;
        for (const std::int64_t steps : {1, 2, 3, 9}) {
            mapping.decompress_steps = steps;
            expect_product(gemm(32, 330, 217), mapping);  // six k tiles: a ring of two, three, six
            expect_product(gemm(32, 520, 217), mapping);  // nine: of three, or all
            expect_product(gemm(32, 450, 30), mapping);   // seven: of all
        }
    }
}

// Of 2 x 2 accumulators: eight of a k step's 32 lines behind each product of the step before, no
// product and no load more than without.
TEST(AmxGemm, DecompressionStandsAmongTheProductsOfTheStepBefore) {
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

// Each line of the next block of columns once, a share behind each product.
TEST(AmxGemm, PrefetchOfTheNextColumnsIsSpreadOverTheRowsOfBlocks) {
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
    EXPECT_EQ(lines.size(), 256U * 128 * 2 / 64);  // as many lines as B has, a block further on
    EXPECT_EQ(lines.begin()->first, (lowered.b + 2 * 8 * 1024) / 64);
    EXPECT_EQ(lines.begin()->second, 1);
    EXPECT_EQ(most, 1);  // 2 x 2 lines a step of four products
    expect_product(problem, mapping);
}

// In front of everything each line of the first two columns of tiles, all k, and no line twice.
TEST(AmxGemm, PrefetchOfTheFirstColumnsStandsInFront) {
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

TEST(AmxGemm, AWholeSocketTakesShortTilesForFewRows) {
    constexpr std::int64_t kCores = 7;
    const auto remainder = [](std::int64_t m) {
        return whole_socket(gemm(m, 512, 256), 1, 2, socket_of(kCores)).remainder;
    };
    EXPECT_EQ(remainder(15), AmxMapping::Remainder::Smaller);
    EXPECT_EQ(remainder(16), AmxMapping::Remainder::Pad);
    EXPECT_EQ(remainder(17), AmxMapping::Remainder::Pad);
}

TEST(AmxGemm, AWholeSocketsMappingFitsTheCachesAndItsWeights) {
    const auto mapping_of = [](const GemmProblem& problem) {
        const AmxMapping mapping = whole_socket(problem, 2, 2, socket_of(56));
        EXPECT_EQ(problems_of(problem, mapping, 56), std::vector<std::string>{});
        return mapping;
    };
    using Order = AmxMapping::Order;
    EXPECT_EQ(mapping_of(gemm(512, 4096, 512)).order, Order::Switched);
    EXPECT_EQ(whole_socket(gemm(512, 4096, 512), 1, 4, socket_of(56)).order,
              Order::Interleaved);  // nine tiles
    EXPECT_EQ(mapping_of(narrow(64, 4096, 512)).order, Order::Interleaved);
    EXPECT_TRUE(mapping_of(gemm(512, 4096, 512)).prefetch_next);
    EXPECT_TRUE(mapping_of(gemm(512, 4096, 512)).a_packed);
    EXPECT_EQ(mapping_of(gemm(512, 4096, 512)).c_padding, 64);  // 33 lines of int32 a row
    EXPECT_EQ(mapping_of(gemm(512, 4096, 496)).c_padding, 0);   // 31
    EXPECT_EQ(mapping_of(gemm(512, 4096, 511)).c_padding, 64);  // of whole tiles, too
    EXPECT_FALSE(mapping_of(gemm(512, 4096, 512, DataType::F32, DataType::F32)).prefetch_next);
    EXPECT_EQ(mapping_of(narrow(32, 4096, 512)).decompress, AmxMapping::Decompress::Interleaved);
    EXPECT_EQ(mapping_of(narrow(33, 4096, 512)).decompress, AmxMapping::Decompress::Ahead);
    EXPECT_EQ(mapping_of(narrow(32, 32, 512)).decompress, AmxMapping::Decompress::Ahead);
}

// With two panels of 32 columns of B: 448 + 64 rows of 2 KiB are 1 MiB.
TEST(AmxGemm, ACoresRowsOfAStayInHalfOfTheL2) {
    const auto kc = [](std::int64_t m, std::int64_t k, std::int64_t cores, DataType a, DataType c) {
        return whole_socket(gemm(m, k, 512, a, c), 2, 2, socket_of(cores)).kc;
    };
    const auto int8 = [&](std::int64_t m, std::int64_t k, std::int64_t cores) {
        return kc(m, k, cores, DataType::Int8, DataType::Int32);
    };
    EXPECT_EQ(int8(512, 4096, 56), 0);  // 64 rows a core
    EXPECT_EQ(int8(448, 2048, 1), 0);
    EXPECT_EQ(int8(448, 2048 + 64, 1), 17 * 64);  // two parts of 33 tiles
    EXPECT_EQ(int8(512, 4096, 1), 22 * 64);       // three of 64: 28 tiles at most
    EXPECT_EQ(kc(512, 4096, 1, DataType::Bf16, DataType::F32), 26 * 32);  // five of 128
    EXPECT_EQ(int8(8192, 4096, 1), 1024);                                 // no less
    EXPECT_EQ(int8(32, 4096, 1), 1024);                                   // one block of rows
    EXPECT_EQ(whole_socket(gemm(512, 4096, 32), 2, 2, socket_of(1)).kc,
              0);                               // of columns: A is read once
    arch::amx::AmxConfig twice = socket_of(1);  // the L2: twice as deep
    twice.caches.l2.size = arch::base::Bytes{4 << 20};
    EXPECT_EQ(whole_socket(gemm(256, 16384, 512), 2, 2, twice).kc,
              2 * whole_socket(gemm(256, 16384, 512), 2, 2, socket_of(1)).kc);
}

TEST(AmxGemm, SaysWhyCompressedWeightsCannotRun) {
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

TEST(AmxGemm, EveryPartitionGivesTheProduct) {
    for (const auto partition : {AmxMapping::Partition::M, AmxMapping::Partition::N,
                                 AmxMapping::Partition::K, AmxMapping::Partition::MN}) {
        AmxMapping mapping;
        mapping.threads = 3;
        mapping.partition = partition;
        expect_product(gemm(101, 270, 89), mapping);
        expect_product(gemm(101, 270, 89, DataType::Bf16, DataType::F32), mapping);
    }
}

// Cycles a k tile: results / 12, 8 a row of A, 3 a column of B. 16 x 16 blocks of 32 x 32 on 31
// threads: of 10 x 3 each has 2 x 6 blocks (1024 + 512 + 576), of 7 x 4 it has 3 x 4 (1024 + 768 +
// 384), of 31 x 1 1 x 16 (1365 + 256 + 1536). 32 x 16 blocks on 21: of 7 x 3 each has 5 x 6 (4416),
// of 5 x 4 7 x 4 (4565), of 10 x 2 4 x 8 (4522).
TEST(AmxGemm, AGridLeavesThreadsIdleWhereOthersTakeLess) {
    const GemmProblem problem = gemm(512, 64, 512);
    AmxMapping mapping;
    mapping.partition = AmxMapping::Partition::MN;
    mapping.threads = 31;
    EXPECT_EQ(shares_of_n(problem, mapping), 3);
    const LoweredAmx lowered = lower(problem, mapping);
    EXPECT_FALSE(lowered.programs[29].statements.empty());
    EXPECT_TRUE(lowered.programs[30].statements.empty());
    mapping.threads = 21;
    EXPECT_EQ(shares_of_n(gemm(1024, 64, 512), mapping), 3);
}

// 16 x 16 blocks on 4 threads: 4 x 1 has 4 x 16 blocks, 2 x 2 8 x 8: as many, which take fewer rows
// and columns, but more rows of A. 64 x 64 blocks on 56: 11 x 5 has 6 x 13, 8 x 7 8 x 10.
TEST(AmxGemm, AGridSparesRowsOfARatherThanColumnsOfB) {
    AmxMapping mapping;
    mapping.partition = AmxMapping::Partition::MN;
    mapping.threads = 4;
    EXPECT_EQ(shares_of_n(gemm(512, 64, 512), mapping), 1);
    mapping.threads = 56;
    EXPECT_EQ(shares_of_n(gemm(2048, 64, 2048), mapping), 5);
}

// Rows of A are asked for with the first of two blocks of columns: 4 x 2 tiles of 16 lines.
TEST(AmxGemm, AIsPrefetchedWithTheFirstBlockOfColumnsOnly) {
    const auto prefetches = [](bool once) {
        const auto instructions = [once](std::int64_t distance) {
            AmxMapping mapping;
            mapping.prefetch_a = distance;
            mapping.prefetch_a_once = once;
            return run(lower(gemm(64, 128, 64), mapping), nullptr).counters.instructions;
        };
        return instructions(2) - instructions(0);
    };
    constexpr std::int64_t kLines = 4 * 2 * 16;
    EXPECT_EQ(prefetches(true), kLines);
    EXPECT_EQ(prefetches(false), 2 * kLines);
}

TEST(AmxGemm, PrefetchingAOnceGivesTheProduct) {
    AmxMapping mapping;
    mapping.prefetch_a = 3;
    mapping.prefetch_a_once = true;
    expect_product(gemm(101, 270, 89), mapping);
    mapping.remainder = AmxMapping::Remainder::Smaller;
    mapping.nc = 32;
    mapping.kc = 128;
    expect_product(gemm(101, 270, 21), mapping);
    expect_product(gemm(101, 270, 7), mapping);
}

TEST(AmxGemm, GridsWithIdleThreadsGiveTheProduct) {
    AmxMapping mapping;
    mapping.partition = AmxMapping::Partition::MN;
    mapping.threads = 5;
    mapping.threads_n = 2;
    expect_product(gemm(101, 270, 89), mapping);
}

TEST(AmxGemm, ThreeBf16PartsEmulateF32) {
    for (const auto order : {AmxMapping::Order::Reference, AmxMapping::Order::KInnermost}) {
        const LoweredAmx lowered =
            lower(gemm(32, 64, 32, DataType::F32, DataType::F32), mapping_with(order));
        EXPECT_EQ(run(lowered, nullptr).counters.dots, 4 * 2 * 6);  // six of nine products
    }
}

TEST(AmxGemm, OrdersDifferInTheLoadsTheyNeed) {
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

TEST(AmxGemm, ConvolutionsGiveTheProduct) {
    ConvolutionProblem conv;
    conv.height = 5;
    conv.width = 19;
    conv.channels = 70;
    conv.filters = 37;
    conv.kh = 3;
    conv.kw = 2;
    const auto run_with = [&conv](std::int64_t threads, AmxMapping::Partition partition) {
        AmxMapping mapping;
        mapping.threads = threads;
        mapping.partition = partition;
        const LoweredAmx lowered = lower(conv, mapping);
        arch::memory::port::BackingStore store;
        const AmxData data(conv, mapping, lowered, 11);
        data.fill(store);
        const std::int64_t cycles = run(lowered, &store).cycles;
        const ProductCheck check = data.check(store);
        EXPECT_TRUE(check.match) << check.first_mismatch;
        return cycles;
    };
    for (const std::int64_t stride : {1, 2}) {
        conv.stride = stride;
        const std::int64_t alone = run_with(1, AmxMapping::Partition::M);
        // Output rows are shared out: five over three threads, over more than there are rows.
        EXPECT_LT(run_with(3, AmxMapping::Partition::M), alone * 2 / 3);
        EXPECT_LT(run_with(8, AmxMapping::Partition::M), alone / 3);
        EXPECT_LT(run_with(2, AmxMapping::Partition::N), alone);
    }
}

ConvolutionProblem convolution(std::int64_t height, std::int64_t width, std::int64_t kh,
                               std::int64_t kw) {
    ConvolutionProblem conv;
    conv.height = height;
    conv.width = width;
    conv.kh = kh;
    conv.kw = kw;
    conv.channels = 70;
    conv.filters = 37;
    return conv;
}

TEST(AmxGemm, JoinedRowsOfAConvolutionGiveTheProduct) {
    for (const ConvolutionProblem& conv :
         {convolution(7, 7, 3, 3), convolution(5, 3, 2, 5), convolution(6, 9, 1, 1)}) {
        for (const auto partition : {AmxMapping::Partition::M, AmxMapping::Partition::MN}) {
            for (const DataType c : {DataType::Int32, DataType::Int8}) {
                ConvolutionProblem problem = conv;
                problem.c = c;
                AmxMapping mapping;
                mapping.output_rows = AmxMapping::OutputRows::Joined;
                mapping.partition = partition;
                mapping.threads = 3;
                mapping.prefetch_next = true;
                const LoweredAmx lowered = lower(problem, mapping);
                arch::memory::port::BackingStore store;
                const AmxData data(problem, mapping, lowered, 11);
                data.fill(store);
                run(lowered, &store);
                const ProductCheck check = data.check(store);
                EXPECT_TRUE(check.match) << check.first_mismatch;
            }
        }
    }
}

TEST(AmxGemm, TilesOfJoinedRowsRunOverTheirEnds) {
    // 7 rows of 7 positions, 2 more between them that a filter of 3 reaches: 6 x 9 + 7 = 61, four
    // tiles; apart seven. 9 taps, 2 k tiles, 3 tiles of filters.
    const ConvolutionProblem conv = convolution(7, 7, 3, 3);
    const auto rows = [&conv](AmxMapping::OutputRows output_rows) {
        AmxMapping mapping;
        mapping.output_rows = output_rows;
        return run(lower(conv, mapping), nullptr).counters.dot_rows;
    };
    constexpr std::int64_t kEach = 9 * 2 * 3 * 16;
    EXPECT_EQ(rows(AmxMapping::OutputRows::Joined), 4 * kEach);
    EXPECT_EQ(rows(AmxMapping::OutputRows::Apart), 7 * kEach);
}

TEST(AmxGemm, AWholeSocketJoinsOutputRowsWhereThatMakesFewerTiles) {
    const auto of = [](std::int64_t height, std::int64_t width, std::int64_t kw,
                       std::int64_t stride) {
        ConvolutionProblem conv = convolution(height, width, 1, kw);
        conv.stride = stride;
        return whole_socket(conv, 2, 2, 56);
    };
    using Rows = AmxMapping::OutputRows;
    EXPECT_EQ(of(4, 7, 3, 1).output_rows, Rows::Joined);  // 3 x 9 + 7 = 34: three tiles for four
    EXPECT_EQ(of(4, 7, 3, 2).output_rows, Rows::Apart);
    EXPECT_EQ(of(9, 16, 5, 1).output_rows, Rows::Apart);  // 8 x 20 + 16 = 176: eleven for nine
    EXPECT_EQ(of(7, 7, 3, 1).threads, 2 * 2);             // blocks of 32 of 61 rows, 37 filters
    EXPECT_EQ(of(7, 7, 3, 2).threads, 7 * 2);
}

TEST(AmxGemm, ThreeTilesOfColumnsAreOneBlockWhereRowsAreMany) {
    const auto of = [](std::int64_t m, std::int64_t n) {
        return whole_socket(gemm(m, 64, n), socket_of(8));
    };
    EXPECT_EQ(of(400, 48).n_acc, 3);
    EXPECT_EQ(of(384, 48).n_acc, 2);  // 48 rows a core: no more than columns
    EXPECT_EQ(of(4000, 64).n_acc, 4);
    EXPECT_EQ(of(4000, 65).n_acc, 2);
    EXPECT_EQ(of(4000, 32).n_acc, 2);
}

// 3 k tiles: a block of rows, of 2 x 3 tiles of A, ahead; of 26, 104 products, eight steps.
TEST(AmxGemm, AIsPrefetchedABlockOfRowsAheadWhereThatIsNear) {
    const auto of = [](std::int64_t k) {
        return whole_socket(gemm(512, k, 512), 2, 2, socket_of(8));
    };
    EXPECT_EQ(of(192).prefetch_a, 6);
    EXPECT_EQ(of(25 * 64).prefetch_a, 50);
    EXPECT_EQ(of(26 * 64).prefetch_a, 8);
    EXPECT_TRUE(of(192).prefetch_a_once);
    EXPECT_EQ(whole_socket(gemm(32, 192, 512), 2, 2, socket_of(8)).prefetch_a,
              0);  // no block is ahead
}

TEST(AmxGemm, MoreOfAResourceIsNeverSlower) {
    const LoweredAmx lowered = lower(gemm(128, 256, 128), AmxMapping{});
    const std::int64_t cycles = run(lowered, nullptr).cycles;
    AmxConfig more;
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
