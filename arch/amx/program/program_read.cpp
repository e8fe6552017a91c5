#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "arch/amx/program/address_text.hpp"
#include "arch/amx/program/buffer_reach.hpp"
#include "arch/amx/program/loaded_config.hpp"
#include "arch/amx/program/program_text.hpp"
#include "arch/amx/program/text_line.hpp"
#include "arch/base/config.hpp"
#include "arch/base/utf8.hpp"

namespace tilesim::arch::amx::program {

using base::config::did_you_mean;

namespace {

constexpr std::int64_t kMostRuns = 1000;
constexpr std::int64_t kMostCount = std::int64_t{1} << 40;
constexpr std::int64_t kMostPause = 1'000'000;
constexpr std::int64_t kMostSkew = 1 << 20;
constexpr std::size_t kMostErrors = 20;

std::vector<std::string> mnemonics() {
    std::vector<std::string> names{"buffer", "table", "shuffle", "config", "flush",
                                   "touch",  "runs",  "loop",    "end"};
    for (const OpcodeInfo& info : kOpcodeInfo) {
        names.emplace_back(info.mnemonic);
    }
    return names;
}

class Reader {
  public:
    Reader(const std::string& text, std::string file) : text_(text), line_(std::move(file)) {}

    Program read() {
        std::istringstream lines(text_);
        while (errors_.size() < kMostErrors && line_.next(lines)) {
            attempt(line_.number(), [this] { statement(line_.code()); });
        }
        if (loops_.empty()) {
            check_tiles();
        } else if (errors_.empty()) {
            const std::int64_t line = loops_.back().line;
            attempt(line,
                    [&] { line_.fail({line}, "loop '" + loops_.back().name + "' has no end"); });
        }
        refuse_errors();
        return std::move(program_);
    }

  private:
    struct Error {
        std::int64_t line = 0;
        std::string what;
    };

    template <class Body>
    void attempt(std::int64_t line, Body body) {
        try {
            body();
        } catch (const base::config::ConfigError& error) {
            errors_.push_back({line, error.what()});
        }
    }

    // Which configurations loops load is known at their ends. One error a line is enough.
    void check_tiles() {
        each_loaded_config(program_, [this](std::size_t statement, const LoadedConfig& loaded) {
            const std::int64_t line = program_.statements[statement].line;
            if (errors_.size() < kMostErrors && (errors_.empty() || errors_.back().line != line)) {
                attempt(line, [&] { buffers_.check_tile(statement, loaded); });
            }
        });
    }

    // Errors of all lines are reported together, in the order of lines.
    void refuse_errors() {
        if (errors_.empty()) {
            return;
        }
        std::stable_sort(errors_.begin(), errors_.end(),
                         [](const Error& a, const Error& b) { return a.line < b.line; });
        std::string text;
        for (const Error& error : errors_) {
            text += (text.empty() ? "" : "\n") + error.what;
        }
        throw base::config::ConfigError(text);
    }

    std::int8_t reg(Text text, RegisterKind kind) const {
        const Text prefix = prefix_of(kind);
        if (!text.starts_with(prefix)) {
            line_.fail(text, fmt::format("'{}': a {} register must stand here", text, prefix));
        }
        const int registers = kind == RegisterKind::Tile     ? kTiles
                              : kind == RegisterKind::Vector ? kVectorRegisters
                                                             : kGeneralRegisters;
        const Text number = text.substr(prefix.size());
        if (number.empty() || number.find_first_not_of("0123456789") != Text::npos) {
            line_.fail(text, fmt::format("'{}' is no register: {}0 to {}{}", text, prefix, prefix,
                                         registers - 1));
        }
        return static_cast<std::int8_t>(line_.integer(number, registers - 1));
    }

    // Outside loops, since it is said of the whole program.
    void whole(Text word) const {
        if (!loops_.empty()) {
            line_.fail(word, fmt::format("'{}' stands in the loop of line {}: it belongs outside",
                                         word, loops_.back().line));
        }
    }

    // Of a buffer, a table or a loop that is new here, in so many loops.
    std::string new_name(Text text, std::size_t loops) const {
        const std::string name = line_.name(text);
        for (const Buffer& each : program_.buffers) {
            refuse_name(text, each.name, "a buffer");
        }
        for (const AddressTable& each : program_.tables) {
            refuse_name(text, each.name, "a table");
        }
        for (std::size_t i = 0; i < loops; ++i) {
            refuse_name(text, loops_[i].name, "a loop around this line");
        }
        return name;
    }
    void refuse_name(Text text, const std::string& taken, const char* what) const {
        if (text == taken) {
            line_.fail(text, fmt::format("'{}' is the name of {} already", text, what));
        }
    }

