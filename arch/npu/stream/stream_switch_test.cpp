#include "arch/npu/stream/stream_switch.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::npu::stream {
namespace {

using enum program::Bundle;
using enum PortSide;
constexpr auto kShim = program::TileKind::Shim;
constexpr auto kMemory = program::TileKind::Memory;
constexpr auto kCore = program::TileKind::Core;

// xaie_ss_aieml.c: the port tables of the tiles' switches.
TEST(StreamSwitch, PortCountsAreTheHardwares) {
    const NpuConfig config;
    EXPECT_EQ(ports_of(config, kCore, South, Slave), 6);
    EXPECT_EQ(ports_of(config, kCore, South, Master), 4);
    EXPECT_EQ(ports_of(config, kCore, North, Slave), 4);
    EXPECT_EQ(ports_of(config, kCore, North, Master), 6);
    EXPECT_EQ(ports_of(config, kShim, South, Slave), 8);
    EXPECT_EQ(ports_of(config, kShim, South, Master), 6);
    EXPECT_EQ(ports_of(config, kMemory, East, Master), 0);
    EXPECT_EQ(ports_of(config, kMemory, North, Master), 6);
    EXPECT_EQ(ports_of(config, kMemory, Trace, Master), 0);
}

TEST(StreamSwitch, ChannelsAndTheCoreHaveAsManyPortsAsTheDeviceGivesThem) {
    NpuConfig config;
    config.memory_dma.channels = 11;
    config.core_dma.channels = 3;
    config.core.stream_inputs = 5;
    config.core.stream_outputs = 7;
    EXPECT_EQ(ports_of(config, kMemory, Dma, Master), 11);
    EXPECT_EQ(ports_of(config, kCore, Dma, Slave), 3);
    EXPECT_EQ(ports_of(config, kShim, Dma, Slave), 0);  // behind South
    EXPECT_EQ(ports_of(config, kCore, Core, Master), 5);
    EXPECT_EQ(ports_of(config, kCore, Core, Slave), 7);
    EXPECT_EQ(ports_of(config, kMemory, Core, Slave), 0);
    config.shim_dma.channels = 5;  // the last MM2S enters on 3 + 4 x 4, the last S2MM leaves by 6
    EXPECT_EQ(ports_of(config, kShim, South, Slave), 20);
    EXPECT_EQ(ports_of(config, kShim, South, Master), 7);
}

// aie-rt: the shim multiplexer's fixed places.
TEST(StreamSwitch, AShimsChannelsHangBehindItsSouthPorts) {
    const auto shim = [](program::Direction direction, std::int64_t channel) {
        return port_of({{3, 0}, direction, channel}, kShim);
    };
    EXPECT_EQ(shim(program::Direction::MM2S, 0), (SwitchPort{South, 3}));
    EXPECT_EQ(shim(program::Direction::MM2S, 1), (SwitchPort{South, 7}));
    EXPECT_EQ(shim(program::Direction::S2MM, 0), (SwitchPort{South, 2}));
    EXPECT_EQ(shim(program::Direction::S2MM, 1), (SwitchPort{South, 3}));
    EXPECT_EQ(port_of({{3, 1}, program::Direction::S2MM, 5}, kMemory), (SwitchPort{Dma, 5}));
    EXPECT_EQ(port_of({{3, 2}, program::Direction::MM2S, 0, program::PortKind::Core}, kCore),
              (SwitchPort{Core, 0}));
}

// mlir-aie AIETargetModel::isLegalTileConnection.
TEST(StreamSwitch, WaysThroughAreTheHardwares) {
    EXPECT_TRUE(can_cross(kCore, {South, 5}, {East, 0}));
    EXPECT_TRUE(can_cross(kCore, {South, 2}, {South, 2}));  // loop-back
    EXPECT_FALSE(can_cross(kCore, {South, 2}, {South, 3}));
    EXPECT_FALSE(can_cross(kCore, {Core, 0}, {Core, 0}));
    EXPECT_TRUE(can_cross(kMemory, {South, 3}, {North, 3}));
    EXPECT_FALSE(can_cross(kMemory, {South, 3}, {North, 2}));
    EXPECT_FALSE(can_cross(kMemory, {Dma, 1}, {Dma, 2}));
    EXPECT_TRUE(can_cross(kMemory, {Dma, 1}, {North, 5}));
    EXPECT_TRUE(can_cross(kMemory, {Control, 0}, {Dma, 5}));
    EXPECT_FALSE(can_cross(kMemory, {Control, 0}, {Dma, 3}));
    EXPECT_FALSE(can_cross(kCore, {Trace, 0}, {Dma, 1}));
    EXPECT_TRUE(can_cross(kCore, {Trace, 0}, {Dma, 0}));
    EXPECT_TRUE(can_cross(kShim, {Trace, 0}, {East, 0}));
    EXPECT_FALSE(can_cross(kShim, {Trace, 0}, {East, 1}));
}

TEST(StreamSwitch, AWireLeadsToTheOppositePortOfTheNeighbour) {
    const program::TileCoordinate tile{2, 3};
    EXPECT_EQ(wire_from({tile, {North, 5}}), (TilePort{{2, 4}, {South, 5}}));
    EXPECT_EQ(wire_from({tile, {South, 1}}), (TilePort{{2, 2}, {North, 1}}));
    EXPECT_EQ(wire_from({tile, {East, 2}}), (TilePort{{3, 3}, {West, 2}}));
    EXPECT_EQ(wire_from({tile, {West, 3}}), (TilePort{{1, 3}, {East, 3}}));
    EXPECT_EQ(wire_from({tile, {Dma, 0}}), std::nullopt);
}

}  // namespace
}  // namespace tilesim::arch::npu::stream
