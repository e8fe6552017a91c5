#include "arch/pim/program_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string_view>
#include <variant>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/base/quantity.hpp"
#include "arch/base/utf8.hpp"
#include "arch/pim/program_line.hpp"

namespace tilesim::arch::pim {

using base::config::ConfigError;

namespace {

constexpr std::int64_t kMostCommands = 10'000'000;

const std::vector<std::pair<std::string_view, PimCommand::Purpose>> kPurposes{
    {"fold", PimCommand::Purpose::Fold},
    {"scale", PimCommand::Purpose::Scale},
    {"load", PimCommand::Purpose::Load}};

// What may stand behind a command and its count.
std::vector<std::string_view> words_of(PimOp op) {
    std::vector<std::string_view> words;
    if (touches_array(op)) {
        words.emplace_back("row");
    }
    if (names_banks(op)) {
        words.emplace_back("banks");
    }
    if (op == PimOp::Alu) {
        for (const auto& [word, purpose] : kPurposes) {
            words.emplace_back(word);
        }
        words.emplace_back("factor");
    }
    words.insert(words.end(), {"block", "k"});
    return words;
}

class Reader {
  public:
    Reader(const std::string& file, const ProgramTarget& target) : file_(file), target_(target) {
        program_.words_per_row = target.words_per_row();
    }

    PimProgram read(const std::string& text, base::FilePlace begin) {
        std::istringstream in(text);
        for (std::string line; std::getline(in, line); ++begin.line) {
            ProgramLine words(line, file_, begin, errors_);
            if (!words.empty()) {
                statement(words);
            }
        }
        for (const Loop& loop : loops_) {
            errors_.push_back(fmt::format("{}:{}:{}: repeat without an end", file_, loop.place.line,
                                          loop.place.column));
        }
        finish();
        return std::move(program_);
    }

  private:
    struct Loop {
        std::int64_t times = 0;
        std::size_t begin = 0;  // its first command
        base::FilePlace place;
    };

    void statement(ProgramLine& line);
    void end_loop(ProgramLine& line);
    void mode(ProgramLine& line);
    void command(PimOp op, ProgramLine& line);
    void options(PimCommand& command, ProgramLine& line, bool counted);
    void where(PimCommand& command, ProgramLine& line, bool counted);
    void banks(PimCommand& command, ProgramLine& line);
    void time(PimCommand& command, ProgramLine& line);
    std::vector<PimCommand>& commands() { return program_.commands; }
    void add(const PimCommand& command) {
        commands().push_back(command);
        steps_.push_back(step_);
        step_ = 0;
    }
    void finish() {
        if (!errors_.empty()) {
            std::string all;
            for (const std::string& error : errors_) {
                all += (all.empty() ? "" : "\n") + error;
            }
            throw ConfigError(all);
        }
    }

