#include "arch/pim/pim_program.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tilesim::arch::pim {

const char* name_of(PimOp op) {
    switch (op) {
        case PimOp::ModeWrite:
            return "mode_write";
        case PimOp::WriteInputs:
            return "write_inputs";
        case PimOp::WriteBankInputs:
            return "write_bank_inputs";
        case PimOp::Mac:
            return "mac";
        case PimOp::Alu:
            return "alu";
        case PimOp::LoadOutputs:
            return "load_outputs";
        case PimOp::Spill:
            return "spill";
        case PimOp::Yield:
            return "yield";
    }
    return "";
}

std::string PimProgram::print(std::size_t most) const {
    std::string text;
    for (std::size_t i = 0; i < std::min(most, commands.size()); ++i) {
        const PimCommand& command = commands[i];
        const bool in_array = command.op == PimOp::Mac || command.op == PimOp::LoadOutputs ||
                              command.op == PimOp::Spill;
        text += in_array
                    ? fmt::format("{} x{} row {} column {}\n", name_of(command.op), command.count,
                                  command.word / words_per_row, command.word % words_per_row)
                    : fmt::format("{} x{}\n", name_of(command.op), command.count);
    }
    return text;
}

}  // namespace tilesim::arch::pim
