#include "sim/page/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/base/config.hpp"

namespace tilesim::sim::page {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

// Two tiles, each with a core and a channel; what the first core tells besides its state overlaps
// it.
TEST(Timeline, HasALaneAComponentAndKindsOfThem) {
    const Json line = timeline(R"json([
        {"name":"process_name","ph":"M","pid":0,"args":{"name":"core_trace for tile2,0"}},
        {"name":"thread_name","ph":"M","pid":0,"tid":0,"args":{"name":"LOCK_STALL","component":"npu.tile(0,2).core.stall"}},
        {"name":"thread_name","ph":"M","pid":0,"tid":1,"args":{"name":"WAITING","component":"npu.tile(0,2).core"}},
        {"name":"thread_name","ph":"M","pid":0,"tid":2,"args":{"name":"ZERO","component":"npu.tile(0,2).core"}},
        {"name":"process_name","ph":"M","pid":1,"args":{"name":"core_trace for tile2,1"}},
        {"name":"thread_name","ph":"M","pid":1,"tid":0,"args":{"name":"ZERO","component":"npu.tile(1,2).core"}},
        {"name":"process_name","ph":"M","pid":2,"args":{"name":"mem_trace for tile2,0"}},
        {"name":"thread_name","ph":"M","pid":2,"tid":0,"args":{"name":"DMA_S2MM_0_RUNNING","component":"npu.tile(0,2).s2mm0"}},
        {"name":"WAITING","ts":17,"ph":"B","pid":0,"tid":1,"args":{"state":"waiting"}},
        {"name":"LOCK_STALL","ts":17,"ph":"B","pid":0,"tid":0,"args":{"state":"lock"}},
        {"name":"LOCK_STALL","ts":40,"ph":"E","pid":0,"tid":0,"args":{}},
        {"name":"WAITING","ts":40,"ph":"E","pid":0,"tid":1,"args":{}},
        {"name":"ZERO","ts":40,"ph":"B","pid":0,"tid":2,"args":{"state":"zero"}},
        {"name":"ZERO","ts":50,"ph":"E","pid":0,"tid":2,"args":{}},
        {"name":"ZERO","ts":45,"ph":"B","pid":1,"tid":0,"args":{"state":"zero"}},
        {"name":"ZERO","ts":55,"ph":"E","pid":1,"tid":0,"args":{}},
        {"name":"DMA_S2MM_0_RUNNING","ts":20,"ph":"B","pid":2,"tid":0,"args":{"state":"streaming"}},
        {"name":"DMA_S2MM_0_RUNNING","ts":60,"ph":"E","pid":2,"tid":0,"args":{}}])json",
                               "t.json");
    EXPECT_EQ(line["states"], Json({"waiting", "lock", "zero", "streaming"}));
    EXPECT_EQ(line["kinds"], Json::parse(R"json([
        {"name":"core","shown":true,"lanes":["npu.tile(0,2).core","npu.tile(1,2).core"],
         "spans":[[0,17,40,0],[0,40,50,2],[1,45,55,2]],"left_out":0},
        {"name":"core s2mm","shown":true,"lanes":["npu.tile(0,2).s2mm0"],
         "spans":[[0,20,60,3]],"left_out":0},
        {"name":"core.stall","shown":false,"lanes":["npu.tile(0,2).core.stall"],
         "spans":[[0,17,40,1]],"left_out":0}])json"));
    EXPECT_EQ(line["end"], 60);
}

// As the units of a processor's core are.
TEST(Timeline, StatesThatOverlapHaveALaneEach) {
    const Json line = timeline(R"json([
        {"name":"process_name","ph":"M","pid":3,"args":{"name":"amx(0)"}},
        {"name":"thread_name","ph":"M","pid":3,"tid":1,"args":{"name":"LOAD","component":"amx(0).core"}},
        {"name":"thread_name","ph":"M","pid":3,"tid":2,"args":{"name":"MULTIPLY","component":"amx(0).core"}},
        {"name":"LOAD","ts":17,"ph":"B","pid":3,"tid":1,"args":{"state":"load"}},
        {"name":"MULTIPLY","ts":39,"ph":"B","pid":3,"tid":2,"args":{"state":"multiply"}},
        {"name":"LOAD","ts":40,"ph":"E","pid":3,"tid":1,"args":{}},
        {"name":"MULTIPLY","ts":50,"ph":"E","pid":3,"tid":2,"args":{}}])json",
                               "t.json");
    EXPECT_EQ(line["kinds"][0]["lanes"], Json({"amx(0).core LOAD", "amx(0).core MULTIPLY"}));
    EXPECT_EQ(line["kinds"][0]["spans"], Json::parse("[[0, 17, 40, 0], [1, 39, 50, 1]]"));
}

