#include "arch/fabric/fabric.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

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
        fabric.submit({0, bytes, write, 0, 0_ns, &listener, 7});
        queue.run_until(1'000'000_ns);
        return listener.done.at(0).second;
    }
};

// A cycle of the ports is a nanosecond; the memory answers after a fixed time.
constexpr base::Femtoseconds kRequest = 71_ns;
constexpr base::Femtoseconds kMemory = 31_ns;
constexpr base::Femtoseconds kResponse = 53_ns;
constexpr base::Femtoseconds kWay = kRequest + kMemory + kResponse;
constexpr std::int64_t kWidth = 8;  // bytes a cycle
constexpr std::int64_t kBytes = 11 * kWidth;
constexpr base::Femtoseconds kCrossing = 11_ns;
constexpr std::int64_t kBlock = 256;

struct ExactBench {
    explicit ExactBench(std::int64_t read_blocks = 64)
        : fabric({.request_latency = kRequest,
                  .response_latency = kResponse,
                  .read_blocks = read_blocks,
                  .block = base::Bytes{kBlock}},
                 2, base::Clock{base::Hertz{1'000'000'000}}, base::BytesPerCycle{kWidth}, memory,
                 queue) {}

    void submit(std::int64_t address, std::int64_t bytes, bool write, std::size_t port,
                base::Femtoseconds extra = 0_ns) {
        fabric.submit({address, bytes, write, port, extra, &listener, submitted++});
    }
    void read(std::int64_t block, std::size_t port = 0) {
        submit(block * kBlock, kBytes, false, port);
    }
    void write(std::int64_t block, std::size_t port = 0) {
        submit(block * kBlock, kBytes, true, port);
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

TEST(Fabric, AWriteTakesItsPortAndThenTheSame) {
    ExactBench bench;
    bench.write(0);
    EXPECT_EQ(bench.run(), Times{kCrossing + kWay});
    EXPECT_EQ(bench.memory.writes[0].arrival, kCrossing + kRequest);
}

TEST(Fabric, PartOfAPortsWidthCostsACycle) {
    ExactBench bench;
    bench.submit(0, kBytes + 1, false, 0);
    bench.submit(0, 1, true, 0);
    EXPECT_EQ(bench.run(), (Times{kWay + kCrossing + 1_ns, kWay + 1_ns}));
}

TEST(Fabric, TranslationDelaysTheRequestOnItsWay) {
    ExactBench bench;
    bench.submit(0, kBytes, false, 0, 29_ns);
    EXPECT_EQ(bench.run(), Times{29_ns + kWay + kCrossing});
}

TEST(Fabric, APortCarriesOneAnswerAtATimeWithoutAGap) {
    ExactBench bench;
    bench.read(0);
    bench.read(1);
    bench.read(2);
    EXPECT_EQ(bench.run(), (Times{kWay + kCrossing, kWay + kCrossing * 2, kWay + kCrossing * 3}));
}

TEST(Fabric, ReadsAndWritesOfAPortAndOfTwoPortsDoNotDelayEachOther) {
    ExactBench bench;
    bench.read(0, 0);
    bench.read(1, 1);
    bench.write(2, 0);
    bench.write(3, 1);
    const base::Femtoseconds alone = kWay + kCrossing;
    EXPECT_EQ(bench.run(), (Times{alone, alone, alone, alone}));
}

TEST(Fabric, AReadWithoutAnEntryGoesWhenAnotherHasCrossedItsPort) {
    ExactBench bench(2);
    bench.read(0, 0);
    bench.read(1, 1);
    bench.read(2, 0);
    const base::Femtoseconds alone = kWay + kCrossing;
    EXPECT_EQ(bench.run(), (Times{alone, alone, alone * 2}));
    ExactBench room(3);
    room.read(0, 0);
    room.read(1, 1);
    room.read(2, 0);
    EXPECT_EQ(room.run()[2], kWay + kCrossing * 2);
}

TEST(Fabric, ReadsOfABlockShareItsEntryAndWritesNeedNone) {
    ExactBench bench(1);
    bench.submit(0, kBytes, false, 0);
    bench.submit(kBytes, kBytes, false, 1);  // of the same block
    bench.write(5);
    const base::Femtoseconds alone = kWay + kCrossing;
    EXPECT_EQ(bench.run(), (Times{alone, alone, alone}));
}

TEST(Fabric, AnswersEveryRequestOnceUnderBackPressure) {
    Bench bench;
    constexpr std::uint64_t kRequests = 1000;
    for (std::uint64_t i = 0; i < kRequests; ++i) {
        bench.fabric.submit({static_cast<std::int64_t>(i) * 8192, 256, i % 3 == 0, i % 2, 0_ns,
                             &bench.listener, i});
    }
    bench.queue.run_until(1'000'000'000_ns);
    ASSERT_EQ(bench.listener.done.size(), kRequests);
    std::vector<int> answers(kRequests, 0);
    for (const auto& [tag, when] : bench.listener.done) {
        ++answers[tag];
    }
    EXPECT_EQ(std::count(answers.begin(), answers.end(), 1), static_cast<long>(kRequests));
}

TEST(Fabric, NamesItsBlocksUntilARunHasTakenAllOfThem) {
    const auto named = [](std::int64_t reads, std::int64_t limit) {
        Bench bench;
        Fabric fabric{{.read_blocks = limit},
                      1,
                      base::Clock{base::Hertz{1'000'000'000}},
                      base::BytesPerCycle{8},
                      bench.memory,
                      bench.queue};
        for (std::int64_t i = 0; i < reads; ++i) {
            fabric.submit({i * 8192, 64, false, 0, 0_ns, &bench.listener, 0});
        }
        return fabric.not_exercised();
    };
    const std::vector<std::string> blocks{"fabric.read_blocks", "fabric.block"};
    EXPECT_EQ(named(4, 5), blocks);
    EXPECT_TRUE(named(5, 5).empty());
    EXPECT_EQ(named(0, 5).size(), 4U);  // no request: the ways to memory and back as well
}

TEST(Fabric, AnAnswerThatArrivesFirstCrossesFirst) {
    const base::Femtoseconds alone = Bench{}.time_of_one(64, false);
    Bench bench;
    constexpr std::int64_t kOtherBlock = 4096;
    bench.fabric.submit({kOtherBlock, 64, false, 0, 500_ns, &bench.listener, 1});
    bench.fabric.submit({0, 64, false, 0, 0_ns, &bench.listener, 2});
    bench.queue.run_until(1'000'000_ns);
    ASSERT_EQ(bench.listener.done.size(), 2U);
    EXPECT_EQ(bench.listener.done.at(0), std::pair(std::uint64_t{2}, alone));
    EXPECT_EQ(bench.listener.done.at(1).first, 1U);
    EXPECT_GT(bench.listener.done.at(1).second, 620_ns);  // its own and both of the fabric
}

TEST(Fabric, APortCarriesOneAnswerAtATime) {
    Bench bench;
    constexpr std::uint64_t kReads = 100;
    for (std::uint64_t i = 0; i < kReads; ++i) {
        const auto spread = static_cast<std::int64_t>(i * 7919 % 1009);
        bench.fabric.submit({spread * 8192, 256, false, 0, 0_ns, &bench.listener, i});
    }
    bench.queue.run_until(1'000'000_ns);
    ASSERT_EQ(bench.listener.done.size(), kReads);
    for (std::size_t i = 1; i < kReads; ++i) {
        EXPECT_GE(bench.listener.done[i].second - bench.listener.done[i - 1].second, 32_ns);
    }
}

}  // namespace
}  // namespace tilesim::arch::fabric