    void statement(Text line) {
        line = trim(line);
        const Text word = line.substr(0, line.find_first_of(" \t"));
        const Text rest = trim(line.substr(word.size()));
        if (word.empty()) {
            return;
        }
        if (word == "buffer") {
            buffer(word, rest);
        } else if (word == "table") {
            table(word, rest);
        } else if (word == "shuffle") {
            shuffle(word, rest);
        } else if (word == "flush" || word == "touch") {
            prepare(word, rest);
        } else if (word == "runs") {
            runs(word, rest);
        } else if (word == "config") {
            config(word, rest);
        } else if (word == "loop") {
            loop(word, rest);
        } else if (word == "end") {
            end(word, rest);
        } else {
            instruction(word, rest);
        }
    }

    // Named even where something is wrong with it: who uses it is not at fault.
    void buffer(Text word, Text rest) {
        const auto parts = words(rest);
        if (parts.size() != 3) {
            line_.fail(word, "buffer NAME ADDRESS BYTES");
        }
        program_.buffers.push_back({new_name(parts[0], loops_.size()), 0, kMostAddress});
        program_.buffers.back().address = line_.integer(parts[1], kMostAddress - 1);
        program_.buffers.back().bytes =
            line_.integer(parts[2], kMostAddress - program_.buffers.back().address, 1);
    }

    void runs(Text word, Text rest) {
        whole(word);
        if (runs_) {
            line_.fail(word, fmt::format("line {} says how many runs there are", runs_));
        }
        runs_ = line_.number();
        program_.runs = line_.integer(rest, kMostRuns, 1);
    }

    void end(Text word, Text rest) {
        if (loops_.empty()) {
            line_.fail(word, "end without a loop");
        }
        loops_.pop_back();
        program_.close_loop();
        if (!rest.empty()) {
            line_.fail(rest, "nothing may stand behind `end`");
        }
    }

    void table(Text word, Text rest) {
        const auto parts = words(rest);
        if (parts.size() < 3) {
            line_.fail(word, "table NAME ADDRESS LENGTH...");
        }
        AddressTable result{new_name(parts[0], loops_.size()),
                            {line_.integer(parts[1], kMostAddress)}};
        for (std::size_t i = 2; i < parts.size(); ++i) {
            result.starts.push_back(result.starts.back() + line_.integer(parts[i], kRowBytes));
        }
        program_.tables.push_back(std::move(result));
    }

    void shuffle(Text word, Text rest) {
        const auto parts = words(rest);
        if (parts.size() < 4 || parts.size() > 5) {
            line_.fail(word, "shuffle NAME ADDRESS BLOCKS BYTES [LINES]");
        }
        AddressTable result{new_name(parts[0], loops_.size()),
                            {line_.integer(parts[1], kMostAddress)}};
        result.block = line_.integer(parts[3], kMostAddress, kRowBytes);
        const std::int64_t room = (kMostAddress - result.starts.front()) / result.block;
        result.count = line_.integer(parts[2], room, 1);
        result.skew = parts.size() == 5 ? line_.integer(parts[4], kMostSkew) : 0;
        program_.tables.push_back(std::move(result));
    }

    void prepare(Text word, Text rest) {
        const auto parts = words(rest);
        const bool touch = word == "touch";
        whole(word);
        if (parts.size() < (touch ? 2U : 1U) || parts.size() > (touch ? 3U : 1U)) {
            line_.fail(word, touch ? "touch NAME l1|l2|l3 [dirty]" : "flush NAME");
        }
        const auto buffer = std::find_if(program_.buffers.begin(), program_.buffers.end(),
                                         [&](const Buffer& each) { return each.name == parts[0]; });
        if (buffer == program_.buffers.end()) {
            line_.fail(parts[0],
                       fmt::format("'{}' is no buffer above this line{}", parts[0],
                                   did_you_mean(parts[0], names_of(program_.buffers, parts[0]))));
        }
        Preparation each;
        each.buffer = static_cast<std::size_t>(buffer - program_.buffers.begin());
        if (touch) {
            each.to = level(parts[1]);
            each.dirty = parts.size() == 3;
            if (each.dirty && parts[2] != "dirty") {
                line_.fail(parts[2], fmt::format("'{}': only `dirty` may stand here", parts[2]));
            }
        }
        program_.preparations.push_back(each);
    }

