#include "arch/amx/caches/superqueue.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::amx::caches {
namespace {

TEST(Superqueue, MissesAndVictimsShareItsPlaces) {
    Superqueue queue(3);
    queue.take(7);
    queue.take_for_victim(13);
    queue.take(11);
    EXPECT_FALSE(queue.finds_place(12));
    EXPECT_TRUE(queue.finds_place(13));
    queue.take(17);
    EXPECT_FALSE(queue.finds_place(13));
    queue.give_back(7);
    EXPECT_TRUE(queue.finds_place(13));
}

// Many more lines than there are slots to look in.
TEST(Superqueue, HoldsALineUntilItIsGivenBack) {
    Superqueue queue(48);
    queue.take(7);
    for (Line line = 8; line < 4096; ++line) {
        EXPECT_FALSE(queue.holds(line)) << line;
        queue.take(line);
        EXPECT_TRUE(queue.holds(line)) << line;
        queue.give_back(line);
        EXPECT_FALSE(queue.holds(line)) << line;
    }
    EXPECT_TRUE(queue.holds(7));
    queue.give_back(7);
    EXPECT_FALSE(queue.holds(7));
    EXPECT_TRUE(queue.no_misses());
}

TEST(Superqueue, ALineIsNotThereUntilOneOfItsSlotIsTakenIn) {
    Superqueue queue(3);
    queue.take(7);
    const Refusal refusal = queue.refusal(11);
    queue.take(17);
    queue.give_back(7);
    EXPECT_TRUE(queue.none_taken(refusal));
    queue.note_in_l2(11);  // from the L1
    EXPECT_FALSE(queue.none_taken(refusal));
    const Refusal later = queue.refusal(11);
    EXPECT_TRUE(queue.none_taken(later));
    queue.take(11);  // for a load
    EXPECT_FALSE(queue.none_taken(later));
}

TEST(Superqueue, WhoFindsNoPlaceWaitsForThatOfAVictim) {
    Superqueue queue(1);
    queue.take_for_victim(13);
    EXPECT_FALSE(queue.awaits_victim());
    EXPECT_FALSE(queue.finds_place(12));
    EXPECT_TRUE(queue.awaits_victim());
    EXPECT_EQ(queue.next_victim(), 13);
    queue.forget_refusals();
    EXPECT_FALSE(queue.awaits_victim());
}

}  // namespace
}  // namespace tilesim::arch::amx::caches
