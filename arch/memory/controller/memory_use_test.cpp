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
                            "memory.controller.read_queue", "memory.controller.starvation_cap",
                            "memory.channels", "memory.row"}) {
        EXPECT_TRUE(named(key, {})) << key;
    }
    EXPECT_FALSE(named("memory.clock", {}));  // of its idle cycles
}

// How many there are, not what they take: nobody waits for them.
TEST(MemoryUse, RefreshesOfAnIdleMemoryAreOnlyCounted) {
    port::MemoryTotals refreshed;
    refreshed.refreshes = 8;
    for (const char* key : {"memory.channels", "memory.ranks", "memory.timing.tREFI",
                            "memory.controller.refresh_first"}) {
        EXPECT_FALSE(named(key, refreshed)) << key;
    }
    for (const char* key : {"memory.row", "memory.bank_groups", "memory.timing.tRFC",
                            "memory.timing.tRPab", "memory.controller.refresh_after_writes"}) {
        EXPECT_TRUE(named(key, refreshed)) << key;
    }
    device::MemoryConfig by_bank;
    by_bank.controller.refresh_policy = "per_bank";
    EXPECT_FALSE(named("memory.bank_groups", refreshed, by_bank));
    EXPECT_TRUE(named("memory.timing.tRFC_pb", refreshed, by_bank));
    EXPECT_TRUE(named("memory.timing.tREFpb_to_REFpb", refreshed, by_bank));
}

TEST(MemoryUse, TheShapeOfAMemoryMattersToRequestsToAGuestAndToItsStandby) {
    device::MemoryConfig powered;
    powered.power.core.voltage = 1;
    for (const char* key : {"memory.channels", "memory.ranks", "memory.burst"}) {
        EXPECT_FALSE(named(key, reads_only())) << key;
        EXPECT_FALSE(named(key, {}, {}, true)) << key;
        EXPECT_FALSE(named(key, {}, powered)) << key;
    }
}

TEST(MemoryUse, WhatWritesWaitForIsNamedWithoutWrites) {
    port::MemoryTotals totals = reads_only();
    for (const char* key : {"memory.timing.tWR", "memory.timing.tRTW", "memory.timing.tCCD_L_WR"}) {
        EXPECT_TRUE(named(key, totals)) << key;
        totals.bytes_written = 64;
        EXPECT_FALSE(named(key, totals)) << key;
        totals.bytes_written = 0;
    }
    EXPECT_FALSE(named("memory.timing.tRTP", totals));
    EXPECT_FALSE(named("memory.timing.read_latency", totals));
}

// A refresh that came before the end of the run would be its first.
TEST(MemoryUse, WhatBringsRefreshesForwardMattersToRunsThatEndBeforeOneIsDue) {
    device::MemoryConfig config;
    for (const char* key : {"memory.controller.refresh_first", "memory.controller.refresh_shift"}) {
        config.refresh = true;
        EXPECT_FALSE(named(key, reads_only(), config)) << key;
        EXPECT_TRUE(named(key, {}, config)) << key;
        config.refresh = false;
        EXPECT_TRUE(named(key, reads_only(), config)) << key;
    }
    config.refresh = true;
    EXPECT_TRUE(named("memory.controller.refresh_postpone", reads_only(), config));
    EXPECT_TRUE(named("memory.controller.refresh_pull_in", reads_only(), config));
    config.controller.refresh_postpone = 4;
    config.controller.refresh_pull_in = 4;
    EXPECT_FALSE(named("memory.controller.refresh_postpone", reads_only(), config));
    EXPECT_FALSE(named("memory.controller.refresh_pull_in", reads_only(), config));
}

TEST(MemoryUse, TheFifthActivateIsTheFirstThatTheWindowCanHold) {
    port::MemoryTotals totals = reads_only();
    EXPECT_TRUE(named("memory.timing.tFAW", totals));
    totals.activates = 5;
    EXPECT_FALSE(named("memory.timing.tFAW", totals));
}

