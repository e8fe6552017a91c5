#include "arch/npu/array/register_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "arch/npu/control/descriptor_words.hpp"
#include "arch/npu/program/descriptor_chain.hpp"
#include "arch/npu/program/program_work.hpp"

namespace tilesim::arch::npu::array {

using control::ChannelRegister;
using control::Generation;
using control::RegisterAddress;
using program::ChannelId;
using program::TileCoordinate;
using program::TileKind;

namespace {

std::string text_of(TileCoordinate tile) {
    return fmt::format("tile {},{}", tile.column, tile.row);
}

RegisterFault no_register(TileCoordinate tile, std::int64_t offset) {
    return RegisterFault(
        fmt::format("no register is modelled at {:#x} of {}", offset, text_of(tile)));
}

// The driver's requests are granted at once or not at all: they never wait.
class DriverRequest final : public tile::LockClient {
  public:
    void on_lock_granted(base::Cycles) override {}
};

}  // namespace

RegisterFile::RegisterFile(const NpuConfig& config, const program::Program& program, Array& array,
                           std::int64_t dram, std::string parameters)
    : config_(config),
      program_(program),
      array_(array),
      generation_(control::generation_of(config)),
      dram_(dram),
      parameters_(std::move(parameters)) {
    // What the program starts is enabled when it is loaded.
    for (const program::TileDma& dma : program.dmas) {
        for (const program::TileDma::Start& start : dma.starts) {
            Gate& gate_of = gate({dma.tile, start.direction, start.channel});
            gate_of.open = true;
            const int enable =
                control::register_map_of(config.kind_of(dma.tile), generation_).enable;
            gate_of.control = enable < 0 ? 0 : 1U << enable;
        }
    }
}

RegisterFile::Place RegisterFile::place_of(std::uint64_t address) const {
    const RegisterAddress at = control::split(address, generation_);
    if (!config_.contains(at.tile)) {
        throw RegisterFault(fmt::format("address {:#x} lies outside the array", address));
    }
    const TileKind kind = config_.kind_of(at.tile);
    if (kind == TileKind::Shim && !config_.has_shim_dma(at.tile.column)) {
        throw RegisterFault(fmt::format("the shim {} has no DMA and no locks", text_of(at.tile)));
    }
    return {at.tile, kind, at.offset};
}

void RegisterFile::write(std::uint64_t address, std::uint32_t value) {
    const auto [tile, kind, offset] = place_of(address);
    const DmaConfig& dma = config_.dma_of(kind);
    if (const auto word = control::descriptor_word(kind, dma.descriptors, offset, generation_)) {
        Written& written = descriptors_[{tile, word->id}];
        written.words[word->word] = value;
        written.changed = true;
    } else if (const auto queue =
                   control::queue_register(kind, dma.channels, offset, generation_)) {
        const ChannelId channel{tile, queue->direction, queue->channel};
        if (queue->queue) {
            push(channel, control::decode_task(kind, value, generation_));
        } else {
            control(channel, value);
        }
    } else if (const auto lock =
                   control::lock_register(kind, config_.locks_of(kind), offset, generation_)) {
        array_.set_lock({lock_of(tile, *lock), value & control::kLockBits});
    } else if (kind == TileKind::Core && offset < config_.core.memory.count()) {
        write_memory(tile, offset, value);
    } else {
        throw no_register(tile, offset);
    }
}

std::uint32_t RegisterFile::read(std::uint64_t address) {
    return read(address, false);
}

std::uint32_t RegisterFile::look(std::uint64_t address) {
    return read(address, true);
}

std::uint32_t RegisterFile::read(std::uint64_t address, bool look_only) {
    const auto [tile, kind, offset] = place_of(address);
    const DmaConfig& dma = config_.dma_of(kind);
    if (const auto word = control::descriptor_word(kind, dma.descriptors, offset, generation_)) {
        const auto written = descriptors_.find({tile, word->id});
        return written == descriptors_.end() ? 0 : written->second.words[word->word];
    }
    if (const auto states = control::state_register(kind, dma.channels, offset, generation_)) {
        std::uint32_t word = 0;
        for (std::int64_t i = states->first; i < states->first + states->channels; ++i) {
            word |= control::encode_state(kind, i, status_of({tile, states->direction, i}),
                                          generation_);
        }
        return word;
    }
    if (const auto queue = control::queue_register(kind, dma.channels, offset, generation_);
        queue && !queue->queue) {
        const auto found = gates_.find({tile, queue->direction, queue->channel});
        return found == gates_.end() ? 0 : found->second.control;
    }
    if (const auto lock =
            control::lock_register(kind, config_.locks_of(kind), offset, generation_)) {
        return static_cast<std::uint32_t>(array_.locks().value(lock_of(tile, *lock)));
    }
    if (const auto what =
            control::lock_request(kind, config_.locks_of(kind), offset, generation_)) {
        return request(tile, *what, look_only);
    }
    if (offset == control::register_map_of(kind, generation_).lock_states) {
        return lock_states(tile);
    }
    if (kind == TileKind::Core && offset < config_.core.memory.count()) {
        return read_memory(tile, offset);
    }
    throw no_register(tile, offset);
}

// 1 where it has been done. A lock can always be released.
std::uint32_t RegisterFile::request(TileCoordinate tile, const control::LockRequest& what,
                                    bool look_only) {
    const std::int64_t lock = lock_of(tile, what.lock);
    const program::LockAction action{lock, what.value.value_or(array_.locks().value(lock))};
    if (!what.acquire) {
        if (!look_only) {
            array_.set_lock({lock, action.value});
        }
        return 1;
    }
    if (!array_.locks().available(action)) {
        return 0;
    }
    if (!look_only) {
        DriverRequest driver;
        array_.acquire_lock(action, driver);
    }
    return 1;
}

std::uint32_t RegisterFile::lock_states(TileCoordinate tile) const {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < program_.locks.size(); ++i) {
        const auto lock = static_cast<std::int64_t>(i);
        if (program_.locks[i].tile == tile) {
            word |= control::encode_lock(program_.locks[i].id, array_.locks().value(lock),
                                         array_.locks().held(lock));
        }
    }
    return word;
}

