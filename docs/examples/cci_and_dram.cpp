// A DRAM configured by Accellera's CCI: what a tool presets in the broker is what the module has.
#include <cci_configuration>
#include <iostream>

#include "arch/systemc/cci_parameters.hpp"
#include "arch/systemc/dram/dram.hpp"
#include "workloads/catalogue/catalogue.hpp"

using namespace tilesim::arch::systemc;
using tilesim::workloads::catalogue::load_device;

int sc_main(int, char*[]) {
    cci::cci_register_broker(new cci_utils::broker("broker"));
    auto tool = cci::cci_get_global_broker(cci::cci_originator("tool"));
    tool.set_preset_cci_value("ddr.memory.channels", cci::cci_value(4));
    tool.set_preset_cci_value("ddr.memory.timing.tRCD", cci::cci_value("20 cycle"));

    const CciParameters parameters("ddr", load_device("lpddr5x_7500", {}).documents);
    const auto device = load_device("lpddr5x_7500", parameters.preset());
    TimeLine time_line("time_line");
    dram::Dram ddr("ddr", time_line, device.memory);

    const auto rows = tool.get_param_handle("ddr.memory.rows");
    std::cout << device.memory.channels << " channels; ddr.memory.rows is " << rows.get_cci_value()
              << " (" << rows.get_description() << ")\n";
    return device.memory.channels == 4 ? 0 : 1;
}
