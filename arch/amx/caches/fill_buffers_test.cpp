#include "arch/amx/caches/fill_buffers.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::amx::caches {
namespace {

const auto kAny = [](const FillBuffer&) { return true; };

TEST(FillBuffers, LinesLeaveInTheOrderOfTheirReadiness) {
    FillBuffers buffers(3);
    FillBuffer& first = buffers.take(7);
    FillBuffer& second = buffers.take(11);
    buffers.set_ready(first, 23);
    buffers.set_ready(second, 19);
    EXPECT_EQ(buffers.next_move(), 19);
    EXPECT_EQ(buffers.ready(18, kAny), nullptr);
    EXPECT_EQ(buffers.ready(19, kAny), &second);
    buffers.give_back(second);
    EXPECT_EQ(buffers.ready(22, kAny), nullptr);
    EXPECT_EQ(buffers.ready(23, kAny), &first);
}

TEST(FillBuffers, OfOneCycleThatWhichWasTakenFirstLeavesFirst) {
    FillBuffers buffers(2);
    FillBuffer& first = buffers.take(7);
    FillBuffer& second = buffers.take(11);
    buffers.set_ready(second, 19);
    buffers.set_ready(first, 19);
    EXPECT_EQ(buffers.ready(19, kAny), &first);
}

TEST(FillBuffers, ALineThatMayNotGoLetsTheNextReadyOnePass) {
    FillBuffers buffers(3);
    buffers.set_ready(buffers.take(7), 19);
    FillBuffer& second = buffers.take(11);
    buffers.set_ready(second, 23);
    const auto not_seven = [](const FillBuffer& buffer) { return buffer.line != 7; };
    EXPECT_EQ(buffers.ready(22, not_seven), nullptr);
    EXPECT_EQ(buffers.ready(23, not_seven), &second);
}

TEST(FillBuffers, ALineOfAnotherTimeIsReadyThen) {
    FillBuffers buffers(2);
    FillBuffer& buffer = buffers.take(7);
    buffers.set_ready(buffer, 23);
    buffers.set_ready(buffer, 19);
    EXPECT_EQ(buffers.next_move(), 19);
    buffers.give_back(buffer);
    EXPECT_EQ(buffers.next_move(), kUnknownCycle);
}

TEST(FillBuffers, AreFullOfMissesWhereHalfOfThemAtLeastMissTheL2) {
    FillBuffers buffers(3);
    FillBuffer& first = buffers.take(7);
    FillBuffer& second = buffers.take(11);
    buffers.set_missed(first);
    buffers.set_missed(second);
    EXPECT_FALSE(buffers.full_of_misses());
    buffers.take(13);
    EXPECT_TRUE(buffers.full_of_misses());
    buffers.set_missed(first);  // asked for once more
    buffers.set_ready(second, 19);
    buffers.give_back(second);
    EXPECT_FALSE(buffers.full_of_misses());
    buffers.take(17);  // in a buffer that held a miss
    EXPECT_TRUE(buffers.full());
    EXPECT_FALSE(buffers.full_of_misses());
}

TEST(FillBuffers, HalfOfThemMissTheL2WhicheverLineHasLeft) {
    FillBuffers buffers(2);
    buffers.set_missed(buffers.take(7));
    FillBuffer& hit = buffers.take(11);
    EXPECT_TRUE(buffers.full_of_misses());  // one of two
    buffers.give_back(hit);
    buffers.take(13);
    EXPECT_TRUE(buffers.full_of_misses());
}

TEST(FillBuffers, ABufferThatWaitedHoldsALineLikeAnyOther) {
    FillBuffers buffers(1);
    buffers.give_back(buffers.take_wait(13));
    FillBuffer& line = buffers.take(7);
    buffers.set_ready(line, 19);
    buffers.give_back(line);
    EXPECT_EQ(buffers.next_move(), kUnknownCycle);
    EXPECT_EQ(buffers.ready(23, kAny), nullptr);
}

TEST(FillBuffers, AWaitTakesABufferAndNoTurn) {
    FillBuffers buffers(2);
    buffers.take(7);
    EXPECT_FALSE(buffers.full());
    FillBuffer& wait = buffers.take_wait(13);
    EXPECT_TRUE(buffers.full());
    EXPECT_EQ(buffers.next_move(), kUnknownCycle);
    EXPECT_EQ(buffers.next_wait(), 13);
    EXPECT_EQ(buffers.ready(17, kAny), nullptr);
    EXPECT_EQ(buffers.over(12), nullptr);
    EXPECT_EQ(buffers.over(13), &wait);
    buffers.give_back(wait);
    EXPECT_FALSE(buffers.full());
    EXPECT_FALSE(buffers.empty());
}

// Many more lines than there are slots to look in: some of them share that of line 7.
TEST(FillBuffers, ALineIsFoundWhileABufferHoldsIt) {
    FillBuffers buffers(64);
    FillBuffer& buffer = buffers.take(7);
    for (Line line = 8; line < 4096; ++line) {
        EXPECT_EQ(buffers.find(line), nullptr) << line;
        FillBuffer& other = buffers.take(line);
        EXPECT_EQ(buffers.find(line), &other) << line;
        EXPECT_EQ(buffers.find(7), &buffer) << line;
        buffers.give_back(other);
        EXPECT_EQ(buffers.find(line), nullptr) << line;
    }
    EXPECT_EQ(buffers.find(7), &buffer);
    buffers.give_back(buffer);
    EXPECT_EQ(buffers.find(7), nullptr);
}

TEST(FillBuffers, ALineThatFoundNoneFindsNoneUntilOneIsFreeOrTakenForIt) {
    FillBuffers buffers(2);
    FillBuffer& first = buffers.take(7);
    buffers.take(11);
    const Refusal refusal = buffers.refusal(13);
    EXPECT_TRUE(buffers.refuses_again(refusal));
    buffers.give_back(first);
    EXPECT_FALSE(buffers.refuses_again(refusal));
    EXPECT_TRUE(buffers.none_taken(refusal));
    FillBuffer& other = buffers.take(17);
    EXPECT_TRUE(buffers.refuses_again(refusal));
    buffers.give_back(other);
    buffers.take(13);
    EXPECT_FALSE(buffers.refuses_again(refusal));
}

TEST(FillBuffers, ALineThatPassedAnotherIsNotInItsTurnAnyMore) {
    FillBuffers buffers(3);
    FillBuffer& first = buffers.take(7);
    FillBuffer& second = buffers.take(11);
    FillBuffer& third = buffers.take(13);
    buffers.set_ready(first, 23);
    buffers.set_ready(second, 17);
    buffers.set_ready(third, 19);  // between them
    EXPECT_EQ(buffers.ready(30, kAny), &second);
    buffers.give_back(third);
    buffers.give_back(second);
    EXPECT_EQ(buffers.next_move(), 23);
    EXPECT_EQ(buffers.ready(30, kAny), &first);
    buffers.give_back(first);
    EXPECT_EQ(buffers.ready(30, kAny), nullptr);
    EXPECT_TRUE(buffers.empty());
}

// More turns than a queue has places.
TEST(FillBuffers, TheOrderHoldsHoweverManyLinesThereWere) {
    FillBuffers buffers(3);
    FillBuffer* before = &buffers.take(1000);
    buffers.set_ready(*before, 1);
    for (std::int64_t i = 2; i < 500; ++i) {
        FillBuffer& next = buffers.take(1000 + i);
        buffers.set_ready(next, i);
        ASSERT_EQ(buffers.ready(i, kAny), before) << i;
        buffers.give_back(*before);
        before = &next;
    }
    EXPECT_EQ(buffers.next_move(), 499);
}

}  // namespace
}  // namespace tilesim::arch::amx::caches
