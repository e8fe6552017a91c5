#include "arch/systemc/block_tree.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::systemc {
namespace {

TEST(BlockTree, NamesBlocksAsStatisticsDoWithoutBrackets) {
    EXPECT_EQ(systemc_name("tile(2,3)"), "tile_2_3");
    EXPECT_EQ(systemc_name("mm2s0"), "mm2s_0");
    EXPECT_EQ(systemc_name("channel(12)"), "channel_12");
    EXPECT_EQ(systemc_name("l1"), "l1");
    EXPECT_EQ(systemc_name("core"), "core");
}

struct Device : sc_core::sc_module {
    Device(const sc_core::sc_module_name& name, const std::vector<base::Block>& blocks)
        : sc_core::sc_module(name), modules(make_modules(blocks, 1)) {}
    BlockModules modules;
};

TEST(BlockTree, IsTheBlockDiagramOfTheDevice) {
    Device device("ddr", {{"memory.channel(0)", "dram_channel"},
                          {"memory.channel(0).bank(10)", "dram_bank"},
                          {"memory.channel(0).bank(2)", "dram_bank"}});
    EXPECT_EQ(hierarchy_text(),
              "ddr (sc_module)\n"
              "  channel_0 (dram_channel)\n"
              "    bank_10 (dram_bank)\n"
              "    bank_2 (dram_bank)\n");
    EXPECT_NE(sc_core::sc_find_object("ddr.channel_0.bank_2"), nullptr);
}

enum class State { Idle, Busy };
constexpr base::stats::StateTable<State> kStates{{
    {State::Idle, "idle", "nothing to do"},
    {State::Busy, "busy", "something"},
}};
struct Statistics : base::stats::Group {
    using Group::Group;
    base::stats::StateAccount time{*this, "time", base::stats::Unit::Cycle, kStates};
};

TEST(BlockTree, NumbersActivitiesAsStatisticsListThemThenAsTheyCome) {
    base::stats::Group root("");
    const Statistics statistics(root, "unit");
    Device device("device", {{"device.unit", "unit", &statistics}});
    BlockModule& unit = *device.modules.front();
    EXPECT_EQ(unit.number_of("busy"), 2U);
    EXPECT_EQ(unit.number_of("sleeps"), 3U);
    EXPECT_EQ(unit.number_of("idle"), 1U);
    EXPECT_EQ(unit.legend(), "1 idle, 2 busy, 3 sleeps");
    EXPECT_EQ(unit.path(), "device.unit");
}

}  // namespace
}  // namespace tilesim::arch::systemc
