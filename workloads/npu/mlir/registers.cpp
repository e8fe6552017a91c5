#include "workloads/npu/mlir/registers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir {

namespace {

constexpr int kColumnShift = 25;
constexpr int kRowShift = 20;
constexpr std::int64_t kDescriptorStride = 0x20;
constexpr std::int64_t kLockStride = 0x10;
constexpr std::int64_t kCoreControl = 0x32000;  // in a core tile
constexpr std::int64_t kQueueStride = 8;        // control and start-queue register of a channel
constexpr std::int64_t kCoreMemory = 0x10000;
constexpr std::int64_t kMemoryTileWindow = 0x80000;  // bytes of one tile in the DMA's view of three
constexpr std::int64_t kMemoryTileLocks = 64;        // likewise

std::int64_t bits(std::uint32_t word, int high, int low) {
    const std::uint32_t mask = high - low == 31 ? ~0U : (1U << (high - low + 1)) - 1U;
    return (word >> low) & mask;
}
std::int64_t signed_bits(std::uint32_t word, int high, int low) {
    const std::int64_t value = bits(word, high, low);
    const std::int64_t sign = std::int64_t{1} << (high - low);
    return (value ^ sign) - sign;
}

// Dimensions from wraps (0: not used) and steps (stored minus one); the outermost has no wrap.
void set_dimensions(program::BufferDescriptor& descriptor, std::span<const std::int64_t> wraps,
                    std::span<const std::int64_t> steps) {
    std::int64_t inner = 1;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool bounded = i < wraps.size() && wraps[i] > 0;
        const std::int64_t size =
            bounded ? wraps[i] : std::max<std::int64_t>(1, descriptor.length / inner);
        descriptor.dimensions.push_back({size, steps[i] + 1});
        inner *= size;
        if (!bounded) {
            break;
        }
    }
    if (descriptor.dimensions.size() == 1 && descriptor.dimensions[0].stride == 1) {
        descriptor.dimensions.clear();
    }
}

// Bytes from the descriptor's first word to its last.
std::int64_t extent(const program::BufferDescriptor& descriptor) {
    std::int64_t last = descriptor.dimensions.empty() ? descriptor.length - 1 : 0;
    for (const program::Dimension& d : descriptor.dimensions) {
        last += (d.size - 1) * d.stride;
    }
    return (last + 1) * kWordBytes;
}

void set_iteration(program::BufferDescriptor& descriptor, std::int64_t wrap, std::int64_t step) {
    if (wrap > 0) {
        descriptor.iteration = program::Iteration{wrap + 1, step + 1};
    }
}

}  // namespace

struct Registers::Fields {
    std::int64_t descriptors;  // base addresses in the tile
    std::int64_t queues;       // of S2MM 0
    std::int64_t mm2s;         // from S2MM 0 to MM2S 0
    std::int64_t locks;
    std::size_t words;  // of a descriptor
};

const Registers::Fields& Registers::fields_of(program::TileKind kind) {
    static constexpr Fields kCore{0x1D000, 0x1DE00, 0x10, 0x1F000, 6};
    static constexpr Fields kMemory{0xA0000, 0xA0600, 0x30, 0xC0000, 8};
    static constexpr Fields kShim{0x1D000, 0x1D200, 0x10, 0x14000, 8};
    return kind == program::TileKind::Core     ? kCore
           : kind == program::TileKind::Memory ? kMemory
                                               : kShim;
}

void Registers::write(std::uint64_t address, std::uint32_t value, std::uint32_t mask,
                      Location where) {
    if (mask == ~0U) {
        write(address, value, where);
        return;
    }
    const program::TileCoordinate tile = tile_of(address);
    const auto offset = static_cast<std::int64_t>(address & ((1U << kRowShift) - 1));
    const std::int64_t at = lowering_.config.contains(tile)
                                ? offset - fields_of(lowering_.config.kind_of(tile)).descriptors
                                : -1;
    const auto written = descriptors_.find({tile, at / kDescriptorStride});
    if (at >= 0 && written != descriptors_.end()) {
        const auto word = static_cast<std::size_t>(at % kDescriptorStride / kWordBytes);
        write(address, (written->second.words.at(word) & ~mask) | (value & mask), where);
    } else if (!control(address, value, mask)) {
        lowering_.note("partial register writes (controller id, trace) are left out");
    }
}

