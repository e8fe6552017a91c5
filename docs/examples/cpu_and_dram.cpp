// A CPU model of one's own on the LPDDR5X of a device file: blocking reads from four threads.
//
//     ./cpu_and_dram [ddr.memory.channels=4]
#include <tlm_utils/simple_initiator_socket.h>

#include <iostream>
#include <memory>
#include <systemc>
#include <vector>

#include "arch/systemc/block_tree.hpp"
#include "arch/systemc/dram/dram.hpp"
#include "arch/systemc/parameters.hpp"
#include "workloads/catalogue/catalogue.hpp"

using namespace tilesim::arch::systemc;

struct Core : sc_core::sc_module {
    SC_HAS_PROCESS(Core);
    explicit Core(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        SC_THREAD(run);
    }
    tlm_utils::simple_initiator_socket<Core> socket{"socket"};
    int answered = 0;

    void run() {
        unsigned char line[64];
        for (unsigned i = 0; i < 1000; ++i) {
            tlm::tlm_generic_payload payload;
            payload.set_read();
            payload.set_address(i * 4096 % (1 << 20));
            payload.set_data_ptr(line);
            payload.set_data_length(sizeof line);
            payload.set_streaming_width(sizeof line);
            sc_core::sc_time delay;
            socket->b_transport(payload, delay);
            sc_core::wait(delay);
            answered += payload.is_response_ok() ? 1 : 0;
        }
    }
};

int sc_main(int argc, char* argv[]) {
    Parameters parameters(argc, argv);
    const auto device =
        tilesim::workloads::catalogue::load_device("lpddr5x_7500", parameters.take("ddr"));
    for (const std::string& setting : parameters.left()) {
        SC_REPORT_ERROR("cpu_and_dram", ("no module has this name: " + setting).c_str());
    }
    TimeLine time_line("time_line");
    dram::Dram ddr("ddr", time_line, device.memory);
    std::vector<std::unique_ptr<Core>> cores;
    for (int i = 0; i < 4; ++i) {
        cores.push_back(std::make_unique<Core>(sc_core::sc_gen_unique_name("core")));
        cores.back()->socket.bind(ddr.socket);
    }
    sc_core::sc_start();
    int answered = 0;
    for (const auto& core : cores) {
        answered += core->answered;
    }
    const auto totals = ddr.memory().totals();
    std::cout << answered << " reads took " << sc_core::sc_time_stamp() << ", "
              << totals.bytes_read / 1024 << " KiB left the banks, row hits "
              << 100 * totals.row_hits / totals.bursts << " %\n";
    std::cout << hierarchy_text(ddr).substr(0, 200) << "...\n";
    return answered == 4000 ? 0 : 1;
}
