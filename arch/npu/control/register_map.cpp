#include "arch/npu/control/register_map.hpp"

#include <utility>

#include "arch/base/check.hpp"

namespace tilesim::arch::npu::control {

using program::Direction;
using program::TileKind;

namespace {

struct TileAddress {
    int column_shift, row_shift;
};
constexpr TileAddress tile_address(Generation generation) {
    return generation == Generation::First ? TileAddress{23, 18} : TileAddress{25, 20};
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

constexpr std::uint32_t kShimPauses = 1U << 1 | 1U << 2;  // of the memory side, of the stream
constexpr RegisterMap kSecondCore{.descriptors = 0x1D000,
                                  .queues = 0x1DE00,
                                  .mm2s = 0x10,
                                  .states = 0x1DF00,
                                  .mm2s_states = 0x1DF10,
                                  .locks = 0x1F000,
                                  .descriptor_stride = kDescriptorStride,
                                  .reset = 1,
                                  .state = &kSecondState};
constexpr RegisterMap kSecondMemory{.descriptors = 0xA0000,
                                    .queues = 0xA0600,
                                    .mm2s = 0x30,
                                    .states = 0xA0660,
                                    .mm2s_states = 0xA0680,
                                    .locks = 0xC0000,
                                    .descriptor_stride = kDescriptorStride,
                                    .reset = 1,
                                    .state = &kSecondState};
constexpr RegisterMap kSecondShim{.descriptors = 0x1D000,
                                  .queues = 0x1D200,
                                  .mm2s = 0x10,
                                  .states = 0x1D220,
                                  .mm2s_states = 0x1D228,
                                  .locks = 0x14000,
                                  .descriptor_stride = kDescriptorStride,
                                  .pauses = kShimPauses,
                                  .state = &kSecondState};
constexpr RegisterMap kFirstCore{.descriptors = 0x1D000,
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
constexpr RegisterMap kFirstShim{.descriptors = 0x1D000,
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

}  // namespace tilesim::arch::npu::control
