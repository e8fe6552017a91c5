// Traces of the AiM simulator as PIM programs.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/base/utf8.hpp"
#include "arch/pim/program_text.hpp"

namespace tilesim::arch::pim {

using base::config::ConfigError;

namespace {

constexpr std::int64_t kMaskBits = 64;
constexpr std::int64_t kMostRegisters = INT32_MAX;  // that an instruction names

struct AimLine {
    std::string file;
    std::int64_t number = 0;
    std::vector<std::string> words;
    std::vector<std::size_t> columns;  // at which they begin; one more: behind the last

    base::FilePlace place() const { return {static_cast<std::int32_t>(number), 1}; }
    [[noreturn]] void fail(std::size_t index, const std::string& why) const {
        throw ConfigError(fmt::format("{}:{}:{}: {}", file, number, columns[index], why));
    }
    std::uint64_t number_at(std::size_t index, const char* what, std::uint64_t most) const {
        if (index >= words.size()) {
            fail(words.size(), fmt::format("{} is missing", what));
        }
        try {
            std::size_t used = 0;
            const std::uint64_t value = std::stoull(words[index], &used, 0);
            if (used == words[index].size() && words[index][0] != '-' && value <= most) {
                return value;
            }
        } catch (const std::exception&) {  // reported below
        }
        fail(index, fmt::format("{} must be 0..{}, got '{}'", what, most, words[index]));
    }
    std::int64_t integer(std::size_t index, const char* what, std::int64_t most) const {
        return static_cast<std::int64_t>(number_at(index, what, static_cast<std::uint64_t>(most)));
    }
};

AimLine line_of(std::string_view text, const std::string& file, std::int64_t number) {
    constexpr std::string_view kBlanks = " \t\r";
    AimLine line{file, number, {}, {}};
    text = text.substr(0, text.find('#'));
    for (std::size_t at = text.find_first_not_of(kBlanks); at < text.size();) {
        const std::size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
        line.words.emplace_back(text.substr(at, end - at));
        line.columns.push_back(at + 1);
        at = std::min(text.find_first_not_of(kBlanks, end), text.size());
    }
    line.columns.push_back(text.size() + 1);
    return line;
}

// Every channel executes the same program here.
void check_mask(const AimLine& line, std::size_t index, const ProgramTarget& target) {
    const std::uint64_t mask = line.number_at(index, "channel mask", UINT64_MAX);
    const std::uint64_t all = UINT64_MAX >> (kMaskBits - target.memory.channels);
    if (mask != all) {
        line.fail(index,
                  fmt::format("channel mask {:#x}: only all {} channels together ({:#x}) can be "
                              "expressed",
                              mask, target.memory.channels, all));
    }
}

// "AiM OPCODE SIZE ... MASK ...": the instructions the units have.
void instruction(const AimLine& line, const ProgramTarget& target, PimProgram& program) {
    if (line.words.size() < 2) {
        line.fail(1, "opcode is missing");
    }
    const std::string& opcode = line.words[1];
    PimCommand command{.place = line.place()};
    if (opcode == "EOC" || opcode == "SYNC") {
        program.commands.push_back({.op = PimOp::Barrier, .place = line.place()});
        return;
    }
    const auto size = [&](std::int64_t most) { command.count = line.integer(2, "size", most); };
    const auto row = [&](std::size_t index) {
        return line.integer(index, "row", target.memory.rows - 1) * program.words_per_row;
    };
    if (opcode == "WR_GB") {
        command.op = PimOp::WriteInputs;
        size(target.pim.registers * target.pim.alus);
        line.integer(3, "register", kMostRegisters);
        check_mask(line, 4, target);
    } else if (opcode == "WR_BIAS" || opcode == "RD_MAC") {
        command.op = opcode == "WR_BIAS" ? PimOp::WriteInputs : PimOp::ReadResults;
        command.count = 1;
        line.integer(2, "register", kMostRegisters);
        check_mask(line, 3, target);
    } else if (opcode == "MAC_ABK") {
        command.op = PimOp::Mac;
        size(program.words_per_row);
        check_mask(line, 3, target);
        command.word = row(4);
    } else if (opcode == "MAC_SBK") {
        command.op = PimOp::Mac;
        size(program.words_per_row);
        check_mask(line, 3, target);
        command.banks.which = line.integer(4, "bank", target.memory.banks() - 1);
        command.word = row(5);
    } else {
        line.fail(
            1, fmt::format("AiM {}: the units here have WR_GB, WR_BIAS, MAC_ABK, MAC_SBK, RD_MAC, "
                           "SYNC and EOC",
                           opcode));
    }
    program.commands.push_back(command);
}

}  // namespace

PimProgram read_aim_trace(const std::string& text, const std::string& file,
                          const ProgramTarget& target) {
    base::require_text(file, text);
    PimProgram program;
    program.words_per_row = target.words_per_row();
    std::istringstream in{std::string(base::without_byte_order_mark(text))};
    std::int64_t number = 0;
    for (std::string each; std::getline(in, each);) {
        const AimLine line = line_of(each, file, ++number);
        if (line.words.empty() ||
            (line.words.size() > 1 && (line.words[0] == "W" || line.words[0] == "R") &&
             line.words[1] != "MEM")) {
            continue;  // registers of the host's interface, which take no DRAM command
        }
        if (line.words[0] != "AiM") {
            line.fail(0, fmt::format("{}: only AiM instructions and W/R CFR, GPR can be expressed",
                                     each));
        }
        instruction(line, target, program);
    }
    if (!program.commands.empty() && program.commands.back().op == PimOp::Barrier) {
        program.commands.pop_back();  // the end of a program is one
    }
    return program;
}

}  // namespace tilesim::arch::pim
