// Traces of the AiM simulator as PIM programs.
#include <fmt/format.h>

#include <sstream>
#include <string>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/pim/program_text.hpp"

namespace tilesim::arch::pim {

using base::config::ConfigError;

namespace {

struct AimLine {
    std::string file;
    std::int64_t number = 0;
    std::vector<std::string> words;

    base::FilePlace place() const { return {static_cast<std::int32_t>(number), 1}; }
    [[noreturn]] void fail(const std::string& why) const {
        throw ConfigError(fmt::format("{}:{}:1: {}", file, number, why));
    }
    std::int64_t integer(std::size_t index, const char* what) const {
        if (index >= words.size()) {
            fail(fmt::format("{} is missing", what));
        }
        try {
            std::size_t used = 0;
            const std::int64_t value = std::stoll(words[index], &used, 0);
            if (used == words[index].size() && value >= 0) {
                return value;
            }
        } catch (const std::exception&) {  // reported below
        }
        fail(fmt::format("{} must be a number, got '{}'", what, words[index]));
    }
};

// Every channel executes the same program here.
void check_mask(const AimLine& line, std::size_t index, const ProgramTarget& target) {
    const std::int64_t mask = line.integer(index, "channel mask");
    const std::int64_t all = (std::int64_t{1} << target.memory.channels) - 1;
    if (mask != all) {
        line.fail(
            fmt::format("channel mask {:#x}: only all {} channels together ({:#x}) can be "
                        "expressed",
                        mask, target.memory.channels, all));
    }
}

// "AiM OPCODE SIZE ... MASK ...": the instructions the units have.
void instruction(const AimLine& line, const ProgramTarget& target, PimProgram& program) {
    const std::string opcode = line.words.size() > 1 ? line.words[1] : "";
    PimCommand command{.place = line.place()};
    if (opcode == "EOC" || opcode == "SYNC") {
        program.commands.push_back({.op = PimOp::Barrier, .place = line.place()});
        return;
    }
    const auto size = [&] { return command.count = line.integer(2, "size"); };
    if (opcode == "WR_GB") {
        command.op = PimOp::WriteInputs;
        size();
        line.integer(3, "register");
        check_mask(line, 4, target);
    } else if (opcode == "WR_BIAS" || opcode == "RD_MAC") {
        command.op = opcode == "WR_BIAS" ? PimOp::WriteInputs : PimOp::ReadResults;
        command.count = 1;
        line.integer(2, "register");
        check_mask(line, 3, target);
    } else if (opcode == "MAC_ABK") {
        command.op = PimOp::Mac;
        size();
        check_mask(line, 3, target);
        command.word = line.integer(4, "row") * program.words_per_row;
    } else if (opcode == "MAC_SBK") {
        command.op = PimOp::Mac;
        size();
        check_mask(line, 3, target);
        command.banks.which = line.integer(4, "bank");
        command.word = line.integer(5, "row") * program.words_per_row;
    } else {
        line.fail(
            fmt::format("AiM {}: the units here have WR_GB, WR_BIAS, MAC_ABK, MAC_SBK, RD_MAC, "
                        "SYNC and EOC",
                        opcode));
    }
    if (command.op == PimOp::Mac && command.count > program.words_per_row) {
        line.fail(fmt::format("{} columns, a row has {}", command.count, program.words_per_row));
    }
    program.commands.push_back(command);
}

}  // namespace

PimProgram read_aim_trace(const std::string& text, const std::string& file,
                          const ProgramTarget& target) {
    PimProgram program;
    program.words_per_row = target.words_per_row();
    std::istringstream in(text);
    std::int64_t number = 0;
    for (std::string each; std::getline(in, each);) {
        AimLine line{file, ++number, {}};
        std::istringstream words(each.substr(0, each.find('#')));
        for (std::string word; words >> word;) {
            line.words.push_back(word);
        }
        if (line.words.empty() ||
            (line.words.size() > 1 && (line.words[0] == "W" || line.words[0] == "R") &&
             line.words[1] != "MEM")) {
            continue;  // registers of the host's interface, which take no DRAM command
        }
        if (line.words[0] != "AiM") {
            line.fail(
                fmt::format("{}: only AiM instructions and W/R CFR, GPR can be expressed", each));
        }
        instruction(line, target, program);
    }
    if (!program.commands.empty() && program.commands.back().op == PimOp::Barrier) {
        program.commands.pop_back();  // the end of a program is one
    }
    return program;
}

}  // namespace tilesim::arch::pim
