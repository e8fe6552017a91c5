#include "workloads/amx/tiles/amx_registers.hpp"

#include <gtest/gtest.h>

namespace tilesim::workloads::amx::tiles {
namespace {

AmxMapping mapping(AmxMapping::Order order, std::int64_t m_acc, std::int64_t n_acc) {
    AmxMapping map;
    map.order = order;
    map.m_acc = m_acc;
    map.n_acc = n_acc;
    map.remainder = AmxMapping::Remainder::Smaller;
    return map;
}

// Four of C, one or two of A, B in those behind.
TEST(AmxRegisters, StandInTheOrderCAB) {
    const AmxMapping switched = mapping(AmxMapping::Order::Switched, 2, 2);
    const TileRegisters one(switched, 64, 64);
    EXPECT_EQ(one.c(1, 1), 3);
    EXPECT_EQ(one.a(0), 4);
    EXPECT_EQ(one.a(1), 4);
    EXPECT_EQ(one.b(0), 5);
    EXPECT_EQ(one.b(1), 6);
    const AmxMapping preloaded = mapping(AmxMapping::Order::Preloaded, 2, 2);
    const TileRegisters two(preloaded, 64, 64);
    EXPECT_EQ(two.a(1), 5);
    EXPECT_EQ(two.b(0), 6);
}

// 2 x 1 accumulators of int32, A and B: four registers; a last block of 5 rows has room beside
// them, one of 7 columns needs another configuration, for its 5 rows as well.
TEST(AmxRegisters, ALastBlockOfFewRowsHasItsOwnWhereSomeAreLeft) {
    const AmxMapping map = mapping(AmxMapping::Order::Switched, 2, 1);
    TileRegisters registers(map, 32 + 5, 16 + 7);
    const TileRegisters::Shapes most = registers.shapes();
    EXPECT_EQ(most[0].rows, 16);
    EXPECT_EQ(most[0].row_bytes, 64);
    EXPECT_EQ(most[4].rows, 5);
    EXPECT_EQ(most[5].rows, 5);
    EXPECT_FALSE(registers.use(16, 16));
    EXPECT_EQ(registers.c(1, 0), 1);
    EXPECT_FALSE(registers.use(5, 16));
    EXPECT_EQ(registers.c(0, 0), 4);
    EXPECT_EQ(registers.a(0), 5);
    EXPECT_TRUE(registers.use(16, 7));
    EXPECT_EQ(registers.shapes()[0].row_bytes, 7 * 4);
    EXPECT_EQ(registers.c(1, 0), 1);
    EXPECT_FALSE(registers.use(5, 7));
    EXPECT_EQ(registers.shapes()[4].rows, 5);
    EXPECT_EQ(registers.shapes()[4].row_bytes, 7 * 4);
    EXPECT_EQ(registers.c(0, 0), 4);
    EXPECT_TRUE(registers.use_most());
    EXPECT_EQ(registers.shapes(), most);
}

}  // namespace
}  // namespace tilesim::workloads::amx::tiles
