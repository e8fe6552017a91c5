// For tests: a fabric of two ports between whoever asks and a memory that always takes as long.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "arch/fabric/fabric.hpp"
#include "arch/memory/controller/memory_system.hpp"
#include "arch/memory/port/stub_memory_testing.hpp"

namespace tilesim::arch::fabric {

using namespace base::literals;

struct Listener final : FabricClient {
    std::vector<std::pair<std::uint64_t, base::Femtoseconds>> done;
    void on_fabric_complete(std::uint64_t tag, base::Femtoseconds now) override {
        done.emplace_back(tag, now);
    }
};

struct Bench {
    base::EventQueue queue;
    base::stats::Group stats{"test"};
    FabricConfig config{.request_latency = 70_ns, .response_latency = 50_ns};
    memory::controller::MemorySystem memory{memory::device::MemoryConfig{}, config.request_latency,
                                            queue, stats};
    Listener listener;

    Fabric fabric{config, 2,    base::Clock{base::Hertz{1'000'000'000}}, base::BytesPerCycle{8},
                  memory, queue};

    base::Femtoseconds time_of_one(std::int64_t bytes, bool write) {
        fabric.submit({0, bytes, write, 0, &listener, 7});
        queue.run_until(1'000'000_ns);
        return listener.done.at(0).second;
    }
};

// A cycle of the ports is a nanosecond; the memory answers after a fixed time.
inline constexpr base::Femtoseconds kRequest = 71_ns;
inline constexpr base::Femtoseconds kMemory = 31_ns;
inline constexpr base::Femtoseconds kResponse = 53_ns;
inline constexpr base::Femtoseconds kWayThere = kRequest + kMemory;
inline constexpr base::Femtoseconds kWay = kWayThere + kResponse;
inline constexpr std::int64_t kWidth = 8;  // bytes a cycle
inline constexpr std::int64_t kBytes = 11 * kWidth;
inline constexpr base::Femtoseconds kCrossing = 11_ns;
inline constexpr std::int64_t kPage = 512;

// A link far wider than the ports, so that it does not hold anything up.
inline constexpr FabricConfig kWide{.request_latency = kRequest,
                                    .response_latency = kResponse,
                                    .link_width = base::BytesPerCycle{1024},
                                    .link_clock = base::Hertz{1'000'000'000'000},
                                    .line = base::Bytes{1024},
                                    .page = base::Bytes{kPage},
                                    .page_walk = 0_ns};
// Lines of 16 B take 4 ns each.
inline constexpr base::Femtoseconds kLine = 4_ns;
inline constexpr std::int64_t kLineBytes = 16;
inline FabricConfig narrow() {
    FabricConfig config = kWide;
    config.link_width = base::BytesPerCycle{4};
    config.link_clock = base::Hertz{1'000'000'000};
    config.line = base::Bytes{kLineBytes};
    return config;
}

struct ExactBench {
    explicit ExactBench(const FabricConfig& config = kWide)
        : fabric(config, 2, base::Clock{base::Hertz{1'000'000'000}}, base::BytesPerCycle{kWidth},
                 memory, queue) {}

    void submit(std::int64_t address, std::int64_t bytes, bool write, std::size_t port) {
        fabric.submit({address, bytes, write, port, &listener, submitted++});
    }
    void read(std::int64_t page, std::size_t port = 0) {
        submit(page * kPage, kBytes, false, port);
    }
    void write(std::int64_t page, std::size_t port = 0) {
        submit(page * kPage, kBytes, true, port);
    }
    // When each request was complete, by order of submission.
    std::vector<base::Femtoseconds> run() {
        queue.run_until(1'000'000_ns);
        std::vector<base::Femtoseconds> times(submitted, base::Femtoseconds{-1});
        for (const auto& [tag, when] : listener.done) {
            times[tag] = when;
        }
        return times;
    }

    base::EventQueue queue;
    memory::port::StubMemory memory{queue, kMemory};
    Listener listener;
    std::uint64_t submitted = 0;
    Fabric fabric;
};

using Times = std::vector<base::Femtoseconds>;

}  // namespace tilesim::arch::fabric
