#include "arch/base/units.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::base {
namespace {

TEST(Units, NanosecondsAreForReports) {
    EXPECT_DOUBLE_EQ(ns_of(Femtoseconds{937'600}), 0.9376);
    EXPECT_DOUBLE_EQ(ns_of(Cycles{9}, Hertz{1'800'000'000}), 5);
}

}  // namespace
}  // namespace tilesim::arch::base
