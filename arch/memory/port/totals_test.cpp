// What several memories, channels or guests have done adds up, number by number.
#include <gtest/gtest.h>

#include "arch/memory/port/bank_counts.hpp"
#include "arch/memory/port/memory_totals.hpp"

namespace tilesim::arch::memory::port {
namespace {

TEST(BankCounts, AddUp) {
    BankCounts counts{2, 3, 5};
    counts += BankCounts{7, 11, 13};
    EXPECT_EQ(counts, (BankCounts{9, 14, 18}));
}

TEST(MemoryTotals, AddUpAndEndAtTheLastAddress) {
    MemoryTotals totals{.bytes_requested = 2,
                        .bytes_read = 3,
                        .bytes_written = 5,
                        .row_hits = 7,
                        .bursts = 11,
                        .activates = 13,
                        .refreshes = 17,
                        .row_open = 19,
                        .any_row_open = 23,
                        .end = 29,
                        .peaks = {}};
    const MemoryTotals other = totals;
    totals += other;
    EXPECT_EQ(totals.bytes_requested, 4);
    EXPECT_EQ(totals.bytes_read, 6);
    EXPECT_EQ(totals.bytes_written, 10);
    EXPECT_EQ(totals.row_hits, 14);
    EXPECT_EQ(totals.bursts, 22);
    EXPECT_EQ(totals.activates, 26);
    EXPECT_EQ(totals.refreshes, 34);
    EXPECT_EQ(totals.row_open, 38);
    EXPECT_EQ(totals.any_row_open, 46);
    EXPECT_EQ(totals.end, 29);
}

}  // namespace
}  // namespace tilesim::arch::memory::port
