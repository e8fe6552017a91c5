#include "workloads/amx/tiles/default_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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
    explicit Told(std::function<double(const AmxMapping&)> time_ns)
        : time_ns_(std::move(time_ns)) {}

    RunEnd run(const Case&, const Plan&, RunResult&) override { return RunEnd::Finished; }
    RunResult run(const Case& part) override {
        tried.push_back(part.mapping.get<AmxMapping>());
        RunResult result;
        result.time_ns = time_ns_(tried.back());
        return result;
    }

    std::vector<AmxMapping> tried;

  private:
    std::function<double(const AmxMapping&)> time_ns_;
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

// 400 000 steps are a choice's: the longer a run, the fewer, and none of one alone.
TEST(DefaultChoice, TheMoreARunTakesTheFewerAreTried) {
    const auto tries = [](std::int64_t m) {
        Told times([](const AmxMapping&) { return 1000.0; });
        const GemmProblem problem = gemm(m, 512, 512);
        chosen(problem, times);
        const double steps = steps_of(problem, whole_socket(problem, socket_of(kSocketCores)));
        return std::pair{static_cast<double>(times.tried.size()), 400'000 / steps};
    };
    const auto [some, most] = tries(512);
    EXPECT_EQ(some, std::floor(most));
    EXPECT_GT(some, 2);
    const auto [none, one] = tries(8192);
    EXPECT_LT(one, 2);
    EXPECT_EQ(none, 0);
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
