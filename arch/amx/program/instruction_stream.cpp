#include "arch/amx/program/instruction_stream.hpp"

namespace tilesim::arch::amx::program {

InstructionStream::InstructionStream(const Program& program)
    : program_(program), values_(program.variables.size(), 0) {
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
            const auto& starts = program_.tables[static_cast<std::size_t>(address.table)].starts;
            const auto index = static_cast<std::size_t>(current_.address);
            current_.address = starts.at(index);
            current_.bytes = starts.at(index + 1) - starts[index];
        }
        return;
    }
    finished_ = true;
}

}  // namespace tilesim::arch::amx::program
