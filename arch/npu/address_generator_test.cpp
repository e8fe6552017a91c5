#include "arch/npu/address_generator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tilesim::arch::npu {
namespace {

// Word offsets in stream order, -1 for inserted zeros.
std::vector<std::int64_t> walk(const BufferDescriptor& descriptor, std::int64_t execution = 0,
                               std::int64_t most = INT64_MAX) {
    AddressGenerator addresses(descriptor, execution);
    std::vector<std::int64_t> offsets;
    std::int64_t left = stream_words(descriptor);
    while (left > 0) {
        const npu::Run run = addresses.take(std::min(most, left));
        for (std::int64_t i = 0; i < run.words; ++i) {
            offsets.push_back(run.zeros ? -1 : run.offset + i);
        }
        left -= run.words;
    }
    return offsets;
}

BufferDescriptor descriptor(std::int64_t length, std::vector<Dimension> dimensions) {
    BufferDescriptor result;
    result.length = length;
    result.dimensions = std::move(dimensions);
    return result;
}

TEST(AddressGenerator, LinearIsOneRun) {
    AddressGenerator addresses(descriptor(100, {}), 0);
    const npu::Run run = addresses.take(1000);
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
}

TEST(AddressGenerator, ContiguousDimensionsAreOneRun) {
    AddressGenerator addresses(descriptor(24, {{4, 1}, {3, 4}, {2, 100}}), 0);
    EXPECT_EQ(addresses.take(1000).words, 12);
    EXPECT_EQ(addresses.take(1000).offset, 100);
}

TEST(AddressGenerator, IterationShiftsEachExecutionAndWraps) {
    auto d = descriptor(2, {});
    d.iteration = Iteration{3, 50};
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

}  // namespace
}  // namespace tilesim::arch::npu
