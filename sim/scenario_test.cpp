#include "sim/scenario.hpp"

#include <gtest/gtest.h>

#include "arch/fabric/fabric_config.hpp"
#include "arch/npu/npu_config.hpp"

namespace tilesim::sim {
namespace {

workloads::Device on_strix(const Overrides& more) {
    Overrides all{{"device.host.profile", "air_strix"}};
    all.insert(all.end(), more.begin(), more.end());
    return parse_scenario(
               "device: xdna2\n"
               "workload: {elementwise: {operation: add, rows: 64, elements: 64}}\n"
               "mapping: {elementwise: {columns: 1}}\n",
               "test", all)
        .device;
}

TEST(Scenario, AHostProfileTakesThePlaceOfTheDevicesNumbersButNotOfThoseThatAreSet) {
    using arch::fabric::FabricConfig;
    using arch::npu::NpuConfig;
    const workloads::Device known = on_strix({});
    EXPECT_EQ(known.get<NpuConfig>().command_processor.descriptor_cycles.count(), 840);
    EXPECT_EQ(known.get<FabricConfig>().link_clock.count(), 2'550'000'000);
    EXPECT_TRUE(known.get<NpuConfig>().shim.modifiable);
    const workloads::Device set = on_strix({{"device.npu.command_processor.dispatch", "5 us"},
                                            {"device.npu.clock", "1 GHz"},
                                            {"device.fabric.link_clock", "4 GHz"},
                                            {"device.npu.shim.modifiable", "off"}});
    EXPECT_EQ(set.get<NpuConfig>().command_processor.dispatch.count(), 5'000'000'000);
    EXPECT_EQ(set.get<NpuConfig>().clock.count(), 1'000'000'000);
    EXPECT_EQ(set.get<FabricConfig>().link_clock.count(), 4'000'000'000);
    EXPECT_FALSE(set.get<NpuConfig>().shim.modifiable);
    EXPECT_EQ(set.get<NpuConfig>().command_processor.descriptor_cycles.count(), 840);
}

}  // namespace
}  // namespace tilesim::sim
