#include "arch/memory/controller/command_trace.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace tilesim::arch::memory::controller {
namespace {

struct Log : base::ProbeListener {
    void begin(std::string_view component, std::string_view activity,
               base::Femtoseconds now) override {
        events.emplace_back(component, fmt::format("+{}", activity), now.count());
    }
    void end(std::string_view component, std::string_view activity,
             base::Femtoseconds now) override {
        events.emplace_back(component, fmt::format("-{}", activity), now.count());
    }
    std::vector<std::tuple<std::string, std::string, std::int64_t>> events;
};

TEST(CommandTrace, BurstsWithoutAGapAreOneAndTurnaroundsStandBetweenDirections) {
    device::MemoryConfig config;
    config.clock = base::Hertz{1'000'000'000};  // a CK is 1e6 fs
    config.timing.burst = base::Cycles{8};
    config.timing.read_latency = base::Cycles{20};
    config.timing.write_latency = base::Cycles{10};
    config.timing.tRTW = base::Cycles{2};
    config.timing.tRFC = base::Cycles{100};
    Log log;
    CommandTrace trace(config, log);
    trace.on_command(0, device::Command::Activate, 1, 7, 0);
    trace.on_command(0, device::Command::Read, 1, 7, 40);   // data 60..68
    trace.on_command(0, device::Command::Read, 1, 7, 48);   // data 68..76
    trace.on_command(0, device::Command::Write, 1, 7, 70);  // data 80..88: four after the reads
    trace.on_command(0, device::Command::Precharge, 1, device::kNoRow, 150);
    trace.on_command(0, device::Command::Activate, 2, 9, 160);
    trace.on_command(0, device::Command::PrechargeAll, 0, device::kNoRow, 195);
    trace.on_command(0, device::Command::Refresh, 0, device::kNoRow, 200);
    trace.finish();
    constexpr std::int64_t kCk = 1'000'000;
    const decltype(log.events) expected{{"memory.channel(0).bank(1)", "+row_open", 0},
                                        {"memory.channel(0).bus", "+read", 60 * kCk},
                                        {"memory.channel(0).bus", "-read", 76 * kCk},
                                        {"memory.channel(0).bus", "+turnaround", 78 * kCk},
                                        {"memory.channel(0).bus", "-turnaround", 80 * kCk},
                                        {"memory.channel(0).bank(1)", "-row_open", 150 * kCk},
                                        {"memory.channel(0).bank(2)", "+row_open", 160 * kCk},
                                        {"memory.channel(0).bank(2)", "-row_open", 195 * kCk},
                                        {"memory.channel(0).refresh", "+refresh", 200 * kCk},
                                        {"memory.channel(0).refresh", "-refresh", 300 * kCk},
                                        {"memory.channel(0).bus", "+write", 80 * kCk},
                                        {"memory.channel(0).bus", "-write", 88 * kCk}};
    EXPECT_EQ(log.events, expected);
}

}  // namespace
}  // namespace tilesim::arch::memory::controller
