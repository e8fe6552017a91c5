#include "sim/compare/trace_compare.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "arch/base/config.hpp"
#include "arch/base/units.hpp"
#include "sim/compare/compiled_code.hpp"

namespace tilesim::sim::compare {
namespace {

using arch::base::Cycles;
using testing::ElementsAre;
using testing::HasSubstr;

struct Event {
    const char* name;
    std::int64_t begin, end;
};

std::string trace_text(const std::vector<Event>& events, const char* unit) {
    std::string text =
        fmt::format(R"([{{"name":"process_name","ph":"M","pid":3,"args":{{"name":"{}"}}}})", unit);
    for (const Event& event : events) {
        text += fmt::format(
            ",\n{{\"name\":\"{0}\",\"ts\":{1},\"ph\":\"B\",\"pid\":3,\"tid\":0,\"args\":{{}}}},\n"
            "{{\"name\":\"{0}\",\"ts\":{2},\"ph\":\"E\",\"pid\":3,\"tid\":0,\"args\":{{}}}}",
            event.name, event.begin, event.end);
    }
    return text + "]\n";
}

TraceFile trace(const std::vector<Event>& events, const char* unit = "core_trace for tile2,0") {
    return parse_trace(trace_text(events, unit), "t.json");
}

TEST(TraceFile, PairsBeginsAndEnds) {
    const TraceFile file = trace({{"LOCK_STALL", 5, 9}, {"INSTR_VECTOR", 9, 20}});
    const auto& lane = file.lanes.at({"core_trace for tile2,0", "LOCK_STALL"});
    ASSERT_EQ(lane.size(), 1U);
    EXPECT_EQ(lane[0].begin, 5);
    EXPECT_EQ(lane[0].end, 9);
    EXPECT_TRUE(file.flaws.empty());
}

TEST(TraceFile, SaysWhatIsMissing) {
    const std::string whole = trace_text({{"A", 1, 2}, {"A", 3, 4}}, "core_trace for tile2,0");
    const TraceFile cut = parse_trace(whole.substr(0, whole.size() - 20), "t.json");
    EXPECT_THAT(cut.flaws,
                ElementsAre("1 events without their begin or end", "the file is cut off"));
    const TraceFile lost = parse_trace(
        R"([{"name":"A","ts":1,"ph":"B","pid":0},{"name":"A","ts":4,"ph":"B","pid":0},
            {"name":"A","ts":6,"ph":"E","pid":0},{"name":"A","ts":7,"ph":"E","pid":0}])",
        "t.json");
    EXPECT_THAT(lost.flaws, ElementsAre("2 events without their begin or end"));
    EXPECT_EQ(lost.lanes.size(), 1U);
}

// Several recordings in one file, each with times of its own: mlir-aie's parser on one buffer after
// the other.
TEST(TraceFile, OfSeveralRecordingsTheFirstIsTaken) {
    const std::vector<Event> once{{"A", 1, 5}, {"B", 6, 7}, {"A", 11, 15}, {"A", 21, 25}};
    std::vector<Event> thrice;
    for (int i = 0; i < 3; ++i) {
        thrice.insert(thrice.end(), once.begin(), once.end());
        thrice.push_back({"C", 30, 31});
    }
    thrice.push_back({"D", 40, 41});  // which the first recording does not have
    const TraceFile file = trace(thrice);
    const TraceFile alone = trace(once);
    for (const auto& [lane, intervals] : alone.lanes) {
        ASSERT_EQ(file.lanes.at(lane).size(), intervals.size()) << lane.second;
        EXPECT_EQ(file.lanes.at(lane).back().begin, intervals.back().begin);
    }
    EXPECT_EQ(file.lanes.size(), alone.lanes.size() + 1);
    EXPECT_THAT(file.notes,
                ElementsAre("the file has 3 recordings, each with times of its own: the first is "
                            "compared, 11 events of the others are left out"));
    EXPECT_TRUE(file.flaws.empty());
}

