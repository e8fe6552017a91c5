#include "sim/explore/outlook.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tilesim::sim::explore {
namespace {

std::vector<Outlook> outlooks_of(const std::string& axes, const std::string& more = "") {
    const SweepFile sweep = parse_sweep(
        "scenario:\n  device: xdna\n  workload:\n    gemm: {M: 256, K: 256, N: 256, a: int8, b: "
        "int8, c: int32, b_layout: column_major}\n" +
            more + "axes:\n" + axes,
        "sweep.yaml");
    return outlooks(sweep, points_of(sweep, {}));
}

TEST(Outlook, NumbersCountByTheirLogarithmsAndAllElseIsAWord) {
    const auto list = outlooks_of(
        "  - {key: device.npu.clock, values: [500 MHz, 1 GHz]}\n"
        "  - {key: device.memory.controller.page_policy, values: [open, closed]}\n");
    ASSERT_EQ(list.size(), 4U);
    ASSERT_EQ(list[0].features.numbers.size(), 1U);
    EXPECT_NEAR(list[2].features.numbers[0] - list[0].features.numbers[0], std::log(2), 1e-9);
    ASSERT_EQ(list[0].features.words.size(), 1U);
    EXPECT_NE(list[0].features.words[0], list[1].features.words[0]);
}

TEST(Outlook, AMappingThatIsLookedForCostsLittleMoreForALargerProduct) {
    const std::string sizes = "  - {key: workload.gemm.M, values: [256, 1024]}\n";
    const auto chosen = outlooks_of(sizes);
    const auto given = outlooks_of(
        sizes, "  mapping: {output_stationary: {m_ct: 32, k_ct: 32, n_ct: 32, k_mt: 64}}\n");
    const auto growth = [](const std::vector<Outlook>& list) {
        return list.at(1).features.work - list.at(0).features.work;
    };
    EXPECT_NEAR(growth(given), std::log(4), 1e-9);
    EXPECT_LT(growth(chosen), std::log(2));
}

TEST(Outlook, PointsThatMoveRealBytesAreOfAnotherKindAndMisfitsAreNone) {
    const auto list = outlooks_of(
        "  - {key: run.functional, values: [off, on]}\n"
        "  - {key: workload.gemm.M, values: [256, -1]}\n");
    ASSERT_EQ(list.size(), 2U);
    EXPECT_NE(list[0].kind, list[1].kind);
}

}  // namespace
}  // namespace tilesim::sim::explore
