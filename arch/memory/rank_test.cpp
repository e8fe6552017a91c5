#include "arch/memory/rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tilesim::arch::memory {
namespace {

TEST(Age, KnowsItsBank) {
    EXPECT_EQ(Age(7, 63).bank(), 63U);
    EXPECT_LT(Age(7, 63), Age(8, 0));
    EXPECT_LT(Age(8, 0), Age());  // nobody's
}

TEST(Rank, EarlierGoesFirstAndThenOlder) {
    const std::vector<Rank> in_order{{5, Age(9, 1)}, {6, Age(2, 3)}, {6, Age(4, 0)}, {}};
    for (std::size_t i = 0; i < in_order.size(); ++i) {
        for (std::size_t j = 0; j < in_order.size(); ++j) {
            EXPECT_EQ(in_order[i].before(in_order[j]), i < j) << i << " and " << j;
            Rank rank = in_order[i];
            rank.advance_to(in_order[j]);
            EXPECT_EQ(rank.when, in_order[std::min(i, j)].when);
            EXPECT_EQ(rank.age, in_order[std::min(i, j)].age);
        }
    }
}

}  // namespace
}  // namespace tilesim::arch::memory
