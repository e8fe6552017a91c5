#include "arch/systemc/dram/stream.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::systemc::dram {
namespace {

using memory::traffic::StreamConfig;

// As the command line runs it: the same driver on the same memory.
base::Femtoseconds alone(const StreamConfig& stream) {
    base::EventQueue queue;
    base::stats::Group root("");
    const memory::device::MemoryConfig config;
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
