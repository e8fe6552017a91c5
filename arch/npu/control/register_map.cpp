#include "arch/npu/control/register_map.hpp"

#include <algorithm>
#include <array>

#include "arch/base/check.hpp"
#include "arch/npu/control/register_layout.hpp"

namespace tilesim::arch::npu::control {

using program::BufferDescriptor;
using program::Dimension;
using program::Direction;
using program::LockAction;
using program::TileKind;

namespace {

struct TileAddress {
    int column_shift, row_shift;
};
constexpr TileAddress tile_address(Generation generation) {
    return generation == Generation::First ? TileAddress{23, 18} : TileAddress{25, 20};
}

std::int64_t bits(std::uint32_t word, int high, int low) {
    const std::uint32_t mask = high - low == 31 ? ~0U : (1U << (high - low + 1)) - 1U;
    return (word >> low) & mask;
}
std::int64_t sign_extended(std::int64_t value, int width) {
    const std::int64_t sign = std::int64_t{1} << (width - 1);
    return (value ^ sign) - sign;
}
std::uint32_t field(std::int64_t value, int high, int low) {
    const std::uint32_t mask = high - low == 31 ? ~0U : (1U << (high - low + 1)) - 1U;
    return (static_cast<std::uint32_t>(value) & mask) << low;
}

// A descriptor's words, read by fields.
class Reader {
  public:
    explicit Reader(std::span<const std::uint32_t> words) : words_(words) {}
    std::int64_t operator()(const Field& at) const {
        return at.word < 0 ? 0 : bits(words_[static_cast<std::size_t>(at.word)], at.high, at.low);
    }

  private:
    std::span<const std::uint32_t> words_;
};

// And written.
class Writer {
  public:
    explicit Writer(std::size_t words) : words_(words) {}
    void operator()(const Field& at, std::int64_t value) {
        if (at.word >= 0) {
            words_[static_cast<std::size_t>(at.word)] |= field(value, at.high, at.low);
        }
    }
    std::vector<std::uint32_t> words() && { return std::move(words_); }

