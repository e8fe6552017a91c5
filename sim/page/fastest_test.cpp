#include "sim/page/fastest.hpp"

#include <gtest/gtest.h>

namespace tilesim::sim::page {
namespace {

using Json = nlohmann::ordered_json;

Json point(const char* m, const char* device, double time, const char* status = "ok") {
    return {{"settings", {{"M", m}, {"device", device}}}, {"status", status}, {"time_ns", time}};
}

TEST(Fastest, ChangesFromOneDeviceToTheOtherWithTheSize) {
    const Json table = fastest_devices(
        {"M", "device"},
        {point("1", "npu", 90), point("1", "pim", 2), point("64", "npu", 95),
         point("64", "pim", 128), point("256", "npu", 7, "deadlock"), point("256", "pim", 512)});
    EXPECT_EQ(table["axes"], Json({"M"}));
    EXPECT_EQ(table["devices"], Json({"npu", "pim"}));
    ASSERT_EQ(table["rows"].size(), 3U);
    EXPECT_EQ(table["rows"][0]["fastest"], "pim");
    EXPECT_EQ(table["rows"][1]["fastest"], "npu");
    EXPECT_EQ(table["rows"][2]["time_ns"], Json({nullptr, 512.0}));
    EXPECT_EQ(table["rows"][2]["fastest"], "pim");
}

TEST(Fastest, IsTheFirstOfEqualOnes) {
    const Json table = fastest_devices({"device"}, {point("1", "xdna", 5), point("1", "amx", 5)});
    EXPECT_EQ(table["rows"][0]["fastest"], "xdna");
}

TEST(Fastest, IsNoQuestionOfASweepOfOneDevice) {
    EXPECT_TRUE(fastest_devices({"M"}, Json::array()).is_null());
}

}  // namespace
}  // namespace tilesim::sim::page