program::TileCoordinate Registers::tile_of(std::uint64_t address) {
    return {static_cast<std::int64_t>(address >> kColumnShift),
            static_cast<std::int64_t>((address >> kRowShift) & 0x1F)};
}

// The reset bits of cores and channels: a core begins again when its bit falls, a channel drops
// its tasks when its bit rises. False where the address is neither's control register.
bool Registers::control(std::uint64_t address, std::uint32_t value, std::uint32_t mask) {
    constexpr std::uint32_t kReset = 2;
    const program::TileCoordinate tile = tile_of(address);
    if ((mask & kReset) == 0 || !lowering_.config.contains(tile)) {
        return false;
    }
    const auto offset = static_cast<std::int64_t>(address & ((1U << kRowShift) - 1));
    const program::TileKind kind = lowering_.config.kind_of(tile);
    const auto& cores = lowering_.program.cores;
    const bool has_core =
        std::any_of(cores.begin(), cores.end(),
                    [tile](const program::CoreProgram& core) { return core.tile == tile; });
    if (kind == program::TileKind::Core && offset == kCoreControl) {
        if ((value & kReset) != 0) {
            cores_in_reset_.insert(tile);
        } else if (cores_in_reset_.erase(tile) > 0 && has_core) {
            lowering_.program.sequence.push_back(program::ResetCore{tile});
        }
        return true;
    }
    const Fields& fields = fields_of(kind);
    const std::int64_t in_queues = offset - fields.queues;
    const bool out = in_queues >= fields.mm2s;
    const std::int64_t at = in_queues - (out ? fields.mm2s : 0);
    const std::int64_t channels = lowering_.config.dma_of(kind).channels;
    if (in_queues < 0 || at >= channels * kQueueStride || at % kQueueStride != 0) {
        return false;
    }
    const program::ChannelId channel{
        tile, out ? program::Direction::MM2S : program::Direction::S2MM, at / kQueueStride};
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

void Registers::write(std::uint64_t address, std::uint32_t value, Location where) {
    if (lowering_.config.lock_kind == LockKind::Binary) {
        throw ReadError(where,
                        "register writes are decoded with the address map of AIE-ML and "
                        "AIE2P, which this device does not have");
    }
    const program::TileCoordinate tile{static_cast<std::int64_t>(address >> kColumnShift),
                                       static_cast<std::int64_t>((address >> kRowShift) & 0x1F)};
    if (!lowering_.config.contains(tile)) {
        throw ReadError(where, fmt::format("address {:#x} lies in tile {},{}, outside the array",
                                           address, tile.column, tile.row));
    }
    const auto offset = static_cast<std::int64_t>(address & ((1U << kRowShift) - 1));
    const program::TileKind kind = lowering_.config.kind_of(tile);
    const Fields& fields = fields_of(kind);
    const DmaConfig& dma = lowering_.config.dma_of(kind);
    const std::int64_t in_descriptors = offset - fields.descriptors;
    const std::int64_t in_queues = offset - fields.queues;
    const std::int64_t in_locks = offset - fields.locks;
    const std::int64_t locks = kind == program::TileKind::Core ? lowering_.config.core.locks
                               : kind == program::TileKind::Memory
                                   ? lowering_.config.memory_tile.locks
                                   : lowering_.config.shim.locks;
    if (in_descriptors >= 0 && in_descriptors < dma.descriptors * kDescriptorStride) {
        Written& written = descriptors_[{tile, in_descriptors / kDescriptorStride}];
        const auto word = static_cast<std::size_t>(in_descriptors % kDescriptorStride / kWordBytes);
        written.words.at(word) = value;
        written.changed = true;
        written.where = where;
    } else if (in_queues >= 0 && in_queues < fields.mm2s + dma.channels * kQueueStride) {
        const bool out = in_queues >= fields.mm2s;
        const std::int64_t at = in_queues - (out ? fields.mm2s : 0);
        if (at % kQueueStride != kWordBytes) {
            control(address, value, ~0U);
        } else {
            push({tile, out ? program::Direction::MM2S : program::Direction::S2MM,
                  at / kQueueStride},
                 value);
        }
    } else if (in_locks >= 0 && in_locks < locks * kLockStride && in_locks % kLockStride == 0) {
        lowering_.program.sequence.push_back(
            program::SetLock{lock_of(tile, in_locks / kLockStride), bits(value, 5, 0)});
    } else if (kind == program::TileKind::Core && offset < kCoreMemory) {
        memory_word(tile, offset, value);
    } else if (!control(address, value, ~0U) && !trace_set_up(tile, offset, value)) {
        lowering_.note(
            "writes to registers other than descriptors, queues, locks and core memory (trace, "
            "timers, reset) are left out");
    }
}

void Registers::patch(std::uint64_t address, std::int64_t argument, std::int64_t bytes,
                      Location where) {
    const program::TileCoordinate tile{static_cast<std::int64_t>(address >> kColumnShift),
                                       static_cast<std::int64_t>((address >> kRowShift) & 0x1F)};
    const auto offset = static_cast<std::int64_t>(address & ((1U << kRowShift) - 1));
    const std::int64_t at = offset - fields_of(program::TileKind::Shim).descriptors;
    const std::int64_t end = lowering_.config.shim_dma.descriptors * kDescriptorStride;
    if (!lowering_.config.contains(tile) || tile.row != 0 || at < 0 || at >= end ||
        at % kDescriptorStride != kWordBytes) {
        throw ReadError(where,
                        fmt::format("address {:#x} is no shim descriptor's address word", address));
    }
    Written& written = descriptors_[{tile, at / kDescriptorStride}];
    written.argument = argument;
    written.argument_bytes = bytes;
    written.changed = true;
    written.where = where;
}

void Registers::forget(program::TileCoordinate tile, std::int64_t id) {
    descriptors_.erase({tile, id});
}

// The registers that name what trace units watch: four events a word, four ports a word.
bool Registers::trace_set_up(program::TileCoordinate tile, std::int64_t offset,
                             std::uint32_t value) {
    const program::TileKind kind = lowering_.config.kind_of(tile);
    struct Unit {
        std::int64_t number, events, ports;
    };
    static constexpr Unit kCore{0, 0x340E0, 0x3FF00};
    static constexpr Unit kMemory{1, 0x140E0, -1};
    static constexpr Unit kShim{2, 0x340E0, 0x3FF00};
    static constexpr Unit kMemoryTile{3, 0x940E0, 0xB0F00};
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
    auto& all = lowering_.trace_slots;
    auto place = std::find_if(all.begin(), all.end(), [&](const program_file::TraceSlots& slots) {
        return slots.tile == tile && slots.unit == unit.number;
    });
    if (place == all.end()) {
        all.push_back({tile, unit.number, {}, {}});
        place = all.end() - 1;
    }
    const std::int64_t first = offset == unit.events || offset == unit.ports ? 0 : 4;
    for (std::int64_t i = 0; i < 4; ++i) {
        const auto slot = static_cast<std::size_t>(first + i);
        const std::int64_t byte = (value >> (8 * i)) & 0xFF;
        if (event) {
            place->events[slot] = byte;
        } else {
            place->ports[slot] = byte & 0x3F;
        }
    }
    lowering_.note(
        "trace units are set up: they put nothing on the streams here; compare reads "
        "what they watch");
    return true;
}

// A descriptor that moves nothing, as a reset leaves it.
bool Registers::is_empty(program::TileCoordinate tile, const Written& written) const {
    switch (lowering_.config.kind_of(tile)) {
        case program::TileKind::Core:
            return bits(written.words[0], 13, 0) == 0;
        case program::TileKind::Memory:
            return bits(written.words[0], 16, 0) == 0;
        case program::TileKind::Shim:
            return written.words[0] == 0;
    }
    return false;
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

void Registers::push(const program::ChannelId& channel, std::uint32_t value) {
    // What has been written since takes effect before the task starts.
    for (auto& [key, written] : descriptors_) {
        if (key.first == channel.tile && written.changed) {
            written.changed = false;
            if (is_empty(channel.tile, written)) {
                continue;
            }
            lowering_.program.sequence.push_back(
                program::WriteDescriptor{channel.tile, decode(channel.tile, key.second, written)});
        }
    }
    const bool memory = lowering_.config.kind_of(channel.tile) == program::TileKind::Memory;
    program::PushTask task{channel, {}};
    task.task.descriptor = bits(value, memory ? 5 : 3, 0);
    const auto first = descriptors_.find({channel.tile, task.task.descriptor});
    if (first != descriptors_.end() && is_empty(channel.tile, first->second)) {
        lowering_.note("tasks whose descriptors move nothing are left out");
        return;
    }
    task.task.repeat = bits(value, 23, 16) + 1;
    task.task.token = bits(value, 31, 31) != 0;
    lowering_.program.sequence.push_back(task);
}

program::BufferDescriptor Registers::decode(program::TileCoordinate tile, std::int64_t id,
                                            const Written& written) {
    program::BufferDescriptor descriptor;
    descriptor.id = id;
    std::int64_t address = 0;
    switch (lowering_.config.kind_of(tile)) {
        case program::TileKind::Core:
            decode_core(written.words, descriptor, address);
            set_buffer(tile, address, descriptor, written.where);
            break;
        case program::TileKind::Memory:
            decode_memory_tile(written.words, descriptor, address);
            set_buffer(tile, address, descriptor, written.where);
            break;
        case program::TileKind::Shim:
            decode_shim(written.words, descriptor);
            if (!written.argument) {
                throw ReadError(written.where,
                                fmt::format("shim descriptor {} of column {} has no argument: its "
                                            "address is not patched",
                                            id, tile.column));
            }
            descriptor.buffer = *written.argument;
            descriptor.offset = written.argument_bytes;
            grow_argument(descriptor);
            break;
    }
    // Locks are numbers of the tile until here.
    for (auto* action : {&descriptor.acquire, &descriptor.release}) {
        if (*action) {
            (*action)->lock = lock_of(tile, (*action)->lock);
        }
    }
    return descriptor;
}

namespace {

// The last word of core and shim descriptors.
void decode_control(std::uint32_t word, program::BufferDescriptor& descriptor) {
    if (bits(word, 26, 26) != 0) {
        descriptor.next = bits(word, 30, 27);
    }
    if (bits(word, 12, 12) != 0) {
        descriptor.acquire = program::LockAction{bits(word, 3, 0), signed_bits(word, 11, 5)};
    }
    if (const std::int64_t value = signed_bits(word, 24, 18); value != 0) {
        descriptor.release = program::LockAction{bits(word, 16, 13), value};
    }
}

}  // namespace

void Registers::decode_core(std::span<const std::uint32_t> words,
                            program::BufferDescriptor& descriptor, std::int64_t& address) const {
    address = bits(words[0], 27, 14) * kWordBytes;
    descriptor.length = bits(words[0], 13, 0);
    if (bits(words[1], 30, 30) != 0) {
        descriptor.packet =
            program::Packet{bits(words[1], 23, 19), bits(words[1], 18, 16), bits(words[1], 29, 24)};
    }
    set_dimensions(
        descriptor, std::array{bits(words[3], 20, 13), bits(words[3], 28, 21)},
        std::array{bits(words[2], 12, 0), bits(words[2], 25, 13), bits(words[3], 12, 0)});
    set_iteration(descriptor, bits(words[4], 18, 13), bits(words[4], 12, 0));
    decode_control(words[5], descriptor);
}

void Registers::decode_memory_tile(std::span<const std::uint32_t> words,
                                   program::BufferDescriptor& descriptor,
                                   std::int64_t& address) const {
    address = bits(words[1], 18, 0) * kWordBytes;
    descriptor.length = bits(words[0], 16, 0);
    if (bits(words[0], 31, 31) != 0) {
        descriptor.packet =
            program::Packet{bits(words[0], 27, 23), bits(words[0], 30, 28), bits(words[0], 22, 17)};
    }
    if (bits(words[1], 19, 19) != 0) {
        descriptor.next = bits(words[1], 25, 20);
    }
    set_dimensions(
        descriptor,
        std::array{bits(words[2], 26, 17), bits(words[3], 26, 17), bits(words[4], 26, 17)},
        std::array{bits(words[2], 16, 0), bits(words[3], 16, 0), bits(words[4], 16, 0),
                   bits(words[5], 16, 0)});
    const std::array<program::Padding, 3> padding{
        program::Padding{bits(words[1], 31, 26), bits(words[5], 22, 17)},
        program::Padding{bits(words[3], 31, 27), bits(words[5], 27, 23)},
        program::Padding{bits(words[4], 30, 27), bits(words[5], 31, 28)}};
    const bool padded = std::any_of(padding.begin(), padding.end(), [](const program::Padding& p) {
        return p.before + p.after > 0;
    });
    if (padded) {
        descriptor.padding.assign(padding.begin(), padding.end());
        descriptor.padding.resize(std::min(padding.size(), descriptor.dimensions.size()));
    }
    set_iteration(descriptor, bits(words[6], 22, 17), bits(words[6], 16, 0));
    if (bits(words[7], 15, 15) != 0) {
        descriptor.acquire =
            program::LockAction{bits(words[7], 7, 0), signed_bits(words[7], 14, 8)};
    }
    if (const std::int64_t value = signed_bits(words[7], 30, 24); value != 0) {
        descriptor.release = program::LockAction{bits(words[7], 23, 16), value};
    }
}

void Registers::decode_shim(std::span<const std::uint32_t> words,
                            program::BufferDescriptor& descriptor) const {
    descriptor.length = bits(words[0], 31, 0);
    if (bits(words[2], 30, 30) != 0) {
        descriptor.packet =
            program::Packet{bits(words[2], 23, 19), bits(words[2], 18, 16), bits(words[2], 29, 24)};
    }
    set_dimensions(descriptor, std::array{bits(words[3], 29, 20), bits(words[4], 29, 20)},
                   std::array{bits(words[3], 19, 0), bits(words[4], 19, 0), bits(words[5], 19, 0)});
    set_iteration(descriptor, bits(words[6], 25, 20), bits(words[6], 19, 0));
    decode_control(words[7], descriptor);
}

// Hosts allocate more than an argument's type says where a trace is to lie behind the data.
void Registers::grow_argument(const program::BufferDescriptor& descriptor) {
    program::ExternalBuffer& buffer =
        lowering_.program.external_buffers[static_cast<std::size_t>(descriptor.buffer)];
    const std::int64_t end = descriptor.offset + extent(descriptor);
    if (end > buffer.bytes) {
        buffer.bytes = end;
        lowering_.note(
            fmt::format("argument {} is larger than its type says: a descriptor written "
                        "to the registers reaches further",
                        buffer.name));
    }
}

// The buffer at an address; where the design declares none, one of the descriptor's extent.
void Registers::set_buffer(program::TileCoordinate tile, std::int64_t address,
                           program::BufferDescriptor& descriptor, Location where) {
    program::TileCoordinate at = tile;
    if (lowering_.config.kind_of(tile) == program::TileKind::Memory) {
        // West neighbour, own, east neighbour, one window each; plain addresses mean the own.
        if (address >= kMemoryTileWindow) {
            at.column += address / kMemoryTileWindow - 1;
            address %= kMemoryTileWindow;
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
    buffer.bytes = declared ? extent(descriptor)
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
    if (lowering_.config.kind_of(tile) == program::TileKind::Memory && id >= kMemoryTileLocks) {
        at.column += id / kMemoryTileLocks - 1;
        id %= kMemoryTileLocks;
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

void Registers::memory_word(program::TileCoordinate tile, std::int64_t address,
                            std::uint32_t value) {
    const auto& buffers = lowering_.program.buffers;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        const std::int64_t into = address - buffers[i].address;
        if (buffers[i].tile != tile || into < 0 || into >= buffers[i].bytes) {
            continue;
        }
        const auto parameter = lowering_.parameters.find(
            {static_cast<std::int64_t>(i), into * 8 / lowering_.buffer_types[i].element_bits});
        if (parameter != lowering_.parameters.end()) {
            lowering_.program.sequence.push_back(
                program::WriteParameter{tile, parameter->second, static_cast<std::int32_t>(value)});
        }
        return;
    }
    lowering_.note("writes into core memory where the design declares no buffer are left out");
}

}  // namespace tilesim::workloads::npu::mlir
