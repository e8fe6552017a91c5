#include "arch/npu/array/register_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "arch/npu/program/descriptor_chain.hpp"

namespace tilesim::arch::npu::array {

using control::ChannelRegister;
using control::RegisterAddress;
using program::TileCoordinate;
using program::TileKind;

namespace {

std::string text_of(TileCoordinate tile) {
    return fmt::format("tile {},{}", tile.column, tile.row);
}

}  // namespace

RegisterFile::RegisterFile(const NpuConfig& config, const program::Program& program, Array& array,
                           std::int64_t dram, std::string parameters)
    : config_(config),
      program_(program),
      array_(array),
      dram_(dram),
      parameters_(std::move(parameters)) {}

std::int64_t RegisterFile::locks_of(TileKind kind) const {
    return kind == TileKind::Core     ? config_.core.locks
           : kind == TileKind::Memory ? config_.memory_tile.locks
                                      : config_.shim.locks;
}

void RegisterFile::write(std::uint64_t address, std::uint32_t value) {
    const RegisterAddress at = control::split(address);
    if (config_.lock_kind == LockKind::Binary || !config_.contains(at.tile)) {
        throw RegisterFault(config_.contains(at.tile)
                                ? "this generation's registers are not modelled"
                                : fmt::format("address {:#x} lies outside the array", address));
    }
    const TileKind kind = config_.kind_of(at.tile);
    const DmaConfig& dma = config_.dma_of(kind);
    if (const auto word = control::descriptor_word(kind, dma.descriptors, at.offset)) {
        Written& written = descriptors_[{at.tile, word->id}];
        written.words[word->word] = value;
        written.changed = true;
    } else if (const auto queue = control::queue_register(kind, dma.channels, at.offset)) {
        if (queue->queue) {
            push(at.tile, *queue, value);
        }
    } else if (const auto lock = control::lock_register(kind, locks_of(kind), at.offset)) {
        array_.set_lock({lock_of(at.tile, *lock), value & control::kLockBits});
    } else if (kind == TileKind::Core && at.offset < control::kCoreMemory) {
        write_memory(at.tile, at.offset, value);
    } else {
        throw RegisterFault(
            fmt::format("no register is modelled at {:#x} of {}", at.offset, text_of(at.tile)));
    }
}

std::uint32_t RegisterFile::read(std::uint64_t address) {
    const RegisterAddress at = control::split(address);
    if (!config_.contains(at.tile)) {
        throw RegisterFault(fmt::format("address {:#x} lies outside the array", address));
    }
    const TileKind kind = config_.kind_of(at.tile);
    const DmaConfig& dma = config_.dma_of(kind);
    if (const auto word = control::descriptor_word(kind, dma.descriptors, at.offset)) {
        const auto written = descriptors_.find({at.tile, word->id});
        return written == descriptors_.end() ? 0 : written->second.words[word->word];
    }
    if (const auto channel = control::state_register(kind, dma.channels, at.offset)) {
        return state_of({at.tile, channel->direction, channel->channel});
    }
    if (const auto lock = control::lock_register(kind, locks_of(kind), at.offset)) {
        return static_cast<std::uint32_t>(array_.locks().value(lock_of(at.tile, *lock)));
    }
    if (kind == TileKind::Core && at.offset < control::kCoreMemory) {
        return read_memory(at.tile, at.offset);
    }
    throw RegisterFault(
        fmt::format("no register is modelled at {:#x} of {}", at.offset, text_of(at.tile)));
}

std::uint32_t RegisterFile::state_of(const program::ChannelId& id) const {
    const dma::DmaChannel* channel = array_.find_channel(id);
    return channel == nullptr
               ? 0
               : control::encode_state(!channel->idle(),
                                       channel->state() == dma::ChannelState::WaitingForLock,
                                       channel->dropped_pushes() > 0, channel->queued());
}

void RegisterFile::push(TileCoordinate tile, const ChannelRegister& queue, std::uint32_t value) {
    const program::ChannelId channel{tile, queue.direction, queue.channel};
    if (array_.find_channel(channel) == nullptr) {
        throw RegisterFault(fmt::format("{} of {} is in none of the program's routes",
                                        name_of(channel), text_of(tile)));
    }
    for (auto& [key, written] : descriptors_) {
        if (key.first == tile && written.changed) {
            array_.write_descriptor({tile, decode(tile, key.second, written)});
            written.changed = false;
        }
    }
    const program::Task task = control::decode_task(config_.kind_of(tile), value);
    const auto chain = program::chain_from(
        task.descriptor, [&](std::int64_t id) { return array_.find_descriptor(tile, id); });
    if (chain.missing) {
        throw RegisterFault(
            fmt::format("a task for {} of {} {} descriptor {}, which nobody has "
                        "written",
                        name_of(channel), text_of(tile),
                        chain.descriptors.empty() ? "starts" : "leads to", *chain.missing));
    }
    array_.push_task({channel, task});
}

program::BufferDescriptor RegisterFile::decode(TileCoordinate tile, std::int64_t id,
                                               const Written& written) const {
    const TileKind kind = config_.kind_of(tile);
    control::RegisterDescriptor decoded = control::decode_descriptor(kind, id, written.words);
    program::BufferDescriptor& descriptor = decoded.descriptor;
    if (kind == TileKind::Shim) {
        descriptor.buffer = dram_;
        descriptor.offset = decoded.address;
    } else {
        // West neighbour, own, east neighbour, one window each; plain addresses mean the own.
        TileCoordinate at = tile;
        if (kind == TileKind::Memory && decoded.address >= control::kMemoryTileWindow) {
            at.column += decoded.address / control::kMemoryTileWindow - 1;
            decoded.address %= control::kMemoryTileWindow;
        }
        const program::Buffer* buffer = buffer_at(at, decoded.address);
        if (buffer == nullptr) {
            throw RegisterFault(
                fmt::format("descriptor {} of {}: none of the program's buffers "
                            "lies at {:#x}",
                            id, text_of(tile), decoded.address));
        }
        descriptor.buffer = buffer - program_.buffers.data();
        descriptor.offset = decoded.address - buffer->address;
    }
    for (auto* action : {&descriptor.acquire, &descriptor.release}) {
        if (*action) {
            (*action)->lock = lock_of(tile, (*action)->lock);
        }
    }
    return descriptor;
}

const program::Buffer* RegisterFile::buffer_at(TileCoordinate tile, std::int64_t address) const {
    const auto found =
        std::find_if(program_.buffers.begin(), program_.buffers.end(), [&](const auto& buffer) {
            return buffer.tile == tile && buffer.address <= address &&
                   address < buffer.address + buffer.bytes;
        });
    return found == program_.buffers.end() ? nullptr : &*found;
}

std::int64_t RegisterFile::lock_of(TileCoordinate tile, std::int64_t id) const {
    TileCoordinate at = tile;
    if (config_.kind_of(tile) == TileKind::Memory && id >= control::kMemoryTileLocks) {
        at.column += id / control::kMemoryTileLocks - 1;
        id %= control::kMemoryTileLocks;
    }
    const auto found =
        std::find_if(program_.locks.begin(), program_.locks.end(),
                     [&](const auto& lock) { return lock.tile == at && lock.id == id; });
    if (found == program_.locks.end()) {
        throw RegisterFault(fmt::format("the program has no lock {} in {}", id, text_of(at)));
    }
    return found - program_.locks.begin();
}

void RegisterFile::write_memory(TileCoordinate tile, std::int64_t address, std::uint32_t value) {
    const program::Buffer* buffer = buffer_at(tile, address);
    if (buffer == nullptr) {
        throw RegisterFault(fmt::format("none of the program's buffers lies at {:#x} of {}",
                                        address, text_of(tile)));
    }
    const std::int64_t into = address - buffer->address;
    if (buffer->name == parameters_) {
        array_.write_parameter(
            {tile, into / kWordBytes, static_cast<std::int32_t>(value)});
    }
    if (array_.memory() != nullptr) {
        std::memcpy(array_.memory()->buffer(buffer - program_.buffers.data()).data() + into, &value,
                    sizeof value);
    }
}

std::uint32_t RegisterFile::read_memory(TileCoordinate tile, std::int64_t address) {
    const program::Buffer* buffer = buffer_at(tile, address);
    std::uint32_t value = 0;
    if (buffer != nullptr && array_.memory() != nullptr) {
        std::memcpy(&value,
                    array_.memory()->buffer(buffer - program_.buffers.data()).data() +
                        (address - buffer->address),
                    sizeof value);
    }
    return value;
}

}  // namespace tilesim::arch::npu::array
