// Somebody who takes a whole DRAM channel for a while: processing in memory.
#pragma once

#include <cstdint>
#include <optional>

namespace tilesim::arch::memory::controller {

class ChannelGuest {
  public:
    // The channel is his from CK `now`, all banks closed and quiet. Issues commands until banks
    // that closed then would be quiet after CK `until`, the next refresh, which may wait for the
    // last of them; returns the CK at which all are closed and quiet again.
    virtual std::int64_t run(std::int64_t now, std::int64_t until) = 0;
    // He has no more to do for now.
    virtual bool finished() const = 0;
    // He has left the channel at CK `now`; returns from when on he wants it again, if he does.
    virtual std::optional<std::int64_t> on_left(std::int64_t now) = 0;

  protected:
    ~ChannelGuest() = default;
};

}  // namespace tilesim::arch::memory::controller
