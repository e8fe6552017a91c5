#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

#include "arch/amx/program_text.hpp"
#include "arch/base/config.hpp"

namespace tilesim::arch::amx {

namespace {

constexpr int kVectorRegisters = 32;
constexpr std::int64_t kMostAddress = std::int64_t{1} << 37;  // what the cache tags reach
constexpr std::int64_t kMostCount = std::int64_t{1} << 40;

class Reader {
  public:
    Reader(const std::string& text, std::string file) : text_(text), file_(std::move(file)) {}

    Program read() {
        std::istringstream lines(text_);
        for (std::string line; std::getline(lines, line);) {
            ++line_;
            statement(line.substr(0, line.find('#')));
        }
        if (!names_.empty()) {
            fail("loop '" + names_.back().first + "' has no end");
        }
        return std::move(program_);
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw base::config::ConfigError(fmt::format("{}:{}: {}", file_, line_, what));
    }

    static std::string trim(const std::string& text) {
        const std::size_t first = text.find_first_not_of(" \t\r");
        const std::size_t last = text.find_last_not_of(" \t\r");
        return first == std::string::npos ? "" : text.substr(first, last - first + 1);
    }

    std::int64_t number(const std::string& text, std::int64_t most) const {
        const bool hex = text.starts_with("0x");
        const char* first = text.data() + (hex ? 2 : 0);
        std::int64_t value = 0;
        const auto [end, error] =
            std::from_chars(first, text.data() + text.size(), value, hex ? 16 : 10);
        if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
            fail(fmt::format("'{}' is no number", text));
        }
        if (value < 0 || value > most) {
            fail(fmt::format("{} is beyond 0..{}", value, most));
        }
        return value;
    }

    std::int8_t reg(const std::string& text, bool tile) const {
        const std::string kind = tile ? "tmm" : "zmm";
        if (!text.starts_with(kind)) {
            fail(fmt::format("'{}': a {} register must stand here", text, kind));
        }
        return static_cast<std::int8_t>(
            number(text.substr(kind.size()), (tile ? kTiles : kVectorRegisters) - 1));
    }

    void statement(const std::string& line) {
        std::istringstream words(line);
        std::string word;
        if (!(words >> word)) {
            return;
        }
        std::string rest;
        std::getline(words, rest);
        rest = trim(rest);
        if (word == "buffer") {
            buffer(rest);
        } else if (word == "table") {
            table(rest);
        } else if (word == "config") {
            config(rest);
        } else if (word == "loop") {
            loop(rest);
        } else if (word == "end") {
            if (names_.empty()) {
                fail("end without a loop");
            }
            names_.pop_back();
            program_.close_loop();
        } else {
            instruction(word, rest);
        }
    }

    static std::vector<std::string> split(const std::string& text, char at) {
        std::vector<std::string> parts;
        std::istringstream stream(text);
        for (std::string part; std::getline(stream, part, at);) {
            if (!trim(part).empty()) {
                parts.push_back(trim(part));
            }
        }
        return parts;
    }

    void buffer(const std::string& rest) {
        const auto parts = split(rest, ' ');
        if (parts.size() != 3) {
            fail("buffer NAME ADDRESS BYTES");
        }
        program_.buffers.push_back(
            {parts[0], number(parts[1], kMostAddress), number(parts[2], kMostAddress)});
    }

    void table(const std::string& rest) {
        const auto parts = split(rest, ' ');
        if (parts.size() < 3) {
            fail("table NAME ADDRESS LENGTH...");
        }
        AddressTable result{parts[0], {number(parts[1], kMostAddress)}};
        for (std::size_t i = 2; i < parts.size(); ++i) {
            result.starts.push_back(result.starts.back() + number(parts[i], kRowBytes));
        }
        program_.tables.push_back(std::move(result));
    }

