#include "arch/fabric/fabric.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "arch/base/probe_testing.hpp"
#include "arch/memory/controller/memory_system.hpp"
#include "arch/memory/port/stub_memory_testing.hpp"

namespace tilesim::arch::fabric {
namespace {

using namespace base::literals;

struct Listener final : FabricClient {
    std::vector<std::pair<std::uint64_t, base::Femtoseconds>> done;
    void on_fabric_complete(std::uint64_t tag, base::Femtoseconds now) override {
        done.emplace_back(tag, now);
    }
};

struct Bench {
    base::EventQueue queue;
    base::stats::Group stats{"test"};
    FabricConfig config{.request_latency = 70_ns, .response_latency = 50_ns};
    memory::controller::MemorySystem memory{memory::device::MemoryConfig{}, config.request_latency,
                                            queue, stats};
    Listener listener;

    Fabric fabric{config, 2,    base::Clock{base::Hertz{1'000'000'000}}, base::BytesPerCycle{8},
                  memory, queue};

    base::Femtoseconds time_of_one(std::int64_t bytes, bool write) {
        fabric.submit({0, bytes, write, 0, &listener, 7});
        queue.run_until(1'000'000_ns);
        return listener.done.at(0).second;
    }
};

// A cycle of the ports is a nanosecond; the memory answers after a fixed time.
constexpr base::Femtoseconds kRequest = 71_ns;
constexpr base::Femtoseconds kMemory = 31_ns;
constexpr base::Femtoseconds kResponse = 53_ns;
constexpr base::Femtoseconds kWayThere = kRequest + kMemory;
constexpr base::Femtoseconds kWay = kWayThere + kResponse;
constexpr std::int64_t kWidth = 8;  // bytes a cycle
constexpr std::int64_t kBytes = 11 * kWidth;
constexpr base::Femtoseconds kCrossing = 11_ns;
constexpr std::int64_t kPage = 512;

// A link far wider than the ports, so that it does not hold anything up.
constexpr FabricConfig kWide{.request_latency = kRequest,
                             .response_latency = kResponse,
                             .link_width = base::BytesPerCycle{1024},
                             .link_clock = base::Hertz{1'000'000'000'000},
                             .line = base::Bytes{1024},
                             .page = base::Bytes{kPage},
                             .page_walk = 0_ns};
// Lines of 16 B take 4 ns each.
constexpr base::Femtoseconds kLine = 4_ns;
constexpr std::int64_t kLineBytes = 16;
FabricConfig narrow() {
    FabricConfig config = kWide;
    config.link_width = base::BytesPerCycle{4};
    config.link_clock = base::Hertz{1'000'000'000};
    config.line = base::Bytes{kLineBytes};
    return config;
}

struct ExactBench {
    explicit ExactBench(const FabricConfig& config = kWide)
        : fabric(config, 2, base::Clock{base::Hertz{1'000'000'000}}, base::BytesPerCycle{kWidth},
                 memory, queue) {}

    void submit(std::int64_t address, std::int64_t bytes, bool write, std::size_t port) {
        fabric.submit({address, bytes, write, port, &listener, submitted++});
    }
    void read(std::int64_t page, std::size_t port = 0) {
        submit(page * kPage, kBytes, false, port);
    }
    void write(std::int64_t page, std::size_t port = 0) {
        submit(page * kPage, kBytes, true, port);
    }
    // When each request was complete, by order of submission.
    std::vector<base::Femtoseconds> run() {
        queue.run_until(1'000'000_ns);
        std::vector<base::Femtoseconds> times(submitted, base::Femtoseconds{-1});
        for (const auto& [tag, when] : listener.done) {
            times[tag] = when;
        }
        return times;
    }

    base::EventQueue queue;
    memory::port::StubMemory memory{queue, kMemory};
    Listener listener;
    std::uint64_t submitted = 0;
    Fabric fabric;
};

using Times = std::vector<base::Femtoseconds>;

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

TEST(Fabric, RequestsOfAPortSetOutAnIntervalApartHoweverShortTheyAre) {
    FabricConfig config = kWide;
    config.request_interval = 13_ns;
    ExactBench bench(config);
    bench.submit(0, kWidth, false, 0);
    bench.submit(0, kWidth, false, 0);
    bench.submit(0, kWidth, false, 1);  // another port
    bench.submit(0, kWidth, true, 0);   // after a cycle on its data port
    bench.submit(0, kWidth, true, 0);
    EXPECT_EQ(bench.run()[1], 13_ns + kWay + 1_ns);
    const auto& reads = bench.memory.reads;
    EXPECT_EQ(reads[0].arrival, kRequest);
    EXPECT_LT(reads[1].arrival, 1_ns + kRequest);  // the other port's: but for a picosecond at once
    EXPECT_EQ(reads[2].arrival, 13_ns + kRequest);
    EXPECT_EQ(bench.memory.writes[0].arrival, 1_ns + kRequest);
    EXPECT_EQ(bench.memory.writes[1].arrival, 14_ns + kRequest);
}

TEST(Fabric, AModifiableRequestTakesNoInterval) {
    FabricConfig config = kWide;
    config.request_interval = 13_ns;
    ExactBench bench(config);
    for (int i = 0; i < 2; ++i) {
        bench.fabric.submit({0, kWidth, false, 0, &bench.listener, 0, true});
    }
    bench.submit(0, kWidth, false, 0);
    bench.submit(0, kWidth, false, 0);
    bench.run();
    const auto& reads = bench.memory.reads;
    EXPECT_LT(reads[2].arrival, 1_ns + kRequest);
    EXPECT_GE(reads[3].arrival, 13_ns + kRequest);
}

TEST(Fabric, EveryAlignedChopOfARequestTakesAnInterval) {
    for (const std::int64_t chop : {64, 256}) {
        FabricConfig config = kWide;
        config.request_interval = 13_ns;
        config.chop = base::Bytes{chop};
        ExactBench bench(config);
        bench.submit(chop - 1, chop + 2, false, 0);  // of three chops
        bench.submit(chop, chop, false, 0);          // of one
        bench.submit(0, 1, false, 0);
        bench.run();
        EXPECT_EQ(bench.memory.reads[1].arrival, 13_ns * 3 + kRequest);
        EXPECT_EQ(bench.memory.reads[2].arrival, 13_ns * 4 + kRequest);
    }
}

// Blocks of 64 B in 7 ns, behind a link that does not hold anything up.
FabricConfig in_blocks() {
    FabricConfig config = kWide;
    config.block = base::Bytes{64};
    config.block_interval = 7_ns;
    return config;
}

TEST(Fabric, RequestsOfAllPortsTakeWholeBlocksAnIntervalEach) {
    ExactBench bench(in_blocks());
    bench.submit(63, 2, false, 0);    // of two blocks
    bench.submit(64, 64, false, 1);   // of one
    bench.submit(16, 112, false, 0);  // of two, each in part
    bench.submit(0, 1, false, 1);
    bench.submit(0, kWidth, true, 0);  // after a cycle on its data port
    bench.submit(0, kWidth, true, 1);
    bench.run();
    std::vector<base::Femtoseconds> arrivals;
    for (const auto& read : bench.memory.reads) {
        arrivals.push_back(read.arrival);
    }
    EXPECT_EQ(arrivals, (Times{kRequest, kRequest + 14_ns, kRequest + 21_ns, kRequest + 35_ns}));
    EXPECT_EQ(bench.memory.writes[0].arrival, kRequest + 1_ns);
    EXPECT_EQ(bench.memory.writes[1].arrival, kRequest + 8_ns);
}

// 96 B, then what follows it in memory, on another port: of three blocks they take four apart.
TEST(Fabric, ModifiableRequestsShareTheBlockBetweenThem) {
    for (const bool modifiable : {false, true}) {
        ExactBench bench(in_blocks());
        const auto submit = [&](std::int64_t address, std::int64_t bytes, std::size_t port) {
            bench.fabric.submit(
                {address, bytes, false, port, &bench.listener, bench.submitted++, modifiable});
        };
        submit(4096, 64, 0);  // the others wait for its block
        submit(0, 96, 0);
        submit(96, 96, 1);
        submit(8192, 64, 0);
        bench.run();
        EXPECT_EQ(bench.memory.reads[3].arrival, kRequest + 7_ns * (modifiable ? 4 : 5));
    }
}

TEST(Fabric, ABlockIsSharedWhileOneOfTheRequestsWaits) {
    SharedBlocks blocks(in_blocks());
    EXPECT_EQ(blocks.take(0, 96, true, 10_ns), 10_ns);
    EXPECT_EQ(blocks.take(96, 96, true, 10_ns), 24_ns);   // the first has gone: two blocks
    EXPECT_EQ(blocks.take(224, 32, true, 23_ns), 38_ns);  // the second half of a block
    EXPECT_EQ(blocks.take(192, 32, true, 23_ns), 45_ns);  // the first comes along
    EXPECT_EQ(blocks.take(192, 32, true, 23_ns), 45_ns);  // once: this one takes the block again
    EXPECT_EQ(blocks.take(208, 16, true, 23_ns), 52_ns);  // beside none of them
    EXPECT_EQ(blocks.take(64, 32, false, 23_ns), 59_ns);
}

// 16 B each: of a block's four pieces every one is beside another, and the block goes once.
TEST(Fabric, ABlockInFourPiecesGoesOnce) {
    SharedBlocks blocks(in_blocks());
    blocks.take(0, 64, true, 0_ns);
    for (const std::int64_t piece : {1, 0, 3, 2}) {
        blocks.take(640 + piece * 16, 16, true, 0_ns);
    }
    EXPECT_EQ(blocks.take(64, 64, true, 0_ns), 7_ns * 3);  // 3 and 1 were beside none at first
}

TEST(Fabric, ARequestThatWaitsForItsTurnDoesNotKeepTheLinkFromAnotherPorts) {
    FabricConfig config = narrow();
    config.request_interval = 29_ns;
    ExactBench bench(config);
    bench.submit(0, kLineBytes, false, 0);
    bench.submit(0, kLineBytes, false, 0);
    bench.submit(0, kLineBytes, false, 1);
    bench.run();
    EXPECT_EQ(bench.memory.reads[0].arrival, kRequest);
    EXPECT_EQ(bench.memory.reads[1].arrival, kLine + kRequest);  // the other port's
    EXPECT_EQ(bench.memory.reads[2].arrival, 29_ns + kRequest);
}

TEST(Fabric, ARequestThatComesLaterThanTheIntervalDoesNotWait) {
    FabricConfig turns = kWide;
    turns.request_interval = 13_ns;
    for (const FabricConfig& config : {turns, in_blocks()}) {
        ExactBench bench(config);
        bench.read(0);
        bench.run();
        const base::Femtoseconds first = bench.listener.done[0].second;
        bench.read(0);
        bench.run();
        EXPECT_EQ(bench.memory.reads[1].arrival - first, kRequest);
    }
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
