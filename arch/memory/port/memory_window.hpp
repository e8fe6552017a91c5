// One agent's part of a memory that several share: addresses from its own zero, time from its own
// start, and an account of what it asked for and how long that took.
#pragma once

#include <algorithm>
#include <cstdint>

#include "arch/base/slot_pool.hpp"
#include "arch/memory/port/memory_port.hpp"

namespace tilesim::arch::memory::port {

struct WindowCounts {
    std::int64_t reads = 0;
    std::int64_t writes = 0;
    std::int64_t bytes_read = 0;
    std::int64_t bytes_written = 0;
    base::Femtoseconds read_latency{0};  // from arrival to data, all reads added up
    base::Femtoseconds longest_read{0};
};

class WindowListener {
  public:
    // A request arrives at the memory at `arrival`, its address and time the memory's own.
    virtual void on_request(const MemoryRequest& request) = 0;

  protected:
    ~WindowListener() = default;
};

class MemoryWindow final : public MemoryPort, private MemoryClient {
  public:
    // `base`: the memory's address of the agent's 0; `origin`: the memory's time at which the
    // agent's begins.
    MemoryWindow(MemoryPort& memory, std::int64_t base, base::Femtoseconds origin)
        : memory_(memory), base_(base), origin_(origin) {}

    // Nobody wants the answers any more.
    void close() { closed_ = true; }
    // Before the first request.
    void set_origin(base::Femtoseconds origin) { origin_ = origin; }
    void listen(WindowListener* listener) { listener_ = listener; }
    const WindowCounts& counts() const { return counts_; }

    void submit(const MemoryRequest& request) override;
    bool idle() const override { return flights_.in_use() == 0; }
    base::Femtoseconds busy_until() const override { return last_; }
    base::Femtoseconds lookahead() const override { return memory_.lookahead(); }
    base::Hertz clock() const override { return memory_.clock(); }

  private:
    struct Flight {
        MemoryClient* client = nullptr;
        std::uint64_t tag = 0;
        base::Femtoseconds arrival{0};
        bool write = false;
    };
    void on_memory_complete(std::uint64_t tag, base::Femtoseconds when) override;

    MemoryPort& memory_;
    std::int64_t base_;
    base::Femtoseconds origin_;
    WindowListener* listener_ = nullptr;
    base::SlotPool<Flight> flights_;
    WindowCounts counts_;
    base::Femtoseconds last_{0};
    bool closed_ = false;
};

}  // namespace tilesim::arch::memory::port