    void config(const std::string& rest) {
        const auto parts = split(rest, ' ');
        if (parts.size() != kTiles + 1 ||
            number(parts[0], kMostCount) != static_cast<std::int64_t>(program_.configs.size())) {
            fail("config NUMBER and eight shapes ROWSxBYTES; numbers ascend from 0");
        }
        std::array<TileShape, kTiles> shapes{};
        for (std::size_t i = 0; i < kTiles; ++i) {
            const auto shape = split(parts[i + 1], 'x');
            if (shape.size() != 2) {
                fail(fmt::format("'{}' is no shape ROWSxBYTES", parts[i + 1]));
            }
            shapes[i] = {static_cast<int>(number(shape[0], UINT8_MAX)),
                         static_cast<int>(number(shape[1], UINT16_MAX))};
        }
        program_.configs.push_back(shapes);
    }

    void loop(const std::string& rest) {
        const auto parts = split(rest, ' ');
        if (parts.size() != 2) {
            fail("loop NAME COUNT");
        }
        const int variable = program_.open_loop(parts[0], number(parts[1], kMostCount));
        names_.emplace_back(parts[0], variable);
    }

    Address address(const std::string& text) const {
        if (!text.starts_with('[') || !text.ends_with(']')) {
            fail(fmt::format("'{}': an address in brackets must stand here", text));
        }
        std::string body = text.substr(1, text.size() - 2);
        const std::size_t open = body.find('[');
        if (open == std::string::npos) {
            return sum_of(body);
        }
        const auto table = std::find_if(
            program_.tables.begin(), program_.tables.end(),
            [&](const AddressTable& t) { return t.name == trim(body.substr(0, open)); });
        if (table == program_.tables.end() || !body.ends_with(']')) {
            fail(
                fmt::format("'{}': a table's name and an index in brackets must stand here", text));
        }
        Address result = sum_of(body.substr(open + 1, body.size() - open - 2));
        check_index(result, *table);
        result.table = static_cast<int>(table - program_.tables.begin());
        return result;
    }

    // Every index the loops around this line give must be in the table.
    void check_index(const Address& index, const AddressTable& table) const {
        std::int64_t least = index.base;
        std::int64_t most = index.base;
        for (const Address::Term& term : index.terms) {
            for (const Statement& statement : program_.statements) {
                if (statement.kind == Statement::Kind::LoopBegin &&
                    statement.variable == term.variable) {
                    const std::int64_t last = std::max<std::int64_t>(statement.count - 1, 0);
                    (term.stride < 0 ? least : most) += term.stride * last;
                }
            }
        }
        const auto entries = static_cast<std::int64_t>(table.starts.size()) - 1;
        if (least < 0 || most >= entries) {
            fail(fmt::format("indices {}..{} of table {}, which has {} entries", least, most,
                             table.name, entries));
        }
    }

    Address sum_of(std::string body) const {
        Address result;
        for (std::size_t at = body.find('-'); at != std::string::npos;
             at = body.find('-', at + 2)) {
            body.insert(at, 1, '+');  // a term that is subtracted starts with its sign
        }
        for (const std::string& term : split(body, '+')) {
            add(result, term);
        }
        return result;
    }

    void add(Address& result, std::string term) const {
        const bool negative = term.starts_with('-');
        term = trim(negative ? term.substr(1) : term);
        const std::int64_t sign = negative ? -1 : 1;
        const auto factors = split(term, '*');
        const std::string& name = factors.empty() ? term : factors.back();
        const auto variable = std::find_if(names_.rbegin(), names_.rend(),
                                           [&](const auto& n) { return n.first == name; });
        if (variable != names_.rend()) {
            const std::int64_t stride = factors.size() == 2 ? number(factors[0], kMostAddress) : 1;
            result.terms.push_back({variable->second, sign * stride});
            return;
        }
        const auto buffer = std::find_if(program_.buffers.begin(), program_.buffers.end(),
                                         [&](const Buffer& b) { return b.name == name; });
        if (buffer != program_.buffers.end() && factors.size() == 1) {
            result.base += sign * buffer->address;
            return;
        }
        if (!term.empty() && std::isdigit(static_cast<unsigned char>(term[0])) == 0) {
            fail(fmt::format("'{}' is neither a buffer nor a loop around this line", term));
        }
        result.base += sign * number(term, kMostAddress);
    }

