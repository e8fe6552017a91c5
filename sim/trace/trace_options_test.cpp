#include "sim/trace/trace_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/base/temporary_folder_testing.hpp"

namespace tilesim::sim::trace {
namespace {

using testing::HasSubstr;

std::string complaint(const TraceOptions& options) {
    try {
        TraceSession{options};
        return "";
    } catch (const arch::base::config::ConfigError& error) {
        return error.what();
    }
}

TEST(TraceOptions, WhatSaysHowATraceLooksNeedsOne) {
    TraceOptions options;
    options.vcd_file = "t.vcd";
    options.counters = true;
    EXPECT_EQ(complaint(options), "--trace-counters needs --trace");
    options.counters = false;
    options.flows = true;
    EXPECT_EQ(complaint(options), "--trace-flows needs --trace");
    options.flows = false;
    options.time = "us";
    EXPECT_EQ(complaint(options), "--trace-time needs --trace");
    options.chrome_file = "t.json";
    EXPECT_EQ(complaint(options), "");
    options.vcd_file.clear();
    options.vcd_signals = "core";
    EXPECT_EQ(complaint(options), "--vcd-signals needs --vcd");
    EXPECT_EQ(complaint({.window = "1 us..2 us"}), "--trace-window needs --trace or --vcd");
}

TEST(TraceOptions, TwoFilesOfOneNameAreRefusedButNotDevices) {
    EXPECT_EQ(complaint({.chrome_file = "t", .vcd_file = "t"}), "--trace and --vcd both write t");
    EXPECT_EQ(complaint({.chrome_file = "t", .vcd_file = "v", .command_file = "v"}),
              "--commands and --vcd both write v");
    EXPECT_EQ(complaint({.chrome_file = "/dev/null", .vcd_file = "/dev/null"}), "");
}

TEST(TraceOptions, ATraceThatShowsNothingSaysWhy) {
    const arch::base::TemporaryFolder folder;
    const auto note = [&](TraceOptions options) {
        options.vcd_file = folder.path() / "t.vcd";
        TraceSession session{options};
        session.listener()->begin("npu.tile(0,2).core", "multiply", arch::base::Femtoseconds{0});
        workloads::RunResult result;
        result.clock_ghz = 1;
        result.time_ns = 2000;
        return session.write(result, 1);
    };
    EXPECT_EQ(note({}), "");
    EXPECT_EQ(note({.vcd_signals = "core"}), "");
    EXPECT_THAT(note({.vcd_signals = "cure"}),
                HasSubstr("no component's name holds 'cure' (--vcd-signals)"));
    EXPECT_EQ(note({.window = "1 us..3 us"}), "");
    EXPECT_THAT(
        note({.window = "3 us..4 us"}),
        HasSubstr("nothing began or lasted in --trace-window 3 us..4 us of a run of 2.000 us"));
}

}  // namespace
}  // namespace tilesim::sim::trace
