#include "arch/host/memory_loop.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <vector>

namespace tilesim::arch::host {
namespace {

using namespace base::literals;

// A memory that answers each request 70 ns after its arrival, in their order.
struct FixedMemory final : memory::port::MemoryPort {
    static constexpr base::Femtoseconds kLatency = 70_ns;
    std::vector<memory::port::MemoryRequest> all;
    std::deque<memory::port::MemoryRequest> waiting;
    bool backwards = false;  // the last that waits is answered first

    void submit(const memory::port::MemoryRequest& request) override {
        all.push_back(request);
        waiting.push_back(request);
    }
    bool idle() const override { return waiting.empty(); }
    base::Femtoseconds busy_until() const override { return 0_ns; }
    base::Femtoseconds lookahead() const override { return 0_ns; }
    base::Hertz clock() const override { return base::Hertz{1'000'000'000}; }
    void answer_all() {
        while (!waiting.empty()) {
            if (backwards) {
                std::rotate(waiting.begin(), waiting.end() - 1, waiting.end());
            }
            const memory::port::MemoryRequest request = waiting.front();
            waiting.pop_front();
            request.client->on_memory_complete(request.tag, request.arrival + kLatency);
        }
    }
};

MemoryLoopConfig loop() {
    MemoryLoopConfig config;
    config.read = base::Bytes{13 * 64};
    config.cores = 1;
    config.fills = 3;
    config.way = 11_ns;
    return config;
}

base::Femtoseconds time_of(const MemoryLoopConfig& config, FixedMemory& memory) {
    base::stats::Group root("");
    MemoryLoop loop(config, memory, root);
    loop.start();
    memory.answer_all();
    EXPECT_TRUE(loop.finished());
    return loop.finish_time();
}

// 13 lines, three at a time: five rounds of the way there and the answer.
TEST(MemoryLoop, IsBoundByTheFillsUnderWay) {
    FixedMemory memory;
    EXPECT_EQ(time_of(loop(), memory), 5 * (11_ns + 70_ns));
    EXPECT_EQ(memory.all.size(), 13U);
    EXPECT_EQ(memory.all[12].address, 12 * 64);
}

TEST(MemoryLoop, HasAShareOfTheLinesForEachCore) {
    FixedMemory memory;
    MemoryLoopConfig two = loop();
    two.cores = 2;  // six and seven lines: three rounds
    EXPECT_EQ(time_of(two, memory), 3 * (11_ns + 70_ns));
}

// 13 x 4 / 5 is 10: the fourth core has lines 7 to 9.
TEST(MemoryLoop, EveryLineIsOneCores) {
    FixedMemory memory;
    MemoryLoopConfig five = loop();
    five.cores = 5;
    time_of(five, memory);
    std::vector<std::int64_t> lines;
    for (const auto& request : memory.all) {
        lines.push_back(request.address / 64);
    }
    std::ranges::sort(lines);
    ASSERT_EQ(lines.size(), 13U);
    for (std::int64_t line = 0; line < 13; ++line) {
        EXPECT_EQ(lines[static_cast<std::size_t>(line)], line);
    }
}

// With one fill under way nothing overlaps: a line that is computed makes room for the next one.
TEST(MemoryLoop, AFillLeavesWhenALineIsDoneWith) {
    FixedMemory memory;
    MemoryLoopConfig slow = loop();
    slow.fills = 1;
    slow.operations = 13 * 200;
    slow.operations_per_cycle = 5;
    slow.streaming_permille = 50;
    base::stats::Group root("");
    MemoryLoop loop(slow, memory, root);
    loop.start();
    memory.answer_all();
    EXPECT_EQ(loop.finish_time(), 13 * (11_ns + 70_ns + 200_ns));
    const base::stats::StateAccount& time = *root.children().at(0)->accounts().at(0);
    const auto spent = [&time](LoopState state) {
        return base::Femtoseconds{time.spent(static_cast<std::size_t>(state))};
    };
    EXPECT_EQ(spent(LoopState::WaitingForMemory), 13 * (11_ns + 70_ns));
    EXPECT_EQ(spent(LoopState::Computing), 13 * 200_ns);
}

// 13 lines of 200 ns each: 2600 operations at 4 GHz x 5 x 0.05 a second are 1 ns each.
TEST(MemoryLoop, OverlapsArithmeticWithTheFillsOfLaterLines) {
    FixedMemory memory;
    MemoryLoopConfig slow = loop();
    slow.operations = 13 * 200;
    slow.operations_per_cycle = 5;
    slow.streaming_permille = 50;
    EXPECT_EQ(time_of(slow, memory), 11_ns + 70_ns + 13 * 200_ns);
}

// A line that is written comes first and goes back: two requests, and the loop ends with the last
// write.
TEST(MemoryLoop, FetchesWhatItWritesAndWritesItBack) {
    FixedMemory memory;
    MemoryLoopConfig both = loop();
    both.read = base::Bytes{2 * 64};
    both.write = base::Bytes{64};
    EXPECT_EQ(time_of(both, memory), 2 * (11_ns + 70_ns));
    ASSERT_EQ(memory.all.size(), 4U);
    EXPECT_EQ(memory.all[2].address, 2 * 64);
    EXPECT_FALSE(memory.all[2].write);
    EXPECT_EQ(memory.all[3].address, 2 * 64);
    EXPECT_TRUE(memory.all[3].write);
}

// Two that are read and two that are written, which lie behind them.
TEST(MemoryLoop, ReadsAndWritesTakeTurns) {
    FixedMemory memory;
    MemoryLoopConfig both = loop();
    both.read = both.write = base::Bytes{2 * 64};
    both.fills = 4;
    time_of(both, memory);
    ASSERT_EQ(memory.all.size(), 6U);
    const std::vector<std::int64_t> lines{0, 2, 1, 3, 2, 3};
    for (std::size_t i = 0; i < lines.size(); ++i) {
        EXPECT_EQ(memory.all[i].address, lines[i] * 64);
        EXPECT_EQ(memory.all[i].write, i >= 4);
    }
}

// The first of three under way is answered last: all of them are done with then.
TEST(MemoryLoop, LinesThatCameAheadOfTheirTurnAreDoneWithTheOneBeforeThem) {
    FixedMemory memory;
    memory.backwards = true;
    EXPECT_EQ(time_of(loop(), memory), 5 * (11_ns + 70_ns));
    EXPECT_EQ(memory.all.size(), 13U);
}

}  // namespace
}  // namespace tilesim::arch::host
