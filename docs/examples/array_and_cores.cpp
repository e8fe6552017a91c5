// An array and a core with AMX behind a bus of one's own: the core begins when the array is done.
#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <systemc>

#include "arch/amx/program/program_text.hpp"
#include "arch/npu/check/ready_program.hpp"
#include "arch/npu/program/program_reader.hpp"
#include "arch/systemc/amx_socket/amx.hpp"
#include "arch/systemc/array/npu.hpp"
#include "arch/systemc/dram/dram.hpp"
#include "workloads/catalogue/catalogue.hpp"
#include "workloads/paths.hpp"

using namespace tilesim::arch;

// Hands on what the initiators ask for, 2 ns later, and answers to the one that asked.
struct Bus : sc_core::sc_module {
    explicit Bus(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        in.register_nb_transport_fw(this, &Bus::forward);
        out.register_nb_transport_bw(this, &Bus::back);
    }
    tlm_utils::multi_passthrough_target_socket<Bus, systemc::kBusBits> in{"in"};
    tlm_utils::multi_passthrough_initiator_socket<Bus, systemc::kBusBits> out{"out"};
    std::map<int, std::int64_t> requests;  // of each initiator

    tlm::tlm_sync_enum forward(int from, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                               sc_core::sc_time& delay) {
        if (phase == tlm::BEGIN_REQ) {
            ++requests[from];
            asked_by_[&payload] = from;
            delay += sc_core::sc_time(2, sc_core::SC_NS);
        }
        return out[0]->nb_transport_fw(payload, phase, delay);
    }
    tlm::tlm_sync_enum back(int, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                            sc_core::sc_time& delay) {
        return in[asked_by_.at(&payload)]->nb_transport_bw(payload, phase, delay);
    }

  private:
    std::map<const tlm::tlm_generic_payload*, int> asked_by_;
};

// Starts the core when the array has finished.
struct Driver : sc_core::sc_module {
    SC_HAS_PROCESS(Driver);
    Driver(const sc_core::sc_module_name& name, systemc::array::Npu& array,
           systemc::amx_socket::Amx& cores)
        : sc_core::sc_module(name), npu(array), amx(cores) {
        SC_THREAD(run);
    }
    void run() {
        sc_core::wait(npu.finished_event());
        amx.start();
    }
    systemc::array::Npu& npu;
    systemc::amx_socket::Amx& amx;
};

npu::program::Program array_program(const npu::NpuConfig& config) {
    auto document = base::config::Document::load(tilesim::workloads::configs_folder() +
                                                 "/programs/double_buffering.yaml");
    auto root = document.root();
    return npu::check::prepare(npu::program::read_program(root), config).program();
}

int sc_main(int, char*[]) {
    const auto xdna2 = tilesim::workloads::catalogue::load_device("xdna2", {});
    const auto processor = tilesim::workloads::catalogue::load_device("sapphire_rapids", {});
    const auto& config = xdna2.get<npu::NpuConfig>();
    // What `tilesim lower` prints for a mapping can be read as well.
    const auto product = amx::program::read_program(
        "buffer a 0x1000000 65536\nbuffer b 0x1010000 65536\nbuffer c 0x1020000 1024\n"
        "config 0 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64\nldtilecfg 0\n"
        "loop k 64\n"
        "  tileloadd tmm0, [a + 1024*k], 64\n  tileloadd tmm1, [b + 1024*k], 64\n"
        "  tdpbssd tmm2, tmm0, tmm1\n"
        "end\n"
        "tilestored [c], 64, tmm2\n",
        "product");
    systemc::TimeLine time_line("time_line");
    systemc::dram::Dram ddr("ddr", time_line, processor.memory);
    systemc::array::Npu npu("npu", time_line, config, xdna2.get<fabric::FabricConfig>(),
                            array_program(config));
    systemc::amx_socket::Amx amx("amx", time_line, processor.get<amx::AmxConfig>(), {product});
    Bus bus("bus");
    npu.memory->socket.bind(bus.in);
    amx.memory->socket.bind(bus.in);
    bus.out.bind(ddr.socket);
    Driver driver("driver", npu, amx);
    sc_core::sc_start();
    if (!npu.finished() || !amx.finished()) {
        std::cout << npu.standstill() << '\n';
        return 1;
    }
    std::cout << "array " << npu.cycles().count() << " cycles, " << bus.requests[0]
              << " requests; core " << amx.cycles().count() << " cycles, " << bus.requests[1]
              << " requests; all ended at " << sc_core::sc_time_stamp() << '\n';
    return 0;
}