control::ChannelStatus RegisterFile::status_of(const ChannelId& id) const {
    control::ChannelStatus status;
    if (const dma::DmaChannel* channel = array_.find_channel(id)) {
        status.running = !channel->idle();
        status.starting = channel->state() == dma::ChannelState::Fetching;
        status.waits_for_lock = channel->state() == dma::ChannelState::WaitingForLock;
        status.overflowed = channel->dropped_pushes() > 0;
        status.queued = channel->queued();
        status.descriptor = channel->descriptor() == nullptr ? 0 : channel->descriptor()->id;
    }
    if (const auto found = gates_.find(id); found != gates_.end()) {
        status.overflowed |= found->second.overflowed;
        status.queued += static_cast<std::int64_t>(found->second.waiting.size());
    }
    return status;
}

RegisterFile::Gate& RegisterFile::gate(const ChannelId& channel) {
    const TileKind kind = config_.kind_of(channel.tile);
    const bool enabled = control::register_map_of(kind, generation_).enable < 0;
    return gates_.try_emplace(channel, Gate{enabled, false, false, 0, {}}).first->second;
}

void RegisterFile::control(const ChannelId& channel, std::uint32_t value) {
    const control::RegisterMap& map =
        control::register_map_of(config_.kind_of(channel.tile), generation_);
    if ((value & map.pauses) != 0) {
        throw RegisterFault(fmt::format("{} of {}: pauses are not modelled", name_of(channel),
                                        text_of(channel.tile)));
    }
    Gate& gate_of = gate(channel);
    const auto set = [value](int bit) { return bit >= 0 && (value >> bit & 1U) != 0; };
    if (set(map.reset) && !gate_of.in_reset) {
        gate_of.waiting.clear();
        if (array_.find_channel(channel) != nullptr) {
            array_.reset_channel({channel});
        }
    }
    gate_of.in_reset = set(map.reset);
    gate_of.open = map.enable < 0 || set(map.enable);
    gate_of.control = value;
    start_waiting(channel);
}

void RegisterFile::push(const ChannelId& channel, const program::Task& task) {
    if (array_.find_channel(channel) == nullptr) {
        throw RegisterFault(fmt::format("{} of {} is in none of the program's routes",
                                        name_of(channel), text_of(channel.tile)));
    }
    Gate& gate_of = gate(channel);
    const std::int64_t depth = config_.dma_of(config_.kind_of(channel.tile)).task_queue_depth;
    const bool waits = !gate_of.open || gate_of.in_reset;
    const std::int64_t queued =
        array_.find_channel(channel)->queued() + static_cast<std::int64_t>(gate_of.waiting.size());
    if (waits && queued >= depth) {
        gate_of.overflowed = true;
        return;
    }
    gate_of.waiting.push_back(task);
    start_waiting(channel);
}