TEST(MemoryUse, ThePageTimeoutIsNamedUnlessAPolicyThatWaitsForItIsChosen) {
    device::MemoryConfig config;
    EXPECT_TRUE(named("memory.controller.page_timeout", reads_only(), config));
    config.controller.page_policy = "closed_adaptive";
    EXPECT_TRUE(named("memory.controller.page_timeout", reads_only(), config));
    for (const char* policy : {"timeout", "adaptive"}) {
        config.controller.page_policy = policy;
        EXPECT_FALSE(named("memory.controller.page_timeout", reads_only(), config)) << policy;
    }
}

TEST(MemoryUse, ALimitIsNamedUntilATenthLessWouldBind) {
    device::MemoryConfig config;
    config.controller.read_queue = 40;
    config.controller.write_queue = 30;
    config.controller.write_high = 20;
    config.controller.starvation_cap = 10;
    const auto named_at = [&](const char* key, std::int64_t port::QueuePeaks::*peak,
                              std::int64_t most) {
        port::MemoryTotals totals = reads_only();
        totals.peaks.*peak = most;
        return named(std::string{"memory.controller."} + key, totals, config);
    };
    using Peaks = port::QueuePeaks;
    EXPECT_TRUE(named_at("read_queue", &Peaks::reads, 36));
    EXPECT_FALSE(named_at("read_queue", &Peaks::reads, 37));
    EXPECT_TRUE(named_at("write_queue", &Peaks::writes, 27));
    EXPECT_FALSE(named_at("write_queue", &Peaks::writes, 28));
    EXPECT_TRUE(named_at("write_high", &Peaks::writes_at_turn, 18));
    EXPECT_FALSE(named_at("write_high", &Peaks::writes_at_turn, 19));
    EXPECT_TRUE(named_at("write_low", &Peaks::writes_left, 0));
    EXPECT_FALSE(named_at("write_low", &Peaks::writes_left, 1));
    // Nine row hits that overtook are one fewer than may.
    EXPECT_TRUE(named_at("starvation_cap", &Peaks::overtaken, 8));
    EXPECT_FALSE(named_at("starvation_cap", &Peaks::overtaken, 9));
}

TEST(MemoryUse, RowsAreNamedWhileTheirTopBitIsNotUsed) {
    const device::MemoryConfig config;
    port::MemoryTotals totals = reads_only();
    totals.end = config.capacity().count() / 2;
    EXPECT_TRUE(named("memory.rows", totals, config));
    EXPECT_FALSE(named("memory.rows", totals, config, true));  // a guest's rows are not known
    ++totals.end;
    EXPECT_FALSE(named("memory.rows", totals, config));
}

TEST(MemoryUse, WithOneBankGroupOnlyTheLongerDistancesCount) {
    port::MemoryTotals totals = reads_only();
    totals.bytes_written = 64;
    device::MemoryConfig config;
    for (const char* key : {"memory.timing.tRRD_S", "memory.timing.tWTR_S"}) {
        config.bank_groups = 1;
        EXPECT_TRUE(named(key, totals, config));
        config.bank_groups = 2;
        EXPECT_FALSE(named(key, totals, config));
    }
}

TEST(MemoryUse, EnergyFeelsItsDevicesWhereThereAreCurrents) {
    device::MemoryConfig config;
    EXPECT_TRUE(named("memory.power.devices", reads_only(), config));
    config.power.core.voltage = 1;
    EXPECT_FALSE(named("memory.power.devices", reads_only(), config));
}

TEST(MemoryUse, AGuestKeepsToRowsAndLatenciesAsRequestsDo) {
    EXPECT_FALSE(named("memory.timing.tRCD", {}, {}, true));
    EXPECT_FALSE(named("memory.timing.tRTW", {}, {}, true));
    EXPECT_TRUE(named("memory.timing.tCCD_L", {}, {}, true));
}

}  // namespace
}  // namespace tilesim::arch::memory::controller
