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

#include "arch/amx/tile_config.hpp"

namespace tilesim::arch::amx {

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
const OpcodeInfo& info_of(Opcode opcode);

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

// base + sum of stride * loop variable.
struct Address {
    struct Term {
        int variable = 0;  // index of the loop in Program::statements' order of LoopBegin
        std::int64_t stride = 0;
    };
    std::int64_t base = 0;
    std::vector<Term> terms;

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
};

// A named piece of memory the program works on.
struct Buffer {
    std::string name;
    std::int64_t address = 0;
    std::int64_t bytes = 0;
};

struct Program {
    std::vector<Buffer> buffers;
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

}  // namespace tilesim::arch::amx
