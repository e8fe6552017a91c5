#include "arch/memory/banks_by_age.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tilesim::arch::memory {
namespace {

std::vector<std::size_t> banks(const BanksByAge& list) {
    std::vector<std::size_t> result;
    for (const Age age : list) {
        result.push_back(age.bank());
    }
    return result;
}

struct ThreeBanks : testing::Test {
    BanksByAge list;
    void SetUp() override {
        list.insert({20, 7});
        list.insert({30, 5});
        list.insert({10, 63});
    }
};

TEST_F(ThreeBanks, TheOldestBurstComesFirst) {
    EXPECT_EQ(banks(list), (std::vector<std::size_t>{63, 7, 5}));
}

TEST_F(ThreeBanks, ABankMovesWithTheAgeOfItsNextBurst) {
    list.update({10, 63}, {25, 63});
    EXPECT_EQ(banks(list), (std::vector<std::size_t>{7, 63, 5}));
    list.update({30, 5}, {15, 5});  // one that had been overtaken
    EXPECT_EQ(banks(list), (std::vector<std::size_t>{5, 7, 63}));
    list.update({15, 5}, {40, 5});
    EXPECT_EQ(banks(list), (std::vector<std::size_t>{7, 63, 5}));
}

TEST_F(ThreeBanks, ABankLeaves) {
    list.remove({20, 7});
    EXPECT_EQ(banks(list), (std::vector<std::size_t>{63, 5}));
}

}  // namespace
}  // namespace tilesim::arch::memory
