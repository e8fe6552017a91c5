// What an array of XDNA2 costs the host as a module in somebody's simulation: a GEMM of the 4096
// class by the command line's session, the same program in a module, and two such arrays with four
// processes that read on one DRAM.
#include <benchmark/benchmark.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "arch/npu/check/ready_program.hpp"
#include "arch/npu/program/program_reader.hpp"
#include "arch/systemc/array/npu.hpp"
#include "arch/systemc/initiators_testing.hpp"
#include "arch/systemc/measurement_testing.hpp"
#include "sim/scenario.hpp"
#include "sim/session/session.hpp"
#include "workloads/catalogue/catalogue.hpp"

namespace tilesim::sim::session {
namespace {

using arch::npu::NpuConfig;
using arch::systemc::BlockingInitiator;
using arch::systemc::in_child;
using arch::systemc::processor_seconds;
using arch::systemc::TimeLine;
using arch::systemc::array::Npu;
using arch::systemc::dram::Dram;

Scenario scenario() {
    return load_scenario(TILESIM_SOURCE_DIR "/configs/scenarios/xdna2_gemm_int8_int8.yaml", {});
}

double by_session() {
    const double before = processor_seconds();
    const auto result = run(scenario());
    return processor_seconds() - before;
}

arch::npu::program::Program program(const NpuConfig& config, std::int64_t offset) {
    auto document =
        arch::base::config::Document::parse(Session().lowered_text(scenario()), "program.yaml");
    auto root = document.root();
    auto loaded = arch::npu::program::read_program(root);
    for (auto& buffer : loaded.external_buffers) {
        buffer.address += offset;
    }
    return arch::npu::check::prepare(std::move(loaded), config).program();
}

// So many arrays, and readers until the first of them has finished.
double in_modules(int arrays, int readers) {
    const auto device = workloads::catalogue::load_device("xdna2", {});
    const auto& config = device.get<NpuConfig>();
    const auto& fabric = device.get<arch::fabric::FabricConfig>();
    std::vector<arch::npu::program::Program> programs;
    for (int i = 0; i < arrays; ++i) {
        programs.push_back(program(config, std::int64_t{i} << 30));
    }
    const double before = processor_seconds();
    TimeLine line("line");
    Dram dram("ddr", line, device.memory, {.bytes = false});
    std::vector<std::unique_ptr<Npu>> npus;
    for (const auto& each : programs) {
        npus.push_back(
            std::make_unique<Npu>(sc_core::sc_gen_unique_name("npu"), dram, config, fabric, each));
    }
    std::vector<std::unique_ptr<BlockingInitiator>> cpus;
    for (int i = 0; i < readers; ++i) {
        cpus.push_back(std::make_unique<BlockingInitiator>(
            sc_core::sc_gen_unique_name("cpu"), [&npus, i](BlockingInitiator& self) {
                unsigned char data[64];
                for (std::uint64_t n = 0; !npus.front()->finished(); ++n) {
                    self.access(false, (std::uint64_t{3} << 30) + (n * 4 + i) * 64, data, 64);
                }
            }));
        cpus.back()->socket.bind(dram.socket);
    }
    sc_core::sc_start();
    return processor_seconds() - before;
}

void report(benchmark::State& state, const std::function<double()>& measure) {
    for (auto _ : state) {
        state.SetIterationTime(in_child(measure));
    }
}

// In turns: what else the machine does meets all of them.
void cases() {
    for (int turn = 0; turn < 3; ++turn) {
        const auto add = [](const char* name, std::function<double()> measure) {
            benchmark::RegisterBenchmark(name, report, std::move(measure))
                ->UseManualTime()
                ->Iterations(1)
                ->Unit(benchmark::kMillisecond);
        };
        add("session", by_session);
        add("module", [] { return in_modules(1, 0); });
        add("two_modules_and_four_readers", [] { return in_modules(2, 4); });
    }
}

const bool kRegistered = (cases(), true);

}  // namespace
}  // namespace tilesim::sim::session
