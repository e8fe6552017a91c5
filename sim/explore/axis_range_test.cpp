#include "sim/explore/axis_range.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace tilesim::sim::explore {
namespace {

using testing::ElementsAre;

TEST(AxisRange, StepsIncludeTheEndWhereTheyMeetIt) {
    EXPECT_THAT(values_of({.from = "2", .to = "8", .step = "3"}), ElementsAre("2", "5", "8"));
    EXPECT_THAT(values_of({.from = "2", .to = "7", .step = "3"}), ElementsAre("2", "5"));
    EXPECT_THAT(values_of({.from = "3", .to = "1", .step = "-1"}), ElementsAre("3", "2", "1"));
    EXPECT_THAT(values_of({.from = "0.1", .to = "0.3", .step = "0.1"}),
                ElementsAre("0.1", "0.2", "0.3"));
}

TEST(AxisRange, FactorsAndLogarithmicPointsMultiply) {
    EXPECT_THAT(values_of({.from = "32 KiB", .to = "128 KiB", .factor = "2"}),
                ElementsAre("32 KiB", "64 KiB", "128 KiB"));
    EXPECT_THAT(values_of({.from = "1", .to = "1000", .points = 4, .logarithmic = true}),
                ElementsAre("1", "10", "100", "1000"));
}

TEST(AxisRange, WholeEndsGiveWholeValuesWithoutRepeats) {
    EXPECT_THAT(values_of({.from = "1", .to = "4", .points = 9}), ElementsAre("1", "2", "3", "4"));
}

TEST(AxisRange, ImpossibleRangesAreRefused) {
    const AxisRange wrong[] = {{.from = "1", .to = "4"},
                               {.from = "1", .to = "4", .step = "0"},
                               {.from = "1", .to = "4", .step = "-1"},
                               {.from = "0", .to = "4", .factor = "2"},
                               {.from = "1", .to = "4", .factor = "1"},
                               {.from = "1 KiB", .to = "4 MiB", .factor = "2"},
                               {.from = "nan", .to = "4", .step = "1"},
                               {.from = "x", .to = "4", .step = "1"},
                               {.from = "0", .to = "4", .points = 3, .logarithmic = true},
                               {.from = "0", .to = "1e9", .step = "1"}};
    for (const AxisRange& range : wrong) {
        EXPECT_THROW(values_of(range), std::invalid_argument) << range.from << " " << range.to;
    }
}

}  // namespace
}  // namespace tilesim::sim::explore
