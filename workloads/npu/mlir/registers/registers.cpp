#include "workloads/npu/mlir/registers/registers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/npu/control/channel_words.hpp"
#include "arch/npu/control/descriptor_words.hpp"
#include "arch/npu/control/register_map.hpp"
#include "arch/npu/program/program_work.hpp"
#include "workloads/npu/mlir/trace_slots.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::registers {

namespace registers = arch::npu::control;

bool Registers::write(std::uint64_t address, std::uint32_t value, std::uint32_t mask,
                      Location where) {
    if (mask == ~0U) {
        return write(address, value, where);
    }
    if (const auto word = descriptor_word(address)) {
        const auto written = descriptors_.find({word->tile, word->id});
        if (written != descriptors_.end()) {
            const std::uint32_t kept = written->second.words.at(word->word) & ~mask;
            return write(address, kept | (value & mask), where);
        }
    }
    if (names_controller(address, mask)) {
        return true;
    }
    const std::size_t before = lowering_.program.sequence.size();
    if (!control(address, value, mask)) {
        lowering_.note("partial register writes (trace) only take their time");
    }
    return lowering_.program.sequence.size() > before;
}

// The upper bits of the number of queued tasks are to be 0, with or without the bit of a running
// one: the compiler polls before a push that a full queue would drop.
std::optional<program::WaitIdle> Registers::poll(std::uint64_t address, std::uint32_t value,
                                                 std::uint32_t mask) const {
    const auto [tile, offset] = registers::split(address);
    if (!lowering_.config.contains(tile) || value != 0) {
        return std::nullopt;
    }
    const program::TileKind kind = lowering_.config.kind_of(tile);
    const auto state =
        registers::state_register(kind, lowering_.config.dma_of(kind).channels, offset);
    const registers::StateLayout& layout = *registers::register_map_of(kind).state;
    const std::uint32_t running = 1U << layout.running.low;
    const std::uint32_t all = (1U << layout.queued.width) - 1;
    const std::uint32_t bits = mask >> layout.queued.low & all;
    const std::uint32_t least = bits & ~(bits - 1);  // its lowest bit
    const bool upper_bits = bits != 0 && bits + least == all + 1;
    const std::uint32_t others = mask & ~(all << layout.queued.low);
    if (!state || !upper_bits || (others & ~running) != 0 || (others != 0 && bits != all)) {
        return std::nullopt;
    }
    const program::ChannelId channel{tile, state->direction, state->first};
    return others != 0 ? program::WaitIdle{channel}
                       : program::WaitIdle{channel, std::int64_t{least} - 1};
}

// The compiler writes it before every push that asks for a token (AIEDmaToNpu.cpp), where the
// design only states the push: part of that, of which no measurement has it apart.
bool Registers::names_controller(std::uint64_t address, std::uint32_t mask) const {
    constexpr std::uint32_t kController = 0x1F00;  // to whom a channel's tokens go
    const auto [tile, offset] = registers::split(address);
    if (mask != kController || !lowering_.config.contains(tile)) {
        return false;
    }
    const program::TileKind kind = lowering_.config.kind_of(tile);
    const auto queue =
        registers::queue_register(kind, lowering_.config.dma_of(kind).channels, offset);
    return queue && !queue->queue;
}

std::optional<Registers::DescriptorWord> Registers::descriptor_word(std::uint64_t address) const {
    const auto [tile, offset] = registers::split(address);
    if (!lowering_.config.contains(tile)) {
        return std::nullopt;
    }
    const program::TileKind kind = lowering_.config.kind_of(tile);
    const auto word =
        registers::descriptor_word(kind, lowering_.config.dma_of(kind).descriptors, offset);
    return word ? std::optional{DescriptorWord{tile, word->id, word->word}} : std::nullopt;
}

