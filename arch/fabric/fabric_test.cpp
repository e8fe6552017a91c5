#include "arch/fabric/fabric.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "arch/base/probe_testing.hpp"
#include "arch/fabric/fabric_bench_testing.hpp"

namespace tilesim::arch::fabric {
namespace {

TEST(Fabric, AReadTakesBothLatenciesTheMemorysAndThenItsPort) {
    ExactBench bench;
    bench.read(0);
    EXPECT_EQ(bench.run(), Times{kWay + kCrossing});
    EXPECT_EQ(bench.memory.reads[0].arrival, kRequest);
}

TEST(Fabric, AWriteTakesItsPortAndTheWayThereAndNobodyWaitsForItsAnswer) {
    ExactBench bench;
    bench.write(0);
    EXPECT_EQ(bench.run(), Times{kCrossing + kWayThere});
    EXPECT_EQ(bench.memory.writes[0].arrival, kCrossing + kRequest);
}

TEST(Fabric, PartOfAPortsWidthCostsACycle) {
    ExactBench bench;
    bench.submit(0, kBytes + 1, false, 0);
    bench.submit(0, 1, true, 0);
    EXPECT_EQ(bench.run(), (Times{kWay + kCrossing + 1_ns, kWayThere + 1_ns}));
}

TEST(Fabric, APortCarriesOneAnswerAtATimeWithoutAGap) {
    ExactBench bench;
    bench.read(0);
    bench.read(1);
    bench.read(2);
    EXPECT_EQ(bench.run(), (Times{kWay + kCrossing, kWay + kCrossing * 2, kWay + kCrossing * 3}));
}

// The memory says of the first that it will have it at 300 ns, then of the second at 240 ns.
TEST(Fabric, TheAnswerThatArrivesFirstCrossesItsPortFirst) {
    ExactBench bench;
    bench.memory.answers = false;
    bench.read(0);
    bench.read(1);
    bench.queue.run_until(200_ns);
    const auto answer = [&bench](std::size_t read, base::Femtoseconds when) {
        const memory::port::MemoryRequest& request = bench.memory.reads[read];
        request.client->on_memory_complete(request.tag, when);
    };
    answer(0, 300_ns);
    answer(1, 240_ns);
    EXPECT_EQ(bench.run(), (Times{300_ns + kResponse + kCrossing, 240_ns + kResponse + kCrossing}));
}

// The second arrives first and crosses until 261 ns, the first from 300 to 311 ns. The third is to
// come at 500 ns then, later than by the way back, in which the fourth is announced.
TEST(Fabric, AnAnswerThatIsFarAwayDoesNotKeepThePortFromOneThatArrivesBefore) {
    ExactBench bench;
    bench.memory.answers = false;
    for (const std::int64_t page : {0, 1, 2, 3}) {
        bench.read(page);
    }
    bench.queue.run_until(150_ns);
    const auto arrives = [&bench](std::size_t read, base::Femtoseconds when) {
        const memory::port::MemoryRequest& request = bench.memory.reads[read];
        request.client->on_memory_complete(request.tag, when - kResponse);
    };
    arrives(0, 300_ns);
    arrives(1, 250_ns);
    arrives(2, 500_ns);
    bench.queue.run_until(320_ns);
    arrives(3, 400_ns);
    EXPECT_EQ(bench.run(), (Times{311_ns, 261_ns, 511_ns, 411_ns}));
}

// 166 ns: between two edges of a link of 250 MHz.
TEST(Fabric, ARequestTakesTheLinkFromAnEdgeOfItsClockOn) {
    FabricConfig config = narrow();
    config.link_clock = base::Hertz{250'000'000};
    ExactBench bench(config);
    bench.read(0);
    bench.run();
    EXPECT_EQ(bench.listener.done[0].second, 166_ns);
    bench.read(0);
    bench.run();
    EXPECT_EQ(bench.memory.reads[1].arrival, 168_ns + kRequest);
}

TEST(Fabric, ReadsAndWritesOfAPortAndOfTwoPortsDoNotDelayEachOther) {
    ExactBench bench;
    bench.read(0, 0);
    bench.read(1, 1);
    bench.write(2, 0);
    bench.write(3, 1);
    const base::Femtoseconds read = kWay + kCrossing, written = kCrossing + kWayThere;
    // But for the picosecond a line takes on the link: a read crosses its port a cycle later.
    EXPECT_EQ(bench.run(), (Times{read, read + 1_ns, written, written + 1_ps}));
}

TEST(Fabric, RequestsTakeTheLinkOneAfterTheOtherInWholeLines) {
    ExactBench bench(narrow());
    bench.submit(kLineBytes - 1, 2, false, 0);   // of two lines
    bench.submit(2 * kLineBytes, 1, false, 1);   // of one
    bench.submit(5 * kLineBytes, 33, false, 0);  // of three
    bench.submit(9 * kLineBytes, 1, false, 1);
    bench.run();
    std::vector<base::Femtoseconds> arrivals;
    for (const auto& read : bench.memory.reads) {
        arrivals.push_back(read.arrival);
    }
    EXPECT_EQ(arrivals,
              (Times{kRequest, kRequest + kLine * 2, kRequest + kLine * 3, kRequest + kLine * 6}));
}

TEST(Fabric, ATracedRunHasNoEventMoreAndItsReadsLeaveWhenTheLinkIsFree) {
    const auto events = [](base::ProbeRecorder* recorder) {
        ExactBench bench(narrow());
        bench.fabric.connect(recorder);
        bench.submit(0, 3 * kLineBytes, false, 1);
        bench.submit(0, kLineBytes, false, 0);
        bench.submit(0, kLineBytes, false, 0);
        bench.run();
        return bench.queue.executed();
    };
    base::ProbeRecorder recorder{base::Clock{base::Hertz{1'000'000'000}}};
    EXPECT_EQ(events(&recorder), events(nullptr));
    using Activities = std::vector<base::ProbeRecorder::Activity>;
    EXPECT_EQ(recorder.of("fabric.port(0).waiting"),
              (Activities{{"fabric.port(0).waiting", "waiting", 0, 16}}));
    // The second one leaves behind four lines, and crosses its port in two cycles.
    const std::int64_t last = (kWay + kLine * 4 + 2_ns).count() / 1'000'000;
    EXPECT_EQ(recorder.of("fabric.port(0).reads"),
              (Activities{{"fabric.port(0).reads", "under_way", 12, last}}));
}

TEST(Fabric, AReadWaitsInATraceFromItsSubmissionToItsTurn) {
    FabricConfig config = kWide;
    config.request_interval = 29_ns;
    ExactBench bench(config);
    base::ProbeRecorder recorder{base::Clock{base::Hertz{1'000'000'000}}};
    bench.fabric.connect(&recorder);
    bench.read(0);
    bench.read(0);
    bench.run();
    using Activities = std::vector<base::ProbeRecorder::Activity>;
    EXPECT_EQ(recorder.of("fabric.port(0).waiting"),
              (Activities{{"fabric.port(0).waiting", "waiting", 0, 29}}));
}

// The third is of the first one's page, and leaves before the second.
TEST(Fabric, ReadsThatLeaveBeforeEarlierOnesAreTracedInOrderOfTime) {
    FabricConfig config = kWide;
    config.page_walk = 29_ns;
    ExactBench bench(config);
    base::ProbeRecorder recorder{base::Clock{base::Hertz{1'000'000'000}}};
    bench.fabric.connect(&recorder);
    bench.read(0);
    bench.read(1);
    bench.read(0);
    bench.run();
    using Activities = std::vector<base::ProbeRecorder::Activity>;
    EXPECT_EQ(recorder.of("fabric.port(0).waiting"),
              (Activities{{"fabric.port(0).waiting", "waiting", 0, 2 * 29}}));
}

TEST(Fabric, ReadsAndWritesHaveALinkEach) {
    ExactBench bench(narrow());
    bench.submit(0, kLineBytes, false, 0);
    bench.submit(0, kWidth, true, 0);  // after a cycle on its port
    bench.submit(0, kWidth, true, 1);
    bench.run();
    EXPECT_EQ(bench.memory.reads[0].arrival, kRequest);
    EXPECT_EQ(bench.memory.writes[0].arrival, 1_ns + kRequest);
    EXPECT_EQ(bench.memory.writes[1].arrival, 1_ns + kLine + kRequest);
}

TEST(Fabric, ARequestOfAnUnknownPageWaitsForItsWalkAndTheNextOneDoesNot) {
    FabricConfig config = kWide;
    config.page_walk = 29_ns;
    ExactBench bench(config);
    bench.read(0);
    bench.run();
    bench.read(0);
    bench.run();
    EXPECT_EQ(bench.memory.reads[0].arrival, 29_ns + kRequest);
    const base::Femtoseconds second = bench.memory.reads[1].arrival;
    EXPECT_EQ(second - bench.listener.done[0].second, kRequest);
}

struct Asked {
    std::int64_t page = 0;
    std::size_t port = 0;
    bool write = false;
};

base::Femtoseconds busiest_of(const FabricConfig& config, std::initializer_list<Asked> all) {
    ExactBench bench(config);
    for (const Asked& each : all) {
        bench.submit(each.page * kPage, kBytes, each.write, each.port);
    }
    bench.run();
    return bench.fabric.busiest().busy;
}

TEST(Fabric, ItsBusiestPartIsThatWhichCouldHaveBeenDoneLast) {
    EXPECT_EQ(busiest_of(kWide, {{0}, {1}, {2}, {3, 1, true}}), 3 * kCrossing);
    FabricConfig turns = kWide;
    turns.request_interval = 13_ns;
    EXPECT_EQ(busiest_of(turns, {{0, 1, true}, {1, 1, true}, {2, 1, true}}), 3 * 13_ns);
    FabricConfig walks = kWide;
    walks.page_walk = 29_ns;
    EXPECT_EQ(busiest_of(walks, {{0}, {1, 1}}), 2 * 29_ns);
    FabricConfig blocks = kWide;
    blocks.block = base::Bytes{8};
    blocks.block_interval = 7_ns;
    for (const bool write : {false, true}) {
        EXPECT_EQ(busiest_of(narrow(), {{0, 0, write}, {1, 1, write}}), 2 * 6 * kLine)
            << "six lines of 16 B each";
        EXPECT_EQ(busiest_of(blocks, {{0, 0, write}}), 11 * 7_ns);
    }
}

TEST(Fabric, WritesAndReadsAreBusyApart) {
    FabricConfig config = kWide;
    config.request_interval = 2_ns;
    EXPECT_EQ(busiest_of(config, {{0, 0, true}, {1, 0, true}, {2, 0, true}, {3}}), 3 * kCrossing);
    config.request_interval = 13_ns;
    EXPECT_EQ(busiest_of(config, {{0}, {1, 0, true}, {2, 0, true}}), 2 * 13_ns);
}

// A port that begins later is done later, though it is busy for less; what all share has been asked
// for since the first of them was.
TEST(Fabric, WhatBeganLaterCouldHaveBeenDoneLater) {
    ExactBench ports;
    ports.read(0);
    ports.read(1);
    ports.run();
    ports.read(2, 1);
    ports.run();
    EXPECT_EQ(ports.fabric.busiest().from, kWay + 2 * kCrossing);
    EXPECT_EQ(ports.fabric.busiest().busy, kCrossing);
    FabricConfig config = kWide;
    config.page_walk = 290_ns;
    ExactBench walks(config);
    walks.read(0);
    walks.run();
    walks.read(1, 1);
    walks.read(2);
    walks.run();
    EXPECT_EQ(walks.fabric.busiest().from, 0_ns);
    EXPECT_EQ(walks.fabric.busiest().busy, 3 * 290_ns);
}

TEST(Fabric, AnswersEveryRequestOnceUnderBackPressure) {
    Bench bench;
    constexpr std::uint64_t kRequests = 1000;
    for (std::uint64_t i = 0; i < kRequests; ++i) {
        bench.fabric.submit(
            {static_cast<std::int64_t>(i) * 8192, 256, i % 3 == 0, i % 2, &bench.listener, i});
    }
    bench.queue.run_until(1'000'000'000_ns);
    ASSERT_EQ(bench.listener.done.size(), kRequests);
    std::vector<int> answers(kRequests, 0);
    for (const auto& [tag, when] : bench.listener.done) {
        ++answers[tag];
    }
    EXPECT_EQ(std::count(answers.begin(), answers.end(), 1), static_cast<long>(kRequests));
}

TEST(Fabric, NamesWhatNoRequestHasWaitedFor) {
    const auto named = [](const FabricConfig& config, std::vector<std::int64_t> pages) {
        ExactBench bench(config);
        for (const std::int64_t page : pages) {
            bench.read(page);
        }
        bench.run();
        return bench.fabric.not_exercised();
    };
    const std::vector<std::string> link{
        "fabric.request_interval", "fabric.chop", "fabric.link_width",
        "fabric.link_clock",       "fabric.line", "fabric.block",
        "fabric.block_interval"};
    FabricConfig walking = narrow();
    walking.block_interval = 17_ns;
    walking.page_walk = 29_ns;
    walking.known_pages = 1;
    EXPECT_EQ(named(kWide, {}).size(), 2 + link.size() + 3);
    // No page has been walked to, no turn and no block awaited.
    EXPECT_EQ(named(narrow(), {0, 1}).size(), 7U);
    walking.request_interval = 13_ns;
    EXPECT_EQ(named(walking, {0, 0}), std::vector<std::string>{"fabric.known_pages"});
    EXPECT_TRUE(named(walking, {0, 1}).empty());
}

TEST(Fabric, WritesAloneNameTheWayBack) {
    ExactBench bench;
    bench.write(0);
    bench.run();
    const auto names = bench.fabric.not_exercised();
    EXPECT_EQ(std::count(names.begin(), names.end(), "fabric.response_latency"), 1);
    EXPECT_EQ(std::count(names.begin(), names.end(), "fabric.request_latency"), 0);
    FabricConfig config = narrow();
    config.request_interval = 13_ns;
    config.block_interval = 17_ns;
    ExactBench shared(config);
    shared.write(0);
    shared.write(1);
    shared.run();
    EXPECT_EQ(shared.fabric.not_exercised(),
              (std::vector<std::string>{"fabric.response_latency", "fabric.page",
                                        "fabric.page_walk", "fabric.known_pages"}));
}

TEST(Fabric, LinesAreNamedWhereTwiceAsLongOnesWouldBeWholeToo) {
    const auto whole = [](std::int64_t address, std::int64_t bytes) {
        FabricConfig config;
        config.line = base::Bytes{32};
        SharedLink link(config);
        link.take(address, bytes, base::Femtoseconds{0});
        return link.whole_lines();
    };
    EXPECT_TRUE(whole(64, 128));
    EXPECT_FALSE(whole(32, 128));
    EXPECT_FALSE(whole(64, 96));
}

// Lines take 4 ns. Were they to take 8, a request behind the first one's 4 but before its 8 would
// wait; the same again from 100 ns on.
TEST(Fabric, ALinkMattersWhereOneHalfAsFastWouldHoldARequestUp) {
    const auto near = [](std::initializer_list<base::Femtoseconds> requests) {
        SharedLink link(narrow());
        for (const base::Femtoseconds from : requests) {
            link.take(0, kLineBytes, from);
        }
        return link.near();
    };
    EXPECT_TRUE(near({0_ns, 7_ns}));
    EXPECT_FALSE(near({0_ns, 8_ns}));
    EXPECT_TRUE(near({0_ns, 100_ns, 107_ns}));
    EXPECT_FALSE(near({0_ns, 100_ns, 108_ns}));
}

TEST(Fabric, APortCarriesOneAnswerAtATime) {
    Bench bench;
    constexpr std::uint64_t kReads = 100;
    for (std::uint64_t i = 0; i < kReads; ++i) {
        const auto spread = static_cast<std::int64_t>(i * 7919 % 1009);
        bench.fabric.submit({spread * 8192, 256, false, 0, &bench.listener, i});
    }
    bench.queue.run_until(1'000'000_ns);
    ASSERT_EQ(bench.listener.done.size(), kReads);
    for (std::size_t i = 1; i < kReads; ++i) {
        EXPECT_GE(bench.listener.done[i].second - bench.listener.done[i - 1].second, 32_ns);
    }
}

}  // namespace
}  // namespace tilesim::arch::fabric
