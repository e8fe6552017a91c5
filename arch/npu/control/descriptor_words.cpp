#include "arch/npu/control/descriptor_words.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "arch/base/check.hpp"
#include "arch/npu/control/address_counters.hpp"
#include "arch/npu/control/register_layout.hpp"
#include "arch/npu/control/word_fields.hpp"

namespace tilesim::arch::npu::control {

using program::BufferDescriptor;
using program::Dimension;
using program::LockAction;
using program::TileKind;

namespace {

std::int64_t sign_extended(std::int64_t value, int width) {
    const std::int64_t sign = std::int64_t{1} << (width - 1);
    return (value ^ sign) - sign;
}
std::optional<LockAction> lock_action(const DescriptorLayout& layout, const LockFields& fields,
                                      const FieldReader& read) {
    std::int64_t value = read(fields.value);
    if (layout.counting_locks) {
        value = sign_extended(value, fields.value.high - fields.value.low + 1);
    }
    const bool done = fields.enable.word < 0 ? value != 0 : read(fields.enable) != 0;
    return done ? std::optional{LockAction{read(fields.id), value}} : std::nullopt;
}

void write_lock(const LockFields& fields, const std::optional<LockAction>& action,
                FieldWriter& write) {
    if (action) {
        write(fields.enable, 1);
        write(fields.id, action->lock);
        write(fields.value, action->value);
        write(fields.use_value, 1);
    }
}

// Dimensions from wraps and steps; the outermost has no wrap.
std::vector<Dimension> stepped_dimensions(const DescriptorLayout& layout, const FieldReader& read,
                                          std::int64_t length) {
    std::vector<Dimension> dimensions;
    std::int64_t inner = 1;
    for (std::size_t i = 0; i < layout.steps.size() && layout.steps[i].word >= 0; ++i) {
        const std::int64_t wrap = i < layout.wraps.size() ? read(layout.wraps[i]) : 0;
        const std::int64_t size = wrap > 0 ? wrap : std::max<std::int64_t>(1, length / inner);
        dimensions.push_back({size, read(layout.steps[i]) + 1});
        inner *= size;
        if (wrap == 0) {
            break;
        }
    }
    if (dimensions.size() == 1 && dimensions[0].stride == 1) {
        dimensions.clear();
    }
    return dimensions;
}

bool counts(const DescriptorLayout& layout) {
    return layout.counters[0].increment.word >= 0;
}

std::int64_t length_of(const DescriptorLayout& layout, const FieldReader& read) {
    return read(layout.length) + layout.length_bias;
}

void decode_padding(const DescriptorLayout& layout, const FieldReader& read,
                    BufferDescriptor& descriptor) {
    std::vector<program::Padding> padding;
    bool padded = false;
    for (std::size_t i = 0; i < layout.zeros_before.size(); ++i) {
        padding.push_back({read(layout.zeros_before[i]), read(layout.zeros_after[i])});
        padded |= padding.back().before + padding.back().after > 0;
    }
    if (padded) {
        padding.resize(std::min(padding.size(), descriptor.dimensions.size()));
        descriptor.padding = std::move(padding);
    }
}

void decode_alternate(const DescriptorLayout& layout, const FieldReader& read,
                      BufferDescriptor& descriptor) {
    if (read(layout.alternates) != 0) {
        program::Alternate& second = descriptor.alternate.emplace();
        second.offset = read(layout.second_address) * layout.address_unit;
        second.acquire = lock_action(layout, layout.second_acquire, read);
        second.release = lock_action(layout, layout.second_release, read);
    }
}

void encode_alternate(const DescriptorLayout& layout, const BufferDescriptor& descriptor,
                      FieldWriter& write) {
    if (descriptor.alternate) {
        write(layout.alternates, 1);
        write(layout.second_address, descriptor.alternate->offset / layout.address_unit);
        write_lock(layout.second_acquire, descriptor.alternate->acquire, write);
        write_lock(layout.second_release, descriptor.alternate->release, write);
    }
}

}  // namespace

RegisterDescriptor decode_descriptor(TileKind kind, std::int64_t id,
                                     std::span<const std::uint32_t> words, Generation generation) {
    const DescriptorLayout& layout = descriptor_layout_of(kind, generation);
    const FieldReader read(words);
    RegisterDescriptor decoded;
    decoded.address =
        read(layout.address_high) << 32 | (read(layout.address) * layout.address_unit);
    BufferDescriptor& descriptor = decoded.descriptor;
    descriptor.id = id;
    descriptor.length = length_of(layout, read);
    if (read(layout.packet) != 0) {
        descriptor.packet = program::Packet{read(layout.packet_id), read(layout.packet_type),
                                            read(layout.packet_descriptor)};
    }
    if (read(layout.use_next) != 0) {
        descriptor.next = read(layout.next);
    }
    descriptor.acquire = lock_action(layout, layout.acquire, read);
    descriptor.release = lock_action(layout, layout.release, read);
    if (counts(layout)) {
        descriptor.dimensions =
            counted_dimensions(layout, read, descriptor.length).value_or(std::vector<Dimension>{});
    } else {
        descriptor.dimensions = stepped_dimensions(layout, read, descriptor.length);
    }
    decode_padding(layout, read, descriptor);
    if (const std::int64_t wrap = read(layout.iteration_wrap); wrap > 0) {
        descriptor.iteration = program::Iteration{wrap + 1, read(layout.iteration_step) + 1,
                                                  read(layout.iteration_current) % (wrap + 1)};
    }
    decode_alternate(layout, read, descriptor);
    if (layout.burst.word >= 0) {
        descriptor.burst_bytes = kFirstBurst << read(layout.burst);
    }
    return decoded;
}

std::vector<std::uint32_t> encode_descriptor(TileKind kind, const RegisterDescriptor& given,
                                             Generation generation) {
    const DescriptorLayout& layout = descriptor_layout_of(kind, generation);
    const BufferDescriptor& d = given.descriptor;
    FieldWriter write(layout.words);
    write(layout.valid, 1);
    write(layout.length, d.length - layout.length_bias);
    write(layout.address, given.address / layout.address_unit);
    write(layout.address_high, given.address >> 32);
    if (d.packet && !d.packet->in_data) {
        write(layout.packet, 1);
        write(layout.packet_id, d.packet->id);
        write(layout.packet_type, d.packet->type);
        write(layout.packet_descriptor, d.packet->descriptor);
    }
    if (d.next) {
        write(layout.use_next, 1);
        write(layout.next, *d.next);
    }
    SIM_CHECK(
        layout.counting_locks || !d.acquire || !d.release || d.acquire->lock == d.release->lock,
        "a descriptor of the first generation has one lock for both ends");
    write_lock(layout.acquire, d.acquire, write);
    write_lock(layout.release, d.release, write);
    if (counts(layout)) {
        write_counters(layout, d.dimensions, write);
    }
    for (std::size_t i = 0; i < std::min(d.dimensions.size(), layout.steps.size()); ++i) {
        write(layout.steps[i], d.dimensions[i].stride - 1);
        if (i < layout.wraps.size()) {
            write(layout.wraps[i], d.dimensions[i].size);
        }
    }
    for (std::size_t i = 0; i < std::min(d.padding.size(), layout.zeros_before.size()); ++i) {
        write(layout.zeros_before[i], d.padding[i].before);
        write(layout.zeros_after[i], d.padding[i].after);
    }
    if (d.iteration) {
        write(layout.iteration_wrap, d.iteration->size - 1);
        write(layout.iteration_step, d.iteration->stride - 1);
        write(layout.iteration_current, d.iteration->current);
    }
    encode_alternate(layout, d, write);
    constexpr std::int64_t kLongestBurst = 2;  // where nothing is said
    write(layout.burst, d.burst_bytes == 0 ? kLongestBurst : d.burst_bytes / kFirstBurst / 2);
    return std::move(write).words();
}

bool valid_descriptor(TileKind kind, std::span<const std::uint32_t> words, Generation generation) {
    return FieldReader(words)(descriptor_layout_of(kind, generation).valid) != 0;
}

std::string not_modelled(TileKind kind, std::span<const std::uint32_t> words,
                         Generation generation) {
    const DescriptorLayout& layout = descriptor_layout_of(kind, generation);
    const FieldReader read(words);
    if (read(layout.interleaved) != 0) {
        return "the interleaved mode";
    }
    if (read(layout.fifo) != 0) {
        return "the FIFO mode";
    }
    const bool second = read(layout.alternates) != 0;
    if (second && read(layout.begins_with_second) != 0) {
        return "a start with buffer B";
    }
    for (const auto& [fields, counts_here] :
         {std::pair{layout.acquire, true}, std::pair{layout.release, true},
          std::pair{layout.second_acquire, second}, std::pair{layout.second_release, second}}) {
        if (counts_here && fields.use_value.word >= 0 && read(fields.enable) != 0 &&
            read(fields.use_value) == 0) {
            return "a lock that is acquired or released without a value";
        }
    }
    if (layout.burst.word >= 0 && read(layout.burst) > 2) {
        return "this burst length";
    }
    if (counts(layout) && !counted_dimensions(layout, read, length_of(layout, read))) {
        return "address counters that do not nest, or a length that ends within them,";
    }
    return {};
}

}  // namespace tilesim::arch::npu::control
