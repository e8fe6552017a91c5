#include "arch/memory/controller/memory_use.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tilesim::arch::memory::controller {
namespace {

bool named(const std::string& key, const port::MemoryTotals& totals,
           const device::MemoryConfig& config = {}, bool guest = false) {
    const auto names = not_exercised(config, totals, guest);
    return std::find(names.begin(), names.end(), key) != names.end();
}

port::MemoryTotals reads_only() {
    port::MemoryTotals totals;
    totals.bytes_read = totals.bytes_requested = 640;
    totals.bursts = 10;
    totals.activates = 4;
    totals.row_hits = 6;
    return totals;
}

TEST(MemoryUse, NothingOfAMemoryMattersWithoutARequest) {
    for (const char* key : {"memory.timing.tRCD", "memory.timing.tRFC", "memory.timing.tWTR_L",
                            "memory.controller.read_queue", "memory.controller.starvation_cap"}) {
        EXPECT_TRUE(named(key, {})) << key;
    }
    EXPECT_FALSE(named("memory.clock", {}));
}

TEST(MemoryUse, WhatWritesWaitForIsNamedWithoutWrites) {
    port::MemoryTotals totals = reads_only();
    for (const char* key : {"memory.timing.tWR", "memory.timing.tRTW", "memory.timing.tCCD_L_WR",
                            "memory.controller.write_high"}) {
        EXPECT_TRUE(named(key, totals)) << key;
        totals.bytes_written = 64;
        EXPECT_FALSE(named(key, totals)) << key;
        totals.bytes_written = 0;
    }
    EXPECT_FALSE(named("memory.timing.tRTP", totals));
    EXPECT_FALSE(named("memory.timing.read_latency", totals));
}

TEST(MemoryUse, TheFifthActivateIsTheFirstThatTheWindowCanHold) {
    port::MemoryTotals totals = reads_only();
    EXPECT_TRUE(named("memory.timing.tFAW", totals));
    totals.activates = 5;
    EXPECT_FALSE(named("memory.timing.tFAW", totals));
}

TEST(MemoryUse, ThePageTimeoutIsNamedUnlessItsPolicyIsChosen) {
    device::MemoryConfig config;
    EXPECT_TRUE(named("memory.controller.page_timeout", reads_only(), config));
    config.controller.page_policy = "timeout";
    EXPECT_FALSE(named("memory.controller.page_timeout", reads_only(), config));
}

TEST(MemoryUse, AGuestKeepsToRowsAndLatenciesAsRequestsDo) {
    EXPECT_FALSE(named("memory.timing.tRCD", {}, {}, true));
    EXPECT_FALSE(named("memory.timing.tRTW", {}, {}, true));
    EXPECT_TRUE(named("memory.timing.tCCD_L", {}, {}, true));
}

}  // namespace
}  // namespace tilesim::arch::memory::controller
