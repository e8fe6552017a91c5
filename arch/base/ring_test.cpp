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

TEST(Ring, InsertsBeforeWhatIsLater) {
    Ring<int> ring;
    for (const int value : {50, 20, 90, 70, 10, 60, 30, 80, 100, 40}) {
        insert_before(ring, [value](int other) { return other > value; }) = value;
    }
    for (int expected = 10; !ring.empty(); ring.pop_front(), expected += 10) {
        EXPECT_EQ(ring.front(), expected);
    }
}

}  // namespace
}  // namespace tilesim::arch::base
