#include "arch/pim/pim_use.hpp"

#include <algorithm>

namespace tilesim::arch::pim {

std::vector<std::string> not_exercised(const PimConfig& config, const PimProgram& program) {
    const auto has = [&program](auto holds) {
        return std::any_of(program.commands.begin(), program.commands.end(), holds);
    };
    const auto uses = [&has](PimOp op) {
        return has([op](const PimCommand& command) { return command.op == op; });
    };
    const auto for_purpose = [&has](PimCommand::Purpose purpose) {
        return has([purpose](const PimCommand& command) {
            return command.op == PimOp::Alu && command.purpose == purpose;
        });
    };
    std::vector<std::string> names;
    const auto name_if = [&names](bool unused, const char* key) {
        if (unused) {
            names.emplace_back(key);
        }
    };
    const bool reads = uses(PimOp::Mac) || uses(PimOp::LoadOutputs);
    const bool writes_rows = uses(PimOp::Spill) || uses(PimOp::SpillVisit);
    const bool turns = config.bus_turnaround;
    name_if(!reads, "pim.mac_to_precharge");
    name_if(!uses(PimOp::Mac), "pim.mac_interval");
    name_if(!reads, "pim.activate_to_mac");
    name_if(!reads || !turns, "pim.mac_to_write");
    name_if(!turns, "pim.write_to_mac");
    name_if(!writes_rows, "pim.write_to_precharge");
    name_if(!reads || !turns, "pim.drain");
    name_if(!uses(PimOp::WriteInputs), "pim.host_turn");
    name_if(!uses(PimOp::Barrier), "pim.barrier");
    name_if(!uses(PimOp::ReadResults), "pim.result_latency");
    name_if(!uses(PimOp::ReadResults), "pim.result_bits");
    name_if(!for_purpose(PimCommand::Purpose::Fold), "pim.fold_every");
    name_if(!for_purpose(PimCommand::Purpose::Load), "pim.accumulator_load");
    name_if(!for_purpose(PimCommand::Purpose::Scale), "pim.scale_commands");
    name_if(!for_purpose(PimCommand::Purpose::Scale), "pim.scale_sets");
    return names;
}

}  // namespace tilesim::arch::pim