// The reset bits of cores and channels: a core begins again when its bit falls, a channel drops
// its tasks when its bit rises. False where the address is neither's control register.
bool Registers::control(std::uint64_t address, std::uint32_t value, std::uint32_t mask) {
    constexpr std::uint32_t kReset = 2;
    const auto [at, offset] = registers::split(address);
    const program::TileCoordinate tile = at;
    if ((mask & kReset) == 0 || !lowering_.config.contains(tile)) {
        return false;
    }
    const program::TileKind kind = lowering_.config.kind_of(tile);
    const auto& cores = lowering_.program.cores;
    const bool has_core =
        std::any_of(cores.begin(), cores.end(),
                    [tile](const program::CoreProgram& core) { return core.tile == tile; });
    if (kind == program::TileKind::Core && offset == registers::kCoreControl) {
        if ((value & kReset) != 0) {
            cores_in_reset_.insert(tile);
        } else if (cores_in_reset_.erase(tile) > 0 && has_core) {
            lowering_.program.sequence.push_back(program::ResetCore{tile});
        }
        return true;
    }
    const auto queue =
        registers::queue_register(kind, lowering_.config.dma_of(kind).channels, offset);
    if (!queue || queue->queue) {
        return false;
    }
    const program::ChannelId channel{tile, queue->direction, queue->channel};
    const auto& sequence = lowering_.program.sequence;
    bool started =
        std::any_of(sequence.begin(), sequence.end(), [&](const program::SequenceOp& operation) {
            const auto* push = std::get_if<program::PushTask>(&operation);
            return push != nullptr && push->channel == channel;
        });
    for (const program::TileDma& dma : lowering_.program.dmas) {
        for (const program::TileDma::Start& start : dma.starts) {
            started |= dma.tile == tile && start.direction == channel.direction &&
                       start.channel == channel.index;
        }
    }
    if (started && (value & kReset) != 0) {
        lowering_.program.sequence.push_back(program::ResetChannel{channel});
    }
    return true;
}

bool Registers::write(std::uint64_t address, std::uint32_t value, Location where) {
    if (lowering_.config.lock_kind == LockKind::Binary) {
        throw ReadError(where,
                        "register writes are decoded with the address map of AIE-ML and "
                        "AIE2P, which this device does not have");
    }
    const auto [tile, offset] = registers::split(address);
    if (!lowering_.config.contains(tile)) {
        throw ReadError(where, fmt::format("address {:#x} lies in tile {},{}, outside the array",
                                           address, tile.column, tile.row));
    }
    const program::TileKind kind = lowering_.config.kind_of(tile);
    const DmaConfig& dma = lowering_.config.dma_of(kind);
    const std::int64_t locks = lowering_.config.locks_of(kind);
    if (const auto word = descriptor_word(address)) {
        Written& written = descriptors_[{tile, word->id}];
        written.words.at(word->word) = value;
        written.changed = true;
        written.where = where;
    } else if (const auto queue = registers::queue_register(kind, dma.channels, offset);
               queue && queue->queue) {
        push({tile, queue->direction, queue->channel}, value);
    } else if (const auto lock = registers::lock_register(kind, locks, offset)) {
        lowering_.program.sequence.push_back(
            program::SetLock{lock_of(tile, *lock), value & registers::kLockBits});
    } else if (kind == program::TileKind::Core && offset < registers::kCoreMemory) {
        return memory_word(tile, offset, value);
    } else {
        const std::size_t before = lowering_.program.sequence.size();
        if (!control(address, value, ~0U) && !trace_set_up(tile, offset, value)) {
            lowering_.note(
                "writes to registers other than descriptors, queues, locks and core memory "
                "(switches, programs, timers) only take their time");
        }
        return lowering_.program.sequence.size() > before;
    }
    return true;
}

void Registers::patch(std::uint64_t address, std::int64_t argument, std::int64_t bytes,
                      Location where) {
    const auto word = descriptor_word(address);
    if (!word || word->tile.row != 0 || word->word != registers::kShimAddressWord) {
        throw ReadError(where,
                        fmt::format("address {:#x} is no shim descriptor's address word", address));
    }
    Written& written = descriptors_[{word->tile, word->id}];
    written.argument = argument;
    written.argument_bytes = bytes;
    written.changed = true;
    written.where = where;
}

void Registers::forget(program::TileCoordinate tile, std::int64_t id) {
    descriptors_.erase({tile, id});
    lowering_.empty_descriptors.erase({tile, id});
}