    Preparation::To level(Text text) const {
        for (const auto to : {Preparation::To::L1, Preparation::To::L2, Preparation::To::L3}) {
            if (name_of(to) == text) {
                return to;
            }
        }
        line_.fail(text, fmt::format("'{}': must be l1, l2 or l3{}", text,
                                     text == "dram" ? "; for DRAM write `flush`" : ""));
    }

    void config(Text word, Text rest) {
        program_.configs.emplace_back();
        const auto parts = words(rest);
        if (parts.size() != kTiles + 1) {
            line_.fail(word, fmt::format("config NUMBER and eight shapes ROWSxBYTES, got {} words",
                                         parts.size()));
        }
        const auto number = static_cast<std::int64_t>(program_.configs.size()) - 1;
        if (line_.integer(parts[0], kMostCount) != number) {
            line_.fail(parts[0], fmt::format("config {}: configurations are numbered from 0, in "
                                             "order; this one must be {}",
                                             parts[0], number));
        }
        for (std::size_t i = 0; i < kTiles; ++i) {
            const auto shape = split(parts[i + 1], 'x');
            if (shape.size() != 2) {
                line_.fail(parts[i + 1], fmt::format("'{}' is no shape ROWSxBYTES", parts[i + 1]));
            }
            program_.configs.back()[i] = {static_cast<int>(line_.integer(shape[0], UINT8_MAX)),
                                          static_cast<int>(line_.integer(shape[1], UINT16_MAX))};
        }
    }

    void loop(Text word, Text rest) {
        const auto parts = words(rest);
        const std::string name{parts.empty() ? Text{} : parts[0]};
        // Opened before anything is found wrong with it: its end has something to close.
        loops_.push_back({name, program_.open_loop(name, 1), line_.number(), 1, 1});
        if (parts.size() != 2) {
            line_.fail(word, "loop NAME COUNT");
        }
        new_name(parts[0], loops_.size() - 1);
        const std::int64_t count = line_.integer(parts[1], kMostCount);
        const std::int64_t outer = loops_.size() > 1 ? loops_[loops_.size() - 2].times : 1;
        if (count > 0 && outer > kMostCount / count) {
            line_.fail(parts[1],
                       fmt::format("with the loops around it this one runs more than {} times",
                                   kMostCount));
        }
        program_.statements.back().count = loops_.back().count = count;
        loops_.back().times = outer * count;
    }

    void instruction(Text word, Text rest) {
        Instruction result;
        std::size_t index = 0;
        while (index < kOpcodes && info_of(static_cast<Opcode>(index)).mnemonic != word) {
            ++index;
        }
        if (index == kOpcodes || static_cast<Opcode>(index) == Opcode::Loop) {
            line_.fail(word, fmt::format("unknown instruction '{}'{}", word,
                                         did_you_mean(word, mnemonics())));
        }
        const std::vector<Text> operands = split(rest, ',');
        result.opcode = static_cast<Opcode>(index);
        if (result.opcode == Opcode::Vmovups && !operands.empty() && operands[0].starts_with('[')) {
            result.opcode = Opcode::VmovupsStore;
        }
        const OpcodeInfo& info = info_of(result.opcode);
        if (info.memory()) {
            memory_operands(word, result, operands);
        } else {
            register_operands(word, result, operands);
        }
        program_.emit(result);
        program_.statements.back().line = static_cast<int>(line_.number());
    }

    void count(Text word, const std::vector<Text>& operands, std::size_t least,
               std::size_t most) const {
        if (operands.size() < least || operands.size() > most) {
            const std::string expected =
                least == most ? fmt::format("{}", least) : fmt::format("{} or {}", least, most);
            line_.fail(word,
                       fmt::format("{} operand{}; {} expected{}", operands.size(),
                                   operands.size() == 1 ? "" : "s", expected,
                                   operands.size() < least ? ", with commas between them" : ""));
        }
        const auto empty = std::find_if(operands.begin(), operands.end(),
                                        [](Text operand) { return operand.empty(); });
        if (empty != operands.end()) {
            line_.fail(*empty, "an operand is missing");
        }
    }

