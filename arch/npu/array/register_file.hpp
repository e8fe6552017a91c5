// The array as a driver sees it: 32-bit registers at the addresses of register_map.hpp.
//
// Writes:  locks, descriptors, start queues, a core's run-time parameters and, in functional mode,
//          the words of core memory. Reads: locks, descriptors as written, channel states, core
//          memory. A descriptor takes effect when a task is pushed to a channel of its tile; what
//          that task executes must have been written by then.
// Ignores: switches and core programs, which are the program the array was built with; reset,
//          trace, timers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "arch/npu/array/array.hpp"
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

    // Both throw RegisterFault.
    void write(std::uint64_t address, std::uint32_t value);
    std::uint32_t read(std::uint64_t address);

  private:
    struct Written {
        std::array<std::uint32_t, 8> words{};
        bool changed = false;
    };
    std::int64_t locks_of(program::TileKind kind) const;
    const program::Buffer* buffer_at(program::TileCoordinate tile, std::int64_t address) const;
    std::int64_t lock_of(program::TileCoordinate tile, std::int64_t id) const;
    void push(program::TileCoordinate tile, const control::ChannelRegister& queue,
              std::uint32_t value);
    program::BufferDescriptor decode(program::TileCoordinate tile, std::int64_t id,
                                     const Written& written) const;
    void write_memory(program::TileCoordinate tile, std::int64_t address, std::uint32_t value);
    std::uint32_t read_memory(program::TileCoordinate tile, std::int64_t address);
    std::uint32_t state_of(const program::ChannelId& channel) const;

    const NpuConfig& config_;
    const program::Program& program_;
    Array& array_;
    std::int64_t dram_;
    std::string parameters_;
    std::map<std::pair<program::TileCoordinate, std::int64_t>, Written> descriptors_;
};

}  // namespace tilesim::arch::npu::array
