// Which limits of the device's DMAs decide how a product is lowered. A dataflow keeps as many
// transfers under way, each as long, as descriptors and queues allow; a run of its program may
// stay below them, and yet another limit would make another program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/base/limit.hpp"
#include "arch/npu/npu_config.hpp"

namespace tilesim::workloads::npu {

struct DmaLimit {
    const char* key;
    std::int64_t& (*of)(arch::npu::NpuConfig& config);
};
inline constexpr DmaLimit kDmaLimits[] = {
    {"npu.memory_dma.task_queue_depth",
     [](arch::npu::NpuConfig& config) -> std::int64_t& {
         return config.memory_dma.task_queue_depth;
     }},
    {"npu.shim_dma.descriptors",
     [](arch::npu::NpuConfig& config) -> std::int64_t& { return config.shim_dma.descriptors; }},
    {"npu.shim_dma.step_bits",
     [](arch::npu::NpuConfig& config) -> std::int64_t& { return config.shim_dma.step_bits; }},
    {"npu.shim_dma.task_queue_depth",
     [](arch::npu::NpuConfig& config) -> std::int64_t& {
         return config.shim_dma.task_queue_depth;
     }},
    {"npu.shim_dma.repeats",
     [](arch::npu::NpuConfig& config) -> std::int64_t& { return config.shim_dma.repeats; }},
};

// Those of which a tenth more or less, or one, changes what a dataflow `takes` from a device.
template <class Takes>
std::vector<std::string> deciding_limits(const arch::npu::NpuConfig& config, const Takes& takes) {
    const auto taken = takes(config);
    std::vector<std::string> keys;
    for (const DmaLimit& limit : kDmaLimits) {
        const auto other = [&](std::int64_t change) {
            arch::npu::NpuConfig changed = config;
            limit.of(changed) += change;
            return limit.of(changed) > 0 && takes(changed) != taken;
        };
        arch::npu::NpuConfig same = config;
        const std::int64_t tenth = arch::base::tenth_of(limit.of(same));
        if (other(-tenth) || other(tenth)) {
            keys.emplace_back(limit.key);
        }
    }
    return keys;
}

}  // namespace tilesim::workloads::npu
