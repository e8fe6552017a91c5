// Two NPUs and a processor's requests on one DRAM: what contention does to each.
#include <iostream>
#include <systemc>

#include "arch/npu/check/ready_program.hpp"
#include "arch/npu/program/program_reader.hpp"
#include "arch/systemc/array/npu.hpp"
#include "arch/systemc/dram/stream.hpp"
#include "workloads/catalogue/catalogue.hpp"
#include "workloads/paths.hpp"

using namespace tilesim::arch;
using systemc::array::Npu;

// A program of configs/programs, its DRAM arguments moved by `offset` bytes.
npu::program::Program load(const std::string& name, const npu::NpuConfig& config,
                           std::int64_t offset) {
    auto document = base::config::Document::load(tilesim::workloads::configs_folder() +
                                                 "/programs/" + name + ".yaml");
    auto root = document.root();
    npu::program::Program program = npu::program::read_program(root);
    for (auto& buffer : program.external_buffers) {
        buffer.address += offset;
    }
    return npu::check::prepare(std::move(program), config).program();
}

int sc_main(int, char*[]) {
    const auto device = tilesim::workloads::catalogue::load_device("xdna", {});
    const auto& config = device.get<npu::NpuConfig>();
    const auto& fabric = device.get<fabric::FabricConfig>();
    systemc::TimeLine time_line("time_line");
    systemc::dram::Dram ddr("ddr", time_line, device.memory);
    Npu npu0("npu0", ddr, config, fabric, load("double_buffering", config, 0));
    Npu npu1("npu1", ddr, config, fabric, load("single_buffering", config, 1 << 28));
    memory::traffic::StreamConfig requests;
    requests.pattern = memory::traffic::StreamConfig::Pattern::Random;
    requests.requests = 100'000;
    requests.outstanding = 256;
    systemc::dram::Stream cpu("cpu", ddr, requests, 1 << 29);
    cpu.start();
    sc_core::sc_start();
    std::cout << "npu0 " << npu0.cycles().count() << " cycles, npu1 " << npu1.cycles().count()
              << " cycles, cpu " << cpu.result().time.count() / 1'000'000 << " ns, reads of "
              << cpu.result().latency_p50.count() / 1'000'000 << " ns\n";
    return npu0.finished() && npu1.finished() && cpu.finished() ? 0 : 1;
}
