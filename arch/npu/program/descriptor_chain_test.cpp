#include "arch/npu/program/descriptor_chain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilesim::arch::npu::program {
namespace {

using Next = std::optional<std::int64_t>;

BufferDescriptor descriptor(std::int64_t id, Next next) {
    BufferDescriptor result;
    result.id = id;
    result.next = next;
    return result;
}

TileDma dma_of(std::vector<BufferDescriptor> descriptors) {
    return {{0, 1}, std::move(descriptors), {}};
}

std::vector<std::int64_t> ids(const DescriptorChain& chain) {
    std::vector<std::int64_t> result;
    for (const BufferDescriptor* each : chain.descriptors) {
        result.push_back(each->id);
    }
    return result;
}

TEST(DescriptorChain, FollowsTheNextFieldsToTheDescriptorWithoutOne) {
    const TileDma dma = dma_of({descriptor(2, 7), descriptor(3, {}), descriptor(7, 3)});
    const DescriptorChain chain = chain_from(2, dma);
    EXPECT_THAT(ids(chain), testing::ElementsAre(2, 7, 3));
    EXPECT_FALSE(chain.endless());
    EXPECT_FALSE(chain.missing);
    EXPECT_TRUE(chain.contains(7));
    EXPECT_FALSE(chain.contains(5));
}

TEST(DescriptorChain, ARingHoldsEachDescriptorOnce) {
    const TileDma dma = dma_of({descriptor(2, 5), descriptor(5, 2)});
    const DescriptorChain chain = chain_from(5, dma);
    EXPECT_THAT(ids(chain), testing::ElementsAre(5, 2));
    EXPECT_TRUE(chain.endless());
    EXPECT_TRUE(chain.is_ring());
}

TEST(DescriptorChain, OneThatLeadsIntoALoopIsEndlessAndNoRing) {
    const TileDma dma = dma_of({descriptor(2, 3), descriptor(3, 5), descriptor(5, 3)});
    const DescriptorChain chain = chain_from(2, dma);
    EXPECT_THAT(ids(chain), testing::ElementsAre(2, 3, 5));
    EXPECT_EQ(chain.leads_back_to, Next{3});
    EXPECT_FALSE(chain.is_ring());
}

TEST(DescriptorChain, NamesTheDescriptorNobodyHasWritten) {
    const TileDma dma = dma_of({descriptor(2, 11)});
    EXPECT_EQ(chain_from(2, dma).missing, Next{11});
    EXPECT_EQ(chain_from(13, dma).missing, Next{13});
    EXPECT_TRUE(chain_from(13, dma).descriptors.empty());
}

TEST(RunningTask, ExecutesItsChainAsOftenAsItRepeats) {
    RunningTask task({.descriptor = 2, .repeat = 3});
    const BufferDescriptor first = descriptor(2, 5);
    const BufferDescriptor last = descriptor(5, {});
    for (int run = 0; run < 2; ++run) {
        EXPECT_EQ(task.after(first), Next{5});
        EXPECT_EQ(task.after(last), Next{2});
    }
    EXPECT_EQ(task.after(first), Next{5});
    EXPECT_EQ(task.after(last), std::nullopt);
}

TEST(RunningTask, OutOfOrderItEndsAfterSoManyPacketsWhateverTheirDescriptorsLeadTo) {
    RunningTask task({.descriptor = 2, .repeat = 2, .out_of_order = true});
    const BufferDescriptor named = descriptor(7, 11);
    EXPECT_NE(task.after(named), std::nullopt);
    EXPECT_EQ(task.after(named), std::nullopt);
}

}  // namespace
}  // namespace tilesim::arch::npu::program
