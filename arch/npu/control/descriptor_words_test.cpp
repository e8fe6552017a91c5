#include "arch/npu/control/descriptor_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilesim::arch::npu::control {
namespace {

using program::TileKind;

program::BufferDescriptor descriptor() {
    program::BufferDescriptor d;
    d.id = 3;
    d.length = 1024;
    d.dimensions = {{8, 1}, {16, 40}, {8, 640}};
    d.acquire = program::LockAction{5, -1};
    d.release = program::LockAction{6, 1};
    d.next = 7;
    d.packet = program::Packet{9, 2, 4};
    d.iteration = program::Iteration{4, 96, 3};
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
    EXPECT_EQ(got.iteration->current, 3);
}

INSTANTIATE_TEST_SUITE_P(DescriptorWords, RoundTrip,
                         testing::Values(TileKind::Shim, TileKind::Memory, TileKind::Core));

TEST(DescriptorWords, PaddingSaysTheSameAfterTheRegisters) {
    program::BufferDescriptor d = descriptor();
    d.padding = {{1, 2}, {0, 0}, {3, 0}};
    const RegisterDescriptor decoded =
        decode_descriptor(TileKind::Memory, 3, encode_descriptor(TileKind::Memory, {d, 0}));
    ASSERT_EQ(decoded.descriptor.padding.size(), 3U);
    for (std::size_t i = 0; i < d.padding.size(); ++i) {
        EXPECT_EQ(decoded.descriptor.padding[i].before, d.padding[i].before) << i;
        EXPECT_EQ(decoded.descriptor.padding[i].after, d.padding[i].after) << i;
    }
    d.padding = {{0, 0}, {0, 0}, {0, 0}};
    EXPECT_TRUE(decode_descriptor(TileKind::Memory, 3, encode_descriptor(TileKind::Memory, {d, 0}))
                    .descriptor.padding.empty());
}

// The outermost of its dimensions has no wrap.
TEST(DescriptorWords, ZerosAreOfTheDimensionsItHas) {
    program::BufferDescriptor d = descriptor();
    d.dimensions = {{8, 3}};
    d.padding = {{1, 2}, {0, 5}, {3, 0}};
    const RegisterDescriptor decoded =
        decode_descriptor(TileKind::Memory, 3, encode_descriptor(TileKind::Memory, {d, 0}));
    ASSERT_EQ(decoded.descriptor.dimensions.size(), 2U);
    EXPECT_EQ(decoded.descriptor.dimensions[1].size, d.length / 8);
    ASSERT_EQ(decoded.descriptor.padding.size(), 2U);
    EXPECT_EQ(decoded.descriptor.padding[1].after, 5);
}

TEST(DescriptorWords, AnIterationBehindItsWrapCountsFromTheStart) {
    program::BufferDescriptor d = descriptor();
    d.iteration->current = 6;  // of four
    const RegisterDescriptor decoded =
        decode_descriptor(TileKind::Core, 3, encode_descriptor(TileKind::Core, {d, 0}));
    EXPECT_EQ(decoded.descriptor.iteration->current, 2);
}

// The first generation. Bits: Xilinx/aie-rt, xaiegbl_params.h.

program::BufferDescriptor first_descriptor() {
    program::BufferDescriptor d;
    d.length = 640;
    d.acquire = program::LockAction{11, 0};
    d.release = program::LockAction{11, 1};
    d.next = 13;
    d.packet = program::Packet{21, 5, 0};
    return d;
}

TEST(FirstDescriptorWords, ACoreDescriptorHasItsFieldsWhereTheHardwareReadsThem) {
    program::BufferDescriptor d = first_descriptor();
    d.dimensions = {{8, 3}, {80, 40}};
    d.alternate =
        program::Alternate{0, 0x2468, program::LockAction{12, 1}, program::LockAction{12, 0}};
    const auto words = encode_descriptor(TileKind::Core, {d, 0x1234}, Generation::First);
    ASSERT_EQ(words.size(), 7U);
    // Lock 25:22, release: enable 21, value 20, use it 19; acquire: 18, 17, 16; address 12:0.
    EXPECT_EQ(words[0], 11U << 22 | 7U << 19 | 5U << 16 | 0x1234U / 4);
    EXPECT_EQ(words[1], 12U << 22 | 5U << 19 | 7U << 16 | 0x2468U / 4);
    // Increment 31:24 and wrap 23:16, both minus one; offset 12:0.
    EXPECT_EQ(words[2], 0U << 24 | 7U << 16 | 3U);
    EXPECT_EQ(words[3], 7U << 24 | 79U << 16 | 40U);
    EXPECT_EQ(words[4], 5U << 12 | 21U);  // packet: type 14:12, id 4:0
    EXPECT_EQ(words[5], 0U);              // interleaved transfers' place
    // Valid 31, A/B 30, packet 27, next: use 17, id 16:13; length minus one 12:0.
    EXPECT_EQ(words[6], 1U << 31 | 1U << 30 | 1U << 27 | 1U << 17 | 13U << 13 | 639U);
    EXPECT_TRUE(valid_descriptor(TileKind::Core, words, Generation::First));
    EXPECT_EQ(not_modelled(TileKind::Core, words, Generation::First), "");
    const RegisterDescriptor decoded =
        decode_descriptor(TileKind::Core, 7, words, Generation::First);
    const program::BufferDescriptor& got = decoded.descriptor;
    EXPECT_EQ(decoded.address, 0x1234);
    EXPECT_EQ(got.id, 7);
    EXPECT_EQ(got.length, 640);
    EXPECT_EQ(got.acquire->lock, 11);
    EXPECT_EQ(got.acquire->value, 0);
    EXPECT_EQ(got.release->lock, 11);
    EXPECT_EQ(got.release->value, 1);
    EXPECT_EQ(got.next, 13);
    EXPECT_EQ(got.packet->id, 21);
    EXPECT_EQ(got.packet->type, 5);
    ASSERT_EQ(got.dimensions.size(), 2U);
    EXPECT_EQ(got.dimensions[0].size, 8);
    EXPECT_EQ(got.dimensions[0].stride, 3);
    EXPECT_EQ(got.dimensions[1].size, 80);
    EXPECT_EQ(got.dimensions[1].stride, 40);
    EXPECT_EQ(got.alternate->offset, 0x2468);
    EXPECT_EQ(got.alternate->acquire->lock, 12);
    EXPECT_EQ(got.alternate->acquire->value, 1);
    EXPECT_EQ(got.alternate->release->value, 0);
    EXPECT_FALSE(got.iteration || !got.padding.empty());
}

TEST(FirstDescriptorWords, AShimDescriptorHasItsFieldsWhereTheHardwareReadsThem) {
    program::BufferDescriptor d = first_descriptor();
    d.length = 0x8000'0001;
    d.burst_bytes = 128;
    const auto words = encode_descriptor(TileKind::Shim, {d, 0xABCD'8765'4320}, Generation::First);
    ASSERT_EQ(words.size(), 5U);
    EXPECT_EQ(words[0], 0x8765'4320U);
    EXPECT_EQ(words[1], 0x8000'0001U);  // words, as they are
    // Address 47:32 in 31:16, next: use 15, id 14:11; lock 10:7; release: enable 6, value 5, use it
    // 4; acquire: 3, 2, 1; valid 0.
    EXPECT_EQ(words[2], 0xABCDU << 16 | 1U << 15 | 13U << 11 | 11U << 7 | 7U << 4 | 5U << 1 | 1U);
    EXPECT_EQ(words[3], 1U << 9);  // burst 10:9: 64, 128, 256 B
    EXPECT_EQ(words[4], 1U << 31 | 5U << 12 | 21U);
    const RegisterDescriptor decoded =
        decode_descriptor(TileKind::Shim, 7, words, Generation::First);
    const program::BufferDescriptor& got = decoded.descriptor;
    EXPECT_EQ(decoded.address, 0xABCD'8765'4320);
    EXPECT_EQ(got.length, 0x8000'0001);
    EXPECT_EQ(got.acquire->lock, 11);
    EXPECT_EQ(got.acquire->value, 0);
    EXPECT_EQ(got.release->value, 1);
    EXPECT_EQ(got.next, 13);
    EXPECT_EQ(got.packet->id, 21);
    EXPECT_EQ(got.packet->type, 5);
    EXPECT_EQ(got.burst_bytes, 128);
    EXPECT_TRUE(got.dimensions.empty());
    d.burst_bytes = 0;  // the longest
    EXPECT_EQ(encode_descriptor(TileKind::Shim, {d, 0}, Generation::First)[3], 2U << 9);
}

// Without locks, chain, packet, A/B or validity none of them is there.
TEST(FirstDescriptorWords, ADescriptorOfZerosMovesAWordAndAsksForNothing) {
    for (const TileKind kind : {TileKind::Core, TileKind::Shim}) {
        const std::vector<std::uint32_t> zeros(8);
        const auto got = decode_descriptor(kind, 0, zeros, Generation::First).descriptor;
        EXPECT_EQ(got.length, kind == TileKind::Core ? 1 : 0);
        EXPECT_FALSE(got.acquire || got.release || got.next || got.packet || got.alternate);
        EXPECT_FALSE(valid_descriptor(kind, zeros, Generation::First));
    }
}

// What X and Y count: increment and wrap as they are, not minus one.
struct Counters {
    std::int64_t length;
    std::array<std::int64_t, 3> x, y;
};
std::vector<std::uint32_t> counting(const Counters& given) {
    const auto word = [](const std::array<std::int64_t, 3>& counter) {
        return static_cast<std::uint32_t>((counter[0] - 1) << 24 | (counter[1] - 1) << 16 |
                                          counter[2]);
    };
    return {0,
            0,
            word(given.x),
            word(given.y),
            0,
            0,
            1U << 31 | static_cast<std::uint32_t>(given.length - 1)};
}

class Counting : public testing::TestWithParam<Counters> {};

// Word i lies at base + i / increment % wrap * offset of X, and the same of Y.
TEST_P(Counting, DimensionsSayWhatTheCountersDo) {
    const Counters& given = GetParam();
    const auto words = counting(given);
    ASSERT_EQ(not_modelled(TileKind::Core, words, Generation::First), "");
    const auto got = decode_descriptor(TileKind::Core, 0, words, Generation::First).descriptor;
    ASSERT_LE(got.dimensions.size(), 4U);
    const auto of = [](const std::array<std::int64_t, 3>& counter, std::int64_t i) {
        return i / counter[0] % counter[1] * counter[2];
    };
    for (std::int64_t i = 0; i < given.length; ++i) {
        std::int64_t at = got.dimensions.empty() ? i : 0, left = i;
        for (std::size_t level = 0; level < got.dimensions.size(); ++level) {
            const program::Dimension& d = got.dimensions[level];
            const bool outermost = level + 1 == got.dimensions.size();
            at += (outermost ? left : left % d.size) * d.stride;
            left /= d.size;
        }
        ASSERT_EQ(at, of(given.x, i) + of(given.y, i)) << i;
    }
}

INSTANTIATE_TEST_SUITE_P(
    FirstDescriptorWords, Counting,
    testing::Values(Counters{8192, {1, 256, 1}, {256, 256, 256}},  // a linear transfer
                    Counters{300, {1, 256, 1}, {256, 256, 256}},
                    Counters{128, {1, 8, 3}, {8, 16, 40}},
                    Counters{128, {8, 16, 40}, {1, 8, 3}},   // X and Y in each other's place
                    Counters{96, {1, 4, 1}, {4, 1, 0}},      // four words again and again
                    Counters{96, {3, 4, 5}, {12, 2, 100}},   // each word three times, then again
                    Counters{96, {1, 4, 2}, {8, 12, 16}},    // X runs twice for a step of Y
                    Counters{64, {1, 256, 1}, {4, 256, 7}},  // both step
                    Counters{17, {1, 1, 0}, {1, 256, 9}}));  // every ninth word

TEST(FirstDescriptorWords, CountersThatNoDimensionsSayAreNotModelled) {
    const auto refusal = [](const Counters& given) {
        return not_modelled(TileKind::Core, counting(given), Generation::First);
    };
    using testing::HasSubstr;
    EXPECT_THAT(refusal({96, {4, 2, 5}, {6, 256, 7}}), HasSubstr("do not nest"));
    EXPECT_THAT(refusal({64, {2, 2, 5}, {8, 2, 7}}), HasSubstr("do not nest"));  // five dimensions
    EXPECT_EQ(refusal({64, {2, 2, 5}, {8, 8, 7}}), "");
}

// A counter wraps after 256 at most: the other goes on, to the end of the transfer.
TEST(FirstDescriptorWords, ALongDimensionTakesBothCounters) {
    program::BufferDescriptor d = first_descriptor();
    d.length = 700;
    d.dimensions = {{700, 3}};
    const auto words = encode_descriptor(TileKind::Core, {d, 0}, Generation::First);
    EXPECT_EQ(words[2], 255U << 16 | 3U);
    EXPECT_EQ(words[3], 255U << 24 | 255U << 16 | 768U);
    const auto got = decode_descriptor(TileKind::Core, 0, words, Generation::First).descriptor;
    ASSERT_EQ(got.dimensions.size(), 1U);
    EXPECT_EQ(got.dimensions[0].size, 700);
    EXPECT_EQ(got.dimensions[0].stride, 3);
}

TEST(FirstDescriptorWords, ALinearDescriptorHasNoDimensions) {
    const auto words =
        encode_descriptor(TileKind::Core, {first_descriptor(), 0}, Generation::First);
    EXPECT_EQ(words[2], 255U << 16 | 1U);
    EXPECT_EQ(words[3], 255U << 24 | 255U << 16 | 256U);
    EXPECT_TRUE(decode_descriptor(TileKind::Core, 0, words, Generation::First)
                    .descriptor.dimensions.empty());
}

TEST(FirstDescriptorWords, SaysWhatOfADescriptorIsNotModelled) {
    const auto with = [](TileKind kind, std::size_t word, std::uint32_t bits) {
        auto words = encode_descriptor(kind, {first_descriptor(), 0}, Generation::First);
        words[word] ^= bits;
        return not_modelled(kind, words, Generation::First);
    };
    using testing::HasSubstr, testing::Not;
    EXPECT_THAT(with(TileKind::Core, 6, 1U << 26), HasSubstr("interleaved"));
    EXPECT_THAT(with(TileKind::Core, 6, 1U << 28), HasSubstr("FIFO"));
    EXPECT_THAT(with(TileKind::Core, 6, 1U << 29), HasSubstr("FIFO"));
    auto second_first =
        encode_descriptor(TileKind::Core, {first_descriptor(), 0}, Generation::First);
    second_first[6] |= 1U << 30;
    EXPECT_THAT(not_modelled(TileKind::Core, second_first, Generation::First),
                Not(HasSubstr("buffer B")));
    second_first[5] |= 1U << 16;
    EXPECT_THAT(not_modelled(TileKind::Core, second_first, Generation::First),
                HasSubstr("buffer B"));
    EXPECT_THAT(with(TileKind::Core, 0, 1U << 16), HasSubstr("without a value"));
    EXPECT_THAT(with(TileKind::Core, 0, 1U << 19), HasSubstr("without a value"));
    EXPECT_THAT(with(TileKind::Shim, 2, 1U << 1), HasSubstr("without a value"));
    EXPECT_THAT(with(TileKind::Shim, 2, 1U << 4), HasSubstr("without a value"));
    EXPECT_THAT(with(TileKind::Shim, 3, 1U << 9), HasSubstr("burst"));
    EXPECT_EQ(with(TileKind::Core, 1, 1U << 18), "");  // B's acquire, where there is no B
    // Five words of X in four of Y; a length of ten words and a half of them.
    EXPECT_THAT(
        not_modelled(TileKind::Core, counting({40, {1, 5, 2}, {4, 8, 16}}), Generation::First),
        HasSubstr("do not nest"));
    EXPECT_THAT(
        not_modelled(TileKind::Core, counting({15, {1, 10, 2}, {10, 8, 64}}), Generation::First),
        HasSubstr("ends within"));
}

}  // namespace
}  // namespace tilesim::arch::npu::control
