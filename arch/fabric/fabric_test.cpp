#include "arch/fabric/fabric.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

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

TEST(Fabric, LongerReadsTakeTheirPortLonger) {
    const auto short_read = Bench{}.time_of_one(64, false);
    const auto long_read = Bench{}.time_of_one(256, false);
    EXPECT_GE(long_read - short_read, 24_ns);  // 192 B more at 8 B/ns, plus the DRAM's own
}

TEST(Fabric, EveryAnswerTakesBothLatenciesAtLeast) {
    EXPECT_GT(Bench{}.time_of_one(64, false), 120_ns);
    EXPECT_GT(Bench{}.time_of_one(64, true), 120_ns);
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
