#include "workloads/npu/object_fifo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilesim::workloads::npu {
namespace {

using namespace arch::npu::program;
using testing::ElementsAre;

arch::npu::DmaConfig dma(bool halves) {
    arch::npu::DmaConfig config;
    config.descriptors = 48;
    config.parity_bound_descriptors = halves;
    return config;
}

TEST(DescriptorIds, OfOddChannelsComeFromTheUpperHalfWhereTheDeviceBindsThem) {
    DescriptorIds bound(dma(true));
    EXPECT_EQ(bound.take(0, 3), 0);
    EXPECT_EQ(bound.take(1, 5), 24);
    EXPECT_EQ(bound.take(4, 2), 3);
    EXPECT_EQ(bound.take(3, 1), 29);
    EXPECT_EQ(bound.even(), 5);
    EXPECT_EQ(bound.odd(), 6);
    DescriptorIds free(dma(false));
    EXPECT_EQ(free.take(0, 3), 0);
    EXPECT_EQ(free.take(1, 5), 3);
    EXPECT_EQ(free.even(), 8);
    EXPECT_EQ(free.odd(), 0);
}

TEST(DescriptorIds, OfATileThatHasTooFewSaySo) {
    DescriptorIds bound(dma(true));
    bound.take(0, 24);
    bound.take(1, 24);
    EXPECT_EQ(bound.lack("a tile"), "");
    bound.take(1, 1);
    EXPECT_EQ(bound.lack("a tile"),
              "a tile needs 25 descriptors for its even or its odd channels, it has 24");
    DescriptorIds free(dma(false));
    free.take(0, 40);
    free.take(1, 8);
    EXPECT_EQ(free.lack("a tile"), "");
    free.take(1, 1);
    EXPECT_EQ(free.lack("a tile"), "a tile needs 49 descriptors, it has 48");
}

TEST(ObjectFifo, HasABufferAtEachPlaceAndAsManyFreeOnes) {
    Program program;
    program.locks.push_back({"go", {2, 3}, 0, 0});
    const std::vector<std::int64_t> addresses{1024, 4096, 8192};
    const Fifo fifo = add_fifo(program, "a", places_at({2, 3}, addresses), 96);
    EXPECT_THAT(fifo.buffers, ElementsAre(0, 1, 2));
    EXPECT_EQ(program.buffers[1].name, "a_1");
    EXPECT_EQ(program.buffers[1].address, 4096);
    EXPECT_EQ(program.buffers[1].bytes, 96);
    const Lock& free = program.locks.at(static_cast<std::size_t>(fifo.locks.free));
    const Lock& full = program.locks.at(static_cast<std::size_t>(fifo.locks.full));
    EXPECT_EQ(free.initial, 3);
    EXPECT_EQ(full.initial, 0);
    EXPECT_EQ(free.id, 1);  // the tile has one already
    EXPECT_EQ(full.id, 2);
}

// Whoever fills waits for a free buffer and gives a full one; whoever empties the other way round.
TEST(ObjectFifo, FillingAndEmptyingTakeAndGiveOppositeLocks) {
    const Fifo fifo{{5, 7}, {2, 3}};
    const RingEntry filling = fifo.filling().at(1);
    EXPECT_EQ(filling.buffer, 7);
    EXPECT_EQ(filling.acquire.lock, 2);
    EXPECT_EQ(filling.acquire.value, -1);
    EXPECT_EQ(filling.release.lock, 3);
    EXPECT_EQ(filling.release.value, 1);
    const RingEntry emptying = fifo.emptying().at(1);
    EXPECT_EQ(emptying.acquire.lock, 3);
    EXPECT_EQ(emptying.release.lock, 2);
}

TEST(ObjectFifo, AChannelThatServesSeveralTakesTheirFirstBuffersFirst) {
    const Fifo one{{10, 11}, {0, 1}}, other{{20, 21}, {2, 3}};
    std::vector<std::int64_t> buffers;
    for (const RingEntry& entry : in_turn({one.filling(), other.filling()})) {
        buffers.push_back(entry.buffer);
    }
    EXPECT_THAT(buffers, ElementsAre(10, 20, 11, 21));
    EXPECT_TRUE(in_turn({}).empty());
}

TEST(TileRings, ARingsLastDescriptorIsFollowedByItsFirst) {
    TileRings rings({1, 2}, dma(true));
    const Fifo fifo{{5, 6, 7}, {0, 1}};
    rings.add_ring(Direction::S2MM, 1, shaped(40, {}), fifo.filling());
    const TileDma made = rings.take();
    ASSERT_EQ(made.descriptors.size(), 3U);
    for (std::int64_t i = 0; i < 3; ++i) {
        const BufferDescriptor& descriptor = made.descriptors[static_cast<std::size_t>(i)];
        EXPECT_EQ(descriptor.id, 24 + i);
        EXPECT_EQ(descriptor.next, 24 + (i + 1) % 3);
        EXPECT_EQ(descriptor.buffer, 5 + i);
        EXPECT_EQ(descriptor.length, 40);
    }
    ASSERT_EQ(made.starts.size(), 1U);
    EXPECT_EQ(made.starts[0].channel, 1);
    EXPECT_EQ(made.starts[0].task.descriptor, 24);
}

}  // namespace
}  // namespace tilesim::workloads::npu
