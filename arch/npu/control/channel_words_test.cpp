#include "arch/npu/control/channel_words.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace tilesim::arch::npu::control {
namespace {

using program::TileKind;

// A channel whose state says something in every field but `starting`.
constexpr ChannelStatus kWaiting{.starting = false,
                                 .running = true,
                                 .waits_for_lock = true,
                                 .overflowed = true,
                                 .queued = 3,
                                 .descriptor = 9};

TEST(ChannelWords, AStateIsAWordOfItsChannel) {
    EXPECT_EQ(encode_state(TileKind::Core, 1, kWaiting), 1U << 2 | 1U << 18 | 1U << 19 | 3U << 20);
    EXPECT_EQ(encode_state(TileKind::Core, 1, {}), 0U);
    EXPECT_EQ(encode_state(TileKind::Core, 1, {.queued = 9}), 7U << 20);  // the most it can say
}

TEST(ChannelWords, ATaskSaysTheSameAfterTheQueue) {
    const std::uint32_t word = encode_task({11, 256, true});
    EXPECT_EQ(word, 0x80FF000BU);
    const program::Task task = decode_task(TileKind::Memory, word);
    EXPECT_EQ(task.descriptor, 11);
    EXPECT_EQ(task.repeat, 256);
    EXPECT_TRUE(task.token);
}

// The first generation. Bits: Xilinx/aie-rt, xaiegbl_params.h.

// Status in bits 1:0 and 3:2 (1 starting, 2 running), stalled on a lock in 4 and 5, tasks queued in
// 8:6 and 11:9, descriptor in 19:16 and 23:20, overflow in 28 and 29.
TEST(FirstChannelWords, AStateIsTheBitsOfItsChannel) {
    for (const TileKind kind : {TileKind::Core, TileKind::Shim}) {
        EXPECT_EQ(encode_state(kind, 0, kWaiting, Generation::First),
                  2U | 1U << 4 | 3U << 6 | 9U << 16 | 1U << 28);
        EXPECT_EQ(encode_state(kind, 1, kWaiting, Generation::First),
                  2U << 2 | 1U << 5 | 3U << 9 | 9U << 20 | 1U << 29);
        EXPECT_EQ(encode_state(kind, 1, {.starting = true, .running = true}, Generation::First),
                  1U << 2);
        EXPECT_EQ(encode_state(kind, 1, {}, Generation::First), 0U);
    }
}

// Bit 2i: lock i is held; bit 2i + 1: its state.
TEST(FirstChannelWords, ALockIsTwoBitsOfItsTilesWord) {
    EXPECT_EQ(encode_lock(0, 0, true), 1U);
    EXPECT_EQ(encode_lock(15, 1, false), 1U << 31);
    EXPECT_EQ(encode_lock(3, 1, true), 3U << 6);
}

// Bits 3:0; neither repeats nor tokens.
TEST(FirstChannelWords, ATaskIsADescriptor) {
    const program::Task task = decode_task(TileKind::Shim, 0xFFFF'FFF9, Generation::First);
    EXPECT_EQ(task.descriptor, 9);
    EXPECT_EQ(task.repeat, 1);
    EXPECT_FALSE(task.token);
    EXPECT_EQ(encode_task({9, 1, false}), 9U);
}

}  // namespace
}  // namespace tilesim::arch::npu::control
