#include "arch/npu/control/register_map.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::npu::control {
namespace {

using program::Direction;
using program::TileKind;

TEST(RegisterMap, SplitsAddressesIntoTileAndOffset) {
    const RegisterAddress at = split(0x063A0604);
    EXPECT_EQ(at.tile, (program::TileCoordinate{3, 3}));
    EXPECT_EQ(at.offset, 0xA0604);
    EXPECT_EQ(join({3, 3}, 0xA0604), 0x063A0604U);
}

TEST(RegisterMap, FindsStartQueuesOfBothDirections) {
    const auto queue = queue_register(TileKind::Shim, 2, 0x1D21C);
    ASSERT_TRUE(queue.has_value());
    EXPECT_EQ(queue->direction, Direction::MM2S);
    EXPECT_EQ(queue->channel, 1);
    EXPECT_TRUE(queue->queue);
    EXPECT_FALSE(queue_register(TileKind::Shim, 2, 0x1D218)->queue);
    EXPECT_FALSE(queue_register(TileKind::Shim, 2, 0x1D220).has_value());
    EXPECT_EQ(queue_register(TileKind::Memory, 6, 0xA062C)->channel, 5);
    EXPECT_EQ(queue_register(TileKind::Memory, 6, 0xA0634)->direction, Direction::MM2S);
}

TEST(RegisterMap, FindsStatesAndLocks) {
    EXPECT_EQ(state_register(TileKind::Core, 2, 0x1DF14)->direction, Direction::MM2S);
    EXPECT_EQ(state_register(TileKind::Core, 2, 0x1DF14)->channel, 1);
    EXPECT_EQ(lock_register(TileKind::Core, 16, 0x1F0F0).value(), 15);
    EXPECT_FALSE(lock_register(TileKind::Core, 16, 0x1F0F4).has_value());
    EXPECT_FALSE(lock_register(TileKind::Core, 16, 0x1F100).has_value());
}

program::BufferDescriptor descriptor() {
    program::BufferDescriptor d;
    d.id = 3;
    d.length = 1024;
    d.dimensions = {{8, 1}, {16, 40}, {8, 640}};
    d.acquire = program::LockAction{5, -1};
    d.release = program::LockAction{6, 1};
    d.next = 7;
    d.packet = program::Packet{9, 2, 4};
    d.iteration = program::Iteration{4, 96};
    return d;
}

class RoundTrip : public testing::TestWithParam<TileKind> {};

TEST_P(RoundTrip, ADescriptorSaysTheSameAfterTheRegisters) {
    const std::int64_t address = GetParam() == TileKind::Shim ? 0x1'2345'6780 : 0x4560;
    const auto words = encode_descriptor(GetParam(), {descriptor(), address});
    const RegisterDescriptor decoded = decode_descriptor(GetParam(), 3, words);
    const program::BufferDescriptor expected = descriptor();
    const program::BufferDescriptor& got = decoded.descriptor;
    EXPECT_EQ(decoded.address, address);
    EXPECT_EQ(got.id, 3);
    EXPECT_EQ(got.length, expected.length);
    ASSERT_EQ(got.dimensions.size(), GetParam() == TileKind::Memory ? 4U : 3U);
    for (std::size_t i = 0; i < expected.dimensions.size(); ++i) {
        EXPECT_EQ(got.dimensions[i].size, expected.dimensions[i].size) << i;
        EXPECT_EQ(got.dimensions[i].stride, expected.dimensions[i].stride) << i;
    }
    EXPECT_EQ(got.acquire->lock, 5);
    EXPECT_EQ(got.acquire->value, -1);
    EXPECT_EQ(got.release->lock, 6);
    EXPECT_EQ(got.release->value, 1);
    EXPECT_EQ(got.next, 7);
    EXPECT_EQ(got.packet->id, 9);
    EXPECT_EQ(got.packet->type, 2);
    EXPECT_EQ(got.packet->descriptor, 4);
    EXPECT_EQ(got.iteration->size, 4);
    EXPECT_EQ(got.iteration->stride, 96);
}

INSTANTIATE_TEST_SUITE_P(RegisterMap, RoundTrip,
                         testing::Values(TileKind::Shim, TileKind::Memory, TileKind::Core));

TEST(RegisterMap, ATaskSaysTheSameAfterTheQueue) {
    const std::uint32_t word = encode_task({11, 256, true});
    EXPECT_EQ(word, 0x80FF000BU);
    const program::Task task = decode_task(TileKind::Memory, word);
    EXPECT_EQ(task.descriptor, 11);
    EXPECT_EQ(task.repeat, 256);
    EXPECT_TRUE(task.token);
}

}  // namespace
}  // namespace tilesim::arch::npu::control
