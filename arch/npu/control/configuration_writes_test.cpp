#include "arch/npu/control/configuration_writes.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::npu::control {
namespace {

using program::Bundle;
using program::Direction;

NpuConfig small_array() {
    NpuConfig config;
    config.columns = 1;
    config.memory_rows = 0;
    config.core_rows = 2;
    config.core.locks = 16;
    config.core_dma.channels = 2;
    return config;
}

const program::Hop kFromShim{{0, 0}, {Bundle::South, 3}, {Bundle::North, 0}};
const program::Hop kIntoCore{{0, 1}, {Bundle::South, 0}, {Bundle::Dma, 0}};

program::Route to_core(std::optional<std::int64_t> packet = {}) {
    return {"in",  {{0, 0}, Direction::MM2S, 0}, {{{0, 1}, Direction::S2MM, 0}}, packet,
            false, {kFromShim, kIntoCore}};
}

std::int64_t writes_of(const program::Program& program) {
    return configuration_writes(program, small_array());
}

TEST(ConfigurationWrites, OfNothingAreNone) {
    EXPECT_EQ(writes_of({}), 0);
}

TEST(ConfigurationWrites, ACoreIsResetWithItsChannelsAndLocksAndGetsItsProgram) {
    program::Program program;
    program.cores.resize(2);
    // Off, reset and back, four channels reset and back, sixteen locks, the program, on.
    EXPECT_EQ(writes_of(program), 2 * (1 + 2 + 8 + 16 + 1 + 1));
}

TEST(ConfigurationWrites, LocksDescriptorsAndChannelsCountOneByOne) {
    program::Program program;
    program.locks = {{"free", {0, 1}, 0, 2}, {"full", {0, 1}, 1, 0}};
    program.dmas.resize(1);
    program.dmas[0].descriptors.resize(3);
    program.dmas[0].starts.resize(1);
    EXPECT_EQ(writes_of(program), 2 + 3 + 2);
}

TEST(ConfigurationWrites, ACircuitTakesTwoASwitchAndOneForTheShimsChannel) {
    program::Program program;
    program.routes = {to_core()};
    EXPECT_EQ(writes_of(program), 2 * 2 + 1);
}

TEST(ConfigurationWrites, PacketsShareTheirWaysOut) {
    program::Program program;
    program.routes = {to_core(1)};
    EXPECT_EQ(writes_of(program), 2 * 3 + 1);
    program.routes.push_back(to_core(2));
    EXPECT_EQ(writes_of(program), 2 * (2 + 3) + 1);
}

TEST(ConfigurationWrites, AnOrderOfAnArbiterTakesOneATurnAndIsEnabled) {
    program::Program program;
    program.merges = {{{0, 1}, 0, {{kIntoCore.in, 1}, {kIntoCore.out, 2}, {kIntoCore.in, 3}}}};
    EXPECT_EQ(writes_of(program), 3 + 1);
}

TEST(ConfigurationWrites, BothTilesOfACascadeHaveARegister) {
    program::Program program;
    program.cascades = {{"sums", {0, 2}, {0, 1}}};
    EXPECT_EQ(writes_of(program), 2);
}

}  // namespace
}  // namespace tilesim::arch::npu::control
