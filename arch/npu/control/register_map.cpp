#include "arch/npu/control/register_map.hpp"

#include <algorithm>
#include <array>

namespace tilesim::arch::npu::control {

using program::BufferDescriptor;
using program::Direction;
using program::TileKind;

namespace {

constexpr int kColumnShift = 25;
constexpr int kRowShift = 20;

std::int64_t bits(std::uint32_t word, int high, int low) {
    const std::uint32_t mask = high - low == 31 ? ~0U : (1U << (high - low + 1)) - 1U;
    return (word >> low) & mask;
}
std::int64_t signed_bits(std::uint32_t word, int high, int low) {
    const std::int64_t value = bits(word, high, low);
    const std::int64_t sign = std::int64_t{1} << (high - low);
    return (value ^ sign) - sign;
}
std::uint32_t field(std::int64_t value, int high, int low) {
    const std::uint32_t mask = high - low == 31 ? ~0U : (1U << (high - low + 1)) - 1U;
    return (static_cast<std::uint32_t>(value) & mask) << low;
}

// Dimensions from wraps (0: not used) and steps (stored minus one); the outermost has no wrap.
void set_dimensions(BufferDescriptor& descriptor, std::span<const std::int64_t> wraps,
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

void set_iteration(BufferDescriptor& descriptor, std::int64_t wrap, std::int64_t step) {
    if (wrap > 0) {
        descriptor.iteration = program::Iteration{wrap + 1, step + 1};
    }
}

// The last word of core and shim descriptors.
void decode_control(std::uint32_t word, BufferDescriptor& descriptor) {
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

std::uint32_t encode_control(const BufferDescriptor& descriptor) {
    std::uint32_t word = field(1, 25, 25);  // valid
    if (descriptor.next) {
        word |= field(1, 26, 26) | field(*descriptor.next, 30, 27);
    }
    if (descriptor.acquire) {
        word |= field(1, 12, 12) | field(descriptor.acquire->value, 11, 5) |
                field(descriptor.acquire->lock, 3, 0);
    }
    if (descriptor.release) {
        word |= field(descriptor.release->value, 24, 18) | field(descriptor.release->lock, 16, 13);
    }
    return word;
}

void decode_packet(std::uint32_t word, BufferDescriptor& descriptor) {
    if (bits(word, 30, 30) != 0) {
        descriptor.packet =
            program::Packet{bits(word, 23, 19), bits(word, 18, 16), bits(word, 29, 24)};
    }
}

std::uint32_t encode_packet(const BufferDescriptor& descriptor) {
    const auto& packet = descriptor.packet;
    return packet ? field(1, 30, 30) | field(packet->descriptor, 29, 24) |
                        field(packet->id, 23, 19) | field(packet->type, 18, 16)
                  : 0;
}

RegisterDescriptor decode_core(std::span<const std::uint32_t> words) {
    RegisterDescriptor decoded;
    decoded.address = bits(words[0], 27, 14) * kWordBytes;
    BufferDescriptor& descriptor = decoded.descriptor;
    descriptor.length = bits(words[0], 13, 0);
    decode_packet(words[1], descriptor);
    set_dimensions(
        descriptor, std::array{bits(words[3], 20, 13), bits(words[3], 28, 21)},
        std::array{bits(words[2], 12, 0), bits(words[2], 25, 13), bits(words[3], 12, 0)});
    set_iteration(descriptor, bits(words[4], 18, 13), bits(words[4], 12, 0));
    decode_control(words[5], descriptor);
    return decoded;
}

RegisterDescriptor decode_memory_tile(std::span<const std::uint32_t> words) {
    RegisterDescriptor decoded;
    decoded.address = bits(words[1], 18, 0) * kWordBytes;
    BufferDescriptor& descriptor = decoded.descriptor;
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
    return decoded;
}

RegisterDescriptor decode_shim(std::span<const std::uint32_t> words) {
    RegisterDescriptor decoded;
    decoded.address = bits(words[2], 15, 0) << 32 | (bits(words[1], 31, 2) << 2);
    BufferDescriptor& descriptor = decoded.descriptor;
    descriptor.length = bits(words[0], 31, 0);
    decode_packet(words[2], descriptor);
    set_dimensions(descriptor, std::array{bits(words[3], 29, 20), bits(words[4], 29, 20)},
                   std::array{bits(words[3], 19, 0), bits(words[4], 19, 0), bits(words[5], 19, 0)});
    set_iteration(descriptor, bits(words[6], 25, 20), bits(words[6], 19, 0));
    decode_control(words[7], descriptor);
    return decoded;
}

// Size and stride of each dimension as registers hold them: no wrap where there is none, steps
// minus one.
struct Shape {
    std::array<std::int64_t, 4> wraps{};
    std::array<std::int64_t, 4> steps{};
};
Shape shape_of(const BufferDescriptor& descriptor) {
    Shape shape;
    for (std::size_t i = 0; i < std::min(descriptor.dimensions.size(), shape.wraps.size()); ++i) {
        shape.wraps[i] = descriptor.dimensions[i].size;
        shape.steps[i] = descriptor.dimensions[i].stride - 1;
    }
    return shape;
}

std::vector<std::uint32_t> encode_core(const RegisterDescriptor& given) {
    const BufferDescriptor& d = given.descriptor;
    const Shape s = shape_of(d);
    std::vector<std::uint32_t> words(6);
    words[0] = field(given.address / kWordBytes, 27, 14) | field(d.length, 13, 0);
    words[1] = encode_packet(d);
    words[2] = field(s.steps[0], 12, 0) | field(s.steps[1], 25, 13);
    words[3] = field(s.wraps[0], 20, 13) | field(s.wraps[1], 28, 21) | field(s.steps[2], 12, 0);
    if (d.iteration) {
        words[4] = field(d.iteration->size - 1, 18, 13) | field(d.iteration->stride - 1, 12, 0);
    }
    words[5] = encode_control(d);
    return words;
}

std::vector<std::uint32_t> encode_memory_tile(const RegisterDescriptor& given) {
    const BufferDescriptor& d = given.descriptor;
    const Shape s = shape_of(d);
    std::array<program::Padding, 3> padding{};
    std::copy_n(d.padding.begin(), std::min(d.padding.size(), padding.size()), padding.begin());
    std::vector<std::uint32_t> words(8);
    words[0] = field(d.length, 16, 0);
    if (d.packet) {
        words[0] |= field(1, 31, 31) | field(d.packet->type, 30, 28) | field(d.packet->id, 27, 23) |
                    field(d.packet->descriptor, 22, 17);
    }
    words[1] = field(padding[0].before, 31, 26) | field(given.address / kWordBytes, 18, 0);
    if (d.next) {
        words[1] |= field(1, 19, 19) | field(*d.next, 25, 20);
    }
    words[2] = field(s.wraps[0], 26, 17) | field(s.steps[0], 16, 0);
    words[3] =
        field(padding[1].before, 31, 27) | field(s.wraps[1], 26, 17) | field(s.steps[1], 16, 0);
    words[4] =
        field(padding[2].before, 30, 27) | field(s.wraps[2], 26, 17) | field(s.steps[2], 16, 0);
    words[5] = field(padding[0].after, 22, 17) | field(padding[1].after, 27, 23) |
               field(padding[2].after, 31, 28) | field(s.steps[3], 16, 0);
    if (d.iteration) {
        words[6] = field(d.iteration->size - 1, 22, 17) | field(d.iteration->stride - 1, 16, 0);
    }
    words[7] = field(1, 31, 31);
    if (d.acquire) {
        words[7] |=
            field(1, 15, 15) | field(d.acquire->value, 14, 8) | field(d.acquire->lock, 7, 0);
    }
    if (d.release) {
        words[7] |= field(d.release->value, 30, 24) | field(d.release->lock, 23, 16);
    }
    return words;
}

std::vector<std::uint32_t> encode_shim(const RegisterDescriptor& given) {
    const BufferDescriptor& d = given.descriptor;
    const Shape s = shape_of(d);
    std::vector<std::uint32_t> words(8);
    words[0] = static_cast<std::uint32_t>(d.length);
    words[1] = static_cast<std::uint32_t>(given.address);
    words[2] = encode_packet(d) | field(given.address >> 32, 15, 0);
    words[3] = field(s.wraps[0], 29, 20) | field(s.steps[0], 19, 0);
    words[4] = field(s.wraps[1], 29, 20) | field(s.steps[1], 19, 0);
    words[5] = field(s.steps[2], 19, 0);
    if (d.iteration) {
        words[6] = field(d.iteration->size - 1, 25, 20) | field(d.iteration->stride - 1, 19, 0);
    }
    words[7] = encode_control(d);
    return words;
}

std::optional<ChannelRegister> channel_at(std::int64_t offset, std::int64_t s2mm, std::int64_t mm2s,
                                          std::int64_t stride, std::int64_t channels) {
    for (const auto& [base, direction] :
         {std::pair{s2mm, Direction::S2MM}, std::pair{mm2s, Direction::MM2S}}) {
        const std::int64_t at = offset - base;
        if (at >= 0 && at < channels * stride && at % kWordBytes == 0) {
            return ChannelRegister{direction, at / stride, at % stride == kWordBytes};
        }
    }
    return std::nullopt;
}

}  // namespace

RegisterAddress split(std::uint64_t address) {
    return {{static_cast<std::int64_t>(address >> kColumnShift),
             static_cast<std::int64_t>((address >> kRowShift) & 0x1F)},
            static_cast<std::int64_t>(address & ((1U << kRowShift) - 1))};
}

std::uint64_t join(program::TileCoordinate tile, std::int64_t offset) {
    return static_cast<std::uint64_t>(tile.column) << kColumnShift |
           static_cast<std::uint64_t>(tile.row) << kRowShift | static_cast<std::uint64_t>(offset);
}

const RegisterMap& register_map_of(TileKind kind) {
    static constexpr RegisterMap kCore{0x1D000, 0x1DE00, 0x10, 0x1DF00, 0x1DF10, 0x1F000};
    static constexpr RegisterMap kMemory{0xA0000, 0xA0600, 0x30, 0xA0660, 0xA0680, 0xC0000};
    static constexpr RegisterMap kShim{0x1D000, 0x1D200, 0x10, 0x1D220, 0x1D228, 0x14000};
    return kind == TileKind::Core ? kCore : kind == TileKind::Memory ? kMemory : kShim;
}

std::optional<DescriptorWord> descriptor_word(TileKind kind, std::int64_t descriptors,
                                              std::int64_t offset) {
    const RegisterMap& map = register_map_of(kind);
    const std::int64_t at = offset - map.descriptors;
    if (at < 0 || at >= descriptors * kDescriptorStride) {
        return std::nullopt;
    }
    return DescriptorWord{at / kDescriptorStride,
                          static_cast<std::size_t>(at % kDescriptorStride / kWordBytes)};
}

std::int64_t queue_offset(TileKind kind, const ChannelRegister& which) {
    const RegisterMap& map = register_map_of(kind);
    return map.queues + (which.direction == Direction::MM2S ? map.mm2s : 0) +
           which.channel * kQueueStride + (which.queue ? kWordBytes : 0);
}

std::optional<ChannelRegister> queue_register(TileKind kind, std::int64_t channels,
                                              std::int64_t offset) {
    const RegisterMap& map = register_map_of(kind);
    return channel_at(offset, map.queues, map.queues + map.mm2s, kQueueStride, channels);
}

std::optional<ChannelRegister> state_register(TileKind kind, std::int64_t channels,
                                              std::int64_t offset) {
    const RegisterMap& map = register_map_of(kind);
    return channel_at(offset, map.states, map.mm2s_states, kWordBytes, channels);
}

std::optional<std::int64_t> lock_register(TileKind kind, std::int64_t locks, std::int64_t offset) {
    const std::int64_t at = offset - register_map_of(kind).locks;
    if (at < 0 || at >= locks * kLockStride || at % kLockStride != 0) {
        return std::nullopt;
    }
    return at / kLockStride;
}

RegisterDescriptor decode_descriptor(TileKind kind, std::int64_t id,
                                     std::span<const std::uint32_t> words) {
    RegisterDescriptor decoded = kind == TileKind::Core     ? decode_core(words)
                                 : kind == TileKind::Memory ? decode_memory_tile(words)
                                                            : decode_shim(words);
    decoded.descriptor.id = id;
    return decoded;
}

std::vector<std::uint32_t> encode_descriptor(TileKind kind, const RegisterDescriptor& descriptor) {
    return kind == TileKind::Core     ? encode_core(descriptor)
           : kind == TileKind::Memory ? encode_memory_tile(descriptor)
                                      : encode_shim(descriptor);
}

program::Task decode_task(TileKind kind, std::uint32_t word) {
    program::Task task;
    task.descriptor = bits(word, kind == TileKind::Memory ? 5 : 3, 0);
    task.repeat = bits(word, 23, 16) + 1;
    task.token = bits(word, 31, 31) != 0;
    return task;
}

std::uint32_t encode_task(const program::Task& task) {
    return field(task.descriptor, 5, 0) | field(task.repeat - 1, 23, 16) |
           field(task.token ? 1 : 0, 31, 31);
}

std::uint32_t encode_state(bool running, bool waits_for_lock, bool overflowed,
                           std::int64_t queued) {
    constexpr std::int64_t kMostQueued = 7;
    return field(waits_for_lock ? 1 : 0, 2, 2) | field(overflowed ? 1 : 0, 18, 18) |
           field(running ? 1 : 0, 19, 19) | field(std::min(queued, kMostQueued), 22, 20);
}

}  // namespace tilesim::arch::npu::control
