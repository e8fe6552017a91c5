#include "workloads/amx/tiles/whole_socket.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "workloads/amx/tiles/amx_run_testing.hpp"

namespace tilesim::workloads::amx::tiles {
namespace {

TEST(WholeSocket, ItTakesShortTilesForFewRows) {
    const auto remainder = [](std::int64_t m) {
        return whole_socket(gemm(m, 512, 256), 1, 2, socket_of(7)).remainder;
    };
    EXPECT_EQ(remainder(15), AmxMapping::Remainder::Smaller);
    EXPECT_EQ(remainder(16), AmxMapping::Remainder::Pad);
    EXPECT_EQ(remainder(17), AmxMapping::Remainder::Pad);
}

TEST(WholeSocket, ItsMappingFitsTheCachesAndItsWeights) {
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
    EXPECT_TRUE(mapping_of(gemm(512, 4096, 512)).prefetch_first);
    EXPECT_TRUE(mapping_of(gemm(512, 4096, 512)).a_packed);
    EXPECT_FALSE(mapping_of(gemm(15, 4096, 512)).prefetch_first);
    EXPECT_TRUE(mapping_of(gemm(16, 4096, 512)).prefetch_first);
    EXPECT_EQ(mapping_of(gemm(512, 4096, 512)).c_padding, 64);  // 33 lines of int32 a row
    EXPECT_EQ(mapping_of(gemm(512, 4096, 496)).c_padding, 0);   // 31
    EXPECT_EQ(mapping_of(gemm(512, 4096, 511)).c_padding, 64);  // of whole tiles, too
    EXPECT_FALSE(mapping_of(gemm(512, 4096, 512, DataType::F32, DataType::F32)).prefetch_next);
    EXPECT_EQ(mapping_of(narrow(32, 4096, 512)).decompress, AmxMapping::Decompress::Interleaved);
    EXPECT_EQ(mapping_of(narrow(33, 4096, 512)).decompress, AmxMapping::Decompress::Ahead);
    EXPECT_EQ(mapping_of(narrow(32, 32, 512)).decompress, AmxMapping::Decompress::Ahead);
}

// With two panels of 32 columns of B: 448 + 64 rows of 2 KiB are 1 MiB.
TEST(WholeSocket, ACoresRowsOfAStayInHalfOfTheL2) {
    const auto with_a_small_l1 = [](std::int64_t cores) {  // in which nothing stays anyhow
        arch::amx::AmxConfig socket = socket_of(cores);
        socket.caches.l1.size = arch::base::Bytes{4096};
        return socket;
    };
    const auto kc = [&](std::int64_t m, std::int64_t k, std::int64_t cores, DataType a,
                        DataType c) {
        return whole_socket(gemm(m, k, 512, a, c), 2, 2, with_a_small_l1(cores)).kc;
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
    EXPECT_EQ(int8(32, 4096, 1), 11 * 64);                                // one block of rows
    EXPECT_EQ(whole_socket(gemm(16, 4096, 512), 1, 1, with_a_small_l1(1)).kc, 1024);  // of a tile
    EXPECT_EQ(whole_socket(gemm(512, 4096, 32), 2, 2, with_a_small_l1(1)).kc,
              0);                                     // of columns: A is read once
    arch::amx::AmxConfig twice = with_a_small_l1(1);  // the L2: twice as deep
    twice.caches.l2.size = arch::base::Bytes{4 << 20};
    EXPECT_EQ(whole_socket(gemm(256, 16384, 512), 2, 2, twice).kc,
              2 * whole_socket(gemm(256, 16384, 512), 2, 2, with_a_small_l1(1)).kc);
}

// Four tiles ahead, however deep K is; a core's only block of rows two. A tile of f32 is three.
TEST(WholeSocket, AIsPrefetchedAboutAsFarAheadAsDramTakes) {
    const auto steps = [](const GemmProblem& problem) {
        const AmxMapping map = whole_socket(problem, 2, 2, socket_of(8));
        EXPECT_TRUE(map.prefetch_a_once);
        EXPECT_FALSE(map.prefetch_l1);
        return map.prefetch_a;
    };
    EXPECT_EQ(steps(gemm(512, 192, 512)), 4);
    EXPECT_EQ(steps(gemm(512, 26 * 64, 512)), 4);
    EXPECT_EQ(steps(gemm(32, 192, 512)), 2);
    EXPECT_EQ(steps(gemm(512, 192, 512, DataType::F32, DataType::F32)), 1);
    EXPECT_EQ(steps(narrow(512, 192, 512)), 4);
}

}  // namespace
}  // namespace tilesim::workloads::amx::tiles
