#include "arch/npu/check/device_demand.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilesim::arch::npu::check {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr program::TileCoordinate kReceiver{1, 2};

std::vector<std::string> told(const program::Program& program, const NpuConfig& config) {
    std::vector<std::string> lines;
    for (const Shortfall& each : shortfalls(program, config)) {
        lines.push_back(each.key + ": " + each.needed + ", not " + each.found +
                        (each.why.empty() ? "" : ": " + each.why));
    }
    return lines;
}

// A core that receives what one descriptor says, and says so.
program::Program taking(const program::BufferDescriptor& descriptor) {
    program::Task task{descriptor.id, 1, true};
    program::Program program;
    program.buffers = {{"buffer", kReceiver, 1024, 4096}};
    program.dmas = {{kReceiver, {descriptor}, {{program::Direction::S2MM, 1, task}}}};
    return program;
}

TEST(DeviceDemand, ALimitIsShortWhereTheProgramIsBeyondIt) {
    program::Program program;
    program.locks = {{"lock", kReceiver, 15, 0}, {"other", {0, 1}, 63, 0}};
    NpuConfig config;  // 16 locks of a core, 64 of a memory tile
    EXPECT_THAT(told(program, config), IsEmpty());
    config.core.locks = 15;
    config.memory_tile.locks = 63;
    EXPECT_THAT(told(program, config), ElementsAre("npu.core.locks: at least 16, not 15",
                                                   "npu.memory_tile.locks: at least 64, not 63"));
}

TEST(DeviceDemand, AFieldsBitsSayWhatTheyHaveToHold) {
    program::BufferDescriptor descriptor;
    descriptor.id = 15;
    descriptor.length = (1 << 14) - 1;
    descriptor.dimensions = {{255, 1}, {64, 1 << 13}};  // size, stride
    NpuConfig config;  // lengths of 14 bits, steps of 13, stored less 1, wraps of 8
    EXPECT_THAT(told(taking(descriptor), config), IsEmpty());
    descriptor.length = 1 << 14;
    descriptor.dimensions = {{256, 1}, {64, (1 << 13) + 1}};
    EXPECT_THAT(
        told(taking(descriptor), config),
        ElementsAre(
            "npu.core_dma.length_bits: at least 15, not 14: a descriptor moves 16384 words",
            "npu.core_dma.step_bits: at least 14, not 13: a descriptor steps by 8193 words",
            "npu.core_dma.wrap_bits: at least 9, not 8: a descriptor's dimension has 256 steps"));
}

TEST(DeviceDemand, WhatADmaCannotDoIsShort) {
    program::BufferDescriptor descriptor;
    descriptor.length = 64;
    descriptor.iteration = program::Iteration{};
    NpuConfig config;
    EXPECT_THAT(told(taking(descriptor), config), IsEmpty());
    config.core_dma.tokens = false;
    config.core_dma.iteration = false;
    config.core_dma.channels = 1;
    EXPECT_THAT(
        told(taking(descriptor), config),
        ElementsAre("npu.core_dma.channels: at least 2, not 1",
                    "npu.core_dma.iteration: on, not off", "npu.core_dma.tokens: on, not off"));
}

}  // namespace
}  // namespace tilesim::arch::npu::check