void RegisterFile::start_waiting(const ChannelId& channel) {
    Gate& gate_of = gate(channel);
    while (gate_of.open && !gate_of.in_reset && !gate_of.waiting.empty()) {
        const program::Task task = gate_of.waiting.front();
        gate_of.waiting.pop_front();
        start(channel, task);
    }
}

void RegisterFile::start(const ChannelId& channel, const program::Task& task) {
    const TileCoordinate tile = channel.tile;
    const TileKind kind = config_.kind_of(tile);
    for (auto& [key, written] : descriptors_) {
        if (key.first == tile && written.changed &&
            control::valid_descriptor(kind, written.words, generation_)) {
            array_.write_descriptor({tile, decode(tile, key.second, written)});
            written.changed = false;
        }
    }
    // One that is written, but not as valid, is none.
    const auto find = [&](std::int64_t id) {
        const auto written = descriptors_.find({tile, id});
        const bool invalid = written != descriptors_.end() && written->second.changed;
        return invalid ? nullptr : array_.find_descriptor(tile, id);
    };
    const auto chain = program::chain_from(task.descriptor, find);
    if (chain.missing) {
        throw RegisterFault(
            fmt::format("a task for {} of {} {} descriptor {}, which nobody has written as valid",
                        name_of(channel), text_of(tile),
                        chain.descriptors.empty() ? "starts" : "leads to", *chain.missing));
    }
    array_.push_task({channel, task});
}

program::BufferDescriptor RegisterFile::decode(TileCoordinate tile, std::int64_t id,
                                               const Written& written) const {
    const TileKind kind = config_.kind_of(tile);
    if (const auto what = control::not_modelled(kind, written.words, generation_); !what.empty()) {
        throw RegisterFault(
            fmt::format("descriptor {} of {}: {} is not modelled", id, text_of(tile), what));
    }
    control::RegisterDescriptor decoded =
        control::decode_descriptor(kind, id, written.words, generation_);
    program::BufferDescriptor& descriptor = decoded.descriptor;
    if (kind == TileKind::Shim) {
        descriptor.buffer = dram_;
        descriptor.offset = decoded.address;
    } else {
        const std::int64_t bytes = program::span_of(descriptor);
        set_buffer(tile, id, {decoded.address, bytes}, descriptor.buffer, descriptor.offset);
    }
    std::vector<std::optional<program::LockAction>*> actions{&descriptor.acquire,
                                                             &descriptor.release};
    if (descriptor.alternate) {
        program::Alternate& second = *descriptor.alternate;
        set_buffer(tile, id, {second.offset, program::span_of(descriptor)}, second.buffer,
                   second.offset);
        actions.insert(actions.end(), {&second.acquire, &second.release});
    }
    for (auto* action : actions) {
        if (*action) {
            (*action)->lock = lock_of(tile, (*action)->lock);
        }
    }
    return descriptor;
}

// The buffer where a descriptor's words begin, and the offset in it.
void RegisterFile::set_buffer(TileCoordinate tile, std::int64_t id, Extent extent,
                              std::int64_t& buffer, std::int64_t& offset) const {
    // West neighbour, own, east neighbour, one window each; plain addresses mean the own.
    TileCoordinate at = tile;
    const bool in_core = config_.kind_of(tile) == TileKind::Core;
    if (!in_core && extent.address >= control::kMemoryTileWindow) {
        at.column += extent.address / control::kMemoryTileWindow - 1;
        extent.address %= control::kMemoryTileWindow;
    }
    const program::Buffer* found = buffer_at(at, extent.address);
    if (found == nullptr) {
        throw RegisterFault(
            fmt::format("descriptor {} of {}: none of the program's buffers lies at {:#x}", id,
                        text_of(tile), extent.address));
    }
    const base::Bytes memory = in_core ? config_.core.memory : config_.memory_tile.memory;
    if (extent.address + extent.bytes > memory.count()) {
        throw RegisterFault(
            fmt::format("descriptor {} of {}: {} B from {:#x} on leave the memory of {} B", id,
                        text_of(tile), extent.bytes, extent.address, memory.count()));
    }
    buffer = found - program_.buffers.data();
    offset = extent.address - found->address;
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
        array_.write_parameter({tile, into / kWordBytes, static_cast<std::int32_t>(value)});
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
