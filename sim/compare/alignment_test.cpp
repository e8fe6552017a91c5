#include "sim/compare/alignment.hpp"

#include <gtest/gtest.h>

namespace tilesim::sim::compare {
namespace {

constexpr const char* kUnit = "core_trace for tile2,0";

// Requests of a core, its stalls and the starts of its kernel, from this cycle on.
TraceFile core_from(std::int64_t at) {
    TraceFile file;
    file.lanes[{kUnit, "INSTR_LOCK_ACQUIRE_REQ"}] = {{at + 10, at + 11}, {at + 50, at + 51}};
    file.lanes[{kUnit, "INSTR_EVENT_0"}] = {{at + 17, at + 18}, {at + 90, at + 91}};
    return file;
}

// The simulation has the request with which its core begins; it waits in it until what was
// recorded.
TEST(Alignment, AllLanesOfAUnitBeginToBeRecordedAtOneCycle) {
    TraceFile measured = core_from(100);
    measured.lanes[{kUnit, "LOCK_STALL"}] = {{1, 103}, {113, 114}};
    TraceFile simulated = core_from(7000);
    auto& requests = simulated.lanes[{kUnit, "INSTR_LOCK_ACQUIRE_REQ"}];
    requests.insert(requests.begin(), {0, 1});
    simulated.lanes[{kUnit, "LOCK_STALL"}] = {{3, 7003}, {7013, 7014}};
    const PairedUnit unit = paired(measured, simulated).at(kUnit);
    const auto& paired_requests = unit.lanes.at("INSTR_LOCK_ACQUIRE_REQ").pairs;
    ASSERT_EQ(paired_requests.size(), 2U);
    EXPECT_EQ(paired_requests[0].simulated.begin, 7010);  // not 0
    EXPECT_EQ(paired_requests[0].occurrence, 1);
    EXPECT_EQ(unit.lanes.at("LOCK_STALL").pairs[0].simulated.begin, 3);  // it is still on
    EXPECT_EQ(unit.first_event, "INSTR_LOCK_ACQUIRE_REQ");
    EXPECT_EQ(unit.measured_start, 110);
    EXPECT_EQ(unit.simulated_start, 7010);
}

// The first command is at cycle 1: a level that is on there began before.
TEST(Alignment, WhatFollowsASecondStartOfTheUnitIsNotPaired) {
    TraceFile measured = core_from(100);
    measured.lanes[{kUnit, "INSTR_LOCK_ACQUIRE_REQ"}][1].after_restart = true;
    const PairedUnit unit = paired(measured, core_from(100)).at(kUnit);
    EXPECT_EQ(unit.lanes.at("INSTR_LOCK_ACQUIRE_REQ").pairs.size(), 1U);
    EXPECT_EQ(unit.lanes.at("INSTR_LOCK_ACQUIRE_REQ").measured, 2);
    EXPECT_EQ(unit.lanes.at("INSTR_EVENT_0").pairs.size(), 2U);
}

TEST(Alignment, ALevelThatIsOnAsTheRecordingBeginsHasNoLength) {
    for (const std::int64_t begin : {1, 2}) {
        TraceFile file = core_from(100);
        file.lanes[{kUnit, "LOCK_STALL"}] = {{begin, 105}, {112, 120}};
        file.lanes[{kUnit, "INSTR_EVENT_1"}] = {{begin, begin + 1}};
        const PairedUnit unit = paired(file, file).at(kUnit);
        EXPECT_EQ(unit.lanes.at("LOCK_STALL").pairs[0].begin_known, begin > 1);
        EXPECT_TRUE(unit.lanes.at("LOCK_STALL").pairs[1].begin_known);
        EXPECT_TRUE(unit.lanes.at("INSTR_EVENT_1").pairs[0].begin_known);  // a pulse
    }
}

// Rounds that are all alike fit each other; a trace of a window says which it has.
TEST(Alignment, ASimulationsWindowBeginsWhereItSays) {
    TraceFile simulated;
    std::vector<Interval>& all = simulated.lanes[{kUnit, "INSTR_EVENT_0"}];
    for (std::int64_t i = 0; i < 20; ++i) {
        all.push_back({100 * i, 100 * i + 1});
    }
    TraceFile measured;
    measured.lanes[{kUnit, "INSTR_EVENT_0"}] = {all.begin() + 7, all.begin() + 12};
    measured.window_begin = 650;
    const auto first = [&] {
        return paired(measured, simulated).at(kUnit).lanes.at("INSTR_EVENT_0").pairs.at(0);
    };
    EXPECT_EQ(first().occurrence, 7);
    measured.window_begin.reset();
    EXPECT_EQ(first().occurrence, 0);
}

// A level's lane fits best from its fourth event on; by then four of eight calls would be over,
// which both sides have.
TEST(Alignment, ALaneOfLevelsMissesNoMoreThanPulsesAllow) {
    TraceFile measured;
    TraceFile simulated;
    for (std::int64_t i = 0; i < 8; ++i) {
        measured.lanes[{kUnit, "INSTR_EVENT_0"}].push_back({100 * i + 5, 100 * i + 6});
        simulated.lanes[{kUnit, "INSTR_EVENT_0"}].push_back({50 * i, 50 * i + 1});
    }
    for (const std::int64_t begin : {5, 105, 205, 305}) {
        measured.lanes[{kUnit, "PORT_RUNNING_0"}].push_back({begin, begin + 2});
    }
    for (const std::int64_t begin : {0, 60, 180, 200, 300, 400, 500}) {
        simulated.lanes[{kUnit, "PORT_RUNNING_0"}].push_back({begin, begin + 2});
    }
    const PairedUnit unit = paired(measured, simulated).at(kUnit);
    EXPECT_GE(unit.lanes.at("INSTR_EVENT_0").pairs.size(), 6U);  // not 4
}

TEST(Alignment, TheSameTraceIsPairedFromItsBeginning) {
    const TraceFile file = core_from(3);
    const PairedUnit unit = paired(file, file).at(kUnit);
    for (const auto& [event, lane] : unit.lanes) {
        EXPECT_EQ(lane.pairs.size(), 2U) << event;
        EXPECT_EQ(lane.pairs[0].occurrence, 0) << event;
    }
}

}  // namespace
}  // namespace tilesim::sim::compare
