#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <sstream>

#include "arch/amx/program/program_text.hpp"
#include "arch/base/config.hpp"

namespace tilesim::arch::amx::program {

namespace {

using Text = std::string_view;

constexpr std::int64_t kMostRuns = 1000;
constexpr std::int64_t kMostAddress = std::int64_t{1} << 37;  // what the cache tags reach
constexpr std::int64_t kMostCount = std::int64_t{1} << 40;
constexpr std::int64_t kMostPause = 1'000'000;
constexpr std::int64_t kMostSkew = 1 << 20;
constexpr std::size_t kMostErrors = 20;

Text trim(Text text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    const std::size_t last = text.find_last_not_of(" \t\r");
    return first == Text::npos ? text.substr(text.size()) : text.substr(first, last - first + 1);
}

// The parts of `text` between `at`s, trimmed, without empty ones.
std::vector<Text> split(Text text, char at) {
    std::vector<Text> parts;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find(at, start), text.size());
        if (const Text part = trim(text.substr(start, end - start)); !part.empty()) {
            parts.push_back(part);
        }
        start = end + 1;
    }
    return parts;
}

std::vector<std::string> mnemonics() {
    std::vector<std::string> names{"buffer", "table", "shuffle", "config", "flush",
                                   "touch",  "runs",  "loop",    "end"};
    for (const OpcodeInfo& info : kOpcodeInfo) {
        names.emplace_back(info.mnemonic);
    }
    return names;
}

// Everything it says of a line is a view into `line_`, which gives the column.
class Reader {
  public:
    Reader(const std::string& text, std::string file) : text_(text), file_(std::move(file)) {}

    Program read() {
        std::istringstream lines(text_);
        while (errors_.size() < kMostErrors && std::getline(lines, line_)) {
            ++number_;
            attempt([this] { statement(Text{line_}.substr(0, line_.find('#'))); });
        }
        if (errors_.empty() && !loops_.empty()) {
            number_ = loops_.back().line;
            attempt([this] { fail({}, "loop '" + loops_.back().name + "' has no end"); });
        }
        if (!errors_.empty()) {
            throw base::config::ConfigError(fmt::format("{}", fmt::join(errors_, "\n")));
        }
        return std::move(program_);
    }

  private:
    struct OpenLoop {
        std::string name;
        int variable = 0;
        std::int64_t line = 0;
        std::int64_t count = 0;
        std::int64_t times = 0;  // with the loops around it
    };

    // `at`: the part of the line that is wrong; an empty view of nothing: the whole line.
    [[noreturn]] void fail(Text at, const std::string& what) const {
        const std::ptrdiff_t column = at.data() == nullptr ? 1 : at.data() - line_.data() + 1;
        throw base::config::ConfigError(fmt::format("{}:{}:{}: {}", file_, number_, column, what));
    }

    // Errors of all lines are reported together.
    template <class Body>
    void attempt(Body body) {
        try {
            body();
        } catch (const base::config::ConfigError& error) {
            errors_.emplace_back(error.what());
        }
    }

    std::string hint(Text wrong, const std::vector<std::string>& known) const {
        const std::string near = base::config::nearest_name(wrong, known);
        return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
    }

