#include "sim/compare/timing_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/base/config.hpp"

namespace tilesim::sim::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TimingFile, ReadsTimesInTheirColumnsUnit) {
    const Timing timing =
        parse_timing("device,run,time_us\nxdna2,1,12.5\n# warm\nxdna2,2,13\n", "t");
    EXPECT_THAT(timing.runs_ns, ElementsAre(12'500.0, 13'000.0));
    EXPECT_EQ(timing.device, "xdna2");
}

TEST(TimingFile, ReadsWhatHostProgramsPrint) {
    const Timing timing = parse_timing(
        "Avg NPU matmul time: 512.5us.\nAvg NPU gflops: 3\nMin NPU matmul time: 500us.\n", "t");
    EXPECT_THAT(timing.runs_ns, ElementsAre(512'500.0));
}

TEST(TimingFile, PrintedTimesHaveAUnitAndARange) {
    const auto runs = [](const std::string& text) { return parse_timing(text, "t").runs_ns; };
    EXPECT_THAT(runs("NPU time:   2 ms, NPU time: 3s\nMax NPU time: 7us\nAverage NPU time: 5 ns"),
                ElementsAre(2e6, 3e9, 5.0));
    EXPECT_THAT(runs("NPU time: 1 mss NPU time: 1.2.3us NPU time: us NPU NPU time: 11us"),
                ElementsAre(11'000.0));
    EXPECT_THAT(runs("NPU time: 9224 s NPU time: 13 s"), ElementsAre(13e9));
}

TEST(TimingFile, LinesAreOfAnyLength) {
    constexpr std::size_t kLong = 1'000'000;
    const Timing timing = parse_timing("NPU time:" + std::string(kLong, ' ') +
                                           "17us\nNPU time: 0." + std::string(kLong, '0') + "ms\n",
                                       "t");
    EXPECT_THAT(timing.runs_ns, ElementsAre(17'000.0));
}

TEST(TimingFile, BadTimesAreLocated) {
    const auto message = [](const std::string& text) -> std::string {
        try {
            parse_timing(text, "t.csv");
            return "";
        } catch (const arch::base::config::ConfigError& error) {
            return error.what();
        }
    };
    EXPECT_THAT(message("time_us\n5\nnan\n"), HasSubstr("t.csv:3:1: time_us: must be a time"));
    EXPECT_THAT(message("time_us\n0\n"), HasSubstr("got '0'"));
    // Neither a rate of nothing nor infinity nanoseconds.
    EXPECT_THAT(message("time_us\n1e308\n"), HasSubstr("1 fs to 9223 s, got '1e308'"));
    EXPECT_THAT(message("time_s\n1e-300\n"), HasSubstr("1 fs to 9223 s, got '1e-300'"));
    EXPECT_THAT(message("time_s\n9224\n"), HasSubstr("1 fs to 9223 s, got '9224'"));
    EXPECT_EQ(message("time_s\n9223\n"), "");
    EXPECT_EQ(message("time_us,note\n5,\xFF\n"),
              "t.csv:2:3: must be UTF-8 text, got the byte 0xff");
    EXPECT_EQ(message("time_us,note\n5,\"a\n"),
              "t.csv:2:3: this quote is never closed: a field stands on one line");
    EXPECT_THAT(message("a,b\n1,2\n"), HasSubstr("no run times"));
    EXPECT_THAT(message(""), HasSubstr("no run times"));
    EXPECT_THAT(message("time_us\n68,3\n"), HasSubstr("t.csv:2:1: has 2 fields, the header 1"));
    EXPECT_THAT(message("time_us,device\n68\n"), HasSubstr("t.csv:2:1: has 1 fields"));
    EXPECT_THAT(message("time_us,time_ns\n1,2\n"),
                HasSubstr("t.csv:1:1: must have exactly one column of time_ns"));
    EXPECT_THAT(message("time_us,device\n68,xdna\n68,xdna2\n"),
                HasSubstr("t.csv:3:1: device: must be that of the runs before, 'xdna', got"));
}

TEST(TimingFile, ReadsWhatSpreadsheetsWrite) {
    const Timing timing = parse_timing(
        "\xEF\xBB\xBF# of Monday\r\n\r\n\"note\",\"time_us\"\r\n\"a, \"\"b\"\"\",\"12.5\"\r\n",
        "t");
    EXPECT_THAT(timing.runs_ns, ElementsAre(12'500.0));
}

TEST(TimingFile, TheMedianIgnoresOutliers) {
    EXPECT_EQ(median({5, 1, 900}), 5);
    EXPECT_EQ(median({4, 1, 2, 900}), 3);
}

}  // namespace
}  // namespace tilesim::sim::compare
