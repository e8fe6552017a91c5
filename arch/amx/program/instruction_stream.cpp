#include "arch/amx/program/instruction_stream.hpp"

#include <algorithm>

namespace tilesim::arch::amx::program {

InstructionStream::InstructionStream(const Program& program)
    : program_(program), values_(program.variables.size(), 0) {
    settle();
}

void InstructionStream::restart() {
    at_ = 0;
    finished_ = false;
    settle();
}

void InstructionStream::advance() {
    const Statement& statement = program_.statements[at_];
    if (statement.kind == Statement::Kind::LoopEnd) {
        std::int64_t& value = values_[static_cast<std::size_t>(statement.variable)];
        ++value;
        if (value < statement.count) {
            at_ = static_cast<std::size_t>(statement.partner) + 1;
            settle();
            return;
        }
    }
    ++at_;
    settle();
}

void InstructionStream::settle() {
    while (at_ < program_.statements.size()) {
        const Statement& statement = program_.statements[at_];
        if (statement.kind == Statement::Kind::LoopBegin) {
            values_[static_cast<std::size_t>(statement.variable)] = 0;
            at_ = statement.count > 0 ? at_ + 1 : static_cast<std::size_t>(statement.partner) + 1;
            continue;
        }
        current_.instruction = &statement.instruction;
        const Address& address = statement.instruction.address;
        current_.address = address.base;
        for (const Address::Term& term : address.terms) {
            current_.address += term.stride * values_[static_cast<std::size_t>(term.variable)];
        }
        current_.bytes = statement.instruction.bytes;
        if (address.table >= 0) [[unlikely]] {
            const AddressTable& table = program_.tables[static_cast<std::size_t>(address.table)];
            const std::int64_t index = current_.address;
            current_.address = table.start(index);
            current_.bytes = std::min(statement.instruction.bytes, table.bytes(index));
        }
        return;
    }
    finished_ = true;
}

}  // namespace tilesim::arch::amx::program
