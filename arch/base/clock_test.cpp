#include "arch/base/clock.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::base {
namespace {

using namespace literals;

TEST(Clock, EdgesOf1p8GHzDoNotDrift) {
    const Clock clock{Hertz{1'800'000'000}};
    EXPECT_EQ(clock.time_of(1_cyc), 555'556_fs);
    EXPECT_EQ(clock.time_of(9_cyc), 5'000'000_fs);  // exactly 5 ns
    EXPECT_EQ(clock.time_of(1'800'000'000_cyc).count(), 1'000'000'000'000'000);
}

TEST(Clock, TimeOfACycleConvertsBackToIt) {
    const Clock clock{Hertz{937'500'000}};
    for (const std::int64_t n : {0L, 1L, 2L, 3L, 1'000'003L, 77'777'777'777L}) {
        EXPECT_EQ(clock.cycle_at(clock.time_of(Cycles{n})), Cycles{n});
        EXPECT_EQ(clock.first_cycle_from(clock.time_of(Cycles{n})), Cycles{n});
        EXPECT_EQ(clock.first_cycle_from(clock.time_of(Cycles{n}) + 1_fs), Cycles{n + 1});
    }
}

TEST(Clock, ConvertsTimesWhoseProductsNeedMoreThan64Bits) {
    const Clock clock{Hertz{999'999'937}};  // shares no factor with the femtoseconds of a second
    EXPECT_EQ(clock.time_of(Cycles{999'999'937LL * 9'000}).count(), 9'000'000'000'000'000'000);
    EXPECT_EQ(clock.cycle_at(Femtoseconds{9'000'000'000'000'000'000}).count(),
              999'999'937LL * 9'000);
    EXPECT_EQ(clock.first_cycle_from(Femtoseconds{9'000'000'000'000'000'000}).count(),
              999'999'937LL * 9'000);
}

TEST(Units, TransferTimeRoundsUp) {
    EXPECT_EQ(transfer_time(64_B, BytesPerCycle{16}), 4_cyc);
    EXPECT_EQ(transfer_time(65_B, BytesPerCycle{16}), 5_cyc);
    EXPECT_EQ(transfer_time(0_B, BytesPerCycle{16}), 0_cyc);
}

}  // namespace
}  // namespace tilesim::arch::base