TEST(TraceFile, LanesOneBehindTheOtherAreOneRecording) {
    const TraceFile file =
        trace({{"A", 1, 5}, {"A", 100, 105}, {"B", 2, 3}, {"B", 90, 95}, {"C", 0, 4}});
    EXPECT_TRUE(file.notes.empty());
    EXPECT_EQ(file.lanes.size(), 3U);
    EXPECT_EQ(file.lanes.at({"core_trace for tile2,0", "B"}).size(), 2U);
}

// Kernels of 9 cycles every 20, stalls of 7 between them, in ticks of this many cycles.
TraceFile ticking(std::int64_t tick) {
    std::vector<Event> events;
    for (std::int64_t i = 0; i < 8; ++i) {
        events.push_back({"INSTR_VECTOR", 20 * i * tick, (20 * i + 9) * tick});
        events.push_back({"LOCK_STALL", (20 * i + 10) * tick, (20 * i + 17) * tick});
    }
    return trace(events);
}

TEST(TraceCompare, AFactorThatEverythingHasIsNamed) {
    const TraceComparison scaled = compare_traces(ticking(3), ticking(1));
    ASSERT_TRUE(scaled.uniform_factor);
    EXPECT_DOUBLE_EQ(*scaled.uniform_factor, 3);
    EXPECT_THAT(scaled.cause, HasSubstr("3 times as long"));
    EXPECT_FALSE(compare_traces(ticking(2), ticking(2)).uniform_factor);
}

// Kernels, transfers of 300 cycles and short stalls; times in whole ticks of so many cycles.
TraceFile in_whole_ticks(double ticks, std::int64_t kernel = 907) {
    std::vector<Event> events;
    const auto add = [&](const char* name, std::int64_t begin, std::int64_t length) {
        events.push_back({name, std::llround(static_cast<double>(begin) * ticks),
                          std::llround(static_cast<double>(begin + length) * ticks)});
    };
    for (std::int64_t i = 0; i < 8; ++i) {
        const std::int64_t begin = (1096 + kernel) * i;
        add("INSTR_VECTOR", begin, kernel);
        add("LOCK_STALL", begin + kernel + 4, 5);
        add("DMA_S2MM_0_RUNNING", begin + 11, 300);
    }
    return trace(events);
}

TEST(TraceCompare, AFactorIsFoundAlsoWhereTicksAreWhole) {
    const TraceFile simulated = in_whole_ticks(1);
    for (const double ticks : {0.5, 1.1, 1.3, 1.5}) {
        const TraceComparison scaled = compare_traces(in_whole_ticks(ticks), simulated);
        ASSERT_TRUE(scaled.uniform_factor) << ticks;
        EXPECT_NEAR(*scaled.uniform_factor, ticks, 0.005 * ticks);
    }
    EXPECT_FALSE(compare_traces(in_whole_ticks(1, 1179), simulated).uniform_factor);
}

TEST(TraceFile, SaysWhichDeviceItIsOf) {
    EXPECT_EQ(ticking(1).device, "");
    EXPECT_EQ(parse_trace(R"([{"name":"device","ph":"M","pid":0,"args":{"name":"xdna"}},
        {"name":"A","ts":1,"ph":"B","pid":0},{"name":"A","ts":4,"ph":"E","pid":0}])",
                          "t.json")
                  .device,
              "xdna");
}

TEST(TraceFile, UndoesWrapsOfTheTimer) {
    const TraceFile file = trace({{"A", 4294967000, 4294967100}, {"A", 50, 60}});
    const auto& lane = file.lanes.at({"core_trace for tile2,0", "A"});
    EXPECT_EQ(lane[1].begin, 4294967296 + 50);
    EXPECT_THAT(file.flaws, ElementsAre("1 wraps of the timer, undone"));
}

TEST(TraceFile, MarkersAroundAKernelAreTheKernel) {
    const TraceFile file = trace({{"INSTR_EVENT_0", 10, 11},
                                  {"INSTR_EVENT_1", 50, 51},
                                  {"INSTR_EVENT_0", 70, 71},
                                  {"INSTR_EVENT_1", 112, 113}});
    const auto& kernels = file.lanes.at({"core_trace for tile2,0", "INSTR_VECTOR"});
    ASSERT_EQ(kernels.size(), 2U);
    EXPECT_EQ(kernels[1].end - kernels[1].begin, 42);
}

