// What the memory tiles of an output-stationary GEMM do: blocks of A and B come in as rows and
// leave as strips or sub-tiles for the cores, C tiles join and leave as rows.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "workloads/npu/output_stationary/buffer_plan.hpp"
#include "workloads/npu/output_stationary/gemm_view.hpp"
#include "workloads/npu/output_stationary/output_stationary.hpp"

namespace tilesim::workloads::npu::output_stationary {

// An S2MM channel of a memory tile that takes the C tiles of several rows of cores as packets, each
// by the descriptor its header names.
struct PacketChannel {
    arch::npu::program::ChannelId channel;
    std::int64_t first_descriptor = 0;
    std::int64_t packets = 0;  // in an output tile
};

// How C tiles that travel as packets find their places.
struct CPackets {
    std::vector<PacketChannel> channels;
    // By column and row of cores: the descriptor its first packet names.
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> descriptors;
};

// Adds buffers, locks and descriptors of all columns' memory tiles; `mode` is the kernel's mmul.
CPackets add_memory_tiles(LoweredGemm& lowered, const GemmView& view,
                          const arch::npu::MultiplyMode& mode, const arch::npu::NpuConfig& config,
                          const std::vector<MemoryTilePlan>& plans);

}  // namespace tilesim::workloads::npu::output_stationary
