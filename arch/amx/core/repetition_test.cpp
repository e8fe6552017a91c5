#include "arch/amx/core/repetition.hpp"

#include <gtest/gtest.h>

#include "arch/amx/program/program_text.hpp"

namespace tilesim::arch::amx::core {
namespace {

constexpr const char* kHead =
    "buffer a 0x100000 65536\n"
    "config 0 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64\n"
    "ldtilecfg 0\n";

program::Program read(const std::string& text) {
    return program::read_program(kHead + text, "test");
}

// The watched statements.
std::vector<std::size_t> watched(const std::string& text) {
    const program::Program program = read(text);
    const Repetition repetition(program);
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < program.statements.size(); ++i) {
        if (repetition.watches(i)) {
            ends.push_back(i);
        }
    }
    return ends;
}

using Ends = std::vector<std::size_t>;

TEST(Repetition, WatchesLoopsWhoseCountNoAddressHas) {
    EXPECT_EQ(watched("loop i 3\n  tileloadd tmm0, [a], 64\nend\n"), Ends{3});
    EXPECT_EQ(watched("loop i 3\n  tileloadd tmm0, [a + 64*i], 64\nend\n"), Ends{});
}

TEST(Repetition, WatchesTheOutermostOfThem) {
    EXPECT_EQ(watched("loop i 3\n  loop k 3\n    scalar\n  end\nend\n"), Ends{5});
    EXPECT_EQ(watched("loop i 3\n  loop k 3\n    tileloadd tmm0, [a + 64*k], 64\n  end\nend\n"),
              Ends{5});
    EXPECT_EQ(watched("loop i 3\n  loop k 3\n    tileloadd tmm0, [a + 64*i], 64\n  end\nend\n"),
              Ends{4});
}

TEST(Repetition, WatchesNoneThatWaitsForOthersOrConfiguresTiles) {
    for (const std::string what : {"barrier", "ldtilecfg 0", "tilerelease"}) {
        EXPECT_EQ(watched("loop i 3\n  " + what + "\nend\n"), Ends{}) << what;
    }
}

// Turns whose states are given by numbers.
class Turns {
  public:
    // Whether the turn was found to be one of a period's.
    bool next(std::int64_t state, std::int64_t tags = 0, std::uint64_t exchanges = 0) {
        const Repetition::Turn turn{3, ++count_, exchanges};
        if (repetition.wants(turn)) {
            ++recorded;
            repetition.note(
                turn, of(state), [&] { return of(tags); },
                [&] {
                    Counts counts;
                    counts.cycle = 100 * count_;
                    return counts;
                });
        }
        return repetition.period().has_value();
    }
    void restart() { count_ = 0; }
    std::int64_t count() const { return count_; }

    program::Program program = read("loop i 3\n  scalar\nend\n");
    Repetition repetition{program};
    std::int64_t recorded = 0;

  private:
    static caches::StateRecord of(std::int64_t number) {
        caches::StateRecord record{0, 1, 64};
        record.add(number);
        return record;
    }
    std::int64_t count_ = 0;
};

TEST(Repetition, FindsAPeriodThatBeginsLate) {
    constexpr std::int64_t kBefore = 11;
    constexpr std::int64_t kPeriod = 7;
    Turns turns;
    std::int64_t state = 0;
    while (!turns.next(state)) {
        ASSERT_LT(turns.count(), 60);
        state = state < kBefore ? state + 1 : kBefore + (state - kBefore + 1) % kPeriod;
    }
    EXPECT_EQ(turns.repetition.period()->turns(), kPeriod);
    EXPECT_EQ(turns.repetition.period()->cycles(), 100 * kPeriod);
    // Compared from the 16th turn on: the 1st, 2nd, 4th, 8th were before the period.
    EXPECT_EQ(turns.repetition.period()->from.count, 16);
}

TEST(Repetition, EqualTagsAreNeededToo) {
    Turns turns;
    for (std::int64_t i = 0; i < 100; ++i) {
        EXPECT_FALSE(turns.next(0, i));
    }
    Turns others;
    std::int64_t i = 0;
    while (!others.next(0, i % 5)) {
        ASSERT_LT(++i, 60);
    }
    EXPECT_EQ(others.repetition.period()->turns(), 5);
}

TEST(Repetition, TurnsBetweenWhichSomethingWasExchangedDoNotRepeat) {
    Turns turns;
    for (std::uint64_t i = 0; i < 100; ++i) {
        EXPECT_FALSE(turns.next(0, 0, i));
    }
}

TEST(Repetition, HoldsForLaterTurnsOfTheLoopUntilSomethingIsExchanged) {
    Turns turns;
    turns.next(0);
    ASSERT_TRUE(turns.next(0));
    EXPECT_TRUE(turns.repetition.holds({3, 2, 0}));
    EXPECT_TRUE(turns.repetition.holds({3, 9, 0}));
    EXPECT_FALSE(turns.repetition.holds({3, 1, 0})) << "the loop has begun again";
    EXPECT_FALSE(turns.repetition.holds({3, 9, 1}));
    EXPECT_FALSE(turns.repetition.holds({4, 9, 0}));
}

TEST(Repetition, ALoopThatDoesNotRepeatIsLeftAloneUntilItBeginsAgain) {
    constexpr std::int64_t kPatience = 256;
    Turns turns;
    for (std::int64_t i = 0; i < 1000; ++i) {
        turns.next(i);
    }
    EXPECT_EQ(turns.recorded, kPatience);
    turns.restart();
    turns.next(0);
    EXPECT_TRUE(turns.next(0));
}

TEST(Counts, GrowByWhatWasCountedInAPeriod) {
    Counts then;
    then.core.dots = 10;
    then.caches.fills = 100;
    then.caches.most_misses = 3;
    then.walks = 1;
    then.spent[2] = 1000;
    then.overlapped[2] = 500;
    Counts now = then;
    now.core.dots = 13;
    now.caches.fills = 105;
    now.caches.most_misses = 4;
    now.walks = 8;
    now.spent[2] = 1011;
    now.overlapped[2] = 507;
    Counts later = now;
    later.core.dots = 14;
    const Counts grown_by = grown(later, then, now, 5);
    EXPECT_EQ(grown_by.core.dots, 14 + 5 * 3);
    EXPECT_EQ(grown_by.caches.fills, 105 + 5 * 5);
    EXPECT_EQ(grown_by.caches.most_misses, 4);
    EXPECT_EQ(grown_by.walks, 8 + 5 * 7);
    EXPECT_EQ(grown_by.spent[2], 1011 + 5 * 11);
    EXPECT_EQ(grown_by.overlapped[2], 507 + 5 * 7);
}

}  // namespace
}  // namespace tilesim::arch::amx::core