// The first kernel's end, or the second's begin, is not in the recording.
TEST(TraceFile, AMarkerWithoutItsEndIsNoKernel) {
    for (const std::int64_t begin : {10, 50}) {
        const TraceFile file = trace({{"INSTR_EVENT_0", begin, begin + 1},
                                      {"INSTR_EVENT_0", 70, 71},
                                      {"INSTR_EVENT_1", 112, 113}});
        const auto& kernels = file.lanes.at({"core_trace for tile2,0", "INSTR_VECTOR"});
        ASSERT_EQ(kernels.size(), 1U);
        EXPECT_EQ(kernels[0].begin, 70);
    }
}

// Microseconds, as other tools write them, are not cycles.
TEST(TraceFile, ATimeIsAWholeCycle) {
    const auto events = [](const char* first, const char* second) {
        return fmt::format(R"([{{"ph":"B","name":"a","pid":0,"ts":1}},
                               {{"ph":"E","name":"a","pid":0,"ts":5}},
                               {{"ph":"B","name":"b","pid":0,"ts":{}}},
                               {{"ph":"E","name":"b","pid":0,"ts":{}}},
                               {{"ph":"B","name":"b","pid":0,"ts":8.5}}])",
                           first, second);
    };
    EXPECT_THAT(parse_trace(events("6.0", "7"), "t.json").flaws,
                ElementsAre("1 events at no whole cycle: left out"));
    EXPECT_THAT([&] { parse_trace(events("6.25", "7.125"), "t.json"); },
                testing::ThrowsMessage<arch::base::config::ConfigError>(
                    testing::HasSubstr("its times are no whole numbers")));
}

TEST(TraceFile, ProcessesOfOneNameAreNotOneUnit) {
    const std::string text = R"([{"name":"process_name","ph":"M","pid":0,"args":{"name":"u"}},
        {"name":"process_name","ph":"M","pid":1,"args":{"name":"u"}},
        {"ph":"B","name":"a","pid":1,"ts":100},{"ph":"E","name":"a","pid":1,"ts":105},
        {"ph":"B","name":"a","pid":0,"ts":1},{"ph":"E","name":"a","pid":0,"ts":5},
        {"ph":"X","name":"c","pid":0,"ts":1,"dur":4}])";
    const TraceFile file = parse_trace(text, "t.json");
    EXPECT_EQ(file.lanes.at({"u", "a"}).at(0).begin, 1);
    EXPECT_THAT(file.flaws, ElementsAre("1 complete events (ph X): left out",
                                        "1 lanes of a second process of the same name: left out"));
}

TEST(TraceFile, WhatIsNoTraceIsRefused) {
    for (const char* text : {"", "{}", "[1, 2", "[]", R"([{"ph":"B"}])", "nonsense"}) {
        EXPECT_THROW(parse_trace(text, "t.json"), arch::base::config::ConfigError) << text;
    }
}

TEST(TraceFile, EventsOfWrongTypesAreFlawsAndNoErrors) {
    const std::string good =
        R"({"ph":"B","name":"a","pid":0,"ts":1},{"ph":"E","name":"a","pid":0,"ts":5})";
    for (const char* bad :
         {R"({"ph":"B","name":"a","pid":0,"ts":1e300})",
          R"({"ph":"B","name":"a","pid":0,"ts":"7"})", R"({"ph":"B","name":"a","pid":"0","ts":7})",
          R"({"ph":"B","name":3,"pid":0,"ts":7})"}) {
        const TraceFile file = parse_trace(fmt::format("[{},{}]", good, bad), "t.json");
        EXPECT_THAT(file.flaws, testing::ElementsAre("1 malformed events")) << bad;
    }
    for (const char* other :
         {R"({"ph":"M","name":3,"pid":0,"args":{}})",
          R"({"ph":"M","name":"process_name","pid":"x","args":{"name":[]}})",
          R"({"ph":"M","name":"device","pid":0,"args":{"name":1,"time_unit":2}})"}) {
        EXPECT_TRUE(parse_trace(fmt::format("[{},{}]", good, other), "t.json").flaws.empty());
    }
}

