#include "arch/systemc/dram/stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/base/temporary_folder_testing.hpp"
#include "arch/systemc/reports_testing.hpp"
#include "arch/systemc/vcd_testing.hpp"

namespace tilesim::arch::systemc::dram {
namespace {

using memory::traffic::StreamConfig;
using testing::HasSubstr;

// As the command line runs it: the same driver on the same memory.
base::Femtoseconds alone(const StreamConfig& stream,
                         const memory::device::MemoryConfig& config = {}) {
    base::EventQueue queue;
    base::stats::Group root("");
    memory::controller::MemorySystem memory(config, memory::traffic::StreamDriver::latency(config),
                                            queue, root);
    memory::traffic::StreamDriver driver(stream, memory);
    driver.start();
    while (!driver.finished()) {
        queue.run_until(queue.next_time());
    }
    return driver.result().time;
}

// A stream of reads ends with its last answer.
StreamConfig random_stream() {
    StreamConfig stream;
    stream.pattern = StreamConfig::Pattern::Random;
    stream.requests = 3000;
    stream.outstanding = 64;
    return stream;
}

TEST(Stream, TakesAsLongInAModuleAsWithoutSystemC) {
    TimeLine line("line");
    Dram dram("ddr", line, {});
    Stream stream("stream", dram, random_stream());
    stream.start();
    sc_core::sc_start();
    ASSERT_TRUE(stream.finished());
    EXPECT_EQ(stream.result().requests, 3000);
    EXPECT_EQ(stream.result().time, alone(random_stream()));
}

TEST(Stream, HasNoResultBeforeItHasFinished) {
    TimeLine line("line");
    Dram dram("ddr", line, {});
    Stream stream("stream", dram, random_stream());
    EXPECT_THAT(error_of([&] { stream.result(); }), HasSubstr("stream: has not finished"));
    stream.start();
    sc_core::sc_start(1, sc_core::SC_NS);
    EXPECT_THAT(error_of([&] { stream.result(); }), HasSubstr("stream: has not finished"));
}

TEST(Stream, NeedsARequestAndRoomForIt) {
    TimeLine line("line");
    Dram dram("ddr", line, {});
    StreamConfig none = random_stream(), blocked = random_stream();
    none.requests = 0;
    blocked.outstanding = 0;
    for (const StreamConfig& config : {none, blocked}) {
        EXPECT_THAT(error_of([&] { Stream("stream", dram, config); }),
                    HasSubstr("stream: must have 1 request or more"));
    }
}

TEST(Stream, LiesInItsMemory) {
    TimeLine line("line");
    Dram dram("ddr", line, {});
    StreamConfig config = random_stream();
    config.range = base::Bytes{1 << 20};
    const std::int64_t capacity = dram.memory().config().capacity().count();
    const auto error_at = [&](const char* name, std::int64_t base) {
        return error_of([&] { const Stream stream(name, dram, config, base); });
    };
    EXPECT_EQ(error_at("last", capacity - (1 << 20)), "no error");
    EXPECT_THAT(error_at("beyond", capacity - (1 << 20) + 64),
                HasSubstr("beyond: its range, 1048576 B at "));
    EXPECT_THAT(error_at("before", -64), HasSubstr("lies outside the memory's "));
}

std::int64_t time_not_zero(const Vcd::Changes& changes) {
    std::int64_t sum = 0;
    for (std::size_t i = 1; i < changes.size(); ++i) {
        sum += changes[i - 1].second != 0 ? changes[i].first - changes[i - 1].first : 0;
    }
    return sum;
}

// A waveform tells what the statistics count: every ACT, every burst with its length.
TEST(Stream, LeavesItsRowsAndBurstsInTheWaveform) {
    const base::TemporaryFolder folder;
    const std::string file = (folder.path() / "waves").string();
    memory::device::MemoryConfig config;
    config.refresh = false;
    std::int64_t activates = 0;
    {
        TimeLine line("line");
        Dram dram("ddr", line, config);
        Stream stream("stream", dram, random_stream());
        sc_core::sc_trace_file* trace = sc_core::sc_create_vcd_trace_file(file.c_str());
        trace->set_time_unit(1, sc_core::SC_FS);
        dram.trace(trace);
        stream.start();
        sc_core::sc_start();
        sc_core::sc_start(1, sc_core::SC_NS);  // SystemC writes what changed last when time goes on
        sc_core::sc_close_vcd_trace_file(trace);
        EXPECT_EQ(stream.result().time, alone(random_stream(), config));
        for (const auto& channel : dram.memory().bank_use().channels) {
            for (const memory::port::BankCounts& bank : channel) {
                activates += bank.activates;
            }
        }
    }
    const Vcd vcd(file + ".vcd");
    EXPECT_EQ(vcd.timescale(), "1 fs");
    std::int64_t opened = 0;
    std::int64_t busy = 0;
    for (const std::string& name : vcd.names()) {
        const Vcd::Changes& changes = vcd.of(name);
        if (name.ends_with(".bus.activity")) {
            busy += time_not_zero(changes);
            EXPECT_EQ(changes.back().second, 0U) << name << " at " << changes.back().first;
        } else if (name.find(".bank_") != std::string::npos) {
            for (const auto& [when, value] : changes) {
                opened += value != 0 ? 1 : 0;
            }
        }
    }
    EXPECT_EQ(opened, activates);
    const std::int64_t bursts = random_stream().requests;
    const auto burst = base::Clock{config.clock}.time_of(config.timing.burst).count();
    EXPECT_NEAR(static_cast<double>(busy), static_cast<double>(bursts * burst),
                static_cast<double>(2 * bursts));  // each edge is rounded to a femtosecond
}

TEST(Stream, SlowsAnotherDown) {
    TimeLine line("line");
    Dram dram("ddr", line, {});
    Stream a("a", dram, random_stream());
    Stream b("b", dram, random_stream(), std::int64_t{1} << 31);
    a.start();
    b.start();
    sc_core::sc_start();
    EXPECT_GT(a.result().time.count(), alone(random_stream()).count() * 12 / 10);
}

}  // namespace
}  // namespace tilesim::arch::systemc::dram
