#include "arch/memory/traffic/stream_driver.hpp"

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace tilesim::arch::memory::traffic {
namespace {

using namespace base::literals;

// Keeps what it is asked for. Its period is no whole number of femtoseconds.
class Asked final : public port::MemoryPort {
  public:
    void submit(const port::MemoryRequest& request) override { requests.push_back(request); }
    bool idle() const override { return true; }
    base::Femtoseconds busy_until() const override { return 0_fs; }
    base::Femtoseconds lookahead() const override { return 0_fs; }
    base::Hertz clock() const override { return base::Hertz{2'800'000'000}; }

    std::vector<port::MemoryRequest> requests;
};

// 100 CK; the second answer is that of an agent whose time began 1 fs behind an edge.
TEST(StreamDriver, TheNextRequestComesAWholeLatencyAfterAnAnswerHoweverThatLiesToTheEdges) {
    const base::Clock clock{base::Hertz{2'800'000'000}};
    for (const base::Femtoseconds before_edge : {0_fs, 1_fs}) {
        Asked memory;
        StreamConfig config;
        config.requests = 2;
        config.outstanding = 1;
        StreamDriver driver(config, memory);
        driver.start();
        ASSERT_EQ(memory.requests.size(), 1);
        EXPECT_EQ(memory.requests[0].arrival, clock.time_of(100_cyc));
        driver.on_memory_complete(memory.requests[0].tag, clock.time_of(1000_cyc) - before_edge);
        ASSERT_EQ(memory.requests.size(), 2);
        EXPECT_EQ(memory.requests[1].arrival, clock.time_of(1100_cyc));
    }
}

struct Heard final : port::RequestListener {
    void on_first_request(std::int64_t arrival) override { first.push_back(arrival); }
    void on_next_request(bool was_write, std::int64_t done, std::int64_t arrival) override {
        next.push_back({was_write ? 1 : 0, done, arrival});
    }
    void on_last_answer(bool was_write, std::int64_t done) override {
        last.push_back({was_write ? 1 : 0, done});
    }
    std::vector<std::int64_t> first;
    std::vector<std::vector<std::int64_t>> next;
    std::vector<std::vector<std::int64_t>> last;
};

// A stream begun, heard from the request of a number on.
struct HeardStream {
    HeardStream(std::int64_t requests, std::int64_t outstanding, std::int64_t from)
        : driver(config_of(requests, outstanding), memory) {
        driver.listen(&heard, from);
        driver.start();
    }
    static StreamConfig config_of(std::int64_t requests, std::int64_t outstanding) {
        StreamConfig config;
        config.requests = requests;
        config.outstanding = outstanding;
        return config;
    }
    Asked memory;
    Heard heard;
    StreamDriver driver;
};

TEST(StreamDriver, WhatLetsRequestsComeIsToldFromOneOfThemOn) {
    const base::Clock clock{base::Hertz{2'800'000'000}};
    using Next = std::vector<std::vector<std::int64_t>>;
    for (const auto& [from, first, next] :
         {std::tuple{0, 100, Next{{0, 1000, 1100}, {0, 2000, 2100}}},
          {1, 1100, {{0, 2000, 2100}}},
          {2, 2100, {}}}) {
        HeardStream stream(3, 1, from);
        const auto& requests = stream.memory.requests;
        stream.driver.on_memory_complete(requests[0].tag, clock.time_of(1000_cyc));
        stream.driver.on_memory_complete(requests[1].tag, clock.time_of(2000_cyc));
        EXPECT_EQ(stream.heard.first, std::vector<std::int64_t>{first});
        EXPECT_EQ(stream.heard.next, next);
    }
}

TEST(StreamDriver, TheLastAnswerIsTold) {
    const base::Clock clock{base::Hertz{2'800'000'000}};
    HeardStream stream(2, 2, 0);
    const auto& requests = stream.memory.requests;
    stream.driver.on_memory_complete(requests[1].tag, clock.time_of(1000_cyc));
    EXPECT_TRUE(stream.heard.last.empty());
    stream.driver.on_memory_complete(requests[0].tag, clock.time_of(2000_cyc));
    EXPECT_EQ(stream.heard.last, (std::vector<std::vector<std::int64_t>>{{0, 2000}}));
}

// Of several that come first all are heard of.
TEST(StreamDriver, ThoseThatComeWithTheFirstToldOfAreToldOfWithIt) {
    EXPECT_EQ(HeardStream(8, 4, 3).heard.first, std::vector<std::int64_t>{100});
}

}  // namespace
}  // namespace tilesim::arch::memory::traffic
