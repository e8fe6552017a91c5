#include "workloads/amx/tiles/amx_relayout.hpp"

#include <algorithm>

#include "arch/amx/program/tile_config.hpp"
#include "workloads/amx/tiles/amx_loops.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::program::Address;
using arch::amx::program::Instruction;
using arch::amx::program::kMaxRows;
using arch::amx::program::kRowBytes;
using arch::amx::program::kTileBytes;
using arch::amx::program::Opcode;
using arch::amx::program::Program;

namespace {

void memory(Program& program, Opcode opcode, int reg, Address address,
            std::int64_t bytes = kRowBytes) {
    Instruction instruction;
    instruction.opcode = opcode;
    instruction.destination = static_cast<std::int8_t>(reg);
    instruction.address = std::move(address);
    instruction.bytes = bytes;
    program.emit(instruction);
}

void interleave(Program& program, Opcode opcode, int out, int a, int b, int upper) {
    Instruction instruction;
    instruction.opcode = opcode;
    instruction.destination = static_cast<std::int8_t>(out);
    instruction.source_a = static_cast<std::int8_t>(a);
    instruction.source_b = static_cast<std::int8_t>(b);
    instruction.immediate = upper;
    program.emit(instruction);
}

// Four rows of int8: bytes of rows 0, 1 and 2, 3 interleaved, then 16-bit pairs of both.
void relay_bytes(Program& program, std::int64_t count) {
    for (int half = 0; half < (count > 2 ? 2 : 1); ++half) {
        interleave(program, Opcode::Vpermt2b, 4, 0, 1, half);
        interleave(program, Opcode::Vpermt2b, 5, 2, 3, half);
        interleave(program, Opcode::Vpermt2w, 8 + 2 * half, 4, 5, 0);
        interleave(program, Opcode::Vpermt2w, 9 + 2 * half, 4, 5, 1);
    }
}

// Registers that post-operations among the same products leave alone.
constexpr int kNibbles = 28;
constexpr int kFirstPair = 16;
constexpr int kFirstHalf = 24;

// Two lines of 64 bytes from one: it is loaded with the first.
void nibble_line(Program& program, const RelayoutProblem& problem, const Address& tile,
                 std::int64_t line, const Address& to) {
    constexpr std::int64_t kPairs = 8;
    constexpr std::int64_t kHalves = 4;
    constexpr int kBits = 4;
    const int pair = kFirstPair + static_cast<int>(line / 2 % kPairs);
    const int half = kFirstHalf + static_cast<int>(line % kHalves);
    if (line % 2 == 0) {
        memory(program, Opcode::Vmovups, pair,
               scaled(tile, kNarrowTileBytes, problem.raw + line / 2 * kRowBytes));
        interleave(program, Opcode::Vpandd, half, pair, kNibbles, 0);
    } else {
        interleave(program, Opcode::Vpslld, half, pair, 0, kBits);
        interleave(program, Opcode::Vpandd, half, half, kNibbles, 0);
    }
    memory(program, Opcode::VmovupsStore, half, to.plus(line * kRowBytes));
}

}  // namespace

void relay(Program& program, const RelayoutProblem& problem, const Address& first,
           std::int64_t count) {
    const std::int64_t group = 4 / problem.element_bytes;  // rows that share a line
    const std::int64_t row_bytes = count * kMaxRows * problem.element_bytes;
    const int k = program.open_loop("k", problem.k_tiles);
    const int g = program.open_loop("g", kMaxRows);
    for (std::int64_t part = 0; part < row_bytes; part += kRowBytes) {
        const std::int64_t tiles = std::min<std::int64_t>(count, kRowBytes / kMaxRows);
        for (std::int64_t row = 0; row < group; ++row) {
            Address from = scaled(first, kMaxRows * problem.element_bytes,
                                  problem.raw + row * problem.raw_row + part);
            from = from.per(k, kMaxRows * group * problem.raw_row).per(g, group * problem.raw_row);
            memory(program, Opcode::Vmovups, static_cast<int>(row), from,
                   std::min<std::int64_t>(row_bytes - part, kRowBytes));
        }
        if (problem.element_bytes == 1) {
            relay_bytes(program, tiles);
        } else {
            interleave(program, Opcode::Vpermt2w, 8, 0, 1, 0);
            interleave(program, Opcode::Vpermt2w, 9, 0, 1, 1);
        }
        const std::int64_t per_part = kRowBytes / (kMaxRows * problem.element_bytes);
        const std::int64_t start = part / kRowBytes * per_part;
        for (std::int64_t n = start; n < std::min(start + per_part, count); ++n) {
            Address to = scaled(first, problem.packed_block,
                                problem.packed + n * problem.k_tiles * kTileBytes);
            memory(program, Opcode::VmovupsStore, static_cast<int>(8 + n - start),
                   to.per(k, kTileBytes).per(g, kRowBytes));
        }
    }
    program.close_loop();
    program.close_loop();
}

void nibble_constants(Program& program, std::int64_t mask) {
    memory(program, Opcode::Vbroadcastss, kNibbles, Address{}.plus(mask), kNibbleMaskBytes);
}

void decompress_line(Program& program, const RelayoutProblem& problem, const Address& across,
                     const Address& k, std::int64_t line, const Address& to) {
    if (problem.weights == Weights::Int4) {
        nibble_line(program, problem, sum(scaled(across, problem.k_tiles, 0), k), line, to);
        return;
    }
    const bool narrow = problem.weights == Weights::Int8;
    const int reg = static_cast<int>(narrow ? line % 8 * 2 : line);
    if (narrow) {
        constexpr std::int64_t kHalf = 16;  // elements of a register of int32
        const Address from =
            sum(scaled(across, problem.k_tiles * kNarrowTileBytes, problem.raw + line * 2 * kHalf),
                k, kNarrowTileBytes);
        memory(program, Opcode::Vpmovsxbd, reg, from, kHalf);
        memory(program, Opcode::Vpmovsxbd, reg + 1, from.plus(kHalf), kHalf);
        interleave(program, Opcode::Vcvtdq2ps, reg, reg, 0, 0);
        interleave(program, Opcode::Vcvtdq2ps, reg + 1, reg + 1, 0, 0);
        interleave(program, Opcode::Vcvtne2ps2bf16, reg, reg + 1, reg, 0);
    } else {
        const Address tile = sum(scaled(across, problem.k_tiles, 0), k);
        memory(program, Opcode::Kmovq, 0,
               scaled(tile, kMaxRows * kMaskBytes, problem.masks + line * kMaskBytes), kMaskBytes);
        Address values = scaled(tile, kMaxRows, problem.first_line + line);
        values.table = problem.lines;
        memory(program, Opcode::Vpexpandb, reg, values);
        program.emit({});  // count of the mask's bits
        program.emit({});  // next position among the non-zero bytes
    }
    memory(program, Opcode::VmovupsStore, reg, to.plus(line * kRowBytes));
}

void decompress(Program& program, const RelayoutProblem& problem, const Address& first,
                std::int64_t count) {
    for (std::int64_t n = 0; n < count; ++n) {
        const Address panel =
            scaled(first, problem.packed_block, problem.packed + n * problem.k_tiles * kTileBytes);
        const int k = program.open_loop("k", problem.k_tiles);
        for (std::int64_t line = 0; line < kMaxRows; ++line) {
            decompress_line(program, problem, first.plus(n), Address{}.per(k, 1), line,
                            panel.per(k, kTileBytes));
        }
        program.close_loop();
    }
}

}  // namespace tilesim::workloads::amx::tiles
