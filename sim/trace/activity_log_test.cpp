#include "sim/trace/activity_log.hpp"

#include <gtest/gtest.h>

#include "sim/trace/chrome_trace.hpp"
#include "sim/trace/counters.hpp"
#include "sim/trace/event_name.hpp"
#include "sim/trace/vcd.hpp"

namespace tilesim::sim::trace {
namespace {

using arch::base::Femtoseconds;
using arch::base::Hertz;

Femtoseconds ns(std::int64_t count) {
    return Femtoseconds{count * 1'000'000};
}

// A core that multiplies from 2 to 5 ns, waits until 7 ns and is then done.
void play(ActivityLog& log) {
    const char* core = "npu.tile(3,2).core";
    log.end(core, "done", ns(2));
    log.begin(core, "multiply", ns(2));
    log.end(core, "multiply", ns(5));
    log.begin(core, "waiting_for_input", ns(5));
    log.end(core, "waiting_for_input", ns(7));
    log.begin(core, "call", ns(7));
    log.end(core, "call", ns(7));
    log.begin(core, "done", ns(7));
    log.finish(ns(9));
}

TEST(ActivityLog, KeepsWhatTookTimeWithItsEnds) {
    ActivityLog log({}, 100);
    play(log);
    ASSERT_EQ(log.activities().size(), 3U);
    EXPECT_EQ(log.names()[log.activities()[0].name], "multiply");
    EXPECT_EQ(log.activities()[0].begin, ns(2));
    EXPECT_EQ(log.activities()[0].end, ns(5));
    EXPECT_EQ(log.activities()[2].end, ns(9));
    EXPECT_FALSE(log.truncated());
}

TEST(ActivityLog, TheWindowCutsActivities) {
    ActivityLog log({ns(3), ns(6)}, 100);
    play(log);
    ASSERT_EQ(log.activities().size(), 2U);
    EXPECT_EQ(log.activities()[0].begin, ns(3));
    EXPECT_EQ(log.activities()[1].end, ns(6));
}

TEST(ActivityLog, TheLimitIsSaid) {
    ActivityLog log({}, 2);
    play(log);
    EXPECT_EQ(log.activities().size(), 2U);
    EXPECT_TRUE(log.truncated());
}

TEST(ChromeTrace, HasTheFormOfTheTraceParser) {
    ActivityLog log({}, 100);
    play(log);
    EXPECT_EQ(
        to_chrome_trace(log, Hertz{2'000'000'000}, 1, "xdna"),
        "[\n"
        R"({"name":"process_name","ph":"M","pid":0,"args":{"name":"core_trace for tile2,3"}},)"
        "\n"
        R"({"name":"thread_name","ph":"M","pid":0,"tid":0,"args":{"name":"INSTR_VECTOR","component":"npu.tile(3,2).core"}},)"
        "\n"
        R"({"name":"thread_name","ph":"M","pid":0,"tid":1,"args":{"name":"WAITING_FOR_INPUT","component":"npu.tile(3,2).core"}},)"
        "\n"
        R"({"name":"device","ph":"M","pid":0,"args":{"name":"xdna","clock_hz":2000000000}},)"
        "\n"
        R"({"name":"INSTR_VECTOR","ts":4,"ph":"B","pid":0,"tid":0,"cname":"good","args":{"state":"multiply"}},)"
        "\n"
        R"({"name":"INSTR_VECTOR","ts":10,"ph":"E","pid":0,"tid":0,"args":{}},)"
        "\n"
        R"({"name":"WAITING_FOR_INPUT","ts":10,"ph":"B","pid":0,"tid":1,"cname":"terrible","args":{"state":"waiting_for_input"}},)"
        "\n"
        R"({"name":"WAITING_FOR_INPUT","ts":14,"ph":"E","pid":0,"tid":1,"args":{}})"
        "\n]\n");
}

TEST(Vcd, WritesChangesOnly) {
    ActivityLog log({}, 100);
    play(log);
    const std::string text = to_vcd(log, "core");
    EXPECT_NE(text.find("$scope module npu $end\n$scope module tile_3_2 $end\n"
                        "$scope module core $end\n$var"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("#5000000\n0\"\n1#\n#7000000\n0#\n1!\n"), std::string::npos) << text;
    EXPECT_EQ(to_vcd(log, "no such").find("$var"), std::string::npos);
}

// Two channels of a tile share its scope, which the next tile's leaves.
TEST(Vcd, ComponentsLieInTheScopesOfTheirNames) {
    ActivityLog log({}, 100);
    for (const char* component :
         {"npu.tile(0,1).mm2s0", "npu.tile(0,1).s2mm0", "npu.tile(0,2).core"}) {
        log.begin(component, "streaming", ns(1));
        log.end(component, "streaming", ns(2));
    }
    const std::string text = to_vcd(log, "");
    const auto count = [&text](std::string_view wanted) {
        std::size_t found = 0;
        for (std::size_t at = 0; (at = text.find(wanted, at)) != text.npos; ++at) {
            ++found;
        }
        return found;
    };
    EXPECT_EQ(count("$scope module npu $end"), 1U);
    EXPECT_EQ(count("$scope module tile_0_1 $end"), 1U);
    EXPECT_EQ(count("$scope"), count("$upscope"));
    EXPECT_EQ(count("$scope"), 6U);  // npu, two tiles, three units
}

// A comparison must know what is cut.
TEST(ChromeTrace, SaysWhereItsWindowIs) {
    ActivityLog log({ns(3), ns(6)}, 100);
    play(log);
    const auto text = [&log](ChromeForm form) {
        return to_chrome_trace(log, Hertz{2'000'000'000}, 1, "xdna", form);
    };
    EXPECT_NE(text({}).find(R"("clock_hz":2000000000,"window":[6,12]})"), std::string::npos);
    EXPECT_NE(text({.microseconds = true}).find(R"("window":[0.003000,0.006000]})"),
              std::string::npos);
}

TEST(ChromeTrace, MicrosecondsOnRequest) {
    ActivityLog log({}, 100);
    play(log);
    const std::string text =
        to_chrome_trace(log, Hertz{2'000'000'000}, 1, "xdna", {.microseconds = true});
    EXPECT_NE(text.find(R"("clock_hz":2000000000,"time_unit":"us")"), text.npos) << text;
    EXPECT_NE(text.find(R"({"name":"INSTR_VECTOR","ts":0.002000,"ph":"B")"), text.npos) << text;
    EXPECT_NE(text.find(R"({"name":"INSTR_VECTOR","ts":0.005000,"ph":"E")"), text.npos) << text;
}

// From the last cycle of what the releaser was at to what the other was at when it got the lock.
TEST(ChromeTrace, ArrowsFromAReleaseToWhoHadWaited) {
    ActivityLog log({}, 100);
    play(log);
    log.begin("npu.tile(2,2).core", "waiting_for_input", ns(1));
    log.end("npu.tile(2,2).core", "waiting_for_input", ns(6));
    log.wakes("npu.tile(3,2).core", "npu.tile(2,2).core", ns(7), ns(5));
    log.wakes("npu.tile(3,2).core", "npu.tile(1,2).core", ns(7), ns(5));  // never seen at anything
    const auto arrows = [&log](ChromeForm form) {
        return to_chrome_trace(log, Hertz{2'000'000'000}, 1, "xdna", form);
    };
    EXPECT_EQ(arrows({}).find(R"("ph":"s")"), std::string::npos);
    const std::string text = arrows({.flows = true});
    EXPECT_NE(
        text.find(
            R"({"name":"lock","cat":"lock","ts":13,"ph":"s","bp":"e","id":0,"pid":1,"tid":1})"
            ",\n"
            R"({"name":"lock","cat":"lock","ts":10,"ph":"f","bp":"e","id":0,"pid":0,"tid":0})"),
        text.npos)
        << text;
    EXPECT_EQ(text.find(R"("id":1)"), text.npos) << text;
}

TEST(Counters, AddUpWhatGoesOnAtOnce) {
    ActivityLog log({}, 100);
    play(log);
    log.begin("npu.tile(3,3).core", "multiply", ns(3));
    log.end("npu.tile(3,3).core", "multiply", ns(11));
    const std::vector<Counter> counters = counters_of(log, ns(4));
    ASSERT_EQ(counters.size(), 1U);
    EXPECT_EQ(counters[0].name, "busy cores");
    std::vector<std::pair<std::int64_t, double>> values;
    for (const Counter::Value& value : counters[0].values) {
        values.emplace_back(value.since.count() / 1'000'000, value.value);
    }
    EXPECT_EQ(values,
              (std::vector<std::pair<std::int64_t, double>>{{2, 1}, {3, 2}, {5, 1}, {11, 0}}));
}

// Two busses, windows of 4 ns: 3 of 8 ns in the first, none in the second, 1 in the third.
TEST(Counters, ShareOutBusTimeOverWindows) {
    ActivityLog log({}, 100);
    log.begin("memory.channel(0).bus", "read", ns(1));
    log.end("memory.channel(0).bus", "read", ns(3));
    log.begin("memory.channel(1).bus", "write", ns(3));
    log.end("memory.channel(1).bus", "write", ns(4));
    log.begin("memory.channel(1).bus", "turnaround", ns(4));
    log.end("memory.channel(1).bus", "turnaround", ns(8));
    log.begin("memory.channel(1).bus", "read", ns(9));
    log.end("memory.channel(1).bus", "read", ns(10));
    const std::vector<Counter> counters = counters_of(log, ns(4));
    ASSERT_EQ(counters.size(), 1U);
    std::vector<double> values;
    for (const Counter::Value& value : counters[0].values) {
        values.push_back(value.value);
    }
    EXPECT_EQ(values, (std::vector<double>{37.5, 0, 12.5, 0}));
}

TEST(ActivityLog, WhatLiesBeyondTheEndIsCut) {
    ActivityLog log({}, 100);
    log.begin("memory.channel(0).bus", "read", ns(7));
    log.end("memory.channel(0).bus", "read", ns(11));
    log.begin("memory.channel(0).bus", "write", ns(12));
    log.end("memory.channel(0).bus", "write", ns(13));
    log.finish(ns(9));
    ASSERT_EQ(log.activities().size(), 1U);
    EXPECT_EQ(log.activities()[0].end, ns(9));
}

TEST(EventName, WhatTilesShareHasProcessesOfItsOwn) {
    EXPECT_EQ(lane_of("memory.channel(1).bank(3)", "row_open", 1).process, "memory.channel(1)");
    EXPECT_EQ(lane_of("memory.channel(1).bank(3)", "row_open", 1).event, "BANK_3_ROW_OPEN");
    EXPECT_EQ(lane_of("memory.channel(1).bus", "turnaround", 1).event, "TURNAROUND");
    EXPECT_EQ(lane_of("fabric.port(2).reads", "under_way", 1).event, "READS_UNDER_WAY");
    EXPECT_EQ(lane_of("fabric.port(2).waiting", "waiting", 1).event, "READS_WAITING");
    EXPECT_EQ(lane_of("npu.command_processor", "writing", 1).process, "npu.command_processor");
    EXPECT_EQ(lane_of("npu.command_processor", "done", 1).event, "");
}

TEST(EventName, CoresStallAtTheirOwnStreams) {
    EXPECT_EQ(lane_of("npu.tile(0,2).core.stream", "stall", 1).event, "STREAM_STALL");
    EXPECT_EQ(lane_of("npu.tile(0,2).core.stream", "stall", 1).process, "core_trace for tile2,0");
    EXPECT_EQ(lane_of("npu.tile(0,2).core", "stream", 1).event, "STREAM");
}

// Two channels on one lane would overlap.
TEST(EventName, TheEightWatchedPortsHaveAChannelEach) {
    EXPECT_EQ(lane_of("npu.tile(0,1).s2mm3.port", "words", 1).event, "PORT_RUNNING_3");
    EXPECT_EQ(lane_of("npu.tile(0,1).mm2s0.port", "words", 1).event, "PORT_RUNNING_4");
    EXPECT_EQ(lane_of("npu.tile(0,1).s2mm4.port", "words", 1).event, "");
    EXPECT_EQ(lane_of("npu.tile(0,1).mm2s5.port", "words", 1).event, "");
    EXPECT_EQ(lane_of("npu.tile(0,2).s2mm1.port", "words", 1).event, "PORT_RUNNING_2");
    EXPECT_EQ(lane_of("npu.tile(0,2).mm2s1.port", "words", 1).event, "PORT_RUNNING_3");
}

TEST(EventName, ChannelsSpeakTheTraceUnitsLanguage) {
    EXPECT_EQ(lane_of("npu.tile(3,0).mm2s1", "waiting_for_memory", 1).event,
              "DMA_MM2S_1_MEMORY_STARVATION");
    EXPECT_EQ(lane_of("npu.tile(3,0).mm2s1", "idle", 1).event, "");
    EXPECT_EQ(lane_of("npu.tile(3,0).mm2s1", "idle", 1).process, "shim_trace for tile0,3");
    EXPECT_EQ(lane_of("npu.tile(0,1).s2mm4", "waiting_for_stream", 1).event,
              "DMA_S2MM_4_STREAM_STARVATION");
    EXPECT_EQ(lane_of("npu.tile(0,1).s2mm4", "x", 1).process, "memtile_trace for tile1,0");
    EXPECT_EQ(lane_of("npu.tile(5,4).s2mm0", "waiting_for_lock", 1).process,
              "mem_trace for tile4,5");
}

}  // namespace
}  // namespace tilesim::sim::trace
