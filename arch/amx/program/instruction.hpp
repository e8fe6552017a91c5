// What a core with a tile unit executes: instructions with affine addresses, in counted loops.
//
// A Program is plain data. `workloads/` generates it, `program_text.hpp` prints and reads it, an
// InstructionStream walks it. Every loop iteration ends with the two uops of its counter and
// branch, which are part of the timing and of the instruction count.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arch/amx/program/tile_config.hpp"

namespace tilesim::arch::amx::program {

enum class Opcode : std::uint8_t {
    Tileloadd,
    Tileloaddt1,
    Tilestored,
    Tilezero,
    Tdpbssd,
    Tdpbsud,
    Tdpbusd,
    Tdpbuud,
    Tdpbf16ps,
    Ldtilecfg,
    Sttilecfg,
    Tilerelease,
    Vmovups,       // load
    VmovupsStore,  // store
    Vbroadcastss,  // one float of memory to every element
    Vpxord,        // zero
    Vcvtdq2ps,
    Vcvtps2dq,
    Vaddps,
    Vpaddd,
    Vsubps,
    Vmulps,
    Vmaxps,
    Vfmadd231ps,
    Vcvtneps2bf16,  // 16 floats to 16 bf16 in the lower half
    VpmovsdbStore,  // 16 int32 to 16 int8 in memory, saturated
    Vpmovzxwd,      // 16 bf16 of the lower half to 32-bit elements
    Vpslld,         // by `immediate`
    Vpermt2b,       // interleave bytes of two registers; `immediate`: 0 lower, 1 upper half
    Vpermt2w,       // as Vpermt2b, 16-bit elements
    Kmovq,          // load a 64-bit mask into k1
    Vpexpandb,      // bytes from memory to where the mask k1 is set, zero elsewhere
    Prefetcht0,
    Prefetcht1,
    Scalar,   // one integer uop
    Loop,     // counter and branch of a loop; emitted by the stream
    Barrier,  // waits until every core of the program has come here
    Count_
};
inline constexpr std::size_t kOpcodes = static_cast<std::size_t>(Opcode::Count_);

// Which part of the core executes an instruction.
enum class Unit : std::uint8_t { None, Tmul, Load, Store, VectorMath, VectorAny, Shuffle, Scalar };

struct OpcodeInfo {
    std::string_view mnemonic;
    Unit unit = Unit::None;
    std::int8_t latency = 1;  // vector and scalar; tile timing is in AmxConfig
    std::int8_t uops = 1;
    bool tile = false;        // operands are tile registers
    bool memory = false;      // has an address
    std::int8_t sources = 0;  // register sources beyond the destination
    bool reads_destination = false;
};
// Latencies and ports of the AVX-512 forms: LLVM's Sapphire Rapids model and OSACA's spr.yml.
inline constexpr std::array<OpcodeInfo, kOpcodes> kOpcodeInfo{{
    {"tileloadd", Unit::Load, 0, 1, true, true, 0, false},
    {"tileloaddt1", Unit::Load, 0, 1, true, true, 0, false},
    {"tilestored", Unit::Store, 0, 1, true, true, 0, true},
    {"tilezero", Unit::None, 0, 1, true, false, 0, false},
    {"tdpbssd", Unit::Tmul, 0, 1, true, false, 2, true},
    {"tdpbsud", Unit::Tmul, 0, 1, true, false, 2, true},
    {"tdpbusd", Unit::Tmul, 0, 1, true, false, 2, true},
    {"tdpbuud", Unit::Tmul, 0, 1, true, false, 2, true},
    {"tdpbf16ps", Unit::Tmul, 0, 1, true, false, 2, true},
    {"ldtilecfg", Unit::None, 0, 1, false, false, 0, false},
    {"sttilecfg", Unit::Store, 0, 1, false, true, 0, false},
    {"tilerelease", Unit::None, 0, 1, false, false, 0, false},
    {"vmovups", Unit::Load, 0, 1, false, true, 0, false},
    {"vmovups", Unit::Store, 0, 1, false, true, 0, true},
    {"vbroadcastss", Unit::Load, 0, 1, false, true, 0, false},
    {"vpxord", Unit::None, 0, 1, false, false, 0, false},
    {"vcvtdq2ps", Unit::VectorMath, 4, 1, false, false, 1, false},
    {"vcvtps2dq", Unit::VectorMath, 4, 1, false, false, 1, false},
    {"vaddps", Unit::VectorMath, 4, 1, false, false, 2, false},
    {"vpaddd", Unit::VectorAny, 1, 1, false, false, 2, false},
    {"vsubps", Unit::VectorMath, 4, 1, false, false, 2, false},
    {"vmulps", Unit::VectorMath, 4, 1, false, false, 2, false},
    {"vmaxps", Unit::VectorMath, 4, 1, false, false, 2, false},
    {"vfmadd231ps", Unit::VectorMath, 4, 1, false, false, 2, true},
    {"vcvtneps2bf16", Unit::VectorMath, 7, 2, false, false, 1, false},
    {"vpmovsdb", Unit::Store, 4, 2, false, true, 0, true},
    {"vpmovzxwd", Unit::Shuffle, 3, 1, false, false, 1, false},
    {"vpslld", Unit::VectorAny, 1, 1, false, false, 1, false},
    {"vpermt2b", Unit::Shuffle, 4, 2, false, false, 2, false},
    {"vpermt2w", Unit::Shuffle, 4, 2, false, false, 2, false},
    {"kmovq", Unit::Load, 0, 1, false, true, 0, false},
    {"vpexpandb", Unit::Load, 0, 2, false, true, 0, false},
    {"prefetcht0", Unit::Load, 0, 1, false, true, 0, false},
    {"prefetcht1", Unit::Load, 0, 1, false, true, 0, false},
    {"scalar", Unit::Scalar, 1, 1, false, false, 0, false},
    {"loop", Unit::Scalar, 1, 2, false, false, 0, false},
    {"barrier", Unit::None, 0, 1, false, false, 0, false},
}};
inline const OpcodeInfo& info_of(Opcode opcode) {
    return kOpcodeInfo[static_cast<std::size_t>(opcode)];
}

inline bool is_dot(Opcode opcode) {
    return opcode >= Opcode::Tdpbssd && opcode <= Opcode::Tdpbf16ps;
}
inline bool is_tile_load(Opcode opcode) {
    return opcode == Opcode::Tileloadd || opcode == Opcode::Tileloaddt1;
}
inline bool is_store(Opcode opcode) {
    return opcode == Opcode::Tilestored || opcode == Opcode::VmovupsStore ||
           opcode == Opcode::VpmovsdbStore || opcode == Opcode::Sttilecfg;
}
inline bool is_prefetch(Opcode opcode) {
    return opcode == Opcode::Prefetcht0 || opcode == Opcode::Prefetcht1;
}

// Bytes of memory an AVX-512, mask or configuration operand has where no length is given.
constexpr std::int64_t default_bytes(Opcode opcode) {
    switch (opcode) {
        case Opcode::Vbroadcastss:
            return 4;
        case Opcode::Kmovq:
            return 8;
        case Opcode::VpmovsdbStore:
            return 16;
        default:
            return kRowBytes;
    }
}

// base + sum of stride * loop variable; with a table, that sum is an index into it.
struct Address {
    struct Term {
        int variable = 0;  // index of the loop in Program::statements' order of LoopBegin
        std::int64_t stride = 0;
    };
    std::int64_t base = 0;
    std::vector<Term> terms;
    int table = -1;  // index into Program::tables; -1: the sum is the address

