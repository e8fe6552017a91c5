// A whole GEMM on XDNA2 in timing mode: simulated cycles a second of host time.
#include <benchmark/benchmark.h>

#include "arch/base/config.hpp"
#include "arch/memory/controller/memory_config_reader.hpp"
#include "arch/memory/controller/memory_system.hpp"
#include "arch/npu/array/array.hpp"
#include "arch/npu/stream/router.hpp"
#include "workloads/npu/output_stationary/output_stationary.hpp"

namespace tilesim::workloads::npu::output_stationary {
namespace {

void gemm(benchmark::State& state) {
    const std::string folder = std::string{TILESIM_SOURCE_DIR} + "/configs/devices/";
    auto device = arch::base::config::Document::load(folder + "xdna2.yaml");
    auto root = device.root();
    const arch::npu::NpuConfig config = arch::npu::read_npu_config(root.child("npu", ""));
    const arch::fabric::FabricConfig fabric =
        arch::fabric::read_fabric_config(root.child("fabric", ""));
    auto dram = arch::base::config::Document::load(folder + "ddr5_5600.yaml");
    const arch::memory::device::MemoryConfig memory_config =
        arch::memory::controller::read_memory_config(dram.root().child("memory", ""));
    const GemmProblem problem{.m = state.range(0), .k = 864, .n = 1152, .c = DataType::Int8};
    const OutputStationaryMapping mapping{.m_ct = 144, .k_ct = 72, .n_ct = 144, .k_mt = 432};
    LoweredGemm lowered = lower(problem, mapping, config);
    arch::npu::stream::route(lowered.program, config);
    std::int64_t cycles = 0;
    for (auto _ : state) {
        arch::base::EventQueue queue;
        arch::base::stats::Group stats("");
        arch::memory::controller::MemorySystem memory(memory_config, fabric.request_latency, queue,
                                                      stats);
        arch::npu::array::Array array(config, fabric, lowered.program, memory, queue, stats,
                                      nullptr);
        array.start(config.command_processor.dispatch);
        while (!array.finished()) {
            queue.run_until(queue.next_time());
        }
        array.finish_statistics();
        cycles += array.finish_cycle().count();
    }
    state.SetItemsProcessed(cycles);
}
BENCHMARK(gemm)->Arg(576)->Arg(2304)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tilesim::workloads::npu::output_stationary
