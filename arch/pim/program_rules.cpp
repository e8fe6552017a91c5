#include <fmt/format.h>

#include <algorithm>

#include "arch/pim/program_text.hpp"

namespace tilesim::arch::pim {

std::string violations(const PimProgram& program, const std::string& file,
                       const ProgramTarget& target) {
    std::string text;
    bool inputs = false;
    bool sums = false;
    const bool has_modes = std::ranges::any_of(program.commands, [](const PimCommand& command) {
        return command.op == PimOp::ModeVisit || command.op == PimOp::ModeWrite;
    });
    const std::int64_t rows = target.memory.rows - (has_modes ? 1 : 0);  // of data
    for (const PimCommand& command : program.commands) {
        const auto refuse = [&](const std::string& rule) {
            text += fmt::format("{}:{}:{}: {}: {}\n", file, command.place.line,
                                command.place.column, name_of(command.op), rule);
        };
        const bool writes_inputs =
            command.op == PimOp::WriteInputs || command.op == PimOp::WriteBankInputs;
        const std::int64_t room = target.pim.registers * target.pim.alus;
        if (command.op == PimOp::WriteInputs && command.count > room) {
            refuse(fmt::format("{} registers, a unit has {}", command.count, room));
        } else if (command.op == PimOp::Mac && !inputs) {
            refuse("multiplies by inputs, but none has been written");
        } else if ((command.op == PimOp::Spill || command.op == PimOp::SpillVisit ||
                    command.op == PimOp::ReadResults) &&
                   !sums) {
            refuse("no sums have been computed, loaded or written");
        } else if (touches_array(command.op) &&
                   command.word + command.count > rows * program.words_per_row) {
            refuse(fmt::format("goes beyond row {}, the last for data", rows - 1));
        } else if (command.banks.which < BankSet::kAll && target.pim.banks_per_unit == 1) {
            refuse("even and odd banks take turns only where two share a unit (banks_per_unit)");
        } else if (command.op == PimOp::Mac && command.banks.all() &&
                   target.pim.banks_per_unit > 1) {
            refuse("a unit multiplies for one of its banks at a time: banks even, then banks odd");
        } else if (command.op == PimOp::ReadBanks && command.count > target.memory.banks()) {
            refuse(fmt::format("a channel has {} banks", target.memory.banks()));
        }
        inputs = inputs || writes_inputs;
        sums = sums || command.op == PimOp::Mac || command.op == PimOp::LoadOutputs ||
               command.op == PimOp::Alu || writes_inputs;
    }
    return text;
}

}  // namespace tilesim::arch::pim
