#include "workloads/npu/object_fifo.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tilesim::workloads::npu {

using namespace arch::npu;

std::string DescriptorIds::lack(std::string_view tile) const {
    const std::int64_t needed = std::max(even_, odd_);
    const std::int64_t most = halves_ ? half_ : all_;
    return needed <= most ? ""
                          : fmt::format("{} needs {} descriptors{}, it has {}", tile, needed,
                                        halves_ ? " for its even or its odd channels" : "", most);
}

program::BufferDescriptor shaped(std::int64_t length, std::vector<program::Dimension> dimensions) {
    program::BufferDescriptor descriptor;
    descriptor.length = length;
    descriptor.dimensions = std::move(dimensions);
    return descriptor;
}

std::vector<RingEntry> Fifo::filling() const {
    std::vector<RingEntry> entries;
    for (const std::int64_t buffer : buffers) {
        entries.push_back({buffer, locks.take_free(), locks.give_full()});
    }
    return entries;
}

std::vector<RingEntry> Fifo::emptying() const {
    std::vector<RingEntry> entries;
    for (const std::int64_t buffer : buffers) {
        entries.push_back({buffer, locks.take_full(), locks.give_free()});
    }
    return entries;
}

std::vector<RingEntry> in_turn(const std::vector<std::vector<RingEntry>>& fifos) {
    std::vector<RingEntry> entries;
    for (std::size_t i = 0; !fifos.empty() && i < fifos.front().size(); ++i) {
        for (const std::vector<RingEntry>& fifo : fifos) {
            entries.push_back(fifo[i]);
        }
    }
    return entries;
}

std::int64_t TileRings::add_descriptors(std::int64_t channel,
                                        const program::BufferDescriptor& shape,
                                        const std::vector<RingEntry>& entries) {
    const std::int64_t first = ids_.take(channel, std::ssize(entries));
    std::int64_t id = first;
    for (const RingEntry& entry : entries) {
        program::BufferDescriptor descriptor = shape;
        descriptor.id = id++;
        descriptor.buffer = entry.buffer;
        descriptor.offset = entry.offset;
        descriptor.acquire = entry.acquire;
        descriptor.release = entry.release;
        descriptor.packet = entry.packet;
        dma_.descriptors.push_back(std::move(descriptor));
    }
    return first;
}

void TileRings::add_ring(program::Direction direction, std::int64_t channel,
                         const program::BufferDescriptor& shape,
                         const std::vector<RingEntry>& entries) {
    const std::int64_t count = std::ssize(entries);
    const std::int64_t first = add_descriptors(channel, shape, entries);
    for (auto descriptor = dma_.descriptors.end() - count; descriptor != dma_.descriptors.end();
         ++descriptor) {
        descriptor->next = first + (descriptor->id - first + 1) % count;
    }
    dma_.starts.push_back({direction, channel, {first, 1, false}});
}

std::int64_t add_lock(program::Program& program, const std::string& name,
                      program::TileCoordinate tile, std::int64_t initial) {
    const std::int64_t id =
        std::count_if(program.locks.begin(), program.locks.end(),
                      [tile](const program::Lock& lock) { return lock.tile == tile; });
    program.locks.push_back({name, tile, id, initial});
    return std::ssize(program.locks) - 1;
}

FifoLocks add_fifo_locks(program::Program& program, const std::string& name,
                         program::TileCoordinate tile, std::int64_t free) {
    return {add_lock(program, name + "_free", tile, free),
            add_lock(program, name + "_full", tile, 0)};
}

std::vector<std::int64_t> add_buffers(program::Program& program, const std::string& name,
                                      const std::vector<BufferPlace>& places, std::int64_t bytes) {
    std::vector<std::int64_t> indexes;
    for (const auto& [tile, address] : places) {
        program.buffers.push_back(
            {fmt::format("{}_{}", name, indexes.size()), tile, address, bytes});
        indexes.push_back(std::ssize(program.buffers) - 1);
    }
    return indexes;
}

Fifo add_fifo(program::Program& program, const std::string& name,
              const std::vector<BufferPlace>& places, std::int64_t bytes) {
    return {add_buffers(program, name, places, bytes),
            add_fifo_locks(program, name, places.at(0).tile, std::ssize(places))};
}

std::vector<BufferPlace> places_at(program::TileCoordinate tile,
                                   std::span<const std::int64_t> addresses) {
    std::vector<BufferPlace> places;
    for (const std::int64_t address : addresses) {
        places.push_back({tile, address});
    }
    return places;
}

}  // namespace tilesim::workloads::npu
