#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "arch/amx/program/address_text.hpp"
#include "arch/amx/program/program_text.hpp"
#include "arch/amx/program/text_line.hpp"
#include "arch/base/config.hpp"

namespace tilesim::arch::amx::program {

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
            attempt([this] { statement(line_.code()); });
        }
        if (errors_.empty() && !loops_.empty()) {
            line_.turn_to(loops_.back().line);
            attempt([this] { line_.fail({}, "loop '" + loops_.back().name + "' has no end"); });
        }
        if (!errors_.empty()) {
            throw base::config::ConfigError(fmt::format("{}", fmt::join(errors_, "\n")));
        }
        return std::move(program_);
    }

  private:
    // Errors of all lines are reported together.
    template <class Body>
    void attempt(Body body) {
        try {
            body();
        } catch (const base::config::ConfigError& error) {
            errors_.emplace_back(error.what());
        }
    }

    std::int8_t reg(Text text, RegisterKind kind) const {
        const Text prefix = prefix_of(kind);
        if (!text.starts_with(prefix)) {
            line_.fail(text, fmt::format("'{}': a {} register must stand here", text, prefix));
        }
        const int registers = kind == RegisterKind::Tile     ? kTiles
                              : kind == RegisterKind::Vector ? kVectorRegisters
                                                             : kGeneralRegisters;
        return static_cast<std::int8_t>(line_.integer(text.substr(prefix.size()), registers - 1));
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
            program_.runs = std::max<std::int64_t>(line_.integer(rest, kMostRuns), 1);
        } else if (word == "config") {
            config(word, rest);
        } else if (word == "loop") {
            loop(word, rest);
        } else if (word == "end") {
            if (loops_.empty()) {
                line_.fail(word, "end without a loop");
            }
            loops_.pop_back();
            program_.close_loop();
        } else {
            instruction(word, rest);
        }
    }

    void buffer(Text word, Text rest) {
        const auto parts = split(rest, ' ');
        if (parts.size() != 3) {
            line_.fail(word, "buffer NAME ADDRESS BYTES");
        }
        program_.buffers.push_back({std::string{parts[0]}, 0, 0});
        program_.buffers.back().address = line_.integer(parts[1], kMostAddress);
        program_.buffers.back().bytes =
            line_.integer(parts[2], kMostAddress - program_.buffers.back().address);
    }

    void table(Text word, Text rest) {
        const auto parts = split(rest, ' ');
        if (parts.size() < 3) {
            line_.fail(word, "table NAME ADDRESS LENGTH...");
        }
        AddressTable result{std::string{parts[0]}, {line_.integer(parts[1], kMostAddress)}};
        for (std::size_t i = 2; i < parts.size(); ++i) {
            result.starts.push_back(result.starts.back() + line_.integer(parts[i], kRowBytes));
        }
        program_.tables.push_back(std::move(result));
    }

    void shuffle(Text word, Text rest) {
        const auto parts = split(rest, ' ');
        if (parts.size() < 4 || parts.size() > 5) {
            line_.fail(word, "shuffle NAME ADDRESS BLOCKS BYTES [LINES]");
        }
        AddressTable result{std::string{parts[0]}, {line_.integer(parts[1], kMostAddress)}};
        result.block = std::max<std::int64_t>(line_.integer(parts[3], kMostAddress), kRowBytes);
        const std::int64_t room = (kMostAddress - result.starts.front()) / result.block;
        result.count = std::max<std::int64_t>(line_.integer(parts[2], room), 1);
        result.skew = parts.size() == 5 ? line_.integer(parts[4], kMostSkew) : 0;
        program_.tables.push_back(std::move(result));
    }

    void prepare(Text word, Text rest) {
        const auto parts = split(rest, ' ');
        const bool touch = word == "touch";
        if (parts.size() < (touch ? 2U : 1U) || parts.size() > (touch ? 3U : 1U)) {
            line_.fail(word, touch ? "touch NAME l1|l2|l3 [dirty]" : "flush NAME");
        }
        const auto buffer = std::find_if(program_.buffers.begin(), program_.buffers.end(),
                                         [&](const Buffer& each) { return each.name == parts[0]; });
        if (buffer == program_.buffers.end()) {
            line_.fail(parts[0], fmt::format("'{}' is no buffer above this line", parts[0]));
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
        line_.fail(text, fmt::format("'{}': must be l1, l2 or l3", text));
    }

    void config(Text word, Text rest) {
        program_.configs.emplace_back();
        const auto parts = split(rest, ' ');
        if (parts.size() != kTiles + 1 || line_.integer(parts[0], kMostCount) + 1 !=
                                              static_cast<std::int64_t>(program_.configs.size())) {
            line_.fail(word, "config NUMBER and eight shapes ROWSxBYTES; numbers ascend from 0");
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
        const auto parts = split(rest, ' ');
        const std::string name{parts.empty() ? Text{} : parts[0]};
        // Opened before anything is found wrong with it: its end has something to close.
        loops_.push_back({name, program_.open_loop(name, 1), line_.number(), 1, 1});
        if (parts.size() != 2) {
            line_.fail(word, "loop NAME COUNT");
        }
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
            line_.fail(word,
                       fmt::format("unknown instruction '{}'{}", word, hint(word, mnemonics())));
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
            line_.fail(word, fmt::format("{} operands; {} expected", operands.size(), least));
        }
    }

    void memory_operands(Text word, Instruction& result, const std::vector<Text>& operands) const {
        const OpcodeInfo& info = info_of(result.opcode);
        const bool mask = result.opcode == Opcode::Kmovq;
        const bool alone = info.registers == RegisterKind::None && !mask;
        const bool store = info.unit == Unit::Store;
        count(word, operands, alone ? 1 : info.tile() ? 3 : 2, alone ? 1 : 3);
        const Text memory = operands[alone || store ? 0 : 1];
        result.address = addresses_.read(memory);
        result.bytes = info_of(result.opcode).bytes;
        check_table(memory, result);
        if (info.tile()) {
            result.row_stride = line_.integer(operands[store ? 1 : 2], kMostAddress);
        } else if (operands.size() == 3) {
            result.bytes = line_.integer(operands[2], kRowBytes);
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

    void register_operands(Text word, Instruction& result,
                           const std::vector<Text>& operands) const {
        const OpcodeInfo& info = info_of(result.opcode);
        if (result.opcode == Opcode::Ldtilecfg) {
            count(word, operands, 1, 1);
            result.immediate = line_.integer(operands[0], kMostCount);
            if (result.immediate >= static_cast<std::int64_t>(program_.configs.size())) {
                line_.fail(operands[0], fmt::format("there is no config {}", result.immediate));
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
            result.immediate = line_.integer(
                operands[registers], result.opcode == Opcode::Pause ? kMostPause : kRowBytes);
        }
    }

    const std::string& text_;
    TextLine line_;
    std::vector<std::string> errors_;
    Program program_;
    std::vector<OpenLoop> loops_;  // around this line
    AddressText addresses_{line_, program_, loops_};
};

}  // namespace

Program read_program(const std::string& text, const std::string& file) {
    return Reader(text, file).read();
}

}  // namespace tilesim::arch::amx::program