TEST(CompareTraces, ClocksOfTilesNeedNotAgree) {
    const auto comparison =
        compare_traces(trace({{"INSTR_VECTOR", 90'000, 90'100}, {"INSTR_VECTOR", 90'200, 90'300}}),
                       trace({{"INSTR_VECTOR", 7, 107}, {"INSTR_VECTOR", 207, 307}}));
    EXPECT_TRUE(comparison.first.empty());
    EXPECT_EQ(comparison.rows[0].excess, 0);
    EXPECT_EQ(comparison.cause, "nothing stands out");
}

TEST(CompareTraces, NamesTheKernelBeforeTheWaitingItCauses) {
    const auto comparison = compare_traces(
        trace({{"INSTR_VECTOR", 0, 150}, {"LOCK_STALL", 150, 350}, {"INSTR_VECTOR", 400, 550}}),
        trace({{"INSTR_VECTOR", 0, 100}, {"LOCK_STALL", 100, 110}, {"INSTR_VECTOR", 200, 300}}));
    EXPECT_EQ(comparison.rows[0].event, "LOCK_STALL");
    EXPECT_THAT(comparison.cause, HasSubstr("the core kernel"));
    ASSERT_EQ(comparison.first.size(), 1U);
    EXPECT_EQ(comparison.first[0].event, "INSTR_VECTOR");
    EXPECT_EQ(comparison.first[0].occurrence, 2);
    EXPECT_EQ(comparison.first[0].measured, 400);
    EXPECT_DOUBLE_EQ(comparison.period_error_percent, -50);
}

TEST(CompareTraces, SaysHowFarApartTheCompilerHasPutLockInstructions) {
    const auto locks = [](std::int64_t apart) {
        return trace({{"INSTR_LOCK_ACQUIRE_REQ", 0, 1},
                      {"INSTR_LOCK_RELEASE_REQ", 90, 91},
                      {"INSTR_LOCK_ACQUIRE_REQ", 90 + apart, 91 + apart}});
    };
    EXPECT_EQ(compiled_code(locks(14), locks(5), Cycles{5}).lock_spacing, 14);
    EXPECT_EQ(compiled_code(locks(6), locks(5), Cycles{5}).lock_spacing, std::nullopt);
}

// What a core does between two lock instructions is not how far apart the compiler has put them.
TEST(CompareTraces, LockInstructionsWithOtherWorkBetweenSayNothingOfTheCompiler) {
    const auto locks = [](std::int64_t work, std::int64_t apart) {
        return trace({{"INSTR_LOCK_ACQUIRE_REQ", 0, 1},
                      {"INSTR_LOCK_RELEASE_REQ", work, work + 1},
                      {"INSTR_LOCK_ACQUIRE_REQ", work + apart, work + apart + 1}});
    };
    EXPECT_EQ(compiled_code(locks(341, 500), locks(229, 400), Cycles{5}).lock_spacing,
              std::nullopt);
    EXPECT_EQ(compiled_code(locks(9, 14), locks(20, 5), Cycles{5}).lock_spacing, 14);
}