    std::int64_t number(Text text, std::int64_t most) const {
        const bool hex = text.starts_with("0x");
        const Text digits = text.substr(hex ? 2 : 0);
        std::int64_t value = 0;
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
        if (error == std::errc::result_out_of_range) {
            fail(text, fmt::format("{} is beyond 0..{}", text, most));
        }
        if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) {
            fail(text, fmt::format("'{}' is no number", text));
        }
        if (value < 0 || value > most) {
            fail(text, fmt::format("{} is beyond 0..{}", value, most));
        }
        return value;
    }

    std::int8_t reg(Text text, RegisterKind kind) const {
        const Text prefix = prefix_of(kind);
        if (!text.starts_with(prefix)) {
            fail(text, fmt::format("'{}': a {} register must stand here", text, prefix));
        }
        const int registers = kind == RegisterKind::Tile     ? kTiles
                              : kind == RegisterKind::Vector ? kVectorRegisters
                                                             : kGeneralRegisters;
        return static_cast<std::int8_t>(number(text.substr(prefix.size()), registers - 1));
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
            program_.runs = std::max<std::int64_t>(number(rest, kMostRuns), 1);
        } else if (word == "config") {
            config(word, rest);
        } else if (word == "loop") {
            loop(word, rest);
        } else if (word == "end") {
            if (loops_.empty()) {
                fail(word, "end without a loop");
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
            fail(word, "buffer NAME ADDRESS BYTES");
        }
        program_.buffers.push_back({std::string{parts[0]}, 0, 0});
        program_.buffers.back().address = number(parts[1], kMostAddress);
        program_.buffers.back().bytes =
            number(parts[2], kMostAddress - program_.buffers.back().address);
    }

    void table(Text word, Text rest) {
        const auto parts = split(rest, ' ');
        if (parts.size() < 3) {
            fail(word, "table NAME ADDRESS LENGTH...");
        }
        AddressTable result{std::string{parts[0]}, {number(parts[1], kMostAddress)}};
        for (std::size_t i = 2; i < parts.size(); ++i) {
            result.starts.push_back(result.starts.back() + number(parts[i], kRowBytes));
        }
        program_.tables.push_back(std::move(result));
    }

    void shuffle(Text word, Text rest) {
        const auto parts = split(rest, ' ');
        if (parts.size() < 4 || parts.size() > 5) {
            fail(word, "shuffle NAME ADDRESS BLOCKS BYTES [LINES]");
        }
        AddressTable result{std::string{parts[0]}, {number(parts[1], kMostAddress)}};
        result.block = std::max<std::int64_t>(number(parts[3], kMostAddress), kRowBytes);
        const std::int64_t room = (kMostAddress - result.starts.front()) / result.block;
        result.count = std::max<std::int64_t>(number(parts[2], room), 1);
        result.skew = parts.size() == 5 ? number(parts[4], kMostSkew) : 0;
        program_.tables.push_back(std::move(result));
    }

    void prepare(Text word, Text rest) {
        const auto parts = split(rest, ' ');
        const bool touch = word == "touch";
        if (parts.size() < (touch ? 2U : 1U) || parts.size() > (touch ? 3U : 1U)) {
            fail(word, touch ? "touch NAME l1|l2|l3 [dirty]" : "flush NAME");
        }
        const auto buffer = std::find_if(program_.buffers.begin(), program_.buffers.end(),
                                         [&](const Buffer& each) { return each.name == parts[0]; });
        if (buffer == program_.buffers.end()) {
            fail(parts[0], fmt::format("'{}' is no buffer above this line", parts[0]));
        }
        Preparation each;
        each.buffer = static_cast<std::size_t>(buffer - program_.buffers.begin());
        if (touch) {
            each.to = level(parts[1]);
            each.dirty = parts.size() == 3;
            if (each.dirty && parts[2] != "dirty") {
                fail(parts[2], fmt::format("'{}': only `dirty` may stand here", parts[2]));
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
        fail(text, fmt::format("'{}': must be l1, l2 or l3", text));
    }

    void config(Text word, Text rest) {
        program_.configs.emplace_back();
        const auto parts = split(rest, ' ');
        if (parts.size() != kTiles + 1 || number(parts[0], kMostCount) + 1 !=
                                              static_cast<std::int64_t>(program_.configs.size())) {
            fail(word, "config NUMBER and eight shapes ROWSxBYTES; numbers ascend from 0");
        }
        for (std::size_t i = 0; i < kTiles; ++i) {
            const auto shape = split(parts[i + 1], 'x');
            if (shape.size() != 2) {
                fail(parts[i + 1], fmt::format("'{}' is no shape ROWSxBYTES", parts[i + 1]));
            }
            program_.configs.back()[i] = {static_cast<int>(number(shape[0], UINT8_MAX)),
                                          static_cast<int>(number(shape[1], UINT16_MAX))};
        }
    }

    void loop(Text word, Text rest) {
        const auto parts = split(rest, ' ');
        const std::string name{parts.empty() ? Text{} : parts[0]};
        // Opened before anything is found wrong with it: its end has something to close.
        loops_.push_back({name, program_.open_loop(name, 1), number_, 1, 1});
        if (parts.size() != 2) {
            fail(word, "loop NAME COUNT");
        }
        const std::int64_t count = number(parts[1], kMostCount);
        const std::int64_t outer = loops_.size() > 1 ? loops_[loops_.size() - 2].times : 1;
        if (count > 0 && outer > kMostCount / count) {
            fail(parts[1], fmt::format("with the loops around it this one runs more than {} times",
                                       kMostCount));
        }
        program_.statements.back().count = loops_.back().count = count;
        loops_.back().times = outer * count;
    }

    Address address(Text text) const {
        if (!text.starts_with('[') || !text.ends_with(']')) {
            fail(text, fmt::format("'{}': an address in brackets must stand here", text));
        }
        const Text body = text.substr(1, text.size() - 2);
        const std::size_t open = body.find('[');
        if (open == Text::npos) {
            return sum_of(body);
        }
        const auto table = std::find_if(
            program_.tables.begin(), program_.tables.end(),
            [&](const AddressTable& t) { return t.name == trim(body.substr(0, open)); });
        if (table == program_.tables.end() || !body.ends_with(']')) {
            fail(text, fmt::format("'{}': a table's name and an index in brackets must stand here",
                                   text));
        }
        Address result = sum_of(body.substr(open + 1, body.size() - open - 2));
        const std::int64_t entries = table->entries();
        if (const auto [least, most] = reach(result);
            least < 0 || (most >= entries && table->count == 0)) {
            fail(text, fmt::format("indices {}..{} of table {}, which has {} entries", least, most,
                                   table->name, entries));
        }
        result.table = static_cast<int>(table - program_.tables.begin());
        return result;
    }

    // Least and most that the loops around this line make of an address, within +-kMostAddress
    // a term.
    std::pair<std::int64_t, std::int64_t> reach(const Address& address) const {
        std::int64_t least = address.base;
        std::int64_t most = address.base;
        for (const Address::Term& term : address.terms) {
            const auto loop = std::find_if(loops_.begin(), loops_.end(), [&](const OpenLoop& l) {
                return l.variable == term.variable;
            });
            const std::int64_t last = std::max<std::int64_t>(loop->count - 1, 0);
            const std::int64_t stride = std::max<std::int64_t>(std::abs(term.stride), 1);
            const std::int64_t way = std::min(last, kMostAddress / stride + 1) * term.stride;
            (way < 0 ? least : most) += way;
        }
        return {least, most};
    }

    // Terms that are added or, behind a '-', subtracted.
    Address sum_of(Text body) const {
        Address result;
        std::int64_t sign = 1;
        for (std::size_t start = 0; start < body.size();) {
            const std::size_t end = std::min(body.find_first_of("+-", start), body.size());
            if (const Text term = trim(body.substr(start, end - start)); !term.empty()) {
                add(result, term, sign);
            }
            sign = end < body.size() && body[end] == '-' ? -1 : 1;
            start = end + 1;
        }
        return result;
    }

    void add(Address& result, Text term, std::int64_t sign) const {
        const auto factors = split(term, '*');
        const Text name = factors.empty() ? term : factors.back();
        const auto loop = std::find_if(loops_.rbegin(), loops_.rend(),
                                       [&](const OpenLoop& l) { return l.name == name; });
        if (loop != loops_.rend() && factors.size() <= 2) {
            const std::int64_t stride = factors.size() == 2 ? number(factors[0], kMostAddress) : 1;
            result.terms.push_back({loop->variable, sign * stride});
            return;
        }
        const auto buffer = std::find_if(program_.buffers.begin(), program_.buffers.end(),
                                         [&](const Buffer& b) { return b.name == name; });
        if (buffer != program_.buffers.end() && factors.size() == 1) {
            result.base += sign * buffer->address;
            return;
        }
        if (std::isdigit(static_cast<unsigned char>(term[0])) == 0 || factors.size() > 1) {
            std::vector<std::string> known;
            for (const Buffer& each : program_.buffers) {
                known.push_back(each.name);
            }
            for (const OpenLoop& each : loops_) {
                known.push_back(each.name);
            }
            fail(name, fmt::format("'{}' is neither a buffer nor a loop around this line{}", name,
                                   hint(name, known)));
        }
        result.base += sign * number(term, kMostAddress);
    }

    void instruction(Text word, Text rest) {
        Instruction result;
        std::size_t index = 0;
        while (index < kOpcodes && info_of(static_cast<Opcode>(index)).mnemonic != word) {
            ++index;
        }
        if (index == kOpcodes || static_cast<Opcode>(index) == Opcode::Loop) {
            fail(word, fmt::format("unknown instruction '{}'{}", word, hint(word, mnemonics())));
        }
        const std::vector<Text> operands = split(rest, ',');
        result.opcode = static_cast<Opcode>(index);
        if (result.opcode == Opcode::Vmovups && !operands.empty() && operands[0].starts_with('[')) {
            result.opcode = Opcode::VmovupsStore;
        }
        const OpcodeInfo& info = info_of(result.opcode);
        if (info.memory) {
            memory_operands(word, result, operands);
        } else {
            register_operands(word, result, operands);
        }
        program_.emit(result);
        program_.statements.back().line = static_cast<int>(number_);
    }

    void count(Text word, const std::vector<Text>& operands, std::size_t least,
               std::size_t most) const {
        if (operands.size() < least || operands.size() > most) {
            fail(word, fmt::format("{} operands; {} expected", operands.size(), least));
        }
    }

    void memory_operands(Text word, Instruction& result, const std::vector<Text>& operands) const {
        const OpcodeInfo& info = info_of(result.opcode);
        const bool mask = result.opcode == Opcode::Kmovq;
        const bool alone = info.registers == RegisterKind::None && !mask;
        const bool store = info.unit == Unit::Store;
        count(word, operands, alone ? 1 : info.tile() ? 3 : 2, alone ? 1 : 3);
        const Text memory = operands[alone || store ? 0 : 1];
        result.address = address(memory);
        result.bytes = default_bytes(result.opcode);
        check_table(memory, result);
        if (info.tile()) {
            result.row_stride = number(operands[store ? 1 : 2], kMostAddress);
        } else if (operands.size() == 3) {
            result.bytes = number(operands[2], kRowBytes);
        }
        if (!alone && !mask) {
            result.destination =
                reg(store ? operands[info.tile() ? 2 : 1] : operands[0], info.registers);
        }
        const std::int64_t rows = info.tile() ? (kMaxRows - 1) * result.row_stride : 0;
        if (const auto [least, most] = reach(result.address);
            result.address.table < 0 && (least < 0 || most > kMostAddress - rows)) {
            fail(memory, fmt::format("'{}' leaves the addresses 0..{:#x}", memory, kMostAddress));
        }
    }

    void check_table(Text memory, const Instruction& each) const {
        if (each.address.table < 0) {
            return;
        }
        const bool pieces =
            program_.tables[static_cast<std::size_t>(each.address.table)].count == 0;
        if (pieces && each.opcode != Opcode::Vpexpandb) {
            fail(memory, "only vpexpandb takes its address from a table of pieces");
        }
        if (info_of(each.opcode).tile()) {
            fail(memory, "no tile instruction takes its address from a table");
        }
    }

    void register_operands(Text word, Instruction& result,
                           const std::vector<Text>& operands) const {
        const OpcodeInfo& info = info_of(result.opcode);
        if (result.opcode == Opcode::Ldtilecfg) {
            count(word, operands, 1, 1);
            result.immediate = number(operands[0], kMostCount);
            if (result.immediate >= static_cast<std::int64_t>(program_.configs.size())) {
                fail(operands[0], fmt::format("there is no config {}", result.immediate));
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
            result.immediate = number(operands[registers],
                                      result.opcode == Opcode::Pause ? kMostPause : kRowBytes);
        }
    }

    const std::string& text_;
    std::string file_;
    std::string line_;
    std::int64_t number_ = 0;
    std::vector<std::string> errors_;
    Program program_;
    std::vector<OpenLoop> loops_;  // around this line
};

}  // namespace

Program read_program(const std::string& text, const std::string& file) {
    return Reader(text, file).read();
}

}  // namespace tilesim::arch::amx::program
