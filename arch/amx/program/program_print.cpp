#include <fmt/format.h>

#include "arch/amx/program/program_text.hpp"
#include "arch/base/name_table.hpp"

namespace tilesim::arch::amx::program {

namespace {

std::string terms_of(const Program& program, const Address& address) {
    std::string text;
    for (const Address::Term& term : address.terms) {
        text += fmt::format(" {} {}*{}", term.stride < 0 ? "-" : "+", std::abs(term.stride),
                            program.variables[static_cast<std::size_t>(term.variable)]);
    }
    return text;
}

std::string address_of(const Program& program, const Address& address) {
    if (address.table >= 0) {
        return fmt::format("[{}[{}{}]]",
                           program.tables[static_cast<std::size_t>(address.table)].name,
                           address.base, terms_of(program, address));
    }
    std::string text = fmt::format("{:#x}", address.base);
    for (const Buffer& buffer : program.buffers) {
        if (address.base >= buffer.address && address.base < buffer.address + buffer.bytes) {
            const std::int64_t offset = address.base - buffer.address;
            text = offset == 0 ? buffer.name : fmt::format("{} + {}", buffer.name, offset);
        }
    }
    return fmt::format("[{}{}]", text, terms_of(program, address));
}

std::string operands_of(const Program& program, const Instruction& instruction) {
    const OpcodeInfo& info = info_of(instruction.opcode);
    const char* kind = prefix_of(info.registers);
    const std::string reg = fmt::format("{}{}", kind, instruction.destination);
    if (instruction.opcode == Opcode::Ldtilecfg) {
        return fmt::format(" {}", instruction.immediate);
    }
    if (info.memory()) {
        std::string memory = address_of(program, instruction.address);
        if (info.tile()) {
            memory += fmt::format(", {}", instruction.row_stride);
        }
        if (is_prefetch(instruction.opcode) || instruction.opcode == Opcode::Sttilecfg) {
            return " " + memory;
        }
        if (instruction.opcode == Opcode::Kmovq) {
            return " k1, " + memory;
        }
        const std::string length =
            !info.tile() && instruction.bytes != info_of(instruction.opcode).bytes
                ? fmt::format(", {}", instruction.bytes)
                : "";
        return info.unit == Unit::Store ? " " + memory + ", " + reg + length
                                        : " " + reg + ", " + memory + length;
    }
    if (info.registers == RegisterKind::None) {
        return info.immediate ? fmt::format(" {}", instruction.immediate) : "";
    }
    std::string text = " " + reg;
    if (info.sources >= 1) {
        text += fmt::format(", {}{}", kind, instruction.source_a);
    }
    if (info.sources >= 2) {
        text += fmt::format(", {}{}", kind, instruction.source_b);
    }
    if (info.immediate) {
        text += fmt::format(", {}", instruction.immediate);
    }
    return text;
}

}  // namespace

const char* prefix_of(RegisterKind registers) {
    return registers == RegisterKind::Tile     ? "tmm"
           : registers == RegisterKind::Vector ? "zmm"
                                               : "r";
}

std::string_view name_of(Preparation::To level) {
    using To = Preparation::To;
    constexpr base::NameTable<To> kLevels{
        {{"l1", To::L1}, {"l2", To::L2}, {"l3", To::L3}, {"dram", To::Memory}}};
    return kLevels[level];
}

std::string print(const Program& program) {
    std::string text;
    for (const Buffer& buffer : program.buffers) {
        text += fmt::format("buffer {} {:#x} {}\n", buffer.name, buffer.address, buffer.bytes);
    }
    for (const AddressTable& table : program.tables) {
        if (table.count > 0) {
            text += fmt::format("shuffle {} {:#x} {} {} {}\n", table.name, table.starts.front(),
                                table.count, table.block, table.skew);
            continue;
        }
        text += fmt::format("table {} {:#x}", table.name, table.starts.front());
        for (std::size_t i = 1; i < table.starts.size(); ++i) {
            text += fmt::format(" {}", table.starts[i] - table.starts[i - 1]);
        }
        text += "\n";
    }
    for (std::size_t i = 0; i < program.configs.size(); ++i) {
        text += fmt::format("config {}", i);
        for (const TileShape& shape : program.configs[i]) {
            text += fmt::format(" {}x{}", shape.rows, shape.row_bytes);
        }
        text += "\n";
    }
    for (const Preparation& each : program.preparations) {
        const std::string& name = program.buffers[each.buffer].name;
        text += each.to == Preparation::To::Memory
                    ? fmt::format("flush {}\n", name)
                    : fmt::format("touch {} {}{}\n", name, name_of(each.to),
                                  each.dirty ? " dirty" : "");
    }
    if (program.runs > 1) {
        text += fmt::format("runs {}\n", program.runs);
    }
    std::string indent;
    for (const Statement& statement : program.statements) {
        if (statement.kind == Statement::Kind::LoopBegin) {
            text += fmt::format("{}loop {} {}\n", indent,
                                program.variables[static_cast<std::size_t>(statement.variable)],
                                statement.count);
            indent += "  ";
        } else if (statement.kind == Statement::Kind::LoopEnd) {
            indent.resize(indent.size() - 2);
            text += fmt::format("{}end\n", indent);
        } else {
            text += fmt::format("{}{}{}\n", indent, info_of(statement.instruction.opcode).mnemonic,
                                operands_of(program, statement.instruction));
        }
    }
    return text;
}

}  // namespace tilesim::arch::amx::program
