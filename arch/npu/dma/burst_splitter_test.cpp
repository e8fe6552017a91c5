#include "arch/npu/dma/burst_splitter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilesim::arch::npu::dma {
namespace {

constexpr std::int64_t kLimit = 64;

std::vector<Burst> bursts_of(const program::BufferDescriptor& descriptor, std::int64_t base) {
    DescriptorTable table{1};
    table.write(descriptor);
    BurstSplitter splitter(*table.find(0), base, kLimit);
    std::vector<Burst> bursts;
    while (!splitter.done()) {
        bursts.push_back(splitter.next());
    }
    return bursts;
}

program::BufferDescriptor words(std::int64_t length) {
    program::BufferDescriptor descriptor;
    descriptor.length = length;
    return descriptor;
}

TEST(BurstSplitter, AnAlignedRunIsCutIntoWholeBurstsAndARest) {
    EXPECT_THAT(bursts_of(words(37), 128),
                testing::ElementsAre(Burst{128, 64}, Burst{192, 64}, Burst{256, 20}));
}

TEST(BurstSplitter, NoBurstOfALongRunCrossesAMultipleOfItsLength) {
    EXPECT_THAT(bursts_of(words(37), 128 + 12),
                testing::ElementsAre(Burst{140, 52}, Burst{192, 64}, Burst{256, 32}));
    EXPECT_THAT(bursts_of(words(17), 128 + 12),
                testing::ElementsAre(Burst{140, 52}, Burst{192, 16}));
}

TEST(BurstSplitter, ARunNoLongerThanABurstIsOne) {
    EXPECT_THAT(bursts_of(words(16), 128 + 12), testing::ElementsAre(Burst{140, 64}));
}

TEST(BurstSplitter, NoBurstCrossesFourKibibytes) {
    EXPECT_THAT(bursts_of(words(16), 4096 - 64), testing::ElementsAre(Burst{4032, 64}));
    EXPECT_THAT(bursts_of(words(16), 4096 - 12),
                testing::ElementsAre(Burst{4084, 12}, Burst{4096, 52}));
}

TEST(BurstSplitter, RunsOfTheDescriptorAreNotJoined) {
    program::BufferDescriptor rows = words(3 * 5);
    rows.dimensions = {{5, 1}, {3, 7}};
    EXPECT_THAT(bursts_of(rows, 0),
                testing::ElementsAre(Burst{0, 20}, Burst{28, 20}, Burst{56, 20}));
}

TEST(BurstSplitter, BeginsAtTheOffsetOfTheDescriptorsPresentIteration) {
    program::BufferDescriptor descriptor = words(2);
    descriptor.iteration = program::Iteration{5, 11, 3};
    EXPECT_THAT(bursts_of(descriptor, 256), testing::ElementsAre(Burst{256 + 3 * 11 * 4, 8}));
}

}  // namespace
}  // namespace tilesim::arch::npu::dma
