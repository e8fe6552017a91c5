#include "arch/amx/socket/coming_lines.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::amx::socket {
namespace {

TEST(ComingLines, ALineIsComingUntilItIsTaken) {
    ComingLines lines;
    EXPECT_EQ(lines.find(7), nullptr);
    lines.add(7);
    ASSERT_NE(lines.find(7), nullptr);
    EXPECT_EQ(lines.find(7)->first, ComingLines::kNobody);
    lines.find(7)->first = 3;
    lines.find(7)->last = 5;
    const ComingLines::Coming taken = lines.take(7);
    EXPECT_EQ(taken.line, 7);
    EXPECT_EQ(taken.first, 3U);
    EXPECT_EQ(taken.last, 5U);
    EXPECT_EQ(lines.find(7), nullptr);
    lines.add(7);
    EXPECT_EQ(lines.find(7)->first, ComingLines::kNobody);
}

// So many that some lie in each other's places and the table grows; taken in another order.
TEST(ComingLines, EveryLineIsFoundHoweverManyAreComing) {
    constexpr caches::Line kLines = 1'009;  // a prime: 97 times each is each once
    ComingLines lines;
    for (caches::Line line = 0; line < kLines; ++line) {
        lines.add(line * 64);
        lines.find(line * 64)->first = static_cast<std::uint64_t>(line);
    }
    for (caches::Line i = 0; i < kLines; ++i) {
        const caches::Line line = i * 97 % kLines;
        ASSERT_EQ(lines.take(line * 64).first, static_cast<std::uint64_t>(line));
        ASSERT_EQ(lines.find(line * 64), nullptr);
        for (caches::Line j = i + 1; j < kLines; ++j) {
            ASSERT_NE(lines.find(j * 97 % kLines * 64), nullptr) << i << " " << j;
        }
    }
}

}  // namespace
}  // namespace tilesim::arch::amx::socket