  private:
    std::vector<std::uint32_t> words_;
};

std::optional<LockAction> lock_action(const DescriptorLayout& layout, const LockFields& fields,
                                      const Reader& read) {
    std::int64_t value = read(fields.value);
    if (layout.counting_locks) {
        value = sign_extended(value, fields.value.high - fields.value.low + 1);
    }
    const bool done = fields.enable.word < 0 ? value != 0 : read(fields.enable) != 0;
    return done ? std::optional{LockAction{read(fields.id), value}} : std::nullopt;
}

void write_lock(const LockFields& fields, const std::optional<LockAction>& action, Writer& write) {
    if (action) {
        write(fields.enable, 1);
        write(fields.id, action->lock);
        write(fields.value, action->value);
        write(fields.use_value, 1);
    }
}

// Dimensions from wraps and steps; the outermost has no wrap.
std::vector<Dimension> stepped_dimensions(const DescriptorLayout& layout, const Reader& read,
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

// What X or Y adds to the address of the word `at`.
struct AddressCounter {
    std::int64_t increment, wrap, offset;
    std::int64_t of(std::int64_t at) const { return at / increment % wrap * offset; }
};

// Dimensions from counters whose steps add up. Between two words at which a counter steps or wraps
// the address is linear, so that each such stretch is a dimension; nothing where one stretch does
// not fill the next, or where there are more of them than a descriptor can have.
std::optional<std::vector<Dimension>> counted_dimensions(const DescriptorLayout& layout,
                                                         const Reader& read, std::int64_t length) {
    constexpr std::size_t kMostDimensions = 4;
    std::array<AddressCounter, 2> counters{};
    std::vector<std::int64_t> turns{1, length};
    for (std::size_t i = 0; i < counters.size(); ++i) {
        const CounterFields& fields = layout.counters[i];
        counters[i] = {read(fields.increment) + 1, read(fields.wrap) + 1, read(fields.offset)};
        for (const std::int64_t turn :
             {counters[i].increment, counters[i].increment * counters[i].wrap}) {
            if (turn < length) {
                turns.push_back(turn);
            }
        }
    }
    std::sort(turns.begin(), turns.end());
    turns.erase(std::unique(turns.begin(), turns.end()), turns.end());
    std::vector<Dimension> dimensions;
    std::int64_t filled = 1;  // words in the dimensions so far
    for (std::size_t i = 0; i + 1 < turns.size(); ++i) {
        const std::int64_t at = turns[i];
        const bool last = i + 2 == turns.size();
        const std::int64_t size = (turns[i + 1] + at - 1) / at;
        if (!last && turns[i + 1] % at != 0) {
            return std::nullopt;
        }
        const std::int64_t stride = counters[0].of(at) + counters[1].of(at);
        if (!dimensions.empty() && stride == dimensions.back().size * dimensions.back().stride) {
            dimensions.back().size *= size;
        } else {
            filled = at;
            dimensions.push_back({size, stride});
        }
    }
    if (dimensions.size() > kMostDimensions || length % filled != 0) {
        return std::nullopt;
    }
    if (dimensions.size() == 1) {
        dimensions[0].size = length;
    }
    if (dimensions.size() <= 1 && (dimensions.empty() || dimensions[0].stride == 1)) {
        dimensions.clear();
    }
    return dimensions;
}

// The counters of at most two dimensions; what follows them goes on linearly.
void write_counters(const DescriptorLayout& layout, std::vector<Dimension> dimensions,
                    Writer& write) {
    constexpr std::int64_t kMostWrap = 256;
    if (dimensions.empty()) {
        dimensions.push_back({kMostWrap, 1});
    }
    dimensions[0].size = std::min(dimensions[0].size, kMostWrap);
    if (dimensions.size() == 1) {
        dimensions.push_back({kMostWrap, dimensions[0].size * dimensions[0].stride});
    }
    std::int64_t increment = 1;
    for (std::size_t i = 0; i < layout.counters.size(); ++i) {
        write(layout.counters[i].increment, increment - 1);
        write(layout.counters[i].wrap, dimensions[i].size - 1);
        write(layout.counters[i].offset, dimensions[i].stride);
        increment *= dimensions[i].size;
    }
}

bool counts(const DescriptorLayout& layout) {
    return layout.counters[0].increment.word >= 0;
}

std::int64_t length_of(const DescriptorLayout& layout, const Reader& read) {
    return read(layout.length) + layout.length_bias;
}

void decode_padding(const DescriptorLayout& layout, const Reader& read,
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

void decode_alternate(const DescriptorLayout& layout, const Reader& read,
                      BufferDescriptor& descriptor) {
    if (read(layout.alternates) != 0) {
        program::Alternate& second = descriptor.alternate.emplace();
        second.offset = read(layout.second_address) * layout.address_unit;
        second.acquire = lock_action(layout, layout.second_acquire, read);
        second.release = lock_action(layout, layout.second_release, read);
    }
}

void encode_alternate(const DescriptorLayout& layout, const BufferDescriptor& descriptor,
                      Writer& write) {
    if (descriptor.alternate) {
        write(layout.alternates, 1);
        write(layout.second_address, descriptor.alternate->offset / layout.address_unit);
        write_lock(layout.second_acquire, descriptor.alternate->acquire, write);
        write_lock(layout.second_release, descriptor.alternate->release, write);
    }
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

constexpr StateLayout kSecondState{
    .shared = false, .running = {19}, .waits_for_lock = {2}, .queued = {20, 3}, .overflowed = {18}};
constexpr StateLayout kFirstState{.shared = true,
                                  .status = {0, 2, 2},
                                  .waits_for_lock = {4, 1, 1},
                                  .queued = {6, 3, 3},
                                  .descriptor = {16, 4, 4},
                                  .overflowed = {28, 1, 1}};

// Parts of a lock request's offset.
constexpr std::int64_t kAcquireRequest = 0x40, kValueRequest = 0x20, kValueStride = 0x10;

}  // namespace

Generation generation_of(const NpuConfig& config) {
    return config.lock_kind == LockKind::Binary ? Generation::First : Generation::Second;
}

RegisterAddress split(std::uint64_t address, Generation generation) {
    const TileAddress at = tile_address(generation);
    return {{static_cast<std::int64_t>(address >> at.column_shift),
             static_cast<std::int64_t>((address >> at.row_shift) & 0x1F)},
            static_cast<std::int64_t>(address & ((1U << at.row_shift) - 1))};
}

std::uint64_t join(program::TileCoordinate tile, std::int64_t offset, Generation generation) {
    const TileAddress at = tile_address(generation);
    return static_cast<std::uint64_t>(tile.column) << at.column_shift |
           static_cast<std::uint64_t>(tile.row) << at.row_shift |
           static_cast<std::uint64_t>(offset);
}

const RegisterMap& register_map_of(TileKind kind, Generation generation) {
    constexpr std::uint32_t kShimPauses = 1U << 1 | 1U << 2;  // of the memory side, of the stream
    static constexpr RegisterMap kSecondCore{.descriptors = 0x1D000,
                                             .queues = 0x1DE00,
                                             .mm2s = 0x10,
                                             .states = 0x1DF00,
                                             .mm2s_states = 0x1DF10,
                                             .locks = 0x1F000,
                                             .descriptor_stride = kDescriptorStride,
                                             .reset = 1,
                                             .state = &kSecondState};
    static constexpr RegisterMap kSecondMemory{.descriptors = 0xA0000,
                                               .queues = 0xA0600,
                                               .mm2s = 0x30,
                                               .states = 0xA0660,
                                               .mm2s_states = 0xA0680,
                                               .locks = 0xC0000,
                                               .descriptor_stride = kDescriptorStride,
                                               .reset = 1,
                                               .state = &kSecondState};
    static constexpr RegisterMap kSecondShim{.descriptors = 0x1D000,
                                             .queues = 0x1D200,
                                             .mm2s = 0x10,
                                             .states = 0x1D220,
                                             .mm2s_states = 0x1D228,
                                             .locks = 0x14000,
                                             .descriptor_stride = kDescriptorStride,
                                             .pauses = kShimPauses,
                                             .state = &kSecondState};
    static constexpr RegisterMap kFirstCore{.descriptors = 0x1D000,
                                            .queues = 0x1DE00,
                                            .mm2s = 0x10,
                                            .states = 0x1DF00,
                                            .mm2s_states = 0x1DF10,
                                            .locks = -1,
                                            .descriptor_stride = 0x20,
                                            .lock_requests = 0x1E000,
                                            .lock_states = 0x1EF00,
                                            .enable = 0,
                                            .reset = 1,
                                            .state = &kFirstState};
    static constexpr RegisterMap kFirstShim{.descriptors = 0x1D000,
                                            .queues = 0x1D140,
                                            .mm2s = 0x10,
                                            .states = 0x1D160,
                                            .mm2s_states = 0x1D164,
                                            .locks = -1,
                                            .descriptor_stride = 0x14,
                                            .lock_requests = 0x14000,
                                            .lock_states = 0x14F00,
                                            .enable = 0,
                                            .pauses = kShimPauses,
                                            .state = &kFirstState};
    if (generation == Generation::First) {
        SIM_CHECK(kind != TileKind::Memory, "the first generation has no memory tiles");
        return kind == TileKind::Core ? kFirstCore : kFirstShim;
    }
    return kind == TileKind::Core     ? kSecondCore
           : kind == TileKind::Memory ? kSecondMemory
                                      : kSecondShim;
}

std::int64_t descriptor_offset(TileKind kind, std::int64_t id, Generation generation) {
    const RegisterMap& map = register_map_of(kind, generation);
    return map.descriptors + id * map.descriptor_stride;
}

std::optional<DescriptorWord> descriptor_word(TileKind kind, std::int64_t descriptors,
                                              std::int64_t offset, Generation generation) {
    const RegisterMap& map = register_map_of(kind, generation);
    const std::int64_t at = offset - map.descriptors;
    if (at < 0 || at >= descriptors * map.descriptor_stride) {
        return std::nullopt;
    }
    return DescriptorWord{at / map.descriptor_stride,
                          static_cast<std::size_t>(at % map.descriptor_stride / kWordBytes)};
}

std::int64_t queue_offset(TileKind kind, const ChannelRegister& which, Generation generation) {
    const RegisterMap& map = register_map_of(kind, generation);
    return map.queues + (which.direction == Direction::MM2S ? map.mm2s : 0) +
           which.channel * kQueueStride + (which.queue ? kWordBytes : 0);
}

std::optional<ChannelRegister> queue_register(TileKind kind, std::int64_t channels,
                                              std::int64_t offset, Generation generation) {
    const RegisterMap& map = register_map_of(kind, generation);
    return channel_at(offset, map.queues, map.queues + map.mm2s, kQueueStride, channels);
}

std::optional<StateRegister> state_register(TileKind kind, std::int64_t channels,
                                            std::int64_t offset, Generation generation) {
    const RegisterMap& map = register_map_of(kind, generation);
    const bool shared = map.state->shared;
    const auto found =
        channel_at(offset, map.states, map.mm2s_states, kWordBytes, shared ? 1 : channels);
    if (!found) {
        return std::nullopt;
    }
    return StateRegister{found->direction, found->channel, shared ? channels : 1};
}

std::optional<std::int64_t> lock_register(TileKind kind, std::int64_t locks, std::int64_t offset,
                                          Generation generation) {
    const RegisterMap& map = register_map_of(kind, generation);
    const std::int64_t at = offset - map.locks;
    if (map.locks < 0 || at < 0 || at >= locks * kLockStride || at % kLockStride != 0) {
        return std::nullopt;
    }
    return at / kLockStride;
}

std::int64_t request_offset(TileKind kind, const LockRequest& request) {
    return register_map_of(kind, Generation::First).lock_requests + request.lock * kRequestStride +
           (request.acquire ? kAcquireRequest : 0) +
           (request.value ? kValueRequest + *request.value * kValueStride : 0);
}

std::optional<LockRequest> lock_request(TileKind kind, std::int64_t locks, std::int64_t offset,
                                        Generation generation) {
    const RegisterMap& map = register_map_of(kind, generation);
    const std::int64_t at = offset - map.lock_requests;
    if (map.lock_requests < 0 || at < 0 || at >= locks * kRequestStride) {
        return std::nullopt;
    }
    LockRequest request{at / kRequestStride, at % kRequestStride >= kAcquireRequest, {}};
    const std::int64_t way = at % kAcquireRequest;
    if (way == kValueRequest || way == kValueRequest + kValueStride) {
        request.value = (way - kValueRequest) / kValueStride;
    } else if (way != 0) {
        return std::nullopt;
    }
    return request;
}

RegisterDescriptor decode_descriptor(TileKind kind, std::int64_t id,
                                     std::span<const std::uint32_t> words, Generation generation) {
    const DescriptorLayout& layout = descriptor_layout_of(kind, generation);
    const Reader read(words);
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
        descriptor.iteration = program::Iteration{wrap + 1, read(layout.iteration_step) + 1};
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
    Writer write(layout.words);
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
    }
    encode_alternate(layout, d, write);
    constexpr std::int64_t kLongestBurst = 2;  // where nothing is said
    write(layout.burst, d.burst_bytes == 0 ? kLongestBurst : d.burst_bytes / kFirstBurst / 2);
    return std::move(write).words();
}

bool valid_descriptor(TileKind kind, std::span<const std::uint32_t> words, Generation generation) {
    return Reader(words)(descriptor_layout_of(kind, generation).valid) != 0;
}

std::string not_modelled(TileKind kind, std::span<const std::uint32_t> words,
                         Generation generation) {
    const DescriptorLayout& layout = descriptor_layout_of(kind, generation);
    const Reader read(words);
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

program::Task decode_task(TileKind kind, std::uint32_t word, Generation generation) {
    program::Task task;
    task.descriptor = bits(word, kind == TileKind::Memory ? 5 : 3, 0);
    if (generation == Generation::Second) {
        task.repeat = bits(word, 23, 16) + 1;
        task.token = bits(word, 31, 31) != 0;
    }
    return task;
}

std::uint32_t encode_task(const program::Task& task) {
    return field(task.descriptor, 5, 0) | field(task.repeat - 1, 23, 16) |
           field(task.token ? 1 : 0, 31, 31);
}

std::uint32_t encode_state(TileKind kind, std::int64_t channel, const ChannelStatus& status,
                           Generation generation) {
    const StateLayout& layout = *register_map_of(kind, generation).state;
    std::uint32_t word = 0;
    const auto put = [&](const StateField& at, std::int64_t value) {
        if (at.low >= 0) {
            const std::int64_t most = (std::int64_t{1} << at.width) - 1;
            word |= static_cast<std::uint32_t>(std::min(value, most))
                    << (at.low + at.step * channel);
        }
    };
    constexpr std::int64_t kStarting = 1, kRunning = 2;
    put(layout.status, status.starting ? kStarting : status.running ? kRunning : 0);
    put(layout.running, status.running ? 1 : 0);
    put(layout.waits_for_lock, status.waits_for_lock ? 1 : 0);
    put(layout.queued, status.queued);
    put(layout.descriptor, status.descriptor);
    put(layout.overflowed, status.overflowed ? 1 : 0);
    return word;
}

std::uint32_t encode_lock(std::int64_t lock, std::int64_t value, bool held) {
    return ((held ? 1U : 0U) | (value != 0 ? 2U : 0U)) << (2 * lock);
}

}  // namespace tilesim::arch::npu::control
