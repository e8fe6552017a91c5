#include "arch/memory/port/memory_window.hpp"

#include <gtest/gtest.h>

#include "arch/memory/port/stub_memory_testing.hpp"

namespace tilesim::arch::memory::port {
namespace {

using namespace base::literals;

struct Client final : MemoryClient {
    std::uint64_t tag = 0;
    base::Femtoseconds when{0};
    void on_memory_complete(std::uint64_t t, base::Femtoseconds w) override {
        tag = t;
        when = w;
    }
};

TEST(MemoryWindow, ShiftsAddressesThereAndTimesBothWays) {
    base::EventQueue queue;
    StubMemory memory(queue, 17_ns);
    MemoryWindow window(memory, 4096, 100_ns);
    Client client;
    window.submit({64, 32, false, &client, 7, 5_ns});
    EXPECT_FALSE(window.idle());
    queue.run_until(base::kNever);
    ASSERT_EQ(memory.reads.size(), 1U);
    EXPECT_EQ(memory.reads[0].address, 4160);
    EXPECT_EQ(memory.reads[0].arrival, 105_ns);
    EXPECT_EQ(client.tag, 7U);
    EXPECT_EQ(client.when, 22_ns);
    EXPECT_TRUE(window.idle());
    EXPECT_EQ(window.busy_until(), 22_ns);
}

TEST(MemoryWindow, CountsWhatPassesAndHowLongReadsTake) {
    base::EventQueue queue;
    StubMemory memory(queue, 17_ns);
    MemoryWindow window(memory, 0, 0_fs);
    Client client;
    window.submit({0, 32, false, &client, 0, 5_ns});
    window.submit({0, 64, false, &client, 0, 5_ns});
    window.submit({0, 128, true, &client, 0, 5_ns});
    queue.run_until(base::kNever);
    EXPECT_EQ(window.counts().reads, 2);
    EXPECT_EQ(window.counts().bytes_read, 96);
    EXPECT_EQ(window.counts().writes, 1);
    EXPECT_EQ(window.counts().bytes_written, 128);
    EXPECT_EQ(window.counts().read_latency, 34_ns);
    EXPECT_EQ(window.counts().longest_read, 17_ns);
}

}  // namespace
}  // namespace tilesim::arch::memory::port
