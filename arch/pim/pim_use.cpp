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
    name_if(!reads, "pim.mac_to_precharge");
    name_if(!reads || !config.bus_turnaround, "pim.drain");
    name_if(!for_purpose(PimCommand::Purpose::Fold), "pim.fold_commands");
    name_if(!for_purpose(PimCommand::Purpose::Scale), "pim.scale_commands");
    return names;
}

}  // namespace tilesim::arch::pim