    void memory_operands(Text word, Instruction& result, const std::vector<Text>& operands) {
        const OpcodeInfo& info = info_of(result.opcode);
        const bool mask = result.opcode == Opcode::Kmovq;
        const bool whole_line = result.opcode == Opcode::Vmovntps;
        const bool alone = info.registers == RegisterKind::None && !mask;
        const bool store = info.unit == Unit::Store;
        const std::size_t needed = alone ? 1 : info.tile() ? 3 : 2;
        count(word, operands, needed, alone ? 1 : mask || whole_line ? 2 : 3);
        if (mask && operands[0] != "k1") {
            line_.fail(operands[0], fmt::format("'{}': k1 must stand here", operands[0]));
        }
        const Text memory = operands[alone || store ? 0 : 1];
        const AddressText::Place place = addresses_.read(memory);
        result.address = place.address;
        result.bytes = info_of(result.opcode).bytes;
        check_table(memory, result);
        if (info.tile()) {
            result.row_stride = line_.integer(operands[store ? 1 : 2], kMostAddress);
        } else if (operands.size() == 3) {
            result.bytes = line_.integer(operands[2], result.bytes, 1);
        }
        if (!alone && !mask) {
            result.destination =
                reg(store ? operands[info.tile() ? 2 : 1] : operands[0], info.registers);
        }
        const std::int64_t rows = info.tile() ? (kMaxRows - 1) * result.row_stride : 0;
        if (const auto [least, most] = addresses_.reach(result.address);
            result.address.table < 0 && (least < 0 || most > kMostAddress - rows)) {
            line_.fail(memory,
                       fmt::format("'{}' leaves the addresses 0..{:#x}", memory, kMostAddress));
        }
        if (whole_line && !addresses_.multiple_of(kRowBytes, result.address)) {
            line_.fail(memory,
                       fmt::format("'{}' is not always a multiple of {}, as {} needs it (#GP)",
                                   memory, kRowBytes, info.mnemonic));
        }
        if (place.buffer != nullptr) {
            buffers_.check({line_.place(memory), std::string{memory}, *place.buffer}, result,
                           addresses_.reach(result.address));
        }
    }

    void check_table(Text memory, const Instruction& each) const {
        if (each.address.table < 0) {
            return;
        }
        const bool pieces =
            program_.tables[static_cast<std::size_t>(each.address.table)].count == 0;
        if (pieces && each.opcode != Opcode::Vpexpandb) {
            line_.fail(memory, "only vpexpandb takes its address from a table of pieces");
        }
        if (info_of(each.opcode).tile()) {
            line_.fail(memory, "no tile instruction takes its address from a table");
        }
    }

    void register_operands(Text word, Instruction& result, const std::vector<Text>& operands) {
        const OpcodeInfo& info = info_of(result.opcode);
        if (result.opcode == Opcode::Ldtilecfg) {
            count(word, operands, 1, 1);
            result.immediate = line_.integer(operands[0], kMostCount);
            if (result.immediate >= static_cast<std::int64_t>(program_.configs.size())) {
                line_.fail(operands[0],
                           program_.configs.empty()
                               ? fmt::format("there is no config {}: none stands above this line",
                                             result.immediate)
                               : fmt::format("there is no config {}: above this line stand 0 to {}",
                                             result.immediate, program_.configs.size() - 1));
            }
            return;
        }
        const bool none = info.registers == RegisterKind::None;
        const std::size_t registers = none ? 0 : 1 + static_cast<std::size_t>(info.sources);
        const std::size_t expected = registers + (info.immediate ? 1 : 0);
        count(word, operands, expected, expected);
        const std::array<std::int8_t*, 3> fields{&result.destination, &result.source_a,
                                                 &result.source_b};
        for (std::size_t i = 0; i < registers; ++i) {
            *fields[i] = reg(operands[i], info.registers);
        }
        if (info.immediate) {
            result.immediate = line_.integer(operands[registers], most_immediate(result.opcode));
        }
    }

    // Cycles, a half of the sources, or the byte that shifts have.
    static std::int64_t most_immediate(Opcode opcode) {
        if (opcode == Opcode::Pause) {
            return kMostPause;
        }
        return opcode == Opcode::Vpermt2b || opcode == Opcode::Vpermt2w ? 1 : UINT8_MAX;
    }

    const std::string& text_;
    TextLine line_;
    std::vector<Error> errors_;
    Program program_;
    std::vector<OpenLoop> loops_;  // around this line
    std::int64_t runs_ = 0;        // line that says how many there are
    AddressText addresses_{line_, program_, loops_};
    BufferReach buffers_{line_, program_};
};

}  // namespace

Program read_program(const std::string& text, const std::string& file) {
    base::require_text(file, text);
    return Reader(std::string(base::without_byte_order_mark(text)), file).read();
}

}  // namespace tilesim::arch::amx::program
