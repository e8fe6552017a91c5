#include "sim/result_table.hpp"

#include <gtest/gtest.h>

#include <string>

#include "workloads/result.hpp"

namespace tilesim::sim {
namespace {

bool has_line(const workloads::RunResult& result, const std::string& line) {
    return to_table(result).find("\n  " + line + "\n") != std::string::npos;
}

TEST(ResultTable, SaysWhereOneFasterPartHelpsLittle) {
    workloads::RunResult result;
    result.bottleneck = "dispatch";
    result.most_saved_percent = 9.95;
    EXPECT_TRUE(has_line(result, "faster alone      the bottleneck saves 9.9 % at most"));
    result.most_saved_percent = 10;
    EXPECT_EQ(to_table(result).find("faster alone"), std::string::npos);
    EXPECT_EQ(to_table(result).find("faster together"), std::string::npos);
    result.faster_together = {"streams", "shim reads"};
    EXPECT_TRUE(has_line(result, "faster together   streams; shim reads"));
}

}  // namespace
}  // namespace tilesim::sim