// The registers that name what trace units watch: four events a word, four ports a word.
bool Registers::trace_set_up(program::TileCoordinate tile, std::int64_t offset,
                             std::uint32_t value) {
    const program::TileKind kind = lowering_.config.kind_of(tile);
    struct Unit {
        std::int64_t number, events, ports;
    };
    static constexpr Unit kCore{kCoreUnit, 0x340E0, 0x3FF00};
    static constexpr Unit kMemory{kMemoryUnit, 0x140E0, -1};
    static constexpr Unit kShim{kShimUnit, 0x340E0, 0x3FF00};
    static constexpr Unit kMemoryTile{kMemoryTileUnit, 0x940E0, 0xB0F00};
    const bool in_memory = offset >= kMemory.events && offset < kMemory.events + 2 * kWordBytes;
    const Unit& unit = kind == program::TileKind::Shim     ? kShim
                       : kind == program::TileKind::Memory ? kMemoryTile
                       : in_memory                         ? kMemory
                                                           : kCore;
    const bool event = offset == unit.events || offset == unit.events + kWordBytes;
    const bool port =
        unit.ports >= 0 && (offset == unit.ports || offset == unit.ports + kWordBytes);
    if (!event && !port) {
        return false;
    }
    program_file::TraceSlots& slots = trace_slots_of(lowering_, tile, unit.number);
    const std::size_t first = offset == unit.events || offset == unit.ports ? 0 : kSlotsOfAWord;
    if (event) {
        watch_events(slots, first, value);
    } else {
        watch_ports(slots, first, value);
    }
    lowering_.note_trace_units();
    return true;
}

// A descriptor that moves nothing, as a reset leaves it.
bool Registers::is_empty(program::TileCoordinate tile, const Written& written) const {
    const program::TileKind kind = lowering_.config.kind_of(tile);
    return registers::decode_descriptor(kind, 0, written.words).descriptor.length == 0;
}

void Registers::finish() {
    for (auto& [key, written] : descriptors_) {
        const bool shim = lowering_.config.kind_of(key.first) == program::TileKind::Shim;
        if (written.changed && !is_empty(key.first, written) && (!shim || written.argument)) {
            written.changed = false;
            lowering_.program.sequence.push_back(
                program::WriteDescriptor{key.first, decode(key.first, key.second, written)});
        }
    }
}

std::set<std::int64_t> Registers::chain(program::TileCoordinate tile, std::int64_t first) const {
    const program::TileKind kind = lowering_.config.kind_of(tile);
    std::set<std::int64_t> chain;
    std::optional<std::int64_t> id = first;
    while (id && chain.insert(*id).second) {
        const auto written = descriptors_.find({tile, *id});
        if (written == descriptors_.end()) {
            break;  // stated field by field: what follows it is too
        }
        id = registers::decode_descriptor(kind, *id, written->second.words).descriptor.next;
    }
    return chain;
}

void Registers::push(const program::ChannelId& channel, std::uint32_t value) {
    const program::PushTask task{
        channel, registers::decode_task(lowering_.config.kind_of(channel.tile), value)};
    const std::set<std::int64_t> started = chain(channel.tile, task.task.descriptor);
    // What has been written since takes effect before the task starts.
    for (auto& [key, written] : descriptors_) {
        // A shim descriptor that is not this task's may have its address patched later.
        const bool unpatched = channel.tile.row == 0 && !written.argument;
        if (key.first == channel.tile && written.changed &&
            (!unpatched || started.contains(key.second))) {
            written.changed = false;
            if (is_empty(channel.tile, written)) {
                continue;
            }
            lowering_.program.sequence.push_back(
                program::WriteDescriptor{channel.tile, decode(channel.tile, key.second, written)});
        }
    }
    const std::pair key{channel.tile, task.task.descriptor};
    const auto first = descriptors_.find(key);
    const bool empty = first != descriptors_.end() ? is_empty(channel.tile, first->second)
                                                   : lowering_.empty_descriptors.contains(key);
    if (empty) {
        lowering_.note("tasks whose descriptors move nothing are left out");
        return;
    }
    lowering_.program.sequence.push_back(task);
}

program::BufferDescriptor Registers::decode(program::TileCoordinate tile, std::int64_t id,
                                            const Written& written) {
    const program::TileKind kind = lowering_.config.kind_of(tile);
    auto [descriptor, address] = registers::decode_descriptor(kind, id, written.words);
    if (kind != program::TileKind::Shim) {
        set_buffer(tile, address, descriptor, written.where);
    } else {
        descriptor.buffer =
            written.argument ? *written.argument : buffer_of_its_own(tile, id, descriptor);
        descriptor.offset = written.argument ? written.argument_bytes : 0;
    }
    // Locks are numbers of the tile until here.
    for (auto* action : {&descriptor.acquire, &descriptor.release}) {
        if (*action) {
            (*action)->lock = lock_of(tile, (*action)->lock);
        }
    }
    return descriptor;
}

