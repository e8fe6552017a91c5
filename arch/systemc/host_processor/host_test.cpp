#include "arch/systemc/host_processor/host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/systemc/initiators_testing.hpp"
#include "arch/systemc/port/memory_initiator.hpp"
#include "arch/systemc/protocol_checker_testing.hpp"
#include "arch/systemc/reports_testing.hpp"

namespace tilesim::arch::systemc::host_processor {
namespace {

host::MemoryLoopConfig loop() {
    host::MemoryLoopConfig config;
    config.read = base::Bytes{1 << 18};
    config.write = base::Bytes{1 << 17};
    config.cores = 2;
    return config;
}

base::Femtoseconds alone() {
    base::EventQueue queue;
    base::stats::Group root("");
    memory::controller::MemorySystem memory({}, loop().way, queue, root);
    host::MemoryLoop own(loop(), memory, root);
    own.start();
    while (!own.finished()) {
        queue.run_until(queue.next_time());
    }
    return own.finish_time();
}

TEST(Host, TakesAsLongInAModuleAsWithoutSystemC) {
    TimeLine line("line");
    dram::Dram dram("ddr", line, {});
    Host host("host", dram, loop());
    EXPECT_THAT(error_of([&] { host.time(); }), testing::StartsWith("host: has not finished"));
    host.start();
    sc_core::sc_start();
    ASSERT_TRUE(host.finished());
    EXPECT_EQ(host.time(), alone());
    EXPECT_NE(sc_core::sc_find_object("host.core_1"), nullptr);
}

TEST(Host, WithoutAClockIsAnErrorThatNamesIt) {
    TimeLine line("line");
    dram::Dram dram("ddr", line, {});
    host::MemoryLoopConfig stopped = loop();
    stopped.clock = base::Hertz{0};
    EXPECT_EQ(error_of([&] { const Host made("made", dram, stopped); }),
              "made: a clock of 0 Hz: must be at least 1");
}

TEST(Host, IsSlowedByAnother) {
    TimeLine line("line");
    dram::Dram dram("ddr", line, {});
    Host a("a", dram, loop()), b("b", dram, loop(), std::int64_t{1} << 30);
    sc_core::sc_time ended;
    const Process starter("starter", [&] {
        a.start();
        b.start();
        sc_core::wait(a.finished_event());
        ended = sc_core::sc_time_stamp();
    });
    sc_core::sc_start();
    EXPECT_GT(a.time(), alone());
    EXPECT_EQ(std::llround(ended.to_seconds() * 1e15), a.time().count());
    EXPECT_THAT(error_of([&] { a.start(); }), testing::StartsWith("a: is started a second time"));
}

TEST(Host, AsksAForeignMemoryThroughASocket) {
    TimeLine line("line"), other("other");
    dram::Dram dram("ddr", other, {});
    port::MemoryInitiator initiator("initiator", line);
    const CheckedBinding binding(initiator.socket, dram.socket);
    Host host("host", line, initiator, loop());
    host.start();
    sc_core::sc_start();
    EXPECT_TRUE(host.finished());
    // Lines read, lines written, and these fetched before.
    EXPECT_EQ(binding.checker().requests, ((1U << 18) + 2 * (1U << 17)) / 64);
}

}  // namespace
}  // namespace tilesim::arch::systemc::host_processor
