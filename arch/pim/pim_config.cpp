#include "arch/pim/pim_config.hpp"

#include <bit>

#include "arch/base/config.hpp"

namespace tilesim::arch::pim {

using base::config::Node;
using base::config::Range;

namespace {

ModeConfig read_modes(Node node) {
    ModeConfig modes;
    const Range writes{0, 1000};
    node.optional("parking_visits", modes.parking_visits, writes,
                  "opening and closing of all banks before entering and after leaving");
    node.optional("enter_writes", modes.enter_writes, writes, "normal to all-bank mode");
    node.optional("on_writes", modes.on_writes, writes, "all-bank to all-bank-PIM mode");
    node.optional("off_writes", modes.off_writes, writes, "all-bank-PIM to all-bank mode");
    node.optional("leave_writes", modes.leave_writes, writes, "all-bank to normal mode");
    node.done();
    return modes;
}

}  // namespace

PimConfig read_pim_config(Node node) {
    PimConfig config;
    const Range cycles{1, 100'000};
    node.optional("registers", config.registers, {2, 4096}, "registers of a bank's ALU");
    node.optional("register_bits", config.register_bits, {64, 4096},
                  "width of a register, of the ALU and of a column access");
    node.optional("interleave", config.interleave, {32, 4096},
                  "contiguous bytes of a bank before the next channel or bank");
    node.optional("page", config.page, {4096, std::int64_t{1} << 40},
                  "contiguous physical memory a placement may count on");
    node.optional("command_interval", config.command_interval, cycles,
                  "between all-bank column, register and ALU commands");
    node.optional("mac_to_precharge", config.mac_to_precharge, cycles,
                  "last MAC of a row to PREab");
    node.optional("precharge_all", config.precharge_all, cycles, "PREab to ACT");
    node.optional("drain", config.drain, {0, 100'000}, "of the ALU before the data bus turns");
    node.optional("bus_turnaround", config.bus_turnaround,
                  "whether MACs and register writes turn the data bus");
    node.optional("overlap_row_switch", config.overlap_row_switch,
                  "whether rows may close and open while the data bus turns");
    node.optional("reduction_tree", config.reduction_tree,
                  "whether the lanes of an output are summed as they are computed");
    node.optional("fold_commands", config.fold_commands, {0, 1000},
                  "ALU commands per halving of an output register's lanes");
    node.optional("scale_commands", config.scale_commands, {0, 1000},
                  "ALU commands per scale block and output register");
    config.modes = read_modes(node.child("modes", "writes to the mode registers"));
    if (!std::has_single_bit(static_cast<std::uint64_t>(config.interleave.count()))) {
        node.error("interleave", "must be a power of two");
    }
    if (!std::has_single_bit(static_cast<std::uint64_t>(config.register_bits))) {
        node.error("register_bits", "must be a power of two");
    }
    node.done();
    return config;
}

SocConfig read_soc_config(Node node) {
    SocConfig config;
    constexpr std::int64_t kGiga = 1'000'000'000;
    node.optional("compute", config.compute, {kGiga, 1'000'000 * kGiga}, "of the system on chip");
    node.optional("bandwidth", config.bandwidth, {kGiga, 100'000 * kGiga},
                  "to the memory, of the system on chip");
    node.done();
    return config;
}

}  // namespace tilesim::arch::pim
