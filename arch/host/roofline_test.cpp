#include "arch/host/roofline.hpp"

#include <gtest/gtest.h>

#include "arch/host/host_testing.hpp"

namespace tilesim::arch::host {
namespace {

using namespace testing;

TEST(Roofline, ArithmeticRunsAtTheShareLoopsReach) {
    Work work;
    work.operations = 4001;
    EXPECT_DOUBLE_EQ(roofline_ns(host(), work), 4001 / kStreaming / kCores * kCycle);
    work.parallel = false;
    EXPECT_DOUBLE_EQ(roofline_ns(host(), work), 4001 / kStreaming * kCycle);
}

TEST(Roofline, FunctionsAndTransposedElementsHaveACostEach) {
    Work work;
    work.functions = 211;
    EXPECT_DOUBLE_EQ(roofline_ns(host(), work), 211 * 7 / kCores * kCycle);
    work.transposed_elements = 41;
    EXPECT_DOUBLE_EQ(roofline_ns(host(), work), (211 * 7 + 41 * 5) / kCores * kCycle);
    work.operations = 97;
    EXPECT_DOUBLE_EQ(roofline_ns(host(), work),
                     (97 / kStreaming + 211 * 7 + 41 * 5) / kCores * kCycle);
}

TEST(Roofline, WrittenLinesAreFetchedFirst) {
    Work work;
    work.bytes_read = 30'011;
    EXPECT_DOUBLE_EQ(roofline_ns(host(), work), 30'011 * kByte);
    work.bytes_written = 15'013;
    EXPECT_DOUBLE_EQ(roofline_ns(host(), work), (30'011 + 2 * 15'013) * kByte);
    work.parallel = false;
    EXPECT_DOUBLE_EQ(roofline_ns(host(), work), (30'011 + 2 * 15'013) * kByteOfCore);
}

TEST(Roofline, TheSlowerOfArithmeticAndMemoryBinds) {
    Work work;
    work.functions = 211;
    const double arithmetic = 211 * 7 / kCores * kCycle;
    work.bytes_read = arithmetic / kByte - 1;
    EXPECT_DOUBLE_EQ(roofline_ns(host(), work), arithmetic);
    work.bytes_read = arithmetic / kByte + 1;
    EXPECT_DOUBLE_EQ(roofline_ns(host(), work), work.bytes_read * kByte);
}

TEST(Roofline, WorkAddsUpAndOneCoreHoldsUpAll) {
    Work sum{2, 3, 5, 7, 11, true};
    sum += Work{13, 17, 19, 23, 29, true};
    EXPECT_EQ(sum.operations, 15);
    EXPECT_EQ(sum.functions, 20);
    EXPECT_EQ(sum.transposed_elements, 24);
    EXPECT_EQ(sum.bytes_read, 30);
    EXPECT_EQ(sum.bytes_written, 40);
    EXPECT_TRUE(sum.parallel);
    EXPECT_EQ(sum.flop(), 35);
    sum += Work{.parallel = false};
    EXPECT_FALSE(sum.parallel);
}

TEST(Roofline, SharedBuffersAreFlushedLineByLine) {
    EXPECT_DOUBLE_EQ(sync_ns(host(), 0), 499);
    EXPECT_DOUBLE_EQ(sync_ns(host(), 67), 499 + 13);
    EXPECT_DOUBLE_EQ(sync_ns(host(), 68), 499 + 2 * 13);
}

}  // namespace
}  // namespace tilesim::arch::host