    const std::string& file_;
    const ProgramTarget& target_;
    PimProgram program_;
    std::vector<std::int64_t> steps_;  // rows each command goes on by a round of its loop
    std::int64_t step_ = 0;
    std::vector<Loop> loops_;
    std::vector<std::string> errors_;
};

void Reader::statement(ProgramLine& line) {
    const std::string name = line.take();
    if (name == "repeat") {
        loops_.push_back(
            {line.integer(1, kMostCommands, "repeat"), commands().size(), line.place()});
    } else if (name == "end") {
        end_loop(line);
    } else if (name == "mode") {
        mode(line);
    } else {
        const std::optional<PimOp> op = kPimOps.find(name);
        if (!op) {
            std::vector<std::string> known{"repeat", "end", "mode"};
            for (const auto& [each, of_it] : kPimOps) {
                known.emplace_back(each);
            }
            const std::string hint = base::config::did_you_mean(name, known);
            line.error(
                0, fmt::format("there is no command '{}'{}", name,
                               hint.empty() ? fmt::format("; known are {}", fmt::join(known, ", "))
                                            : hint));
            return;
        }
        command(*op, line);
    }
    if (!line.empty()) {
        line.take();
        line.error("is one word too many");
    }
}

void Reader::end_loop(ProgramLine& line) {
    if (loops_.empty()) {
        line.error(0, "end without a repeat");
        return;
    }
    const Loop loop = loops_.back();
    loops_.pop_back();
    const auto size = static_cast<std::int64_t>(commands().size() - loop.begin);
    if (size * loop.times + std::ssize(commands()) > kMostCommands) {
        line.error(0, fmt::format("the program has more than {} commands", kMostCommands));
        return;
    }
    for (std::int64_t round = 1; round < loop.times; ++round) {
        for (std::size_t i = loop.begin; i < loop.begin + static_cast<std::size_t>(size); ++i) {
            PimCommand next = commands()[i];
            next.word += steps_[i] * round * program_.words_per_row;
            commands().push_back(next);
            steps_.push_back(0);
        }
    }
    for (std::size_t i = loop.begin; i < commands().size(); ++i) {
        steps_[i] = 0;  // an outer loop repeats the rows of the inner one
    }
}

void Reader::mode(ProgramLine& line) {
    const ModeConfig& modes = target_.pim.modes;
    const std::vector<std::pair<std::string_view, const ModeSteps*>> kNames{
        {"enter", &modes.enter}, {"leave", &modes.leave}, {"on", &modes.on}, {"off", &modes.off}};
    const std::string name = line.empty() ? "" : line.take();
    for (const auto& [known, steps] : kNames) {
        if (name == known) {
            append(commands(), *steps);
            steps_.resize(commands().size());
            return;
        }
    }
    line.error(fmt::format("mode must be enter, leave, on or off, got '{}'", name));
}

void Reader::banks(PimCommand& command, ProgramLine& line) {
    if (line.take_if("even")) {
        command.banks.which = BankSet::kEven;
    } else if (line.take_if("odd")) {
        command.banks.which = BankSet::kOdd;
    } else if (!line.take_if("all")) {
        command.banks.which = line.integer(0, target_.memory.banks() - 1, "bank");
    }
}

// "row 3 columns 0-63", "row 3 step 1 column 5": words of the array. `counted`: their number is
// known.
void Reader::where(PimCommand& command, ProgramLine& line, bool counted) {
    const std::int64_t row = line.integer(0, target_.memory.rows - 2, "row");  // the last: modes
    if (line.take_if("step")) {
        if (loops_.empty()) {
            line.error("step is of the rounds of a repeat, and none is around it");
            return;
        }
        step_ = line.integer(0, target_.memory.rows, "step");
    }
    const std::int64_t last_column = program_.words_per_row - 1;
    std::int64_t column = 0;
    if (line.take_if("columns")) {
        if (counted) {
            line.error(fmt::format("columns say how many words, but {} stands before them",
                                   command.count));
            return;
        }
        const std::string range = line.empty() ? "" : line.take();
        const std::size_t dash = range.find('-');
        const auto number = [&](const std::string& text) -> std::int64_t {
            const auto parsed = base::config::parse_integer(text);
            const auto* value = std::get_if<std::int64_t>(&parsed);
            return value == nullptr ? -1 : *value;
        };
        const std::int64_t from = number(range.substr(0, dash));
        const std::int64_t to = dash == std::string::npos ? -1 : number(range.substr(dash + 1));
        if (from < 0 || to < from || to > last_column) {
            line.error(
                fmt::format("columns must be A-B within 0..{}, got '{}'", last_column, range));
            return;
        }
        column = from;
        command.count = to - from + 1;
    } else if (line.take_if("column")) {
        column = line.integer(0, last_column, "column");
    }
    command.word = row * program_.words_per_row + column;
}

void Reader::time(PimCommand& command, ProgramLine& line) {
    const std::size_t at = 1;
    std::string text = line.empty() ? "" : line.take();
    text += line.empty() ? "" : fmt::format(" {}", line.take());
    const base::Clock clock{target_.memory.clock};
    const std::size_t space = text.find(' ');
    const auto parsed = base::config::parse_integer(text.substr(0, space));
    const auto* value = std::get_if<std::int64_t>(&parsed);
    const std::string unit = space == std::string::npos ? "" : text.substr(space + 1);
    constexpr std::int64_t kMostTime = 1'000'000'000;
    if (value == nullptr || *value < 0 || *value > kMostTime || (unit != "ns" && unit != "cycle")) {
        line.error(at, fmt::format("{} must be a time like '150 ns' or '40 cycle', of 0..{} of "
                                   "either, got '{}'",
                                   name_of(command.op), kMostTime, text));
        return;
    }
    constexpr std::int64_t kNanosecond = 1'000'000;  // fs
    command.count = unit == "ns"
                        ? clock.first_cycle_from(base::Femtoseconds{*value * kNanosecond}).count()
                        : *value;
}

void Reader::command(PimOp op, ProgramLine& line) {
    PimCommand command{.op = op, .place = line.place()};
    if (op == PimOp::Wait || op == PimOp::Yield) {
        time(command, line);
        add(command);
        return;
    }
    const bool of_one_bank = op == PimOp::ReadBank || op == PimOp::WriteBank;
    if (of_one_bank) {
        command.banks.which = line.integer(0, target_.memory.banks() - 1, "bank");
    }
    const bool counts = op != PimOp::Barrier && op != PimOp::Close;
    command.word = op == PimOp::Spill ? PimCommand::kOpenRow : 0;
    const bool counted = counts && line.starts_with_number();
    if (counted) {  // a visit of the mode registers may write none
        command.count = line.integer(op == PimOp::ModeVisit ? 0 : 1, kMostCommands, "count");
    }
    const std::size_t errors = errors_.size();
    options(command, line, counted);
    if (counts && !counted && command.count == 0 && errors_.size() == errors) {
        line.error(0, fmt::format("{} lacks its number{}", name_of(op),
                                  touches_array(op) ? ", or the columns of its row" : ""));
    }
    add(command);
}

// What stands behind a command and its count.
void Reader::options(PimCommand& command, ProgramLine& line, bool counted) {
    const PimOp op = command.op;
    std::set<std::string> said;
    while (!line.empty()) {
        const auto purpose =
            std::find_if(kPurposes.begin(), kPurposes.end(),
                         [&](const auto& each) { return each.first == line.peek(); });
        const bool for_purpose =
            purpose != kPurposes.end() &&
            (op == PimOp::Alu ||
             (op == PimOp::WriteInputs && purpose->second == PimCommand::Purpose::Load));
        if (!said.insert(for_purpose ? "purpose" : line.peek()).second) {
            const std::string word = line.take();
            line.error(fmt::format("'{}' comes after another of its kind", word));
        } else if (for_purpose) {
            line.take();
            command.purpose = purpose->second;
        } else if (touches_array(op) && line.take_if("row")) {
            where(command, line, counted);
        } else if (names_banks(op) && line.take_if("banks")) {
            banks(command, line);
        } else if (line.take_if("block")) {
            command.row_block = line.integer(0, kMostCommands, "block");
        } else if (line.take_if("k")) {
            command.k = line.integer(0, kMostCommands, "k");
        } else if (op == PimOp::Alu && line.take_if("factor")) {
            command.word = line.integer(0, kMostCommands, "factor");
        } else {
            const std::string word = line.take();
            line.error(fmt::format("'{}' does not belong to {}; known are {}", word, name_of(op),
                                   fmt::join(words_of(op), ", ")));
        }
    }
}

std::string banks_text(BankSet banks) {
    return banks.all()                     ? ""
           : banks.which == BankSet::kEven ? " banks even"
           : banks.which == BankSet::kOdd  ? " banks odd"
                                           : fmt::format(" banks {}", banks.which);
}

std::string place_text(const PimCommand& command, std::int64_t words_per_row) {
    if (command.word == PimCommand::kOpenRow) {
        return fmt::format(" {}", command.count);
    }
    const std::int64_t row = command.word / words_per_row;
    const std::int64_t column = command.word % words_per_row;
    return command.count > 0 && column + command.count <= words_per_row
               ? fmt::format(" row {} columns {}-{}", row, column, column + command.count - 1)
               : fmt::format(" {} row {} column {}", command.count, row, column);
}

std::string to_text(const PimCommand& command, std::int64_t words_per_row) {
    std::string text{name_of(command.op)};
    switch (command.op) {
        case PimOp::Wait:
        case PimOp::Yield:
            return text + fmt::format(" {} cycle", command.count);
        case PimOp::Barrier:
        case PimOp::Close:
            return text;
        case PimOp::ReadBank:
        case PimOp::WriteBank:
            return text + fmt::format(" {}", command.banks.which) +
                   place_text(command, words_per_row);
        default:
            break;
    }
    text += touches_array(command.op) ? place_text(command, words_per_row)
                                      : fmt::format(" {}", command.count);
    for (const auto& [name, purpose] : kPurposes) {
        text += command.purpose == purpose ? fmt::format(" {}", name) : "";
    }
    if (command.op == PimOp::Alu && command.word > 0) {
        text += fmt::format(" factor {}", command.word);
    }
    text += banks_text(command.banks);
    text += command.row_block > 0 ? fmt::format(" block {}", command.row_block) : "";
    text += command.k > 0 ? fmt::format(" k {}", command.k) : "";
    return text;
}

}  // namespace

PimProgram read_program(const std::string& text, const std::string& file, base::FilePlace begin,
                        const ProgramTarget& target) {
    base::require_text(file, text);
    return Reader(file, target).read(text, begin);
}

std::string print(const PimProgram& program, std::size_t most) {
    std::string text;
    for (std::size_t i = 0; i < std::min(most, program.commands.size()); ++i) {
        text += to_text(program.commands[i], program.words_per_row) + "\n";
    }
    return text;
}

}  // namespace tilesim::arch::pim
