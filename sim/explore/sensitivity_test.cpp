#include "sim/explore/sensitivity.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tilesim::sim::explore {
namespace {

SensitivityResult of(const std::string& scenario, double percent,
                     const std::set<std::string>& keys) {
    return sensitivity({scenario, "s.yaml", {}}, percent, 1, &keys);
}

// Everything is counted in clocks, so that time is one over the frequency: what 0.5 % do beyond a
// twentieth of what 10 % do is how far that is from a straight line.
TEST(Sensitivity, ChanceIsWhatSmallChangesDoBeyondTheirShareOfFullOnes) {
    const std::string scenario =
        "{device: ddr5_5600, workload: {memory_stream: {pattern: sequential, requests: 2000}}}";
    for (const double percent : {10.0, 20.0}) {
        const double full = 100 * (1 / (1 - percent / 100) - 1);
        const double small = 100 * (1 / (1 - 0.005) - 1);
        const auto result = of(scenario, percent, {"device.memory.clock"});
        ASSERT_TRUE(result.chance_percent);
        EXPECT_NEAR(*result.chance_percent, full * 0.5 / percent - small, 1e-3);
        EXPECT_FALSE(result.by_chance(result.parameters[0]));
    }
}

TEST(Sensitivity, NumbersTooCoarseForSmallChangesTellNoChance) {
    const auto result =
        of("{device: ddr5_5600, workload: {memory_stream: {pattern: random, requests: 2000}}}", 10,
           {"device.memory.timing.tRCD"});
    EXPECT_FALSE(result.chance_percent);
    EXPECT_FALSE(result.by_chance(result.parameters[0]));
}

// Channels, a power of two, can only be halved and doubled, which changes a time that latencies
// have a part in less than so many times as 10 % of the clock do.
TEST(Sensitivity, RanksByWhatTheSameChangeOfEachNumberDoes) {
    const auto result = of(
        "{device: lpddr5x_7500, workload: {memory_stream: {pattern: sequential, requests: 2000}}}",
        10, {"device.memory.channels", "device.memory.clock", "device.memory.timing.tRCD"});
    ASSERT_EQ(result.parameters.size(), 3U);
    const Sensitivity& clock = result.parameters[0];
    const Sensitivity& channels = result.parameters[1];
    EXPECT_EQ(clock.key, "device.memory.clock");
    EXPECT_NEAR(clock.elasticity(), 1, 1e-3);
    EXPECT_EQ(channels.key, "device.memory.channels");
    EXPECT_LT(channels.elasticity(), 1);
    EXPECT_GT(channels.strength(), 5 * clock.strength());
    EXPECT_EQ(to_json(result)["parameters"][0]["elasticity"], clock.elasticity());
}

// Short runs from DRAM: which lines come in time depends on the order of arrivals.
TEST(Sensitivity, EffectsNoLargerThanChanceAreMarked) {
    const auto result =
        of("device: sapphire_rapids\n"
           "workload: {gemm: {M: 128, K: 1024, N: 192, a: int8, b: int8, c: int32}}\n"
           "mapping: {amx: {m_acc: 2, n_acc: 2, order: interleaved, data_in: dram}}\n",
           10,
           {"device.amx.uncore.lookup", "device.amx.uncore.answer", "device.amx.uncore.to_memory",
            "device.amx.uncore.clock", "device.amx.caches.fill_buffers",
            "device.amx.caches.write_percent"});
    ASSERT_TRUE(result.chance_percent);
    EXPECT_GT(*result.chance_percent, 1);
    EXPECT_FALSE(result.by_chance(result.parameters.front()));
    EXPECT_EQ(result.parameters.front().key, "device.amx.caches.fill_buffers");
    EXPECT_TRUE(result.by_chance(result.parameters.back()));
    EXPECT_EQ(to_json(result)["parameters"].back()["by_chance"], true);
}

}  // namespace
}  // namespace tilesim::sim::explore
