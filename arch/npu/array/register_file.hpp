// The array as a driver sees it: 32-bit registers at the addresses of register_map.hpp, of either
// generation.
//
// Writes:  descriptors, start queues, resets of channels, a core's run-time parameters and, in
//          functional mode, the words of core memory; second generation: locks; first: whether a
//          channel is enabled, without which its tasks wait. Reads: descriptors and
//          channels' control registers as written, channel states, core memory, locks; first
//          generation: requests that acquire and release locks. A descriptor takes effect when a
//          task starts a channel of its tile; what that task executes must have been written by
//          then.
// Ignores: switches and core programs, which are the program the array was built with; resets of
//          cores, pauses of channels, trace, timers, events.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "arch/npu/array/array.hpp"
#include "arch/npu/control/channel_words.hpp"
#include "arch/npu/control/register_map.hpp"

namespace tilesim::arch::npu::array {

// The driver has written or read what means nothing.
class RegisterFault : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

class RegisterFile {
  public:
    // `dram`: the external buffer of `program` that is all of DRAM, from address 0. `parameters`:
    // buffers of this name hold a core's run-time parameters, a word each.
    RegisterFile(const NpuConfig& config, const program::Program& program, Array& array,
                 std::int64_t dram, std::string parameters);

    // All throw RegisterFault.
    void write(std::uint64_t address, std::uint32_t value);
    std::uint32_t read(std::uint64_t address);
    // What `read` would answer, and no lock changes hands.
    std::uint32_t look(std::uint64_t address);

  private:
    struct Written {
        std::array<std::uint32_t, 8> words{};
        bool changed = false;
    };
    // What a channel's control register and start queue hold.
    struct Gate {
        bool open = true;  // tasks go on to the channel
        bool in_reset = false;
        std::uint32_t control = 0;  // its register, as written
        bool overflowed = false;
        std::deque<program::Task> waiting;
    };
    // A register: its tile, the tile's kind and the offset there. Throws where there is no tile, or
    // none with registers.
    struct Place {
        program::TileCoordinate tile;
        program::TileKind kind;
        std::int64_t offset;
    };
    struct Extent {
        std::int64_t address, bytes;
    };
    Place place_of(std::uint64_t address) const;
    std::uint32_t read(std::uint64_t address, bool look_only);
    const program::Buffer* buffer_at(program::TileCoordinate tile, std::int64_t address) const;
    std::int64_t lock_of(program::TileCoordinate tile, std::int64_t id) const;
    std::uint32_t request(program::TileCoordinate tile, const control::LockRequest& what,
                          bool look_only);
    std::uint32_t lock_states(program::TileCoordinate tile) const;
    Gate& gate(const program::ChannelId& channel);
    void control(const program::ChannelId& channel, std::uint32_t value);
    void push(const program::ChannelId& channel, const program::Task& task);
    void start_waiting(const program::ChannelId& channel);
    void start(const program::ChannelId& channel, const program::Task& task);
    program::BufferDescriptor decode(program::TileCoordinate tile, std::int64_t id,
                                     const Written& written) const;
    void set_buffer(program::TileCoordinate tile, std::int64_t id, Extent extent,
                    std::int64_t& buffer, std::int64_t& offset) const;
    void write_memory(program::TileCoordinate tile, std::int64_t address, std::uint32_t value);
    std::uint32_t read_memory(program::TileCoordinate tile, std::int64_t address);
    control::ChannelStatus status_of(const program::ChannelId& channel) const;

    const NpuConfig& config_;
    const program::Program& program_;
    Array& array_;
    control::Generation generation_;
    std::int64_t dram_;
    std::string parameters_;
    std::map<std::pair<program::TileCoordinate, std::int64_t>, Written> descriptors_;
    std::map<program::ChannelId, Gate> gates_;
};

}  // namespace tilesim::arch::npu::array