// Where a shim descriptor points whose address nobody patches: an address of the device's memory
// that the file states. What lies there is nobody's argument.
std::int64_t Registers::buffer_of_its_own(program::TileCoordinate tile, std::int64_t id,
                                          const program::BufferDescriptor& descriptor) {
    auto& buffers = lowering_.program.external_buffers;
    const std::string name = fmt::format("unpatched_{}_{}", tile.column, id);
    const auto place = std::find_if(buffers.begin(), buffers.end(),
                                    [&name](const auto& each) { return each.name == name; });
    if (place != buffers.end()) {
        place->bytes = std::max(place->bytes, program::span_of(descriptor));
        return place - buffers.begin();
    }
    lowering_.note(
        fmt::format("nobody patches the address of shim descriptor {} of column {}: it moves a "
                    "buffer of its own, not an argument",
                    id, tile.column));
    program::ExternalBuffer buffer;
    buffer.name = name;
    buffer.bytes = program::span_of(descriptor);
    buffers.push_back(buffer);
    lowering_.external_types.push_back({buffer.bytes / kWordBytes, kWordBits});
    return static_cast<std::int64_t>(buffers.size()) - 1;
}

// The buffer at an address; where the design declares none, one of the descriptor's extent.
void Registers::set_buffer(program::TileCoordinate tile, std::int64_t address,
                           program::BufferDescriptor& descriptor, Location where) {
    program::TileCoordinate at = tile;
    if (lowering_.config.kind_of(tile) == program::TileKind::Memory) {
        // West neighbour, own, east neighbour, one window each; plain addresses mean the own.
        if (address >= registers::kMemoryTileWindow) {
            at.column += address / registers::kMemoryTileWindow - 1;
            address %= registers::kMemoryTileWindow;
        }
    }
    auto& buffers = lowering_.program.buffers;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        const program::Buffer& buffer = buffers[i];
        if (buffer.tile == at && buffer.address <= address &&
            address < buffer.address + buffer.bytes) {
            descriptor.buffer = static_cast<std::int64_t>(i);
            descriptor.offset = address - buffer.address;
            return;
        }
    }
    if (!lowering_.config.contains(at)) {
        throw ReadError(where, "this descriptor's address lies outside the array");
    }
    // A tile without any declaration, as in a decompiled design: its whole memory.
    const bool declared = std::any_of(buffers.begin(), buffers.end(),
                                      [&](const program::Buffer& b) { return b.tile == at; });
    program::Buffer buffer;
    buffer.tile = at;
    buffer.name =
        unique_name(buffers, declared ? fmt::format("memory_{}_{}_{}", at.column, at.row, address)
                                      : fmt::format("memory_{}_{}", at.column, at.row));
    buffer.address = declared ? address : 0;
    buffer.bytes = declared ? program::span_of(descriptor)
                   : lowering_.config.kind_of(at) == program::TileKind::Core
                       ? lowering_.config.core.memory.count()
                       : lowering_.config.memory_tile.memory.count();
    descriptor.buffer = static_cast<std::int64_t>(buffers.size());
    descriptor.offset = address - buffer.address;
    buffers.push_back(buffer);
    lowering_.buffer_types.push_back({buffer.bytes / kWordBytes, kWordBits});
}

// The program's lock of this number; one is added where the design declares none.
std::int64_t Registers::lock_of(program::TileCoordinate tile, std::int64_t id) {
    program::TileCoordinate at = tile;
    if (lowering_.config.kind_of(tile) == program::TileKind::Memory &&
        id >= registers::kMemoryTileLocks) {
        at.column += id / registers::kMemoryTileLocks - 1;
        id %= registers::kMemoryTileLocks;
    }
    auto& locks = lowering_.program.locks;
    for (std::size_t i = 0; i < locks.size(); ++i) {
        if (locks[i].tile == at && locks[i].id == id) {
            return static_cast<std::int64_t>(i);
        }
    }
    program::Lock lock;
    lock.tile = at;
    lock.id = id;
    lock.name = unique_name(locks, fmt::format("lock_{}_{}_{}", at.column, at.row, id));
    locks.push_back(lock);
    return static_cast<std::int64_t>(locks.size()) - 1;
}

bool Registers::memory_word(program::TileCoordinate tile, std::int64_t address,
                            std::uint32_t value) {
    const auto& buffers = lowering_.program.buffers;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        const std::int64_t into = address - buffers[i].address;
        if (buffers[i].tile != tile || into < 0 || into >= buffers[i].bytes) {
            continue;
        }
        lowering_.write_parameter(static_cast<std::int64_t>(i),
                                  into * 8 / lowering_.buffer_types[i].element_bits,
                                  static_cast<std::int32_t>(value));
        return true;
    }
    lowering_.note("writes into core memory where the design declares no buffer are left out");
    return false;
}

}  // namespace tilesim::workloads::npu::mlir::registers
