// Register writes of the run-time sequence (npu.write32, blockwrite, maskwrite32) as what they do:
// descriptors, queue pushes, locks, words of a core's memory.
// Where they lie and what their words say: arch/npu/control/register_map.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::registers {

class Registers {
  public:
    explicit Registers(Lowering& lowering) : lowering_(lowering) {}

    // A 32-bit write. `address`: the array's, tile included. False: nothing here depends on it (a
    // switch, a core's program, a trace unit). Throws ReadError.
    bool write(std::uint64_t address, std::uint32_t value, Location where);
    bool write(std::uint64_t address, std::uint32_t value, std::uint32_t mask, Location where);
    // What a poll of a channel's state for these bits waits for; nothing: it is of something else.
    std::optional<program::WaitIdle> poll(std::uint64_t address, std::uint32_t value,
                                          std::uint32_t mask) const;
    // The descriptor whose address word lies at `address` starts in an argument of the kernel.
    void patch(std::uint64_t address, std::int64_t argument, std::int64_t bytes, Location where);
    // What has been written and not been pushed takes effect.
    void finish();
    // A descriptor stated field by field has taken this id: the words written before are stale.
    void forget(program::TileCoordinate tile, std::int64_t id);

    // A word of a core's data memory. False: it lies in no buffer.
    bool memory_word(program::TileCoordinate tile, std::int64_t address, std::uint32_t value);

  private:
    struct Written {
        std::array<std::uint32_t, 8> words{};
        std::optional<std::int64_t> argument;  // external buffer
        std::int64_t argument_bytes = 0;       // offset into it
        bool changed = false;
        Location where{};
    };
    struct DescriptorWord {
        program::TileCoordinate tile;
        std::int64_t id = 0;
        std::size_t word = 0;
    };
    // Which one lies at this address, if any.
    std::optional<DescriptorWord> descriptor_word(std::uint64_t address) const;
    bool names_controller(std::uint64_t address, std::uint32_t mask) const;
    bool control(std::uint64_t address, std::uint32_t value, std::uint32_t mask);
    bool trace_set_up(program::TileCoordinate tile, std::int64_t offset, std::uint32_t value);
    bool is_empty(program::TileCoordinate tile, const Written& written) const;
    // Descriptors that a task reaches which starts with this one.
    std::set<std::int64_t> chain(program::TileCoordinate tile, std::int64_t first) const;
    void push(const program::ChannelId& channel, std::uint32_t value);
    program::BufferDescriptor decode(program::TileCoordinate tile, std::int64_t id,
                                     const Written& written);
    std::int64_t buffer_of_its_own(program::TileCoordinate tile, std::int64_t id,
                                   const program::BufferDescriptor& descriptor);
    void set_buffer(program::TileCoordinate tile, std::int64_t address,
                    program::BufferDescriptor& descriptor, Location where);
    std::int64_t lock_of(program::TileCoordinate tile, std::int64_t id);

    Lowering& lowering_;
    std::map<std::pair<program::TileCoordinate, std::int64_t>, Written> descriptors_;
    std::set<program::TileCoordinate> cores_in_reset_;
};

}  // namespace tilesim::workloads::npu::mlir::registers
