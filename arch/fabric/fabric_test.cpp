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
    memory::MemorySystem memory{memory::MemoryConfig{}, config.request_latency, queue, stats};
    Listener listener;

    base::Femtoseconds time_of_one(std::int64_t bytes, bool write) {
        Fabric fabric{config, 2,    base::Clock{base::Hertz{1'000'000'000}}, base::BytesPerCycle{8},
                      memory, queue};
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
    Fabric fabric{
        bench.config, 2,          base::Clock{base::Hertz{1'000'000'000}}, base::BytesPerCycle{8},
        bench.memory, bench.queue};
    constexpr std::uint64_t kRequests = 1000;
    for (std::uint64_t i = 0; i < kRequests; ++i) {
        fabric.submit({static_cast<std::int64_t>(i) * 8192, 256, i % 3 == 0, i % 2, 0_ns,
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

}  // namespace
}  // namespace tilesim::arch::fabric
