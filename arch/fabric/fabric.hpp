// What lies between an agent (a shim tile, a cache) and memory: ports with a data width, a link all
// agents share, address translation, latency both ways, and back-pressure from the memory
// controllers' queues.
//
// Models:  one read and one write data port per agent port, each busy for bytes / width cycles of
//          the agent's clock; requests sent in aligned pieces, a fixed interval each unless the
//          fabric may join them (AXI: modifiable); a shared link each way (shared_link.hpp), and
//          behind it whole blocks of memory (shared_blocks.hpp);
//          page walks (page_translation.hpp); constant latency each way, but writes are posted:
//          nobody waits for their answers; requests a memory controller has no room for wait
//          before it in order of arrival, all agents in one line.
// Ignores: the topology inside the fabric; quality-of-service classes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/base/clock.hpp"
#include "arch/base/event_queue.hpp"
#include "arch/base/occupancy.hpp"
#include "arch/base/probe.hpp"
#include "arch/base/ring.hpp"
#include "arch/base/slot_pool.hpp"
#include "arch/base/units.hpp"
#include "arch/fabric/fabric_config.hpp"
#include "arch/fabric/page_translation.hpp"
#include "arch/fabric/shared_blocks.hpp"
#include "arch/fabric/shared_link.hpp"
#include "arch/memory/port/memory_port.hpp"

namespace tilesim::arch::fabric {

class FabricClient {
  public:
    // Reads: the last byte has crossed the port. Writes: the memory has taken the data.
    virtual void on_fabric_complete(std::uint64_t tag, base::Femtoseconds now) = 0;

  protected:
    ~FabricClient() = default;
};

struct FabricRequest {
    std::int64_t address = 0;
    std::int64_t bytes = 0;
    bool write = false;
    std::size_t port = 0;
    FabricClient* client = nullptr;
    std::uint64_t tag = 0;
    bool modifiable = false;  // may be joined with its neighbours: takes no interval
};

class Fabric final : public base::EventHandler, public memory::port::MemoryClient {
  public:
    Fabric(const FabricConfig& config, std::size_t ports, base::Clock port_clock,
           base::BytesPerCycle port_width, memory::port::MemoryPort& memory,
           base::EventQueue& queue);

    // Activities from now on: "fabric.port(2).reads" under_way while any of the port's reads is
    // with the memory, "fabric.port(2).waiting" waiting while one of them waits for its turn, the
    // link, a block or its page's address.
    void connect(base::ProbeListener* listener);
    // Takes the request now; agents bound their own outstanding requests.
    void submit(const FabricRequest& request) {
        const std::uint64_t slot = requests_.take();
        // Inlined, it is built there: copying one that has just been built would wait for that.
        requests_[slot] = request;
        begin(slot);
    }

    using Use = base::Occupancy<base::Femtoseconds>;
    // Of the parts of the way that which could be done last: a data port, a port's turns, the link,
    // the blocks behind it, or the page walker.
    Use busiest() const;

    // Keys of its configuration that cannot have mattered so far ("fabric.page_walk").
    std::vector<std::string> not_exercised() const;

    void on_event(std::uint64_t tag, base::Femtoseconds now) override;  // a write has been taken
    void on_memory_complete(std::uint64_t tag, base::Femtoseconds when) override;

  private:
    struct Answer {  // of the memory, to a read
        std::uint64_t slot = 0;
        base::Femtoseconds arrival{0};  // at the port
    };
    // An agent's port; its events are the ends of its read transfers, and arrivals while none goes.
    struct Port final : base::EventHandler {
        void on_event(std::uint64_t tag, base::Femtoseconds now) override;

        bool has_read() const { return read_free > base::Cycles{0}; }

        Fabric* fabric = nullptr;
        base::Ring<Answer> answers{};  // not yet crossing, in order of arrival
        bool crossing = false;
        base::Cycles read_free{0};  // first cycle its read data port is free
        base::Cycles write_free{0};
        base::Femtoseconds read_turn{0};  // earliest, of the next request
        base::Femtoseconds write_turn{0};
        std::optional<base::Femtoseconds> first{};
        base::Cycles reads_busy{0};  // its data ports
        base::Cycles writes_busy{0};
        base::Femtoseconds read_turns{0};  // all that its requests have taken
        base::Femtoseconds write_turns{0};
        // While a trace is written: reads under way, those that wait, and until when each does.
        std::int64_t under_way = 0;
        std::int64_t waiting = 0;
        base::Ring<base::Femtoseconds> departures{};
        std::string reads_lane{}, waiting_lane{};
    };
    // Its events are the turns of requests that had to wait for them: they meet the others on the
    // link in order of time.
    struct Turns final : base::EventHandler {
        void on_event(std::uint64_t slot, base::Femtoseconds now) override;

        Fabric* fabric = nullptr;
    };
    static constexpr std::uint64_t kArrival = UINT64_MAX;  // tag of a port's event

    void begin(std::uint64_t slot);
    void send(std::uint64_t slot, base::Femtoseconds from);
    void expect(Port& port, Answer answer);
    void cross(Port& port);
    void finish(std::uint64_t slot, base::Femtoseconds now);
    // Tells the trace of so many more reads of a port under way and waiting.
    void note(Port& port, std::int64_t under_way, std::int64_t waiting, base::Femtoseconds now);
    void note_begin(Port& port, base::Femtoseconds goes);
    // Tells it of those that have left, in order of time and without events of their own: a run
    // that is traced is the run that is not.
    void note_departures(Port& port, base::Femtoseconds now);
    // Pieces of a request, each of which takes its port an interval.
    std::int64_t chops(const FabricRequest& request) const;
    // Occupies `free` for the transfer, which `busy` counts, and returns the time of its end.
    base::Femtoseconds occupy(base::Cycles& free, base::Cycles& busy, std::int64_t bytes,
                              base::Femtoseconds from);

    FabricConfig config_;
    base::Clock clock_;
    base::BytesPerCycle width_;
    memory::port::MemoryPort& memory_;
    base::EventQueue& queue_;
    SharedLink reads_, writes_;
    SharedBlocks read_blocks_, written_blocks_;
    PageTranslation pages_;
    std::vector<Port> ports_;
    int chop_bits_;                           // of an address within its chop
    base::SlotPool<FabricRequest> requests_;  // under way
    base::Probe probe_;
    Turns turns_;
    bool has_waited_for_turn_ = false;
};

}  // namespace tilesim::arch::fabric