// Whole runs of kernels of 9 cycles and stalls of 7, and what a window shows of one: the first
// stall and the last kernel are cut.
TEST(CompareTraces, WhatAWindowCutsHasNoLength) {
    const std::string window = trace_text({{"LOCK_STALL", 33, 37},
                                           {"INSTR_VECTOR", 40, 49},
                                           {"LOCK_STALL", 50, 57},
                                           {"INSTR_VECTOR", 60, 69},
                                           {"LOCK_STALL", 70, 77},
                                           {"INSTR_VECTOR", 80, 82}},
                                          "core_trace for tile2,0");
    const std::string device =
        R"([{"name":"device","ph":"M","pid":0,"args":{"name":"xdna","window":[33,82]}},)";
    const TraceFile cut = parse_trace(device + window.substr(1), "t.json");
    const TraceComparison comparison = compare_traces(cut, ticking(1));
    for (const EventRow& row : comparison.rows) {
        EXPECT_EQ(row.compared, 3) << row.event;
        EXPECT_EQ(row.measured_mean, row.simulated_mean) << row.event;
        EXPECT_EQ(row.excess, 0) << row.event;
        EXPECT_EQ(row.worst_gap_error, 0) << row.event;
    }
    EXPECT_THAT(comparison.notes, ElementsAre("2 events are cut by the trace's window: their "
                                              "lengths are not compared"));
    // From the run's beginning, nothing is cut there.
    const std::string begin =
        R"([{"name":"device","ph":"M","pid":0,"args":{"name":"xdna","window":[0,1000]}},)";
    EXPECT_THAT(
        compare_traces(
            parse_trace(
                begin + trace_text({{"INSTR_VECTOR", 0, 9}}, "core_trace for tile2,0").substr(1),
                "t.json"),
            ticking(1))
            .notes,
        testing::IsEmpty());
}

// Vector instructions that no markers stand around are no kernel's length.
TEST(CompareTraces, SaysHowLongMarkedKernelsAre) {
    const auto kernels = [](std::int64_t cycles) {
        TraceFile file = trace({{"INSTR_EVENT_0", 0, 1}, {"INSTR_EVENT_1", cycles, cycles + 1}});
        add_kernels_between_markers(file);
        return file;
    };
    EXPECT_EQ(compiled_code(kernels(72), kernels(65), Cycles{5}).kernel, 72);
    EXPECT_EQ(compiled_code(kernels(66), kernels(65), Cycles{5}).kernel, std::nullopt);
    EXPECT_EQ(compiled_code(trace({{"INSTR_VECTOR", 0, 72}}), kernels(65), Cycles{5}).kernel,
              std::nullopt);
}

TEST(CompareTraces, ComparesOnlyWhatBothHaveAndSaysTheRest) {
    const auto comparison = compare_traces(
        trace({{"LOCK_STALL", 0, 10}, {"LOCK_STALL", 20, 40}, {"CASCADE_STALL", 50, 60}}),
        trace({{"LOCK_STALL", 0, 10}}));
    EXPECT_EQ(comparison.rows[0].compared, 1);
    EXPECT_EQ(comparison.rows[0].measured, 2);
    EXPECT_EQ(comparison.rows[0].excess, 0);
    EXPECT_THAT(comparison.only_measured, ElementsAre("core_trace CASCADE_STALL"));
}

TEST(CompareTraces, SaysThatTheRecordingGoesOnWithFurtherRuns) {
    std::vector<Event> once;
    std::vector<Event> thrice;
    for (std::int64_t at = 0; at < 12; ++at) {
        const Event event{"LOCK_STALL", at * 100, at * 100 + 10};
        thrice.push_back(event);
        if (at < 4) {
            once.push_back(event);
        }
    }
    const auto more = compare_traces(trace(thrice), trace(once));
    EXPECT_THAT(more.notes, ElementsAre(HasSubstr("3 times the events of the simulated run")));
    EXPECT_EQ(more.rows[0].compared, 4);
    once.pop_back();  // too few to tell
    EXPECT_TRUE(compare_traces(trace(thrice), trace(once)).notes.empty());
    EXPECT_TRUE(compare_traces(trace(thrice), trace(thrice)).notes.empty());
}

TEST(CompareTraces, TracesOfOtherTilesAreRefused) {
    EXPECT_THROW(compare_traces(trace({{"LOCK_STALL", 0, 10}}),
                                trace({{"LOCK_STALL", 0, 10}}, "core_trace for tile5,0")),
                 arch::base::config::ConfigError);
}

}  // namespace
}  // namespace tilesim::sim::compare
