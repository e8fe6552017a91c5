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
    arch::npu::DmaConfig arch::npu::NpuConfig::*dma;
    std::int64_t arch::npu::DmaConfig::*limit;
};
inline constexpr DmaLimit kDmaLimits[] = {
    {"npu.memory_dma.task_queue_depth", &arch::npu::NpuConfig::memory_dma,
     &arch::npu::DmaConfig::task_queue_depth},
    {"npu.shim_dma.descriptors", &arch::npu::NpuConfig::shim_dma,
     &arch::npu::DmaConfig::descriptors},
    {"npu.shim_dma.step_bits", &arch::npu::NpuConfig::shim_dma, &arch::npu::DmaConfig::step_bits},
    {"npu.shim_dma.task_queue_depth", &arch::npu::NpuConfig::shim_dma,
     &arch::npu::DmaConfig::task_queue_depth},
    {"npu.shim_dma.repeats", &arch::npu::NpuConfig::shim_dma, &arch::npu::DmaConfig::repeats},
};

// Those of which a tenth more or less, or one, changes what a dataflow `takes` from a device.
template <class Takes>
std::vector<std::string> deciding_limits(const arch::npu::NpuConfig& config, const Takes& takes) {
    const auto taken = takes(config);
    std::vector<std::string> keys;
    for (const DmaLimit& each : kDmaLimits) {
        const std::int64_t is = config.*each.dma.*each.limit;
        const auto other = [&](std::int64_t value) {
            arch::npu::NpuConfig changed = config;
            changed.*each.dma.*each.limit = value;
            return value > 0 && takes(changed) != taken;
        };
        const std::int64_t tenth = arch::base::tenth_of(is);
        if (other(is - tenth) || other(is + tenth)) {
            keys.emplace_back(each.key);
        }
    }
    return keys;
}

}  // namespace tilesim::workloads::npu