    // Further along, by a constant or by a loop.
    Address plus(std::int64_t bytes) const;
    Address per(int variable, std::int64_t stride) const;
};

struct Instruction {
    Opcode opcode = Opcode::Scalar;
    std::int8_t destination = 0;  // register that is written; of a store: that is read
    std::int8_t source_a = 0;
    std::int8_t source_b = 0;
    Address address{};
    std::int64_t row_stride = 64;  // tile loads and stores
    std::int64_t bytes = 64;       // vector loads and stores: fewer at a masked edge
    std::int64_t immediate = 0;    // LDTILECFG: index into Program::configs
};

struct Statement {
    enum class Kind : std::uint8_t { Instruction, LoopBegin, LoopEnd };
    Kind kind = Kind::Instruction;
    Instruction instruction{};
    int variable = 0;        // LoopBegin, LoopEnd
    std::int64_t count = 0;  // LoopBegin
    int partner = 0;         // index of the matching LoopEnd or LoopBegin
    int line = 0;            // of the text it was read from; 0: none
};

// A named piece of memory the program works on.
struct Buffer {
    std::string name;
    std::int64_t address = 0;
    std::int64_t bytes = 0;
};

// Where pieces of varying length lie, one after the other: what code that counts the bits of masks
// finds out as it goes. Entry i starts at starts[i] and ends at starts[i + 1].
struct AddressTable {
    std::string name;
    std::vector<std::int64_t> starts;  // one more than there are entries
};

struct Program {
    std::vector<Buffer> buffers;
    std::vector<AddressTable> tables;
    std::vector<std::array<TileShape, kTiles>> configs;  // LDTILECFG's operands
    std::vector<std::string> variables;                  // names of loops, by variable
    std::vector<Statement> statements;

    int open_loop(std::string name, std::int64_t count);  // returns its variable
    void close_loop();
    void emit(Instruction instruction);
    int add_config(const std::array<TileShape, kTiles>& shapes);
    // Instructions executed, loop ends included.
    std::int64_t dynamic_instructions() const;

  private:
    std::vector<int> open_;
};

}  // namespace tilesim::arch::amx::program
