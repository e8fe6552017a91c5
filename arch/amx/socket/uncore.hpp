// The shared part of a socket: mesh, L3, snoop filter and DRAM, behind every core's L2.
//
// A miss of an L2 looks the line up after `lookup`; a hit of the L3 is answered `answer` later, a
// line another core has comes from there, `from_core` later still, all else from DRAM. Lines enter
// a core no faster than `port_width`. Times are nanoseconds: the core's clock is not theirs. Lines
// that want the same slice or link of the mesh at the same time wait for each other (`mesh.hpp`).
//
// The L3 takes what the L2s evict: dirty lines, and clean ones that it or another core has given
// since they came from DRAM. Other clean lines go only into empty ways where they displace nobody
// (`clean_displaces`), the first time they came in part (`clean_percent`), and are the next of
// their set to go, as lines fetched into the L3 alone are (Gaur et al., Bypass and insertion
// algorithms for exclusive last-level caches, ISCA 2011). A core that takes a line nobody else has
// takes it out of the L3. A written line goes over to the first core that reads it; the second
// reader leaves it in the L3, for all.
//
// A core that stands for others (`in_step.hpp`) asks for their lines too, at the same time. It goes
// by the answers to its own; what is taken from the caches of one that is not simulated is not
// missed there.
//
// Ignores: how far a slice is (all are equally), lines the snoop filter would take from cores for
// want of room, NUMA.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "arch/amx/core/core.hpp"
#include "arch/amx/socket/in_step.hpp"
#include "arch/amx/socket/mesh.hpp"
#include "arch/amx/socket/snoop_filter.hpp"
#include "arch/base/clock.hpp"
#include "arch/base/event_queue.hpp"
#include "arch/base/slot_pool.hpp"
#include "arch/memory/port/memory_port.hpp"

namespace tilesim::arch::amx::socket {

struct UncoreCounters {
    std::int64_t requests = 0;
    std::int64_t l3_hits = 0;
    std::int64_t from_cores = 0;
    std::int64_t kept_waiting = 0;  // of both, behind others of their slice or a link
    std::int64_t memory_reads = 0;
    std::int64_t memory_answers = 0;  // of them, whose line has come
    std::int64_t prefetches = 0;      // of them, into the L3
    std::int64_t memory_writes = 0;
    std::int64_t unused_victims = 0;  // clean lines not used before
};

class Uncore final : public base::EventHandler, public memory::port::MemoryClient {
  public:
    // `members`: whom the cores stand for; empty: each for itself.
    Uncore(const AmxConfig& config, memory::port::MemoryPort& memory, base::EventQueue& queue,
           std::vector<core::Core*> cores, std::vector<Member> members = {});

    // A core may run ahead of the others by as much as no answer can come sooner.
    base::Femtoseconds lookahead() const;
    // How long before its arrival at the controllers a request is known.
    static base::Femtoseconds memory_lookahead(const AmxConfig& config);
    const UncoreCounters& counters() const { return counters_; }
    const caches::Cache& l3() const { return l3_; }
    const Mesh& mesh() const { return mesh_; }
    const SnoopFilter& snoop_filter() const { return filter_; }
    // Nothing is on its way.
    bool idle() const { return flights_.in_use() == 0; }

    // Takes what the cores have put into their outboxes.
    void collect();
    void warm(caches::Line line, bool dirty = false);
    // The line lies in the member's caches before the run starts.
    void warm_core(std::size_t member, caches::Line line);
    // A line of the core's before the run starts, and those of all it stands for.
    void warm_victim(std::size_t core, caches::Line line, bool dirty);
    // The line is in the L3 no longer.
    void flush(caches::Line line);

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;
    void on_memory_complete(std::uint64_t tag, base::Femtoseconds when) override;

  private:
    static constexpr std::uint64_t kNobody = UINT64_MAX;  // no flight's number
    struct Flight {
        caches::UncoreRequest request;
        std::size_t member = 0;
        bool memory_write = false;
        bool answered = false;         // by DRAM
        std::uint64_t next = kNobody;  // who waits behind it for the same line
    };
    struct Waiting {  // flights, in the order in which they came
        std::uint64_t first = kNobody;
        std::uint64_t last = kNobody;
    };
    // The host may fetch what looking the line up will need.
    void expect(caches::Line line) const {
        l3_.expect(line);
        filter_.expect(line);
    }
    std::uint64_t take_flight(const caches::UncoreRequest& request, std::size_t member);
    caches::Line line_of(std::size_t member, caches::Line home) const;
    caches::Line home_of(std::size_t member, caches::Line line) const;
    core::Core& core_of(std::size_t member) const { return *cores_[members_[member].core]; }
    void look_up_all(std::uint64_t tag, base::Femtoseconds now);
    void look_up(std::uint64_t tag, base::Femtoseconds now);
    void locate(const Flight& flight, caches::Level level);
    void take_victim(const Flight& flight, base::Femtoseconds now);
    bool takes_unused(caches::Line line, bool again);
    void hand_out(std::uint64_t tag, base::Femtoseconds now);
    bool hit_l3(const Flight& flight, SnoopFilter::Entry& entry);
    bool from_core(std::uint64_t tag, SnoopFilter::Entry& entry, base::Femtoseconds now);
    void take_from_others(std::size_t member, caches::Line line, const SnoopFilter::Entry& entry);
    void from_memory(std::uint64_t tag, base::Femtoseconds now);
    void add(Waiting& waiting, std::uint64_t tag);
    void prefetch(std::uint64_t tag, base::Femtoseconds now);
    void arrived(std::uint64_t tag, base::Femtoseconds when);
    void answer(std::uint64_t tag, base::Femtoseconds at, bool dirty);
    void ask_memory(std::uint64_t tag, base::Femtoseconds now);
    void write_back(caches::Line line, base::Femtoseconds now);
    static void note_fetch(SnoopFilter::Entry& entry);
    void install(caches::Line line, bool dirty, base::Femtoseconds now);
    void install_unused(caches::Line line, base::Femtoseconds now);
    void drop(const caches::Cache::Victim& victim, base::Femtoseconds now);
    base::Femtoseconds from_slice(const Flight& flight, base::Femtoseconds now);

    AmxConfig config_;
    memory::port::MemoryPort& memory_;
    base::EventQueue& queue_;
    base::Clock core_clock_;
    base::Clock uncore_;
    std::vector<core::Core*> cores_;
    std::vector<Member> members_;
    std::vector<std::vector<std::size_t>> stands_for_;  // members of each core, itself first
    caches::Cache l3_;
    Mesh mesh_;
    SnoopFilter filter_;
    base::SlotPool<Flight> flights_;
    std::vector<caches::Line> expected_;         // of requests looked up until the next `collect`
    std::vector<std::uint64_t> in_step_;         // flights of one look-up, while it lasts
    std::vector<base::Femtoseconds> port_free_;  // of each core
    // Lines on their way from DRAM, and who waits for each behind the first that asked.
    std::unordered_map<caches::Line, Waiting> coming_;
    std::int64_t unused_ = 0;  // hundredths of clean lines owed to the L3
    UncoreCounters counters_;
};

}  // namespace tilesim::arch::amx::socket
