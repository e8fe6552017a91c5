// Every number of a device is felt by a small scenario, or the result names it as one that could
// not matter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <ostream>
#include <set>
#include <sstream>
#include <string>

#include "sim/explore/sensitivity.hpp"

namespace tilesim::sim::explore {
namespace {

// What a scenario neither feels nor names: the mechanism is there and was used, but something
// longer hides a change of ten percent, or a limit is not reached. A gap, and asserted as one: a
// key that is felt or named must be taken off.
struct Hidden {
    const char* scenario;
    const char* key;  // set, to keep it short; or empty
    const char* value;
    std::set<std::string> keys;
};

void PrintTo(const Hidden& hidden, std::ostream* out) { *out << hidden.scenario; }

const Hidden kHidden[] = {
    {"xdna_functional",
     "run.functional",
     "off",
     {
         "fabric.chop",
         "fabric.line",
         "memory.controller.read_queue",
         "memory.controller.starvation_cap",
         "memory.controller.write_high",
         "memory.controller.write_queue",
         "memory.rows",
         "memory.timing.activate_command",
         "memory.timing.precharge_command",
         "memory.timing.tCCD_L",
         "memory.timing.tRAS",
         "memory.timing.tRRD_L",
         "npu.core_dma.boundary_bubble",
         "npu.core_dma.channels",
         "npu.core_dma.dimensions",
         "npu.memory_dma.descriptors",
         "npu.shim.burst",
         "npu.shim.data_fifo",
         "npu.shim.outstanding_bursts",
         "npu.shim.outstanding_writes",
         "npu.shim_dma.channels",
         "npu.shim_dma.dimensions",
     }},
    {"xdna2_functional_bf16",
     "run.functional",
     "off",
     {
         "fabric.chop",
         "fabric.line",
         "memory.controller.read_queue",
         "memory.controller.starvation_cap",
         "memory.controller.write_queue",
         "memory.rows",
         "npu.core_dma.channels",
         "npu.core_dma.dimensions",
         "npu.kernels.load_slots",
         "npu.memory_dma.descriptors",
         "npu.shim.burst",
         "npu.shim_dma.channels",
         "npu.shim_dma.dimensions",
     }},
    {"vck190_gotoblas_functional",
     "run.functional",
     "off",
     {
         "fabric.line",
         "fabric.link_width",
         "memory.controller.read_queue",
         "memory.controller.starvation_cap",
         "memory.controller.write_high",
         "memory.controller.write_low",
         "memory.controller.write_queue",
         "memory.rows",
         "memory.timing.activate_command",
         "memory.timing.tFAW",
         "memory.timing.tRAS",
         "memory.timing.tRC",
         "memory.timing.tRRD_L",
         "memory.timing.tRTW",
         "memory.timing.tWR",
         "memory.timing.tWTR_L",
         "memory.timing.tWTR_S",
         "npu.core.stream_inputs",
         "npu.kernels.load_slots",
         "npu.kernels.panel_memory",
         "npu.programmable_logic.ram",
         "npu.shim.data_fifo",
         "npu.shim.outstanding_bursts",
         "npu.shim.outstanding_writes",
         "npu.shim_dma.repeats",
     }},
    {"pim_functional",
     "run.functional",
     "off",
     {
         "memory.controller.starvation_cap",
         "memory.rows",
         "memory.timing.tFAW",
         "memory.timing.tRRD_L",
         "memory.timing.tRTP",
         "memory.timing.tRTW",
         "pim.alus",
         "pim.banks_per_unit",
         "pim.page",
     }},
    {"amx_gemm_int8",
     "",
     "",
     {
         "amx.access.tile_load_after_store",
         "amx.caches.l2.random_percent",
         "amx.caches.l2.size",
         "amx.caches.l2.ways",
         "amx.caches.l2_outstanding",
         "amx.caches.l2_streamer",
         "amx.caches.l2_streamer_wakes",
         "amx.pages.first.entries",
         "amx.pages.first.random_percent",
         "amx.pages.first.ways",
         "amx.pages.second.entries",
         "amx.pages.second.random_percent",
         "amx.pages.second.ways",
         "amx.tiles.release",
         "amx.tiles.zero_latency",
         "amx.uncore.answer",
         "amx.uncore.clean_percent",
         "amx.uncore.l3.random_percent",
         "amx.uncore.l3.size",
         "amx.uncore.l3.ways",
         "amx.vector.scalar_ports",
         "amx.window.load_queue",
         "amx.window.reorder_buffer",
         "amx.window.scheduler",
         "memory.bank_groups",
         "memory.banks_per_group",
         "memory.burst",
         "memory.channels",
         "memory.pseudo_channels",
         "memory.row",
         "memory.rows",
     }},
    {"ddr5_random",
     "workload.memory_stream.requests",
     "2000",
     {
         "memory.controller.starvation_cap",
         "memory.controller.write_queue",
         "memory.rows",
     }},
    {"lpddr5x_sequential",
     "workload.memory_stream.requests",
     "2000",
     {
         "memory.controller.read_queue",
         "memory.controller.starvation_cap",
         "memory.rows",
         "memory.timing.activate_command",
         "memory.timing.column_command",
         "memory.timing.precharge_command",
         "memory.timing.tFAW",
         "memory.timing.tRAS",
         "memory.timing.tRC",
         "memory.timing.tRRD_L",
     }},
};

std::string text_of(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

class EveryKey : public testing::TestWithParam<Hidden> {};

TEST_P(EveryKey, IsFeltOrNamed) {
    const Hidden& hidden = GetParam();
    const std::string file =
        std::string{TILESIM_SOURCE_DIR} + "/configs/scenarios/" + hidden.scenario + ".yaml";
    Job job{text_of(file), file, {}};
    if (*hidden.key != '\0') {
        job.overrides.emplace_back(hidden.key, hidden.value);
    }
    constexpr double kPercent = 10;
    std::set<std::string> unfelt;
    for (const Sensitivity& number : sensitivity(job, kPercent, 2).parameters) {
        const bool felt = number.smaller.differs || number.larger.differs;
        const bool refused = !number.smaller.refused.empty() && !number.larger.refused.empty();
        EXPECT_FALSE(felt && number.not_exercised) << number.key << " is named, but felt";
        if (!felt && !refused && !number.not_exercised) {
            unfelt.insert(number.key.substr(std::string_view{"device."}.size()));
        }
    }
    EXPECT_THAT(unfelt, testing::ContainerEq(hidden.keys));
}

INSTANTIATE_TEST_SUITE_P(Devices, EveryKey, testing::ValuesIn(kHidden),
                         [](const auto& each) { return std::string{each.param.scenario}; });

}  // namespace
}  // namespace tilesim::sim::explore
