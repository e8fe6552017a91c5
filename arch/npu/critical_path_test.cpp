#include "arch/npu/critical_path.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::npu {
namespace {

using namespace base::literals;

TEST(CriticalPath, WhatPassesSinceTheLastChargeIsThePartsOnce) {
    CriticalPath path;
    path.begin(7_cyc);
    path.charge(PathPart::Reading, 18_cyc);
    path.charge(PathPart::Stream, 18_cyc);
    path.charge(PathPart::Stream, 13_cyc);  // accounted for already
    path.charge(PathPart::Reading, 23_cyc);
    EXPECT_EQ(path.spent(PathPart::Reading), 16);
    EXPECT_EQ(path.spent(PathPart::Stream), 0);
    EXPECT_EQ(path.until(), 23_cyc);
    EXPECT_EQ(path.total(), 16);
}

TEST(CriticalPath, WhoHasWaitedGoesOnWithThePathOfTheOther) {
    CriticalPath waited;
    waited.charge(PathPart::Multiply, 11_cyc);
    CriticalPath other;
    other.charge(PathPart::Reading, 29_cyc);
    follow(&waited, &other);
    waited.charge(PathPart::Locks, 31_cyc);
    EXPECT_EQ(waited.spent(PathPart::Multiply), 0);
    EXPECT_EQ(waited.spent(PathPart::Reading), 29);
    EXPECT_EQ(waited.spent(PathPart::Locks), 2);
    follow(&waited, nullptr);
    follow(nullptr, &waited);
    EXPECT_EQ(waited.total(), 31);
}

}  // namespace
}  // namespace tilesim::arch::npu
