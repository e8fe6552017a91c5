// What an agent sees of a memory, whichever it is: reads and writes of contiguous bytes, answered
// when they are done.
#pragma once

#include <cstdint>

#include "arch/base/units.hpp"

namespace tilesim::arch::memory::port {

class MemoryClient {
  public:
    // The request that was submitted with `tag` is complete at `when`: a read's last data have
    // arrived, a write has been taken over. This is called as soon as that is known: `when` may lie
    // in the future, and answers come in no order of time.
    virtual void on_memory_complete(std::uint64_t tag, base::Femtoseconds when) = 0;

  protected:
    ~MemoryClient() = default;
};

struct MemoryRequest {
    std::int64_t address = 0;  // bytes
    std::int64_t bytes = 0;    // > 0, any alignment; partial bursts cost whole ones
    bool write = false;
    MemoryClient* client = nullptr;
    std::uint64_t tag = 0;
    // When it reaches the memory: its lookahead from now, or later.
    base::Femtoseconds arrival{0};
};

class MemoryPort {
  public:
    // Takes every request: clients bound what they have under way.
    virtual void submit(const MemoryRequest& request) = 0;
    // No request queued or in flight.
    virtual bool idle() const = 0;
    // When the last data so far leave the memory's pins.
    virtual base::Femtoseconds busy_until() const = 0;
    // How long before its arrival every request has to be submitted.
    virtual base::Femtoseconds lookahead() const = 0;
    virtual base::Hertz clock() const = 0;

  protected:
    ~MemoryPort() = default;
};

}  // namespace tilesim::arch::memory::port
