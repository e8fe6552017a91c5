// An uncore, its memory and cores that are driven by hand: for tests of the uncore.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "arch/amx/program/program_text.hpp"
#include "arch/amx/socket/uncore.hpp"
#include "arch/memory/controller/memory_system.hpp"

namespace tilesim::arch::amx::socket {

using caches::Level;
using caches::Line;

inline constexpr std::int64_t kNanosecond = 1'000'000;  // femtoseconds

// A nanosecond is two cycles of a core and one of the uncore; otherwise pairwise different primes.
inline AmxConfig sample() {
    AmxConfig config;
    config.clock = base::Hertz{2'000'000'000};
    config.uncore.clock = base::Hertz{1'000'000'000};
    config.uncore.lookup = base::Femtoseconds{7 * kNanosecond};
    config.uncore.answer = base::Femtoseconds{11 * kNanosecond};
    config.uncore.to_memory = base::Femtoseconds{5 * kNanosecond};
    config.uncore.from_core = base::Femtoseconds{13 * kNanosecond};
    config.uncore.port_width = base::BytesPerCycle{16};
    config.uncore.link_width = base::BytesPerCycle{64};  // of slices too: a line a cycle
    config.uncore.l3 = {base::Bytes{1 << 20}, 16};
    config.uncore.snoop_filter = 1 << 16;
    config.caches.fill_width = base::BytesPerCycle{64};  // a line a cycle: no wait behind the port
    return config;
}
inline constexpr std::int64_t kAsked = 3;  // core cycle of requests
inline constexpr std::int64_t kHit =
    kAsked + 2 * 7 + 2 * 11;  // core cycle in which an L3 hit arrives
inline constexpr std::int64_t kLookedUp = kAsked + 2 * 7;

inline memory::device::MemoryConfig dram() {
    memory::device::MemoryConfig config;
    config.refresh = false;
    return config;
}

// Cores whose programs do not run: their caches ask, by hand.
struct Bench {
    explicit Bench(const AmxConfig& given = sample(), std::size_t count = 2,
                   std::vector<Member> members = {})
        : config(given), memory(dram(), Uncore::memory_lookahead(config), queue, root) {
        std::vector<core::Core*> pointers;
        for (std::size_t i = 0; i < count; ++i) {
            cores.push_back(std::make_unique<core::Core>(config, program));
            pointers.push_back(cores.back().get());
        }
        uncore.emplace(config, memory, queue, pointers, std::move(members));
    }
    caches::PrivateCaches& caches(std::size_t core) { return cores[core]->caches(); }
    void load(std::size_t core, Line line, std::int64_t cycle = kAsked) {
        caches(core).load(line, cycle, static_cast<std::uint32_t>(line), true);
        uncore->collect();
    }
    void own(std::size_t core, Line line) {
        caches(core).own(line, kAsked);
        uncore->collect();
    }
    // A core says this of the line, unasked.
    void say(std::size_t core, caches::UncoreRequest::Kind kind, Line line) {
        caches(core).outbox().push_back({kind, line, kAsked});
        uncore->collect();
        settle();
    }
    // Until nothing is under way.
    void settle() {
        while (!queue.empty()) {
            queue.run_until(queue.next_time());
        }
        EXPECT_TRUE(uncore->idle());
    }
    // The cycles in which lines arrive at a core, once everything is settled.
    std::vector<std::int64_t> arrivals(std::size_t core) {
        settle();
        std::vector<std::int64_t> cycles;
        std::vector<caches::PrivateCaches::Arrival> here;
        for (std::int64_t at = caches(core).next_event(0); at != caches::kUnknownCycle;
             at = caches(core).next_event(at)) {
            here.clear();
            caches(core).advance(at, here);
            cycles.insert(cycles.end(), here.size(), at);
        }
        uncore->collect();  // what had to leave the L2
        settle();
        return cycles;
    }
    const UncoreCounters& counters() const { return uncore->counters(); }

    AmxConfig config;
    program::Program program = program::read_program("scalar\n", "test");
    base::EventQueue queue;
    base::stats::Group root{""};
    memory::controller::MemorySystem memory;
    std::vector<std::unique_ptr<core::Core>> cores;
    std::optional<Uncore> uncore;
};

using Cycles = std::vector<std::int64_t>;

// The first line of a slice from `line` on.
inline Line line_in(const Bench& bench, std::size_t slice, Line line) {
    while (bench.uncore->mesh().slice_of(line) != slice) {
        ++line;
    }
    return line;
}

// An L2 of one line.
inline AmxConfig small_l2() {
    AmxConfig config = sample();
    config.caches.l2 = {base::Bytes{caches::kLineBytes}, 1};
    return config;
}

// A line takes 8 ns of a link or a slice, twice what it takes of a core's port.
inline AmxConfig narrow_links() {
    AmxConfig config = sample();
    config.uncore.link_width = base::BytesPerCycle{8};
    return config;
}
inline constexpr std::int64_t kOnALink = 2 * 8;  // core cycles

// A line that several cores have and the L3 too.
inline void share(Bench& bench, Line line) {
    bench.uncore->warm(line);
    for (const std::size_t core : {0U, 1U}) {
        bench.uncore->warm_core(core, line);
    }
}

}  // namespace tilesim::arch::amx::socket
