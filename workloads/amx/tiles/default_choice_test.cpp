#include "workloads/amx/tiles/default_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "workloads/amx/tiles/amx_dataflow.hpp"
#include "workloads/amx/tiles/amx_run_testing.hpp"
#include "workloads/amx/tiles/amx_tuning.hpp"
#include "workloads/amx/tiles/whole_socket.hpp"

namespace tilesim::workloads::amx::tiles {
namespace {

// Takes as long as it is told to.
class Told final : public Runner {
  public:
    explicit Told(std::function<double(const AmxMapping&)> time_ns, std::uint64_t events = 1000)
        : time_ns_(std::move(time_ns)), events_(events) {}

    RunEnd run(const Case&, const Plan&, RunResult&) override { return RunEnd::Finished; }
    RunResult run(const Case& part) override {
        tried.push_back(part.mapping.get<AmxMapping>());
        RunResult result;
        result.time_ns = time_ns_(tried.back());
        result.events = events_;
        return result;
    }

    std::vector<AmxMapping> tried;

  private:
    std::function<double(const AmxMapping&)> time_ns_;
    std::uint64_t events_;
};

constexpr std::int64_t kSocketCores = 5;

Case case_of(const GemmProblem& problem) {
    Case a_case;
    a_case.device.put(socket_of(kSocketCores));
    a_case.problem = {gemm_kind(), problem};
    return a_case;
}

Choice chosen(const GemmProblem& problem, Told& times) {
    return choose_mapping(amx_dataflow(), case_of(problem), times);
}

const GemmProblem kSmall = gemm(64, 256, 96, DataType::Int8, DataType::Int8);

TEST(DefaultChoice, KeysThatHelpAreFoundTogether) {
    Told times([](const AmxMapping& map) {
        return 1000 - 100 * (map.m_acc == 1) - 70 * (map.post == AmxMapping::Post::Fused) -
               50 * map.b_nontemporal - 30 * (map.c_padding == 64) - 20 * (map.prefetch_b == 4);
    });
    const AmxMapping best = chosen(kSmall, times).mapping.get<AmxMapping>();
    EXPECT_EQ(best.m_acc, 1);
    EXPECT_EQ(best.post, AmxMapping::Post::Fused);
    EXPECT_TRUE(best.b_nontemporal);
    EXPECT_EQ(best.c_padding, 64);
    EXPECT_EQ(best.prefetch_b, 4);
}

// Blocks come before A's loads: one that helps only once A goes past the L1 is tried again.
TEST(DefaultChoice, WhatWasSettledBeforeWhatItDependsOnIsTriedAgain) {
    Told times([](const AmxMapping& map) {
        const bool wide = map.m_acc == 1 && map.n_acc == 3;
        return 1000 - (map.a_nontemporal ? 50 : 0) + (wide ? (map.a_nontemporal ? -200 : 200) : 0);
    });
    const AmxMapping best = chosen(kSmall, times).mapping.get<AmxMapping>();
    EXPECT_TRUE(best.a_nontemporal);
    EXPECT_EQ(best.n_acc, 3);
}

TEST(DefaultChoice, NoMappingIsSimulatedTwice) {
    Told times([](const AmxMapping& map) { return 1000.0 - 10 * static_cast<double>(map.n_acc); });
    chosen(kSmall, times);
    for (std::size_t i = 0; i < times.tried.size(); ++i) {
        EXPECT_EQ(std::count(times.tried.begin(), times.tried.end(), times.tried[i]), 1) << i;
    }
}

std::size_t tries(const GemmProblem& problem, std::uint64_t events) {
    Told times([](const AmxMapping&) { return 1000.0; }, events);
    chosen(problem, times);
    return times.tried.size();
}

// 600,000 events are a choice's, a million where one core computes all.
TEST(DefaultChoice, TheMoreARunTakesTheFewerAreTried) {
    EXPECT_EQ(tries(kSmall, 100'000), 6);
    EXPECT_EQ(tries(kSmall, 100'001), 5);
    EXPECT_EQ(tries(kSmall, 900'000), 1);  // the result's own
    const GemmProblem one_block = gemm(16, 256, 16);
    EXPECT_EQ(tries(one_block, 100'000), 10);
    EXPECT_EQ(tries(one_block, 100'001), 9);
}

// Two values each of the first nine keys; the others as long as 300,000 events last.
TEST(DefaultChoice, WhatSeldomHelpsIsTriedWhereRunsAreShort) {
    using Layout = AmxMapping::BLayout;
    const auto layout = [](std::uint64_t events) {
        Told times([](const AmxMapping& map) { return map.b_layout == Layout::Vnni ? 500 : 1000; },
                   events);
        return chosen(kSmall, times).mapping.get<AmxMapping>().b_layout;
    };
    EXPECT_EQ(layout(1'000), Layout::Vnni);
    EXPECT_EQ(layout(40'000), Layout::Packed);
}

TEST(DefaultChoice, WhatTakesTooLongForOneRunIsNotTried) {
    const auto steps = [](const GemmProblem& problem) {
        return steps_of(problem, whole_socket(problem, socket_of(kSocketCores), {}));
    };
    const GemmProblem longest = gemm(2048, 1024, 704);
    const GemmProblem longer = gemm(8192, 1024, 1024);
    EXPECT_LT(steps(longest), 600'000);
    EXPECT_GT(steps(longer), 600'000);
    EXPECT_EQ(tries(longest, 900'000), 1);
    EXPECT_EQ(tries(longer, 900'000), 0);
}

TEST(DefaultChoice, TheChoiceHasTheRunOfItsMapping) {
    Told times([](const AmxMapping& map) { return map.a_nontemporal ? 600.0 : 700.0; });
    const Choice choice = chosen(kSmall, times);
    ASSERT_TRUE(choice.run);
    EXPECT_EQ(choice.run->time_ns, 600);
    Case functional = case_of(kSmall);
    functional.run.functional = true;  // what was simulated has moved no bytes
    EXPECT_FALSE(choose_mapping(amx_dataflow(), functional, times).run);
}

}  // namespace
}  // namespace tilesim::workloads::amx::tiles
