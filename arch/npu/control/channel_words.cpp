#include "arch/npu/control/channel_words.hpp"

#include <algorithm>

#include "arch/npu/control/word_fields.hpp"

namespace tilesim::arch::npu::control {

using program::TileKind;

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