// A trace of another tool, or of a board: a lane an event.
TEST(Timeline, WithoutComponentsThereIsALaneAnEvent) {
    const Json line = timeline(R"json([
        {"name":"process_name","ph":"M","pid":3,"args":{"name":"core_trace for tile2,0"}},
        {"name":"thread_name","ph":"M","pid":3,"tid":1,"args":{"name":"LOCK_STALL"}},
        {"name":"LOCK_STALL","ts":17,"ph":"B","pid":3,"tid":1,"args":{}},
        {"name":"LOCK_STALL","ts":40,"ph":"E","pid":3,"tid":1,"args":{}}])json",
                               "t.json");
    EXPECT_EQ(line["kinds"], Json::parse(R"json([
        {"name":"core_trace","shown":true,"lanes":["core_trace for tile2,0 LOCK_STALL"],
         "spans":[[0,17,40,0]],"left_out":0}])json"));
    EXPECT_EQ(line["states"], Json({"LOCK_STALL"}));
}

TEST(Timeline, AKindIsAComponentsNameWithoutNumbers) {
    const auto kind_of = [](const std::string& component) {
        const Json name = {{"name", "thread_name"},
                           {"ph", "M"},
                           {"pid", 0},
                           {"tid", 0},
                           {"args", {{"name", "BUSY"}, {"component", component}}}};
        const Json begin = {{"ts", 1}, {"ph", "B"}, {"pid", 0}, {"tid", 0}};
        const Json end = {{"ts", 2}, {"ph", "E"}, {"pid", 0}, {"tid", 0}};
        const Json events = Json::array({name, begin, end});
        return timeline(events.dump(), "t.json")["kinds"][0]["name"].get<std::string>();
    };
    EXPECT_EQ(kind_of("fabric.port(2).reads"), "fabric.port.reads");
    EXPECT_EQ(kind_of("agents.npu0.host"), "agents.npu.host");
    EXPECT_EQ(kind_of("l2 of 3 cores7"), "l2 of 3 cores");
    EXPECT_EQ(kind_of("bank(3"), "bank(3");
    EXPECT_EQ(kind_of(std::string(200'000, 'x')), std::string(200'000, 'x'));
}

TEST(Timeline, KeepsTheLongestOfAKindAndCountsTheRest) {
    Json events = Json::array();
    for (int i = 0; i < 5'003; ++i) {
        const int length = i < 3 ? 1 : 5;
        events.push_back({{"name", "x"}, {"ts", 10 * i}, {"ph", "B"}, {"pid", 0}, {"tid", 0}});
        events.push_back({{"ts", 10 * i + length}, {"ph", "E"}, {"pid", 0}, {"tid", 0}});
    }
    const Json line = timeline(events.dump(), "t.json");
    EXPECT_EQ(line["kinds"][0]["left_out"], 3);
    EXPECT_EQ(line["kinds"][0]["spans"][0], Json::parse("[0, 30, 35, 0]"));
}

TEST(Timeline, BeginsWithFortyLanesOrThoseOfOneKind) {
    Json events = Json::array();
    for (int i = 0; i < 42; ++i) {
        const std::string component = i < 30 ? "core" : i < 41 ? "mm2s0" : "s2mm0";
        events.push_back({{"name", "thread_name"},
                          {"ph", "M"},
                          {"pid", 0},
                          {"tid", i},
                          {"args",
                           {{"name", "x"},
                            {"component", "npu.tile(" + std::to_string(i) + ",2)." + component}}}});
        events.push_back({{"name", "x"}, {"ts", 0}, {"ph", "B"}, {"pid", 0}, {"tid", i}});
        events.push_back({{"ts", 1}, {"ph", "E"}, {"pid", 0}, {"tid", i}});
    }
    const Json kinds = timeline(events.dump(), "t.json")["kinds"];
    ASSERT_EQ(kinds.size(), 3U);
    EXPECT_EQ(kinds[0]["shown"], true);   // 30 lanes
    EXPECT_EQ(kinds[1]["shown"], false);  // 11 more
    EXPECT_EQ(kinds[2]["shown"], true);   // one more
}

TEST(Timeline, WhatIsNoTraceIsRefused) {
    for (const char* text : {"", "{}", R"([{"ph":"B","ts":"now"}])"}) {
        try {
            timeline(text, "t.json");
            FAIL() << text;
        } catch (const arch::base::config::ConfigError& error) {
            EXPECT_THAT(error.what(), HasSubstr("t.json"));
        }
    }
}

}  // namespace
}  // namespace tilesim::sim::page
