#include "sim/page/timeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/base/config.hpp"

namespace tilesim::sim::page {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

TEST(Timeline, HasALaneAUnitAndASpanAPair) {
    const Json line = timeline(R"json([
        {"name":"process_name","ph":"M","pid":3,"args":{"name":"core(0,2)"
}
},
        {"name":"thread_name","ph":"M","pid":3,"tid":1,"args":{"name":"LOCK_STALL"}},
        {"name":"LOCK_STALL","ts":17,"ph":"B","pid":3,"tid":1,"args":{"state":"waiting"}},
        {"name":"LOCK_STALL","ts":40,"ph":"E","pid":3,"tid":1,"args":{}}])json",
                               "t.json");
    EXPECT_EQ(line["lanes"], Json({"core(0,2) LOCK_STALL"}));
    EXPECT_EQ(line["states"], Json({"waiting"}));
    EXPECT_EQ(line["spans"], Json::parse("[[0, 17, 40, 0]]"));
    EXPECT_EQ(line["end"], 40);
}

TEST(Timeline, KeepsTheLongestAndCountsTheRest) {
    Json events = Json::array();
    for (int i = 0; i < 20'003; ++i) {
        const int length = i < 3 ? 1 : 5;
        events.push_back({{"name", "x"}, {"ts", 10 * i}, {"ph", "B"}, {"pid", 0}, {"tid", 0}});
        events.push_back({{"ts", 10 * i + length}, {"ph", "E"}, {"pid", 0}, {"tid", 0}});
    }
    const Json line = timeline(events.dump(), "t.json");
    EXPECT_EQ(line["left_out"], 3);
    EXPECT_EQ(line["spans"][0], Json::parse("[0, 30, 35, 0]"));
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
