#include "validation/bounds.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tilesim::validation {
namespace {

// A row that is off by so much.
Row row(const std::string& id, double error_percent) {
    Row made;
    made.id = id;
    made.measured = 100;
    made.predicted = 100 + error_percent;
    return made;
}

TEST(Bounds, AreTheErrorAndATenthOrATenthOfAPoint) {
    EXPECT_DOUBLE_EQ(bound_for(0), 0.1);
    EXPECT_DOUBLE_EQ(bound_for(0.5), 0.6);  // a tenth of it would be 0.05
    EXPECT_DOUBLE_EQ(bound_for(-3), 3.3);
}

TEST(Bounds, AreBrokenByARowBeyondItsBoundEitherWay) {
    const Bounds bounds{{"a", 2.0}};
    EXPECT_TRUE(check(bounds, {row("a", 1.99)}).broken.empty());
    EXPECT_TRUE(check(bounds, {row("a", -1.99)}).broken.empty());
    EXPECT_EQ(check(bounds, {row("a", 2.01)}).broken.size(), 1);
    EXPECT_EQ(check(bounds, {row("a", -2.01)}).broken.size(), 1);
    EXPECT_EQ(check(bounds, {row("a", std::nan(""))}).broken.size(), 1);
}

TEST(Bounds, AreBrokenByARowWithoutABoundAndABoundWithoutARow) {
    EXPECT_EQ(check({}, {row("a", 0)}).broken, std::vector<std::string>{"a: no bound"});
    EXPECT_EQ(check({{"b", 1.0}}, {}).broken, std::vector<std::string>{"b: a bound without a row"});
}

TEST(Bounds, ARowThatHasComeNearerIsNamed) {
    EXPECT_TRUE(check({{"a", 2.2}}, {row("a", 2.0)}).loose.empty());
    EXPECT_EQ(check({{"a", 2.3}}, {row("a", 2.0)}).loose.size(), 1);
}

TEST(Bounds, AreNeverLoosened) {
    const Bounds tight = tightened({{"a", 2.2}, {"b", 0.3}, {"c", 1.0}, {"gone", 1.0}},
                                   {row("a", 1.0), row("b", 5.0), row("c", std::nan("")),
                                    row("new", 0.0), row("no number", std::nan(""))});
    EXPECT_EQ(tight.size(), 4);
    EXPECT_DOUBLE_EQ(tight.at("a"), 1.1);
    EXPECT_DOUBLE_EQ(tight.at("b"), 0.3);
    EXPECT_DOUBLE_EQ(tight.at("c"), 1.0);
    EXPECT_DOUBLE_EQ(tight.at("new"), 0.1);
}

}  // namespace
}  // namespace tilesim::validation
