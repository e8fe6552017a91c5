// For tests of streams: sources and receivers that note what happens, and a flow between them.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "arch/npu/bench_testing.hpp"
#include "arch/npu/stream/stream_flow.hpp"

namespace tilesim::arch::npu::stream::testing {

using namespace base::literals;
using base::Cycles;

inline constexpr Cycles kLatency{7};
inline constexpr std::int64_t kCapacity = 5;
inline constexpr std::int64_t kArbiterCapacity = 3;  // of these, behind the last arbiter
// A receiver that starts again finds kCapacity words; the next ones are kLatency away.
inline constexpr Cycles kRestartGap{7 - 5};

struct Source final : StreamSourceClient {
    std::vector<Cycles> sent;
    std::uint32_t next_word = 0;
    std::vector<std::pair<std::int64_t, Cycles>> pieces;  // words, and when the last has left
    void on_stream_pushed(std::int64_t count, std::int64_t words, Cycles end) override {
        for (std::int64_t i = 0; i < count; ++i) {
            pieces.emplace_back(words, end + Cycles{i * words});
        }
    }
    void on_stream_sent(Cycles now) override { sent.push_back(now); }
    CriticalPath* critical_path() override { return &path; }
    CriticalPath path;
    void read_words(std::span<std::uint32_t> into) override {
        for (std::uint32_t& word : into) {
            word = next_word++;
        }
    }
};

struct Receiver final : StreamSinkClient {
    explicit Receiver(CycleScheduler& scheduler) : sink(scheduler, *this) {}
    StreamSink sink;
    std::vector<Cycles> received;
    std::vector<std::uint32_t> words;
    std::vector<std::optional<std::int64_t>> packets;
    std::vector<std::pair<std::int64_t, Cycles>> runs;  // words, and from when on
    CriticalPath path;
    CriticalPath* critical_path() override { return &path; }
    void on_words_taken(std::int64_t count, Cycles start) override {
        runs.emplace_back(count, start);
    }
    void on_packet(std::optional<std::int64_t> descriptor) override {
        packets.push_back(descriptor);
    }
    void on_stream_received(Cycles now) override {
        received.push_back(now);
        sink.take_words([this](std::span<const std::uint32_t> taken) {
            words.insert(words.end(), taken.begin(), taken.end());
        });
    }
};

using Bench = TestBench;

inline std::unique_ptr<StreamFlow> flow_to(Bench& bench, Source& source, std::vector<Receiver*> to,
                                           std::vector<StreamArbiter*> arbiters = {},
                                           std::optional<std::uint32_t> header = {}) {
    std::vector<StreamFlow::Branch> branches;
    for (Receiver* receiver : to) {
        branches.push_back({&receiver->sink, kLatency, kCapacity, kArbiterCapacity});
    }
    return std::make_unique<StreamFlow>("flow", bench.scheduler, source, branches,
                                        std::move(arbiters), header, false, true);
}

}  // namespace tilesim::arch::npu::stream::testing
