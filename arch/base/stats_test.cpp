#include "arch/base/stats.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::base::stats {
namespace {

enum class State { Idle, Busy, Stalled };

TEST(StateAccount, StatesAddUpToTheElapsedTime) {
    Group group{"unit"};
    StateAccount account{group, "time", Unit::Cycle, {{"idle", ""}, {"busy", ""}, {"stalled", ""}}};
    account.enter(State::Busy, 3);
    account.enter(State::Stalled, 10);
    account.enter(State::Busy, 12);
    account.charge_until(29);
    EXPECT_EQ(account.spent(0), 3);
    EXPECT_EQ(account.spent(1), 7 + 17);
    EXPECT_EQ(account.spent(2), 2);
    EXPECT_EQ(account.total(), 29);
    account.reclassify(State::Busy, State::Stalled, 5);
    EXPECT_EQ(account.total(), 29);
    EXPECT_EQ(account.spent(2), 7);
}

TEST(Group, KnowsItsPathAndMembers) {
    Group root{"npu"};
    Group tile{root, "tile(2,3)"};
    Counter words{tile, "words", Unit::Count, "words moved"};
    words += 4;
    ++words;
    EXPECT_EQ(tile.path(), "npu.tile(2,3)");
    ASSERT_EQ(root.children().size(), 1U);
    EXPECT_EQ(root.children()[0]->counters()[0]->value(), 5);
}

}  // namespace
}  // namespace tilesim::arch::base::stats
