// An NPU over a memory of somebody else's that knows TLM-2.0 and nothing of tilesim.
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <iostream>
#include <systemc>
#include <vector>

#include "arch/npu/check/ready_program.hpp"
#include "arch/npu/program/program_reader.hpp"
#include "arch/systemc/array/npu.hpp"
#include "workloads/catalogue/catalogue.hpp"
#include "workloads/paths.hpp"

using namespace tilesim::arch;

// 60 ns an access and 2 ns for each 64 B, one after the other.
struct Sram : sc_core::sc_module {
    explicit Sram(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        socket.register_b_transport(this, &Sram::b_transport);
    }
    tlm_utils::simple_target_socket<Sram> socket{"socket"};
    std::vector<unsigned char> bytes = std::vector<unsigned char>(4 << 20);
    sc_core::sc_time free;

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        unsigned char* const at = bytes.data() + payload.get_address();
        const unsigned length = payload.get_data_length();
        if (payload.is_write()) {
            std::copy_n(payload.get_data_ptr(), length, at);
        } else {
            std::copy_n(at, length, payload.get_data_ptr());
        }
        const sc_core::sc_time now = sc_core::sc_time_stamp() + delay;
        free = std::max(free, now) + sc_core::sc_time(2.0 * length / 64, sc_core::SC_NS);
        delay = free - sc_core::sc_time_stamp() + sc_core::sc_time(60, sc_core::SC_NS);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

int sc_main(int, char*[]) {
    const auto device = tilesim::workloads::catalogue::load_device("xdna", {});
    const auto& config = device.get<npu::NpuConfig>();
    auto document = base::config::Document::load(tilesim::workloads::configs_folder() +
                                                 "/programs/add_one.yaml");
    auto root = document.root();
    const auto ready = npu::check::prepare(npu::program::read_program(root), config);
    systemc::TimeLine time_line("time_line");
    systemc::array::Npu npu("npu", time_line, config, device.get<fabric::FabricConfig>(),
                            ready.program(), {.bytes = true});
    Sram sram("sram");
    npu.memory->socket.bind(sram.socket);
    for (std::size_t i = 0; i < 8192; ++i) {
        sram.bytes[i] = static_cast<unsigned char>(i % 4 == 0 ? i / 4 % 200 : 0);
    }
    sc_core::sc_start();
    // Every 32-bit word plus one, from 0 to 1 MiB.
    bool right = npu.finished();
    for (std::size_t i = 0; i < 8192; ++i) {
        right = right && sram.bytes[(1 << 20) + i] == sram.bytes[i] + (i % 4 == 0 ? 1 : 0);
    }
    std::cout << "add_one over an SRAM: " << npu.cycles().count() << " cycles, "
              << (right ? "as it should be" : "WRONG") << "\n";
    return right ? 0 : 1;
}
