#include "arch/npu/dma/address_generator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace tilesim::arch::npu::dma {
namespace {

// Word offsets in stream order, -1 for inserted zeros.
std::vector<std::int64_t> walk(const program::BufferDescriptor& descriptor,
                               std::int64_t execution = 0, std::int64_t most = INT64_MAX) {
    AddressGenerator addresses(descriptor, execution);
    std::vector<std::int64_t> offsets;
    std::int64_t left = stream_words(descriptor);
    while (left > 0) {
        const npu::dma::Run run = addresses.take(std::min(most, left));
        for (std::int64_t i = 0; i < run.words; ++i) {
            offsets.push_back(run.zeros ? -1 : run.offset + i);
        }
        left -= run.words;
    }
    return offsets;
}

program::BufferDescriptor descriptor(std::int64_t length,
                                     std::vector<program::Dimension> dimensions) {
    program::BufferDescriptor result;
    result.length = length;
    result.dimensions = std::move(dimensions);
    return result;
}

TEST(AddressGenerator, LinearIsOneRun) {
    AddressGenerator addresses(descriptor(100, {}), 0);
    const npu::dma::Run run = addresses.take(1000);
    EXPECT_EQ(run.words, 100);
}

TEST(AddressGenerator, WalksFourDimensionsInnermostFirst) {
    const auto d = descriptor(2 * 3 * 2 * 2, {{2, 1}, {3, 10}, {2, 100}, {2, 1000}});
    std::vector<std::int64_t> expected;
    for (std::int64_t w = 0; w < 2; ++w) {
        for (std::int64_t z = 0; z < 2; ++z) {
            for (std::int64_t y = 0; y < 3; ++y) {
                for (std::int64_t x = 0; x < 2; ++x) {
                    expected.push_back(x + 10 * y + 100 * z + 1000 * w);
                }
            }
        }
    }
    EXPECT_EQ(walk(d), expected);
    EXPECT_EQ(walk(d, 0, 1), expected);  // interrupted after every word
}

TEST(AddressGenerator, OutermostSizeFollowsFromTheLength) {
    EXPECT_EQ(walk(descriptor(6, {{2, 1}, {99, 10}})),
              (std::vector<std::int64_t>{0, 1, 10, 11, 20, 21}));
    EXPECT_EQ(walk(descriptor(2, {{3, 1}, {99, 10}})), (std::vector<std::int64_t>{0, 1}));
}

TEST(AddressGenerator, ContiguousDimensionsAreOneRun) {
    AddressGenerator addresses(descriptor(24, {{4, 1}, {3, 4}, {2, 100}}), 0);
    EXPECT_EQ(addresses.take(1000).words, 12);
    EXPECT_EQ(addresses.take(1000).offset, 100);
}

TEST(AddressGenerator, IterationShiftsEachExecutionAndWraps) {
    auto d = descriptor(2, {});
    d.iteration = program::Iteration{3, 50};
    EXPECT_EQ(walk(d, 2), (std::vector<std::int64_t>{100, 101}));
    EXPECT_EQ(walk(d, 3), (std::vector<std::int64_t>{0, 1}));
}

TEST(AddressGenerator, PaddingInsertsZerosAroundEachDimension) {
    auto d = descriptor(4, {{2, 1}, {2, 10}});
    d.padding = {{1, 2}, {1, 0}};
    EXPECT_EQ(stream_words(d), 15);
    EXPECT_EQ(walk(d), (std::vector<std::int64_t>{-1, -1, -1, -1, -1, -1, 0, 1, -1, -1, -1, 10, 11,
                                                  -1, -1}));
}

TEST(AddressGenerator, PaddingGoesAroundTheOutermostSizeThatTheLengthHas) {
    auto d = descriptor(4, {{2, 1}, {99, 10}});
    d.padding = {{0, 0}, {1, 1}};
    EXPECT_EQ(stream_words(d), 8);
    EXPECT_EQ(walk(d), (std::vector<std::int64_t>{-1, -1, 0, 1, 10, 11, -1, -1}));
}

// Descriptors whose runs are long, short, single words, padded, and interrupted anywhere.
TEST(AddressGenerator, CopiesTheWordsItWalks) {
    auto padded = descriptor(4 * 5 * 3, {{4, 1}, {5, 16}, {3, 100}});
    padded.padding = {{1, 2}, {1, 1}, {0, 2}};
    auto padded_rows = descriptor(4 * 5 * 3, {{4, 1}, {5, 16}, {3, 100}});
    padded_rows.padding = {{0, 0}, {2, 1}};
    const std::vector<program::BufferDescriptor> descriptors{
        descriptor(90, {}),
        descriptor(2 * 9 * 7 * 3, {{2, 1}, {9, 14}, {7, 2}, {3, 130}}),
        descriptor(5 * 7 * 3, {{5, 7}, {7, 1}, {3, 40}}),
        descriptor(16 * 6, {{16, 1}, {6, 40}}),
        descriptor(3 * 6, {{3, 1}, {6, 40}}),
        padded,
        padded_rows};
    constexpr std::size_t kMemory = 512;
    std::vector<std::uint32_t> memory(kMemory);
    for (std::size_t i = 0; i < kMemory; ++i) {
        memory[i] = static_cast<std::uint32_t>(i + 1);
    }
    for (const program::BufferDescriptor& d : descriptors) {
        const std::vector<std::int64_t> offsets = walk(d);
        for (const std::size_t most : {std::size_t{1}, std::size_t{13}, kMemory}) {
            AddressGenerator reader(d, 0);
            AddressGenerator writer(d, 0);
            std::vector<std::uint32_t> copied(kMemory, 0);
            std::vector<std::uint32_t> words(offsets.size(), 0xdead);
            std::vector<std::uint32_t> expected(kMemory, 0);
            for (std::size_t at = 0; at < words.size(); at += most) {
                const auto piece =
                    std::span{words}.subspan(at).first(std::min(most, words.size() - at));
                reader.read(std::as_bytes(std::span{memory}).data(), piece);
                if (d.padding.empty()) {
                    writer.write(piece, std::as_writable_bytes(std::span{copied}).data());
                }
            }
            for (std::size_t i = 0; i < words.size(); ++i) {
                EXPECT_EQ(words[i], static_cast<std::uint32_t>(offsets[i] + 1));
                if (d.padding.empty()) {
                    expected[static_cast<std::size_t>(offsets[i])] = words[i];
                }
            }
            EXPECT_EQ(copied, expected);
        }
    }
}

}  // namespace
}  // namespace tilesim::arch::npu::dma
