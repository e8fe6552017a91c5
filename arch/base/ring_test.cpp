#include "arch/base/ring.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::base {
namespace {

TEST(Ring, GrowsAndKeepsItsElementsInOrder) {
    Ring<int> ring;
    int next = 0;
    for (int i = 0; i < 100; ++i) {
        append(ring) = i;
        if (i % 3 == 0) {  // so that it grows while it is wrapped around
            EXPECT_EQ(ring.front(), next++);
            ring.pop_front();
        }
    }
    for (; !ring.empty(); ring.pop_front()) {
        EXPECT_EQ(ring.front(), next++);
    }
    EXPECT_EQ(next, 100);
}

}  // namespace
}  // namespace tilesim::arch::base
