#include "arch/amx/socket/barrier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilesim::arch::amx::socket {
namespace {

using base::Femtoseconds;
using testing::ElementsAre;

std::vector<std::int64_t> ends(std::initializer_list<std::int64_t> arrivals,
                               std::int64_t transfer) {
    std::vector<Femtoseconds> times;
    for (const std::int64_t arrival : arrivals) {
        times.emplace_back(arrival);
    }
    std::vector<std::int64_t> result;
    for (const Femtoseconds end : barrier_ends(times, Femtoseconds{transfer})) {
        result.push_back(end.count());
    }
    return result;
}

TEST(Barrier, HoldsNobodyWhoIsAlone) {
    EXPECT_THAT(ends({70}, 10), ElementsAre(70));
    EXPECT_TRUE(ends({}, 10).empty());
}

TEST(Barrier, TakesAnIncrementOfTheLastAndAReadOfTheOthers) {
    EXPECT_THAT(ends({0, 500, 100}, 10), ElementsAre(520, 510, 520));
}

TEST(Barrier, HandsTheLineFromCoreToCoreWhereTheyComeTogether) {
    EXPECT_THAT(ends({100, 100, 100, 100}, 10), ElementsAre(150, 150, 150, 140));
}

TEST(Barrier, HasThoseWaitForTheLineWhoComeWhileItIsUnderWay) {
    EXPECT_THAT(ends({100, 104, 125}, 10), ElementsAre(145, 145, 135));
    EXPECT_THAT(ends({104, 100, 112}, 10), ElementsAre(140, 140, 130));
}

}  // namespace
}  // namespace tilesim::arch::amx::socket
