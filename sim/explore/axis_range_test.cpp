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

TEST(AxisRange, QuantitiesKeepTheirUnitAndTheirCount) {
    EXPECT_THAT(values_of({.from = "1 GHz", .to = "2 GHz", .points = 5}),
                ElementsAre("1 GHz", "1.25 GHz", "1.5 GHz", "1.75 GHz", "2 GHz"));
    EXPECT_THAT(values_of({.from = "1 GHz", .to = "2 GHz", .factor = "1.2"}),
                ElementsAre("1 GHz", "1.2 GHz", "1.44 GHz", "1.728 GHz"));
    EXPECT_THAT(values_of({.from = "2 GHz", .to = "4 GHz", .points = 3, .logarithmic = true}),
                ElementsAre("2 GHz", "2.828427125 GHz", "4 GHz"));  // whole Hz
    EXPECT_THAT(values_of({.from = "1 KiB", .to = "2 KiB", .points = 4}),
                ElementsAre("1 KiB", "1.3330078125 KiB", "1.6669921875 KiB", "2 KiB"));
    EXPECT_THAT(values_of({.from = "1 cycle", .to = "4 cycle", .step = "1 cycle"}),
                ElementsAre("1 cycle", "2 cycle", "3 cycle", "4 cycle"));
}

TEST(AxisRange, EndsAndStepMayHaveDifferentUnitsOfOneKind) {
    EXPECT_THAT(values_of({.from = "800 MHz", .to = "1.2 GHz", .points = 3}),
                ElementsAre("800 MHz", "1000 MHz", "1200 MHz"));
    EXPECT_THAT(values_of({.from = "1 MiB", .to = "2 MiB", .step = "512 KiB"}),
                ElementsAre("1 MiB", "1.5 MiB", "2 MiB"));
}

TEST(AxisRange, WholeEndsGiveWholeValues) {
    EXPECT_THAT(values_of({.from = "1", .to = "4", .points = 3}), ElementsAre("1", "3", "4"));
}

TEST(AxisRange, ImpossibleRangesAreRefused) {
    const AxisRange wrong[] = {{.from = "1", .to = "4"},
                               {.from = "1", .to = "4", .points = 9},
                               {.from = "1 cycle", .to = "4 cycle", .points = 9},
                               {.from = "1 parsec", .to = "4 parsec", .points = 2},
                               {.from = "1 GHz", .to = "2 GHz", .step = "1"},
                               {.from = "1", .to = "8", .factor = "2 B"},
                               {.from = "1", .to = "4", .step = "0"},
                               {.from = "1", .to = "4", .step = "-1"},
                               {.from = "0", .to = "4", .factor = "2"},
                               {.from = "1", .to = "4", .factor = "1"},
                               {.from = "1 KiB", .to = "4 GHz", .factor = "2"},
                               {.from = "1 KiB", .to = "4", .factor = "2"},
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
