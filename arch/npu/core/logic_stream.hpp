// A memory of the programmable logic as a core's stream sees it: its passes, byte after byte.
//
// Models:  the order of the bytes, and their rate where the stream has one.
// Ignores: the way from the logic's clock to the array's; the core reads from the port's FIFO.
#pragma once

#include <cstdint>
#include <span>

#include "arch/base/units.hpp"
#include "arch/memory/port/backing_store.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::core {

class LogicStreamPlayer {
  public:
    LogicStreamPlayer(const program::Program& program, const program::LogicStream& stream)
        : stream_(stream),
          base_(program.external_buffers[static_cast<std::size_t>(stream.buffer)].address) {}

    // Cycles `bytes` take to arrive at the stream's rate; 0 without one.
    base::Cycles time_of(std::int64_t bytes) const;
    // Plays the next `bytes`; into `into`, in functional mode, when `store` is given. Throws
    // ProgramFault when the stream has ended before.
    void play(std::int64_t bytes, const memory::port::BackingStore* store,
              std::span<std::byte> into, base::Cycles now);

  private:
    const program::LogicStream& stream_;
    std::int64_t base_;
    std::size_t pass_ = 0;
    std::int64_t run_ = 0;       // of the pass
    std::int64_t position_ = 0;  // bytes into the run
};

}  // namespace tilesim::arch::npu::core
