#include "arch/npu/control/register_map.hpp"

#include <gtest/gtest.h>

#include <cstdint>

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
    const auto state = state_register(TileKind::Core, 2, 0x1DF14);
    EXPECT_EQ(state->direction, Direction::MM2S);
    EXPECT_EQ(state->first, 1);
    EXPECT_EQ(state->channels, 1);
    EXPECT_EQ(lock_register(TileKind::Core, 16, 0x1F0F0).value(), 15);
    EXPECT_FALSE(lock_register(TileKind::Core, 16, 0x1F0F4).has_value());
    EXPECT_FALSE(lock_register(TileKind::Core, 16, 0x1F100).has_value());
}

// The first generation. Offsets and bits: Xilinx/aie-rt, xaiegbl_params.h.
constexpr Generation kFirst = Generation::First;

TEST(FirstRegisterMap, SplitsAddressesIntoTileAndOffset) {
    EXPECT_EQ(join({6, 3}, 0x1DE04, kFirst), 6U << 23 | 3U << 18 | 0x1DE04U);
    const RegisterAddress at = split(0x030D'DE04, kFirst);
    EXPECT_EQ(at.tile, (program::TileCoordinate{6, 3}));
    EXPECT_EQ(at.offset, 0x1DE04);
    EXPECT_EQ(split(join({49, 8}, 0x3FFFC, kFirst), kFirst).tile, (program::TileCoordinate{49, 8}));
}

TEST(FirstRegisterMap, FindsDescriptors) {
    // Core: seven words, 0x20 apart. Shim: five, 0x14 apart.
    EXPECT_EQ(descriptor_offset(TileKind::Core, 15, kFirst), 0x1D1E0);
    EXPECT_EQ(descriptor_offset(TileKind::Shim, 15, kFirst), 0x1D12C);
    const auto core = descriptor_word(TileKind::Core, 16, 0x1D1F8, kFirst);
    EXPECT_EQ(core->id, 15);
    EXPECT_EQ(core->word, 6U);
    EXPECT_FALSE(descriptor_word(TileKind::Core, 16, 0x1D200, kFirst));
    const auto shim = descriptor_word(TileKind::Shim, 16, 0x1D13C, kFirst);
    EXPECT_EQ(shim->id, 15);
    EXPECT_EQ(shim->word, 4U);
    EXPECT_FALSE(descriptor_word(TileKind::Shim, 16, 0x1D140, kFirst));
    EXPECT_FALSE(descriptor_word(TileKind::Shim, 16, 0x1CFFC, kFirst));
}

TEST(FirstRegisterMap, FindsControlsAndStartQueues) {
    struct Case {
        TileKind kind;
        std::int64_t offset;
        ChannelRegister expected;
    };
    for (const Case& each : {Case{TileKind::Core, 0x1DE00, {Direction::S2MM, 0, false}},
                             Case{TileKind::Core, 0x1DE0C, {Direction::S2MM, 1, true}},
                             Case{TileKind::Core, 0x1DE14, {Direction::MM2S, 0, true}},
                             Case{TileKind::Core, 0x1DE18, {Direction::MM2S, 1, false}},
                             Case{TileKind::Shim, 0x1D140, {Direction::S2MM, 0, false}},
                             Case{TileKind::Shim, 0x1D14C, {Direction::S2MM, 1, true}},
                             Case{TileKind::Shim, 0x1D154, {Direction::MM2S, 0, true}},
                             Case{TileKind::Shim, 0x1D158, {Direction::MM2S, 1, false}}}) {
        const auto found = queue_register(each.kind, 2, each.offset, kFirst);
        ASSERT_TRUE(found.has_value()) << std::hex << each.offset;
        EXPECT_EQ(found->direction, each.expected.direction) << std::hex << each.offset;
        EXPECT_EQ(found->channel, each.expected.channel) << std::hex << each.offset;
        EXPECT_EQ(found->queue, each.expected.queue) << std::hex << each.offset;
        EXPECT_EQ(queue_offset(each.kind, each.expected, kFirst), each.offset);
    }
    EXPECT_FALSE(queue_register(TileKind::Core, 2, 0x1DE20, kFirst));
    EXPECT_FALSE(queue_register(TileKind::Shim, 2, 0x1D160, kFirst));
}

// Bit 0 enables a channel, bit 1 resets it; a shim's cannot be reset, bits 1 and 2 pause it.
TEST(FirstRegisterMap, SaysWhichBitsEnableAndReset) {
    EXPECT_EQ(register_map_of(TileKind::Core, kFirst).enable, 0);
    EXPECT_EQ(register_map_of(TileKind::Core, kFirst).reset, 1);
    EXPECT_EQ(register_map_of(TileKind::Shim, kFirst).enable, 0);
    EXPECT_EQ(register_map_of(TileKind::Shim, kFirst).reset, -1);
    EXPECT_EQ(register_map_of(TileKind::Shim, kFirst).pauses, 1U << 1 | 1U << 2);
    EXPECT_EQ(register_map_of(TileKind::Core, kFirst).pauses, 0U);
    EXPECT_EQ(register_map_of(TileKind::Core).enable, -1);
    EXPECT_EQ(register_map_of(TileKind::Core).reset, 1);
    EXPECT_EQ(register_map_of(TileKind::Shim).reset, -1);
    EXPECT_EQ(register_map_of(TileKind::Shim).pauses, 1U << 1 | 1U << 2);
}

TEST(FirstRegisterMap, HasOneWordForTheStatesOfBothChannels) {
    struct Case {
        TileKind kind;
        std::int64_t offset;
        Direction direction;
    };
    for (const Case& each : {Case{TileKind::Core, 0x1DF00, Direction::S2MM},
                             Case{TileKind::Core, 0x1DF10, Direction::MM2S},
                             Case{TileKind::Shim, 0x1D160, Direction::S2MM},
                             Case{TileKind::Shim, 0x1D164, Direction::MM2S}}) {
        const auto found = state_register(each.kind, 2, each.offset, kFirst);
        ASSERT_TRUE(found.has_value()) << std::hex << each.offset;
        EXPECT_EQ(found->direction, each.direction);
        EXPECT_EQ(found->first, 0);
        EXPECT_EQ(found->channels, 2);
    }
    EXPECT_FALSE(state_register(TileKind::Core, 2, 0x1DF04, kFirst));
    EXPECT_FALSE(state_register(TileKind::Shim, 2, 0x1D168, kFirst));
}

TEST(FirstRegisterMap, FindsLockRequests) {
    struct Case {
        TileKind kind;
        std::int64_t offset;
        LockRequest expected;
    };
    for (const Case& each :
         {Case{TileKind::Core, 0x1E000, {0, false, {}}},
          Case{TileKind::Core, 0x1E020, {0, false, 0}},
          Case{TileKind::Core, 0x1E030, {0, false, 1}},
          Case{TileKind::Core, 0x1E0C0, {1, true, {}}}, Case{TileKind::Core, 0x1E0E0, {1, true, 0}},
          Case{TileKind::Core, 0x1E7F0, {15, true, 1}},
          Case{TileKind::Shim, 0x147A0, {15, false, 0}},
          Case{TileKind::Shim, 0x14070, {0, true, 1}}}) {
        const auto found = lock_request(each.kind, 16, each.offset, kFirst);
        ASSERT_TRUE(found.has_value()) << std::hex << each.offset;
        EXPECT_EQ(found->lock, each.expected.lock) << std::hex << each.offset;
        EXPECT_EQ(found->acquire, each.expected.acquire) << std::hex << each.offset;
        EXPECT_EQ(found->value, each.expected.value) << std::hex << each.offset;
        EXPECT_EQ(request_offset(each.kind, each.expected), each.offset);
    }
    EXPECT_FALSE(lock_request(TileKind::Core, 16, 0x1E800, kFirst));
    EXPECT_FALSE(lock_request(TileKind::Core, 16, 0x1E010, kFirst));
    EXPECT_FALSE(lock_request(TileKind::Core, 16, 0x1E004, kFirst));
    EXPECT_FALSE(lock_request(TileKind::Core, 16, 0x1F000, Generation::Second));
    EXPECT_FALSE(lock_register(TileKind::Core, 16, 0x1E000, kFirst));
}

TEST(FirstRegisterMap, HasOneWordForAllLocks) {
    EXPECT_EQ(register_map_of(TileKind::Core, kFirst).lock_states, 0x1EF00);
    EXPECT_EQ(register_map_of(TileKind::Shim, kFirst).lock_states, 0x14F00);
}

}  // namespace
}  // namespace tilesim::arch::npu::control
