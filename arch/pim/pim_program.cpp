#include "arch/pim/pim_program.hpp"

#include <algorithm>

namespace tilesim::arch::pim {

std::string_view name_of(PimOp op) {
    return kPimOps[op];
}

bool touches_array(PimOp op) {
    return op == PimOp::Mac || op == PimOp::LoadOutputs || op == PimOp::Spill ||
           op == PimOp::SpillVisit || op == PimOp::ReadBank || op == PimOp::WriteBank;
}

bool names_banks(PimOp op) {
    switch (op) {
        case PimOp::WriteInputs:
        case PimOp::WriteBankInputs:
        case PimOp::Mac:
        case PimOp::Alu:
        case PimOp::LoadOutputs:
        case PimOp::Spill:
        case PimOp::SpillVisit:
        case PimOp::ReadResults:
            return true;
        default:
            return false;
    }
}

std::size_t PimProgram::lanes(std::int64_t banks) const {
    const auto any = [this](auto holds) {
        return std::any_of(commands.begin(), commands.end(),
                           [&](const PimCommand& command) { return holds(command.banks); });
    };
    return any([](BankSet set) { return set.one(); })    ? static_cast<std::size_t>(banks)
           : any([](BankSet set) { return !set.all(); }) ? 2
                                                         : 1;
}

void append(std::vector<PimCommand>& commands, const ModeSteps& steps) {
    for (const ModeStep& step : steps) {
        switch (step.kind) {
            case ModeStep::Kind::Park:
                commands.push_back({.op = PimOp::ModeVisit});
                break;
            case ModeStep::Kind::Visit:
                commands.push_back({.op = PimOp::ModeVisit, .count = step.count});
                break;
            case ModeStep::Kind::Write:
                commands.push_back({.op = PimOp::ModeWrite, .count = step.count});
                break;
            case ModeStep::Kind::Read:
                commands.push_back({.op = PimOp::ReadBanks, .count = step.count});
                break;
            case ModeStep::Kind::Wait:
                commands.push_back({.op = PimOp::Wait, .count = step.count});
                break;
        }
    }
}

}  // namespace tilesim::arch::pim
