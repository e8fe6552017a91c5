#include "arch/base/stats.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::base::stats {
namespace {

enum class Phase { Idle, Busy, Stalled };
constexpr StateTable<Phase> kPhases{{
    {Phase::Idle, "idle", "nothing to do"},
    {Phase::Busy, "busy", "at work"},
    {Phase::Stalled, "stalled", "held up"},
}};
static_assert(enumerators<Phase>() == 3);
static_assert(enumerators<Unit>() == 4);

TEST(StateTable, NamesEveryStateBesideItsEnum) {
    Group group{"unit"};
    const StateAccount account{group, "time", Unit::Cycle, kPhases, Phase::Busy};
    ASSERT_EQ(account.states().size(), 3U);
    EXPECT_EQ(account.states()[2].name, "stalled");
    EXPECT_EQ(account.current(), 1U);
    EXPECT_EQ(kPhases[Phase::Stalled].description, "held up");
}

TEST(StateAccount, StatesAddUpToTheElapsedTime) {
    Group group{"unit"};
    StateAccount account{group, "time", Unit::Cycle, kPhases};
    account.enter(Phase::Busy, 3);
    account.enter(Phase::Stalled, 10);
    account.enter(Phase::Busy, 12);
    account.charge_until(29);
    EXPECT_EQ(account.spent(0), 3);
    EXPECT_EQ(account.spent(1), 7 + 17);
    EXPECT_EQ(account.spent(2), 2);
    EXPECT_EQ(account.total(), 29);
    account.reclassify(Phase::Busy, Phase::Stalled, 5);
    EXPECT_EQ(account.total(), 29);
    EXPECT_EQ(account.spent(2), 7);
}

TEST(Group, IsOfTheClassItWasBuiltAsOrElseOneByItsName) {
    Group root{""};
    Group memory{root, "memory"};
    Group channel{memory, "channel(3)", "dram_channel"};
    EXPECT_EQ(channel.path(), "memory.channel(3)");
    EXPECT_EQ(channel.component_class(), "dram_channel");
    EXPECT_EQ(memory.component_class(), "memory");
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
