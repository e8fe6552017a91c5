#include "arch/systemc/amx_socket/amx.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/amx/program/program_text.hpp"
#include "arch/systemc/hierarchy_testing.hpp"
#include "arch/systemc/initiators_testing.hpp"
#include "arch/systemc/protocol_checker_testing.hpp"
#include "arch/systemc/reports_testing.hpp"

namespace tilesim::arch::systemc::amx_socket {
namespace {

std::vector<amx::program::Program> programs() {
    return {amx::program::read_program(
        "config 0 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64\nldtilecfg 0\n"
        "tileloadd tmm0, [0x1000000], 64\ntileloadd tmm1, [0x1002000], 64\n"
        "tdpbssd tmm2, tmm0, tmm1\ntilestored [0x1004000], 64, tmm2\n",
        "test")};
}

std::int64_t cycles_alone() {
    base::EventQueue queue;
    base::stats::Group root("");
    const amx::AmxConfig config;
    const auto what = programs();
    memory::controller::MemorySystem memory({}, amx::socket::Uncore::memory_lookahead(config),
                                            queue, root);
    amx::socket::Socket socket(config, what, {}, memory, queue);
    socket.start();
    while (!socket.finished()) {
        queue.run_until(queue.next_time());
    }
    return socket.finish_cycle();
}

TEST(Amx, TakesAsManyCyclesInAModuleAsWithoutSystemC) {
    TimeLine line("line");
    dram::Dram dram("ddr", line, {});
    Amx amx("amx", dram, {}, programs());
    EXPECT_THAT(error_of([&] { amx.cycles(); }), testing::StartsWith("amx: has not finished"));
    amx.start();
    sc_core::sc_start();
    ASSERT_TRUE(amx.finished());
    EXPECT_EQ(amx.cycles().count(), cycles_alone());
}

TEST(Amx, HasAProgramForEachOfItsCoresAtMostAndOneAtLeast) {
    TimeLine line("line");
    dram::Dram dram("ddr", line, {});
    amx::AmxConfig config;
    config.cores = 2;
    const auto error_with = [&](const char* name, std::size_t count) {
        return error_of([&] {
            const std::vector<amx::program::Program> all(count, programs().front());
            const Amx amx(name, dram, config, all);
        });
    };
    EXPECT_EQ(error_with("none", 0), "none: is given 0 programs, one a core: must be 1..2");
    EXPECT_EQ(error_with("two", 2), "no error");
    EXPECT_EQ(error_with("three", 3), "three: is given 3 programs, one a core: must be 1..2");
}

TEST(Amx, HasItsAddressesInItsMemory) {
    TimeLine line("line");
    dram::Dram dram("ddr", line, {});
    const std::int64_t capacity = dram.memory().config().capacity().count();
    const auto error_at = [&](const char* name, std::int64_t base) {
        return error_of([&] { const Amx amx(name, dram, amx::AmxConfig{}, programs(), base); });
    };
    EXPECT_EQ(error_at("upper", capacity / 2), "no error");
    EXPECT_THAT(error_at("beyond", capacity),
                testing::StartsWith("beyond: the base of its addresses, 1 B at "));
}

TEST(Amx, WithoutAClockIsAnErrorThatNamesIt) {
    TimeLine line("line");
    dram::Dram dram("ddr", line, {});
    amx::AmxConfig stopped, uncore_stopped;
    stopped.clock = uncore_stopped.uncore.clock = base::Hertz{0};
    for (const amx::AmxConfig& config : {stopped, uncore_stopped}) {
        EXPECT_EQ(error_of([&] { const Amx made("made", dram, config, programs()); }),
                  "made: a clock of 0 Hz: must be at least 1");
    }
}

TEST(Amx, MayBeStartedLater) {
    TimeLine line("line");
    dram::Dram dram("ddr", line, {});
    Amx amx("amx", dram, {}, programs());
    sc_core::sc_time ended;
    const Process starter("starter", [&] {
        sc_core::wait(1234, sc_core::SC_NS);
        amx.start();
        sc_core::wait(amx.finished_event());
        ended = sc_core::sc_time_stamp();
    });
    sc_core::sc_start();
    EXPECT_TRUE(amx.finished());
    EXPECT_GT(ended, sc_core::sc_time(1234, sc_core::SC_NS));
    // The memory's clock and the core's stand to each other otherwise than at 0.
    EXPECT_NEAR(static_cast<double>(amx.cycles().count()), static_cast<double>(cycles_alone()), 8);
}

TEST(Amx, AsksAForeignMemoryThroughItsSocket) {
    TimeLine line("line"), other("other");
    dram::Dram dram("ddr", other, {});
    Amx amx("amx", line, {}, programs());
    const CheckedBinding binding(amx.memory->socket, dram.socket);
    amx.start();
    sc_core::sc_start();
    EXPECT_TRUE(amx.finished());
    EXPECT_GE(binding.checker().requests, 32U);  // the lines of two tiles
}

TEST(Amx, WithoutAMemoryIsAnErrorThatNamesIt) {
    TimeLine line("line");
    const Amx amx("amx", line, {}, programs());
    EXPECT_THAT(error_of([] { sc_core::sc_start(); }), testing::HasSubstr("amx.memory.socket"));
}

TEST(Amx, IsTheBlockDiagramOfItsCores) {
    TimeLine line("line");
    dram::Dram dram("ddr", line, {});
    const Amx amx("amx", dram, {}, programs());
    const auto kinds = kinds_by_name();
    for (const char* name :
         {"amx.amx_0", "amx.amx_0.core.l1", "amx.amx_0.core.l2", "amx.amx_0.core.load_unit",
          "amx.amx_0.core.store_buffer", "amx.amx_0.core.tile_registers", "amx.amx_0.core.tmul",
          "amx.uncore.l3"}) {
        EXPECT_TRUE(kinds.contains(name)) << name;
    }
}

}  // namespace
}  // namespace tilesim::arch::systemc::amx_socket
