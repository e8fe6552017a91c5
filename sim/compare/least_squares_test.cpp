#include "sim/compare/least_squares.hpp"

#include <gtest/gtest.h>

namespace tilesim::sim::compare {
namespace {

TEST(LeastSquares, AStepTakesAwayWhatTheColumnsCanExplain) {
    // errors = -(2 a + 3 b)
    const Vector a{1, 0, 1, 5};
    const Vector b{0, 1, 1, 7};
    Vector errors;
    for (std::size_t i = 0; i < a.size(); ++i) {
        errors.push_back(-(2 * a[i] + 3 * b[i]));
    }
    const Vector step = least_squares_step({a, b}, errors);
    EXPECT_NEAR(step[0], 2, 1e-4);
    EXPECT_NEAR(step[1], 3, 1e-4);
}

TEST(LeastSquares, ARowLeftOutDoesNotCount) {
    const Vector step = least_squares_step({{1, 1, 1}}, {-2, -2, -1000}, 2);
    EXPECT_NEAR(step[0], 2, 1e-4);
}

TEST(LeastSquares, AColumnThatOthersMakeUpHasNoShareOfItsOwn) {
    const auto [none, nearest] = own_share({1, 2, 3}, {{1, 0, 0}, {0, 2, 3}});
    EXPECT_NEAR(none, 0, 1e-3);
    EXPECT_EQ(nearest, 1U);
    EXPECT_NEAR(own_share({1, 0}, {{0, 1}}).first, 1, 1e-6);
    EXPECT_NEAR(own_share({3, 4}, {{1, 0}}).first, 0.8, 1e-3);
}

}  // namespace
}  // namespace tilesim::sim::compare
