// The shared part of a socket: mesh, L3 and DRAM, behind every core's L2.
//
// The L3 takes what the L2s evict. A miss of an L2 looks the line up after `lookup`; a hit answers
// `answer` later, a miss asks DRAM first; a line another core has written comes from there. Lines
// enter a core no faster than `port_width`. Times are of the uncore's clock. A core whose misses
// ascend through a page has the lines behind them fetched from DRAM into the L3.
//
// Ignores: the topology of the mesh (every slice is equally far), snoop filters, NUMA.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "arch/amx/core/core.hpp"
#include "arch/base/clock.hpp"
#include "arch/base/event_queue.hpp"
#include "arch/base/slot_pool.hpp"
#include "arch/memory/port/memory_port.hpp"

namespace tilesim::arch::amx::socket {

struct UncoreCounters {
    std::int64_t requests = 0;
    std::int64_t l3_hits = 0;
    std::int64_t from_cores = 0;
    std::int64_t memory_reads = 0;
    std::int64_t prefetches = 0;  // of them, into the L3
    std::int64_t memory_writes = 0;
};

class Uncore final : public base::EventHandler, public memory::port::MemoryClient {
  public:
    Uncore(const AmxConfig& config, memory::port::MemoryPort& memory,
           base::EventQueue& queue, std::vector<core::Core*> cores);

    // A core may run ahead of the others by as much as no answer can come sooner.
    base::Femtoseconds lookahead() const;
    // How long before its arrival at the controllers a request is known.
    static base::Femtoseconds memory_lookahead(const AmxConfig& config);
    const UncoreCounters& counters() const { return counters_; }
    // Nothing is on its way.
    bool idle() const { return flights_.in_use() == 0; }

    // Takes what the cores have put into their outboxes.
    void collect();
    void warm(caches::Line line);

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;
    void on_memory_complete(std::uint64_t tag, base::Femtoseconds when) override;

  private:
    struct Flight {
        caches::UncoreRequest request;
        std::size_t core = 0;
        bool memory_write = false;
        bool prefetch = false;  // for the L3, not for a core
        bool answered = false;  // by DRAM
    };
    base::Femtoseconds cycles(base::Cycles count) const { return uncore_.time_of(count); }
    std::uint64_t take_flight(const caches::UncoreRequest& request, std::size_t core);
    void look_up(std::uint64_t tag, base::Femtoseconds now);
    bool take_from_core(const Flight& flight);
    void answer(std::uint64_t tag, base::Femtoseconds at);
    void ask_memory(std::uint64_t tag, base::Femtoseconds now);
    void prefetch(std::size_t core, caches::Line line, base::Femtoseconds now);
    bool held_by_a_core(caches::Line line) const;
    void prefetched(std::uint64_t tag, base::Femtoseconds when);
    void write_back(caches::Line line, base::Femtoseconds now);
    void install(caches::Line line, bool dirty, base::Femtoseconds now);

    AmxConfig config_;
    memory::port::MemoryPort& memory_;
    base::EventQueue& queue_;
    base::Clock core_clock_;
    base::Clock uncore_;
    std::vector<core::Core*> cores_;
    caches::Cache l3_;
    base::SlotPool<Flight> flights_;
    std::vector<base::Femtoseconds> port_free_;  // of each core
    std::vector<caches::StreamTable> streams_;   // of each core
    // Lines on their way into the L3, and the flights that wait for each.
    std::unordered_map<caches::Line, std::vector<std::uint64_t>> coming_;
    UncoreCounters counters_;
};

}  // namespace tilesim::arch::amx::socket
