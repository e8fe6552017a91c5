#include "arch/memory/policy/rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tilesim::arch::memory::policy {
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
        }
    }
}

TEST(FirstRank, IsTheOneBeforeAllOthersWhicheverOrderTheyComeIn) {
    constexpr std::int64_t kFrom = 1000;
    // The first two are ready by then, however long ago.
    std::vector<Rank> in_order{{3, Age(5, 63)},
                               {kFrom, Age(6, 0)},
                               {kFrom + 1, Age(2, 7)},
                               {kFrom + 1, Age(2, 8)},
                               {kFrom + 500'000, Age(0, 0)},
                               {kFrom + 500'000, Age(Age::kOrders - 1, 62)}};
    while (!in_order.empty()) {
        const Rank expected{std::max(kFrom, in_order.front().when), in_order.front().age};
        std::vector<Rank> any_order = in_order;
        std::sort(any_order.begin(), any_order.end(),
                  [](const Rank& a, const Rank& b) { return a.age < b.age; });
        for (int turn = 0; turn < 2; ++turn) {
            FirstRank first(kFrom);
            for (const Rank& rank : any_order) {
                first.consider(rank.when, rank.age);
            }
            EXPECT_EQ(first.rank().when, expected.when);
            EXPECT_EQ(first.rank().age, expected.age);
            std::reverse(any_order.begin(), any_order.end());
        }
        in_order.erase(in_order.begin());
    }
}

}  // namespace
}  // namespace tilesim::arch::memory::policy
