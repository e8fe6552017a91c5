#include "arch/base/slot_pool.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tilesim::arch::base {
namespace {

TEST(SlotPool, GivesEveryUserAnIndexOfItsOwn) {
    SlotPool<int> pool;
    std::set<std::size_t> indices;
    for (int i = 0; i < 7; ++i) {
        const std::size_t index = pool.take();
        EXPECT_TRUE(indices.insert(index).second);
        pool[index] = i;
    }
    EXPECT_EQ(pool.in_use(), 7U);
}

TEST(SlotPool, WhatIsGivenBackIsUsedAgainBeforeThePoolGrows) {
    SlotPool<int> pool;
    const std::size_t first = pool.take();
    const std::size_t second = pool.take();
    pool[second] = 5;
    pool.give_back(first);
    EXPECT_EQ(pool.in_use(), 1U);
    EXPECT_EQ(pool.take(), first);
    EXPECT_NE(pool.take(), first);
    EXPECT_EQ(pool[second], 5);
}

TEST(SlotPool, AnElementKeepsWhatItsLastUserAllocated) {
    SlotPool<std::vector<int>> pool;
    const std::size_t index = pool.take();
    pool[index].reserve(11);
    pool.give_back(index);
    EXPECT_GE(pool[pool.take()].capacity(), 11U);
}

}  // namespace
}  // namespace tilesim::arch::base
