#include "sim/explore/axis_effects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilesim::sim::explore {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

SweepFile two_axes() {
    SweepFile sweep;
    sweep.axes = {{{"a"}, {{"1"}, {"2"}}}, {{"b", "c"}, {{"1", "1"}, {"2", "2"}}}};
    return sweep;
}

Simulated took(double time_ns, const std::string& note = "") {
    Simulated simulated;
    simulated.status = "ok";
    simulated.result = {{"time_ns", time_ns}, {"wall_s", 1 / time_ns}, {"notes", {note}}};
    return simulated;
}

// Names of the axes that were not felt where the four points took these times, a slowest.
std::vector<std::string> unfelt(const std::vector<Simulated>& results) {
    const SweepFile sweep = two_axes();
    AxisEffects effects(sweep);
    for (std::size_t i = 0; i < results.size(); ++i) {
        const std::string a = i < 2 ? "1" : "2";
        const std::string b = i % 2 == 0 ? "1" : "2";
        effects.add({0, {{"a", a}, {"b", b}, {"c", b}}, ""}, results[i]);
    }
    std::vector<std::string> names;
    for (const auto& each : effects.unfelt()) {
        names.push_back(each.axis + ": " + std::to_string(each.compared));
    }
    return names;
}

TEST(AxisEffects, AnAxisIsFeltWhereOnePairOfPointsDiffers) {
    EXPECT_THAT(unfelt({took(5), took(7), took(5), took(7)}), ElementsAre("a: 4"));
    EXPECT_THAT(unfelt({took(5), took(5), took(7), took(7)}), ElementsAre("b, c: 4"));
    EXPECT_THAT(unfelt({took(5), took(5), took(5), took(5)}), ElementsAre("a: 4", "b, c: 4"));
    EXPECT_THAT(unfelt({took(5), took(5), took(5), took(7)}), IsEmpty());
}

TEST(AxisEffects, TextsOfAResultAreNoEffect) {
    EXPECT_THAT(unfelt({took(5, "as is"), took(7), took(5), took(7)}), ElementsAre("a: 4"));
}

TEST(AxisEffects, WhatCannotBeBuiltIsNoResult) {
    Simulated invalid;
    invalid.status = "invalid";
    EXPECT_THAT(unfelt({took(5), invalid, took(5), invalid}), ElementsAre("a: 2"));
    EXPECT_THAT(unfelt({invalid, invalid, invalid, invalid}), IsEmpty());
    EXPECT_THAT(unfelt({took(5)}), IsEmpty());
}

}  // namespace
}  // namespace tilesim::sim::explore
