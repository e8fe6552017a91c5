#include "arch/npu/check/device_use.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace tilesim::arch::npu::check {
namespace {

constexpr program::TileCoordinate kCore{1, 2};

bool names(const std::vector<std::string>& keys, const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool unused(const program::Program& program, const std::string& key, const NpuPeaks& peaks = {}) {
    return names(not_exercised(program, NpuConfig{}, peaks), key);
}

// A core's DMA that receives what one descriptor says, over and over.
program::Program receiving(const program::BufferDescriptor& descriptor, std::int64_t channel = 0) {
    program::Program program;
    program.buffers = {{"buffer", kCore, 1024, 4096}};
    program.dmas = {{kCore, {descriptor}, {{program::Direction::S2MM, channel, {descriptor.id}}}}};
    return program;
}

program::BufferDescriptor of_length(std::int64_t words) {
    program::BufferDescriptor descriptor;
    descriptor.length = words;
    return descriptor;
}

TEST(DeviceUse, WhatNoProgramPartNeedsIsNamed) {
    const auto keys = not_exercised({}, NpuConfig{}, {});
    for (const char* key :
         {"npu.cascade.fifo", "npu.stream.hop_latency", "npu.shim.task_start",
          "npu.core_dma.descriptor_latency", "npu.command_processor.copy_word",
          "npu.kernels.load_slots", "npu.kernels.accumulate_latency", "npu.core.lock_wake"}) {
        EXPECT_TRUE(names(keys, key)) << key;
    }
    EXPECT_FALSE(names(keys, "npu.clock"));
    EXPECT_FALSE(names(keys, "npu.command_processor.dispatch"));
}

TEST(DeviceUse, ALimitIsNamedWhereATenthLessOfItWouldDo) {
    // NpuConfig's core DMA: 2 channels, 16 descriptors, lengths of 14 bits.
    EXPECT_TRUE(unused(receiving(of_length(64), 0), "npu.core_dma.channels"));
    EXPECT_FALSE(unused(receiving(of_length(64), 1), "npu.core_dma.channels"));
    EXPECT_TRUE(unused(receiving(of_length((1 << 13) - 1)), "npu.core_dma.length_bits"));
    EXPECT_FALSE(unused(receiving(of_length(1 << 13)), "npu.core_dma.length_bits"));
    program::BufferDescriptor last = of_length(64);
    last.id = 13;
    EXPECT_TRUE(unused(receiving(last), "npu.core_dma.descriptors"));
    last.id = 14;
    EXPECT_FALSE(unused(receiving(last), "npu.core_dma.descriptors"));
}

TEST(DeviceUse, ADescriptorsTimesAreNamedWhereNoneSuffersThem) {
    program::BufferDescriptor descriptor = of_length(64);
    EXPECT_FALSE(unused(receiving(descriptor), "npu.core_dma.descriptor_latency"));
    EXPECT_TRUE(unused(receiving(descriptor), "npu.memory_dma.descriptor_latency"));
    EXPECT_TRUE(unused(receiving(descriptor), "npu.core_dma.boundary_bubble"));
    EXPECT_TRUE(unused(receiving(descriptor), "npu.core_dma.grant_to_stream"));
    descriptor.next = 0;
    descriptor.acquire = program::LockAction{0, -1};
    program::Program program = receiving(descriptor);
    program.locks = {{"lock", kCore, 3, 1}};
    EXPECT_FALSE(unused(program, "npu.core_dma.boundary_bubble"));
    EXPECT_FALSE(unused(program, "npu.core_dma.grant_to_stream"));
}

TEST(DeviceUse, AQueueIsNamedUnlessARunFilledIt) {
    const program::Program program = receiving(of_length(64));
    EXPECT_TRUE(unused(program, "npu.core_dma.task_queue_depth", {.core_tasks = 3}));
    EXPECT_FALSE(unused(program, "npu.core_dma.task_queue_depth", {.core_tasks = 4}));
}

TEST(DeviceUse, AShimsBurstIsNamedWhereHalfOfItHoldsEveryRun) {
    const auto named = [](std::int64_t words, std::int64_t burst_bytes) {
        program::BufferDescriptor descriptor = of_length(words);
        descriptor.burst_bytes = burst_bytes;
        program::Program program;
        program.external_buffers = {{"buffer", 0, 4096}};
        program.dmas = {{{1, 0}, {descriptor}, {{program::Direction::S2MM, 0, {descriptor.id}}}}};
        NpuConfig config;
        config.shim.burst = base::Bytes{256};
        return names(not_exercised(program, config, {}), "npu.shim.burst");
    };
    EXPECT_TRUE(named(32, 0));
    EXPECT_FALSE(named(33, 0));
    EXPECT_TRUE(named(33, 64));  // it says its own
}

TEST(DeviceUse, ALoopWhoseIterationsDoNotOverlapFeelsItsLatenciesAndNotTheDevicesLanes) {
    program::Program program;
    program::Kernel cast;
    cast.kind = program::KernelKind::Vector;
    cast.operation = program::VectorOperation::Cast;
    cast.m = cast.n = 64;
    program.cores = {{kCore, {}, {{program::CallOp{0, {}, {}}}}}};
    NpuConfig config;
    config.kernels.vector_lanes = 16;
    const auto named = [&](std::int64_t iteration_lanes, const char* key) {
        cast.iteration_lanes = iteration_lanes;
        program.kernels = {cast};
        return names(not_exercised(program, config, {}), key);
    };
    for (const char* key : {"npu.kernels.load_latency", "npu.kernels.vector_latency"}) {
        EXPECT_FALSE(named(0, key)) << key;
        EXPECT_FALSE(named(16, key)) << key;
    }
    EXPECT_FALSE(named(0, "npu.kernels.vector_lanes"));
    EXPECT_TRUE(named(16, "npu.kernels.vector_lanes"));
}

TEST(DeviceUse, LoadSlotsAreNamedWhereOneMoreOrLessTakesNoOtherTime) {
    program::Program program;
    program::Kernel kernel;
    kernel.kind = program::KernelKind::Add;
    kernel.m = kernel.n = 64;
    kernel.c = DataType::Int8;
    program.kernels = {kernel};
    program.cores = {{kCore, {}, {{program::CallOp{0, {}, {}}}}}};
    NpuConfig config;
    // Two vectors to load, one to store: two slots keep up, three are no faster.
    config.kernels.load_slots = 2;
    EXPECT_FALSE(names(not_exercised(program, config, {}), "npu.kernels.load_slots"));
    config.kernels.load_slots = 3;
    EXPECT_TRUE(names(not_exercised(program, config, {}), "npu.kernels.load_slots"));
}

// In which banks buffers are put follows from the memory's size and from what the stack takes.
TEST(DeviceUse, WhatPlacesBuffersIsNamedUnlessAKernelLoadsTwoOfACore) {
    program::Kernel kernel;
    kernel.kind = program::KernelKind::Multiply;
    kernel.m = kernel.k = kernel.n = 64;
    NpuConfig config;
    config.kernels.modes = {{}};
    const auto named = [&](program::TileCoordinate tile_of_b, const char* key) {
        program::Program program;
        program.buffers = {
            {"a", kCore, 1024, 4096}, {"b", tile_of_b, 5120, 4096}, {"c", kCore, 9216, 4096}};
        program.kernels = {kernel};
        program::CoreProgram core{kCore, {}, {{program::CallOp{0, {0, 1, 2}, {}}}}};
        core.rotations = {{"a", {0}}, {"b", {1}}, {"c", {2}}};
        program.cores = {core};
        return names(not_exercised(program, config, {}), key);
    };
    for (const char* key : {"npu.core.memory", "npu.core.stack", "npu.core.bank"}) {
        EXPECT_FALSE(named(kCore, key)) << key;
        EXPECT_TRUE(named({1, 3}, key)) << key;
    }
}

TEST(DeviceUse, MultiplicationsThatNoKernelUsesAreNamed) {
    NpuConfig config;
    config.kernels.modes.resize(3);
    config.kernels.modes[1].c = DataType::Int32;
    config.kernels.modes[2].c = DataType::Int32;
    config.kernels.modes[2].name = "other";
    config.kernels.stream_modes = {{}};
    program::Kernel kernel;
    kernel.kind = program::KernelKind::Multiply;
    kernel.a = kernel.b = DataType::Int8;
    kernel.c = DataType::Int32;
    kernel.m = kernel.k = kernel.n = 8;
    program::Program program;
    program.buffers = {{"buffer", kCore, 0, 64}};
    program.kernels = {kernel};
    program.cores = {{kCore, {{"a", {0}}, {"b", {0}}}, {{program::CallOp{0, {0, 1}, {}}}}}};
    const auto named = [&] {
        std::vector<int> modes;
        const auto keys = not_exercised(program, config, {});
        for (int i = 0; i < 3; ++i) {
            if (names(keys, "npu.kernels.modes[" + std::to_string(i) + "]")) {
                modes.push_back(i);
            }
        }
        EXPECT_TRUE(names(keys, "npu.kernels.stream_modes[0]"));
        return modes;
    };
    EXPECT_EQ(named(), (std::vector<int>{0, 2}));
    program.kernels[0].mode = "other";
    EXPECT_EQ(named(), (std::vector<int>{0, 1}));
    program.kernels[0].cycles = 100;  // whatever the device's
    EXPECT_EQ(named(), (std::vector<int>{0, 1, 2}));
    program.kernels[0].as_modelled = true;  // a share of the device's
    EXPECT_EQ(named(), (std::vector<int>{0, 1}));
}

TEST(DeviceUse, OnlySpilledAccumulatorsFeelTheirLatency) {
    program::Program program;
    program::Kernel kernel;
    kernel.kind = program::KernelKind::Stream;
    kernel.a = kernel.b = kernel.c = DataType::Int16;
    kernel.m = 16;
    kernel.k = 4;
    NpuConfig config;
    config.kernels.stream_modes = {{}};
    program.cores = {{kCore, {}, {{program::CallOp{0, {}, {}}}}}};
    // 16 lanes of 48 bits fill a register: one for each column, and there are four.
    for (const std::int64_t columns : {4, 5}) {
        kernel.n = columns;
        program.kernels = {kernel};
        const auto keys = not_exercised(program, config, {});
        EXPECT_EQ(names(keys, "npu.kernels.accumulate_latency"), columns == 4);
        EXPECT_FALSE(names(keys, "npu.kernels.accumulators"));
    }
}

}  // namespace
}  // namespace tilesim::arch::npu::check
