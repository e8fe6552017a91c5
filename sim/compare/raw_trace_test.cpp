#include "sim/compare/raw_trace.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "arch/base/config.hpp"
#include "sim/compare/trace_compare.hpp"
#include "sim/compare/traced_tile.hpp"
#include "sim/compare/watched_ports.hpp"

namespace tilesim::sim::compare {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using workloads::npu::program_file::TraceSlots;

// Column 27..21, row 20..16, type 13..12, id 4..0; bit 31 makes the parity odd.
std::uint32_t header(std::uint32_t column, std::uint32_t row, std::uint32_t type) {
    const std::uint32_t word = column << 21 | row << 16 | type << 12 | 1;
    return word | (std::popcount(word) % 2 == 0 ? 1U << 31 : 0);
}

// A packet of commands, filled up.
std::string packet(std::uint32_t head, std::vector<std::uint32_t> bytes) {
    bytes.resize(28, 0xFE);
    std::string text = fmt::format("{:08x}\n", head);
    for (std::size_t i = 0; i < bytes.size(); i += 4) {
        text += fmt::format("{:02x}{:02x}{:02x}{:02x}\n", bytes[i], bytes[i + 1], bytes[i + 2],
                            bytes[i + 3]);
    }
    return text;
}

const std::vector<std::uint32_t> kStart{0xF0, 0, 0, 0, 0, 0, 0, 9};

std::vector<std::uint32_t> commands(const std::vector<std::uint32_t>& more) {
    std::vector<std::uint32_t> all = kStart;
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

// What the tile's core watches: slot 0 INSTR_EVENT_0 (33), 1 INSTR_EVENT_1 (34), 7 LOCK_STALL (26).
std::vector<TraceSlots> slots() {
    TraceSlots watched;
    watched.tile = {0, 2};
    watched.events = {33, 34, 37, 44, 45, 75, 79, 26};
    return {watched};
}

const std::vector<Interval>& lane(const TraceFile& trace, const char* event) {
    return trace.lanes.at({"core_trace for tile2,1", event});
}

TEST(RawTrace, ACommandAdvancesOneCycleAndItsWait) {
    // Slot 7 after 3 more cycles, then slot 0 after 10 (5 bits in a second byte).
    const TraceFile trace =
        parse_raw_trace(packet(header(1, 2, 0), commands({0x73, 0x80, 0x0A})), "t.txt", slots());
    EXPECT_EQ(lane(trace, "LOCK_STALL").at(0).begin, 4);
    EXPECT_EQ(lane(trace, "LOCK_STALL").at(0).end, 5);  // off a cycle later
    EXPECT_EQ(lane(trace, "INSTR_EVENT_0").at(0).begin, 4 + 11);
}

TEST(RawTrace, ARepeatBehindAWaitOfZeroHoldsTheSlot) {
    // On at 1, held 8 cycles; the next command names it at once: still on, then off.
    const TraceFile held = parse_raw_trace(
        packet(header(1, 2, 0), commands({0x70, 0xE8, 0x70, 0x05})), "t.txt", slots());
    EXPECT_EQ(lane(held, "LOCK_STALL").at(0).begin, 1);
    EXPECT_EQ(lane(held, "LOCK_STALL").at(0).end, 1 + 8 + 1 + 1);
    // Behind another wait it happens again: at 3, 6, 9.
    const TraceFile again =
        parse_raw_trace(packet(header(1, 2, 0), commands({0x72, 0xE2})), "t.txt", slots());
    ASSERT_EQ(lane(again, "LOCK_STALL").size(), 3U);
    EXPECT_EQ(lane(again, "LOCK_STALL")[2].begin, 9);
}

TEST(RawTrace, SeveralSlotsInOneCommand) {
    // Slots 0 and 7 (10000001) after 5 cycles: 1100 1000 | 0001 0101.
    const TraceFile trace =
        parse_raw_trace(packet(header(1, 2, 0), commands({0xC8, 0x15})), "t.txt", slots());
    EXPECT_EQ(lane(trace, "LOCK_STALL").at(0).begin, 6);
    EXPECT_EQ(lane(trace, "INSTR_EVENT_0").at(0).begin, 6);
}

TEST(RawTrace, ASlotHasTheNameTheDesignStates) {
    std::vector<TraceSlots> named = slots();
    named[0].names[7] = "COMBO_EVENT_0";
    const TraceFile trace =
        parse_raw_trace(packet(header(1, 2, 0), commands({0x73})), "t.txt", named);
    EXPECT_EQ(lane(trace, "COMBO_EVENT_0").at(0).begin, 4);
}

// The core's slot 0 watches the second channel in, slot 1 the first out, slot 2 what is no channel;
// the memory tile's slot 4 the second channel in, slot 5 the fifth, which has no lane.
TEST(WatchedPorts, ALaneIsOfTheChannelThatTheDesignHasChosen) {
    TraceSlots core;
    core.tile = {1, 2};
    core.ports = {0x22, 0x01, 0x1F, std::nullopt, {}, {}, {}, {}};
    TraceSlots memory;
    memory.tile = {1, 1};
    memory.unit = 3;
    memory.ports[4] = 0x21;
    memory.ports[5] = 0x24;
    TraceFile trace;
    const std::string of_core = "core_trace for tile2,1";
    const std::string of_memory = "memtile_trace for tile1,1";
    for (int port = 0; port < 8; ++port) {
        const std::string name = fmt::format("PORT_RUNNING_{}", port);
        trace.lanes[{of_memory, name}] = {{port, port + 1}};
        if (port < 4) {
            trace.lanes[{of_core, name}] = {{port, port + 1}};
        }
    }
    const std::vector<TraceSlots> all{core, memory};
    name_watched_ports(trace, all);
    const auto begin = [&trace](const std::string& unit, const char* name) {
        return trace.lanes.at({unit, name}).at(0).begin;
    };
    EXPECT_EQ(begin(of_core, "PORT_RUNNING_0"), 2);
    EXPECT_EQ(begin(of_core, "PORT_RUNNING_1"), 1);
    EXPECT_FALSE(trace.lanes.contains({of_core, "PORT_RUNNING_2"}));
    EXPECT_EQ(begin(of_core, "PORT_RUNNING_3"), 3);  // nothing is chosen: as ever
    EXPECT_EQ(begin(of_memory, "PORT_RUNNING_4"), 1);
    EXPECT_FALSE(trace.lanes.contains({of_memory, "PORT_RUNNING_5"}));
    EXPECT_EQ(begin(of_memory, "PORT_RUNNING_6"), 6);
}

TEST(RawTrace, WhatIsLostIsCounted) {
    const std::string good = packet(header(1, 2, 0), commands({0x73}));
    const std::string bad = packet(header(1, 2, 0) ^ 1U << 31, {0x73});
    const TraceFile trace = parse_raw_trace(good + bad, "t.txt", slots());
    EXPECT_EQ(trace.lost_packets, 1);
    EXPECT_EQ(lane(trace, "LOCK_STALL").size(), 2U);  // taken as the unit's before
    EXPECT_THAT(trace.flaws, ElementsAre("1 packets without a valid header: lost"));
    const std::string untouched = "a5a5a5a5\na5a5a5a5\nfefefefe\n00000000\n00000000\n";
    EXPECT_TRUE(parse_raw_trace(good + untouched, "t.txt", slots()).flaws.empty());
}

TEST(RawTrace, AFileThatEndsInsideAPacketIsCutOff) {
    const std::string good = packet(header(1, 2, 0), commands({0x73}));
    const std::string line = "00000000\n";
    const std::string cut = good + good.substr(0, 3 * line.size());
    EXPECT_THAT(parse_raw_trace(cut, "t.txt", slots()).flaws,
                ElementsAre("the file is cut off in the middle of a packet"));
}

// The timer stands at 9 as the unit starts, and at 109 as it starts again.
TEST(RawTrace, AUnitThatIsStartedAgainTellsTheTimeBetween) {
    const TraceFile trace = parse_raw_trace(
        packet(header(1, 2, 0), commands({0x73, 0xF0, 0, 0, 0, 0, 0, 0, 109, 0x72})), "t.txt",
        slots());
    ASSERT_EQ(lane(trace, "LOCK_STALL").size(), 2U);
    EXPECT_EQ(lane(trace, "LOCK_STALL")[0].begin, 4);
    EXPECT_EQ(lane(trace, "LOCK_STALL")[1].begin, 100 + 3);
    EXPECT_FALSE(lane(trace, "LOCK_STALL")[0].after_restart);
    EXPECT_TRUE(lane(trace, "LOCK_STALL")[1].after_restart);
    EXPECT_FALSE(lane(trace, "LOCK_STALL")[1].begin_is_cut);
    const std::string note =
        "core_trace for tile2,1 was started 2 times: what follows its second "
        "start is not compared";
    EXPECT_THAT(trace.notes, ElementsAre(note));
    // A timer that was set back says nothing.
    const TraceFile back =
        parse_raw_trace(packet(header(1, 2, 0), commands({0x73, 0xF0, 0, 0, 0, 0, 0, 0, 5, 0x72})),
                        "t.txt", slots());
    EXPECT_EQ(lane(back, "LOCK_STALL")[1].begin, 4 + 3);
    EXPECT_THAT(back.notes,
                ElementsAre(note + ", nor is known how long it stood, as its timer was set back"));
    // Before anything is recorded a start is as good as the first.
    const TraceFile twice = parse_raw_trace(
        packet(header(1, 2, 0), commands({0xF0, 0, 0, 0, 0, 0, 0, 109, 0x73})), "t.txt", slots());
    EXPECT_FALSE(lane(twice, "LOCK_STALL").at(0).after_restart);
    EXPECT_TRUE(twice.notes.empty());
}

// What is on as a recording ends, or as it is started again, has begun or ends outside of it.
TEST(RawTrace, ALevelThatIsOnAsTheRecordingEndsHasNoLength) {
    const TraceFile trace = parse_raw_trace(
        packet(header(1, 2, 0),
               commands({0x73, 0x05, 0x70, 0xE8, 0xF0, 0, 0, 0, 0, 0, 0, 109, 0x70, 0x10, 0x73})),
        "t.txt", slots());
    const auto& stalls = lane(trace, "LOCK_STALL");
    ASSERT_EQ(stalls.size(), 4U);
    EXPECT_FALSE(stalls[0].end_is_cut);
    EXPECT_TRUE(stalls[1].end_is_cut);
    EXPECT_TRUE(stalls[2].begin_is_cut);
    EXPECT_FALSE(stalls[2].end_is_cut);
    EXPECT_TRUE(stalls[3].end_is_cut);
}

TEST(RawTrace, AUnitWhoseStartIsNotThereHasLostPackets) {
    EXPECT_THAT(
        parse_raw_trace(packet(header(1, 2, 0), {0x73, 0x05, 0x73}), "t.txt", slots()).flaws,
        ElementsAre("core_trace for tile2,1 does not begin with a start: its first packets "
                    "are lost"));
}

// Mode 1 of a trace unit: program counters.
TEST(RawTrace, AUnitThatRecordsNoTimesIsLeftOut) {
    std::vector<std::uint32_t> counters = commands({0x73, 0x80, 0x0A});
    counters[0] = 0xF1;
    const std::string other = packet(header(1, 2, 0), counters);
    const TraceFile trace =
        parse_raw_trace(other + packet(header(1, 3, 0), commands({0x73})), "t.txt", slots());
    EXPECT_EQ(trace.lanes.size(), 1U);
    EXPECT_THAT(trace.flaws,
                testing::Contains(HasSubstr("core_trace for tile2,1 records no times (mode 1 of")));
    try {
        parse_raw_trace(other, "t.txt", slots());
        FAIL();
    } catch (const arch::base::config::ConfigError& error) {
        EXPECT_THAT(error.what(), HasSubstr("core_trace for tile2,1 records no times (mode 1 of"));
    }
}

TEST(RawTrace, IsToldFromOtherFiles) {
    const std::string good = packet(header(1, 2, 0), commands({0x73}));
    EXPECT_TRUE(is_raw_trace(good));
    // The end of a larger buffer: nothing of it was written before.
    std::string behind;
    for (int i = 0; i < 2000; ++i) {
        behind += "00000000\n";
    }
    EXPECT_FALSE(is_raw_trace(behind));
    EXPECT_TRUE(is_unwritten_trace(behind));
    EXPECT_TRUE(is_unwritten_trace(std::string(64, '\xa5')));
    EXPECT_FALSE(is_unwritten_trace(behind + good));
    EXPECT_FALSE(is_unwritten_trace(""));
    EXPECT_TRUE(is_raw_trace(behind + good));
    EXPECT_EQ(lane(parse_raw_trace(behind + good, "t.txt", slots()), "LOCK_STALL").size(), 1U);
    for (const char* other : {"[]", "run,ns\n1,2\n", "", "nonsense"}) {
        EXPECT_FALSE(is_raw_trace(other)) << other;
    }
    EXPECT_THROW(parse_raw_trace("a5a5a5a5\n", "t.txt", slots()), arch::base::config::ConfigError);
}

TraceFile one_lane(const char* unit, std::vector<Interval> intervals) {
    TraceFile trace;
    trace.lanes[{unit, "INSTR_EVENT_0"}] = std::move(intervals);
    return trace;
}

TEST(CompareTraces, FindsTheColumnAndTheEventsTheHardwareMissed) {
    const TraceFile measured = one_lane("core_trace for tile2,1",
                                        {{1000, 1001}, {1200, 1201}, {1230, 1231}, {1500, 1501}});
    const TraceFile simulated =
        one_lane("core_trace for tile2,0", {{7, 8}, {30, 31}, {230, 231}, {260, 261}, {530, 531}});
    EXPECT_EQ(column_shift(measured, simulated), 1);
    const TraceComparison comparison = compare_traces(shifted(measured, 1), simulated);
    EXPECT_EQ(comparison.lanes_common, 1);
    EXPECT_EQ(comparison.events_paired, 4);  // the simulation's first is passed over
    EXPECT_DOUBLE_EQ(comparison.median_gap_error, 0);
    EXPECT_TRUE(comparison.first.empty());
}

TEST(CompareTraces, GapsAreInPercentOfTheMeasuredOnes) {
    const TraceComparison comparison = compare_traces(
        one_lane("core_trace for tile2,0", {{0, 1}, {100, 101}, {200, 201}, {300, 301}}),
        one_lane("core_trace for tile2,0", {{0, 1}, {110, 111}, {210, 211}, {330, 331}}));
    EXPECT_DOUBLE_EQ(comparison.rows.at(0).median_gap_error, 10);  // of 10, 0 and 20
    EXPECT_DOUBLE_EQ(comparison.rows.at(0).worst_gap_error, 20);
    EXPECT_THAT(comparison.rows.at(0).gap_errors, ElementsAre(10, 0, 20));
}

}  // namespace
}  // namespace tilesim::sim::compare