    void instruction(const std::string& word, const std::string& rest) {
        const std::vector<std::string> operands = split(rest, ',');
        Instruction result;
        std::size_t index = 0;
        while (index < kOpcodes && info_of(static_cast<Opcode>(index)).mnemonic != word) {
            ++index;
        }
        if (index == kOpcodes || static_cast<Opcode>(index) == Opcode::Loop) {
            fail(fmt::format("unknown instruction '{}'", word));
        }
        result.opcode = static_cast<Opcode>(index);
        if (result.opcode == Opcode::Vmovups && !operands.empty() && operands[0].starts_with('[')) {
            result.opcode = Opcode::VmovupsStore;
        }
        const OpcodeInfo& info = info_of(result.opcode);
        if (info.memory) {
            memory_operands(result, info, operands);
        } else {
            register_operands(result, info, operands);
        }
        program_.emit(result);
    }

    void count(const std::vector<std::string>& operands, std::size_t least,
               std::size_t most) const {
        if (operands.size() < least || operands.size() > most) {
            fail(fmt::format("{} operands; {} expected", operands.size(), least));
        }
    }

    void memory_operands(Instruction& result, const OpcodeInfo& info,
                         const std::vector<std::string>& operands) const {
        if (is_prefetch(result.opcode) || result.opcode == Opcode::Sttilecfg) {
            count(operands, 1, 1);
            result.address = address(operands[0]);
            if (result.address.table >= 0) {
                fail("only vpexpandb takes its address from a table");
            }
            return;
        }
        count(operands, info.tile ? 3 : 2, 3);
        const bool store = info.unit == Unit::Store;
        result.address = address(operands[store ? 0 : 1]);
        const std::size_t length = info.tile && store ? 1 : 2;
        if (result.address.table >= 0 && result.opcode != Opcode::Vpexpandb) {
            fail("only vpexpandb takes its address from a table");
        }
        if (info.tile) {
            result.row_stride = number(operands[length], kMostAddress);
        } else if (operands.size() == 3) {
            result.bytes = number(operands[length], kRowBytes);
        }
        if (result.opcode != Opcode::Kmovq) {
            result.destination = reg(store ? operands[info.tile ? 2 : 1] : operands[0], info.tile);
        }
    }

    void register_operands(Instruction& result, const OpcodeInfo& info,
                           const std::vector<std::string>& operands) const {
        const bool none = result.opcode == Opcode::Scalar || result.opcode == Opcode::Barrier ||
                          result.opcode == Opcode::Tilerelease;
        if (result.opcode == Opcode::Ldtilecfg) {
            count(operands, 1, 1);
            result.immediate = number(operands[0], kMostCount);
            if (result.immediate >= static_cast<std::int64_t>(program_.configs.size())) {
                fail(fmt::format("there is no config {}", result.immediate));
            }
            return;
        }
        const bool immediate = result.opcode == Opcode::Vpslld ||
                               result.opcode == Opcode::Vpermt2b ||
                               result.opcode == Opcode::Vpermt2w;
        const std::size_t registers = none ? 0 : 1 + static_cast<std::size_t>(info.sources);
        count(operands, registers + (immediate ? 1 : 0), registers + (immediate ? 1 : 0));
        const std::array<std::int8_t*, 3> fields{&result.destination, &result.source_a,
                                                 &result.source_b};
        for (std::size_t i = 0; i < registers; ++i) {
            *fields[i] = reg(operands[i], info.tile);
        }
        if (immediate) {
            result.immediate = number(operands[registers], kRowBytes);
        }
    }

    const std::string& text_;
    std::string file_;
    std::int64_t line_ = 0;
    Program program_;
    std::vector<std::pair<std::string, int>> names_;  // loops around this line
};

}  // namespace

Program read_program(const std::string& text, const std::string& file) {
    return Reader(text, file).read();
}

}  // namespace tilesim::arch::amx
