#include "arch/amx/program/legality.hpp"

#include <cstddef>

#include "arch/amx/program/instruction_stream.hpp"

namespace tilesim::arch::amx::program {

std::optional<Fault> execute_on(TileConfig& tiles, const Program& program,
                                const Instruction& instruction) {
    const Opcode opcode = instruction.opcode;
    if (is_dot(opcode)) {
        return tiles.check_dot(instruction.destination, instruction.source_a, instruction.source_b);
    }
    if (is_tile_load(opcode) || opcode == Opcode::Tilestored) {
        return tiles.check_memory(instruction.destination);
    }
    if (opcode == Opcode::Tilezero) {
        return tiles.check_tile(instruction.destination);
    }
    if (opcode == Opcode::Ldtilecfg) {
        return tiles.load(
            make_image(program.configs[static_cast<std::size_t>(instruction.immediate)]));
    }
    if (opcode == Opcode::Tilerelease) {
        tiles.release();
    }
    return std::nullopt;
}

std::optional<FirstFault> first_fault(const Program& program) {
    TileConfig tiles;
    for (InstructionStream stream(program); !stream.finished(); stream.advance()) {
        if (auto fault = execute_on(tiles, program, *stream.current().instruction)) {
            return FirstFault{program.statements[stream.position()].line, std::move(*fault)};
        }
    }
    return std::nullopt;
}

}  // namespace tilesim::arch::amx::program
