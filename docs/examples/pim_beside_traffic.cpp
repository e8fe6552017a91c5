// A GEMV in the banks of an LPDDR5X, while a processor reads and writes the same memory.
#include <iostream>
#include <systemc>

#include "arch/systemc/dram/stream.hpp"
#include "arch/systemc/pim_memory/pim_memory.hpp"
#include "workloads/catalogue/catalogue.hpp"
#include "workloads/pim/gemv/pim_placement.hpp"

using namespace tilesim;
using arch::systemc::TimeLine;
using arch::systemc::dram::Stream;
using arch::systemc::pim_memory::PimMemory;

// Starts the GEMV at 5 us and waits for its end.
struct Host : sc_core::sc_module {
    SC_HAS_PROCESS(Host);
    Host(const sc_core::sc_module_name& name, PimMemory& m, arch::pim::PimProgram p)
        : sc_core::sc_module(name), memory(m), program(std::move(p)) {
        SC_THREAD(run);
    }
    void run() {
        sc_core::wait(5, sc_core::SC_US);
        memory.run(program);
        sc_core::wait(memory.finished_event());
        ended = sc_core::sc_time_stamp();
    }
    PimMemory& memory;
    arch::pim::PimProgram program;
    sc_core::sc_time ended;
};

int sc_main(int, char*[]) {
    const auto device = workloads::catalogue::load_device("lpddr5x_pim", {});
    const auto& pim = device.get<arch::pim::PimConfig>();
    const workloads::GemvProblem gemv{4096, 4096};
    const auto placement = workloads::pim::gemv::place(gemv, {}, device.memory, pim);
    TimeLine time_line("time_line");
    PimMemory lpddr("lpddr", time_line, device.memory, pim);
    Host host("host", lpddr, workloads::pim::gemv::lower(gemv, placement, device.memory, pim));
    arch::memory::traffic::StreamConfig requests;
    requests.pattern = arch::memory::traffic::StreamConfig::Pattern::Random;
    requests.requests = 20'000;
    requests.write_permille = 300;
    Stream cpu("cpu", lpddr, requests, std::int64_t{1} << 30);
    cpu.start();
    sc_core::sc_start();
    const auto latency = cpu.result();
    std::cout << "GEMV: " << lpddr.program_cycles().count() << " CK, ended at " << host.ended
              << "; reads beside it: half within " << latency.latency_p50.count() / 1'000'000
              << " ns, the longest " << latency.latency_max.count() / 1'000'000 << " ns\n";
    return !lpddr.busy() && cpu.finished() ? 0 : 1;
}
