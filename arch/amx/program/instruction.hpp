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
#include <utility>
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
    Vfmadd213ps,
    Vcvtneps2bf16,   // 16 floats to 16 bf16 in the lower half
    Vcvtne2ps2bf16,  // two times 16 floats to 32 bf16, those of the second source below
    VpmovsdbStore,   // 16 int32 to 16 int8 in memory, saturated
    VpmovusdbStore,  // 16 int32 to 16 uint8 in memory, saturated
    Vpmovsxbd,       // 16 int8 of memory to int32
    Vpmovzxwd,       // 16 bf16 of the lower half to 32-bit elements
    Vpslld,          // by `immediate`
    Vpsrld,          // by `immediate`
    Vpandd,
    Vpermd,     // elements of the second source where the first says
    Vpermt2b,   // interleave bytes of two registers; `immediate`: 0 lower, 1 upper half
    Vpermt2w,   // as Vpermt2b, 16-bit elements
    Kmovq,      // load a 64-bit mask into k1
    Vpexpandb,  // bytes from memory to where the mask k1 is set, zero elsewhere
    Vmovntps,   // store past the caches
    Mov,        // load a general register; from a table: where the load before it pointed
    Prefetcht0,
    Prefetcht1,
    Prefetcht2,
    Prefetchnta,
    Prefetchw,
    Scalar,   // one integer uop
    Loop,     // counter and branch of a loop; emitted by the stream
    Lfence,   // nothing after it enters before everything in front of it is done
    Pause,    // nothing enters for `immediate` cycles
    Barrier,  // waits until every core of the program has come here
    Count_
};
inline constexpr std::size_t kOpcodes = static_cast<std::size_t>(Opcode::Count_);

// Which part of the core executes an instruction.
enum class Unit : std::uint8_t { None, Tmul, Load, Store, Vector, Scalar };
inline constexpr int kVectorRegisters = 32;
inline constexpr int kGeneralRegisters = 16;
enum class RegisterKind : std::uint8_t { None, Tile, Vector, General };

// What the instruction set says of an opcode; how long it takes is in AmxConfig.
struct OpcodeInfo {
    Opcode opcode = Opcode::Count_;
    std::string_view mnemonic;
    Unit unit = Unit::None;
    RegisterKind registers = RegisterKind::None;
    std::int8_t bytes = 0;    // at its address where no length is given, of a tile's row; 0: none
    std::int8_t sources = 0;  // register sources beyond the destination
    bool reads_destination = false;
    bool immediate = false;

    bool tile() const { return registers == RegisterKind::Tile; }
    bool memory() const { return bytes > 0; }
};
inline constexpr std::array<OpcodeInfo, kOpcodes> kOpcodeInfo{{
    {Opcode::Tileloadd, "tileloadd", Unit::Load, RegisterKind::Tile, kRowBytes},
    {Opcode::Tileloaddt1, "tileloaddt1", Unit::Load, RegisterKind::Tile, kRowBytes},
    {Opcode::Tilestored, "tilestored", Unit::Store, RegisterKind::Tile, kRowBytes, 0, true},
    {Opcode::Tilezero, "tilezero", Unit::None, RegisterKind::Tile},
    {Opcode::Tdpbssd, "tdpbssd", Unit::Tmul, RegisterKind::Tile, 0, 2, true},
    {Opcode::Tdpbsud, "tdpbsud", Unit::Tmul, RegisterKind::Tile, 0, 2, true},
    {Opcode::Tdpbusd, "tdpbusd", Unit::Tmul, RegisterKind::Tile, 0, 2, true},
    {Opcode::Tdpbuud, "tdpbuud", Unit::Tmul, RegisterKind::Tile, 0, 2, true},
    {Opcode::Tdpbf16ps, "tdpbf16ps", Unit::Tmul, RegisterKind::Tile, 0, 2, true},
    {Opcode::Ldtilecfg, "ldtilecfg", Unit::None, RegisterKind::None},
    {Opcode::Sttilecfg, "sttilecfg", Unit::Store, RegisterKind::None, kRowBytes},
    {Opcode::Tilerelease, "tilerelease", Unit::None, RegisterKind::None},
    {Opcode::Vmovups, "vmovups", Unit::Load, RegisterKind::Vector, kRowBytes},
    {Opcode::VmovupsStore, "vmovups", Unit::Store, RegisterKind::Vector, kRowBytes, 0, true},
    {Opcode::Vbroadcastss, "vbroadcastss", Unit::Load, RegisterKind::Vector, 4},
    {Opcode::Vpxord, "vpxord", Unit::None, RegisterKind::Vector},
    {Opcode::Vcvtdq2ps, "vcvtdq2ps", Unit::Vector, RegisterKind::Vector, 0, 1},
    {Opcode::Vcvtps2dq, "vcvtps2dq", Unit::Vector, RegisterKind::Vector, 0, 1},
    {Opcode::Vaddps, "vaddps", Unit::Vector, RegisterKind::Vector, 0, 2},
    {Opcode::Vpaddd, "vpaddd", Unit::Vector, RegisterKind::Vector, 0, 2},
    {Opcode::Vsubps, "vsubps", Unit::Vector, RegisterKind::Vector, 0, 2},
    {Opcode::Vmulps, "vmulps", Unit::Vector, RegisterKind::Vector, 0, 2},
    {Opcode::Vmaxps, "vmaxps", Unit::Vector, RegisterKind::Vector, 0, 2},
    {Opcode::Vfmadd231ps, "vfmadd231ps", Unit::Vector, RegisterKind::Vector, 0, 2, true},
    {Opcode::Vfmadd213ps, "vfmadd213ps", Unit::Vector, RegisterKind::Vector, 0, 2, true},
    {Opcode::Vcvtneps2bf16, "vcvtneps2bf16", Unit::Vector, RegisterKind::Vector, 0, 1},
    {Opcode::Vcvtne2ps2bf16, "vcvtne2ps2bf16", Unit::Vector, RegisterKind::Vector, 0, 2},
    {Opcode::VpmovsdbStore, "vpmovsdb", Unit::Store, RegisterKind::Vector, 16, 0, true},
    {Opcode::VpmovusdbStore, "vpmovusdb", Unit::Store, RegisterKind::Vector, 16, 0, true},
    {Opcode::Vpmovsxbd, "vpmovsxbd", Unit::Load, RegisterKind::Vector, 16},
    {Opcode::Vpmovzxwd, "vpmovzxwd", Unit::Vector, RegisterKind::Vector, 0, 1},
    {Opcode::Vpslld, "vpslld", Unit::Vector, RegisterKind::Vector, 0, 1, false, true},
    {Opcode::Vpsrld, "vpsrld", Unit::Vector, RegisterKind::Vector, 0, 1, false, true},
    {Opcode::Vpandd, "vpandd", Unit::Vector, RegisterKind::Vector, 0, 2},
    {Opcode::Vpermd, "vpermd", Unit::Vector, RegisterKind::Vector, 0, 2},
    {Opcode::Vpermt2b, "vpermt2b", Unit::Vector, RegisterKind::Vector, 0, 2, false, true},
    {Opcode::Vpermt2w, "vpermt2w", Unit::Vector, RegisterKind::Vector, 0, 2, false, true},
    {Opcode::Kmovq, "kmovq", Unit::Load, RegisterKind::None, 8},
    {Opcode::Vpexpandb, "vpexpandb", Unit::Load, RegisterKind::Vector, kRowBytes},
    {Opcode::Vmovntps, "vmovntps", Unit::Store, RegisterKind::Vector, kRowBytes, 0, true},
    {Opcode::Mov, "mov", Unit::Load, RegisterKind::General, 8},
    {Opcode::Prefetcht0, "prefetcht0", Unit::Load, RegisterKind::None, kRowBytes},
    {Opcode::Prefetcht1, "prefetcht1", Unit::Load, RegisterKind::None, kRowBytes},
    {Opcode::Prefetcht2, "prefetcht2", Unit::Load, RegisterKind::None, kRowBytes},
    {Opcode::Prefetchnta, "prefetchnta", Unit::Load, RegisterKind::None, kRowBytes},
    {Opcode::Prefetchw, "prefetchw", Unit::Load, RegisterKind::None, kRowBytes},
    {Opcode::Scalar, "scalar", Unit::Scalar, RegisterKind::None},
    {Opcode::Loop, "loop", Unit::Scalar, RegisterKind::None},
    {Opcode::Lfence, "lfence", Unit::None, RegisterKind::None},
    {Opcode::Pause, "pause", Unit::None, RegisterKind::None, 0, 0, false, true},
    {Opcode::Barrier, "barrier", Unit::None, RegisterKind::None},
}};
static_assert(
    [] {
        for (std::size_t i = 0; i < kOpcodes; ++i) {
            if (kOpcodeInfo[i].opcode != static_cast<Opcode>(i)) {
                return false;
            }
        }
        return true;
    }(),
    "a row for each opcode, in their order");
inline const OpcodeInfo& info_of(Opcode opcode) {
    return kOpcodeInfo[static_cast<std::size_t>(opcode)];
}

inline bool is_dot(Opcode opcode) {
    return info_of(opcode).unit == Unit::Tmul;
}
inline bool is_tile_load(Opcode opcode) {
    return opcode == Opcode::Tileloadd || opcode == Opcode::Tileloaddt1;
}
inline bool is_store(Opcode opcode) {
    return info_of(opcode).unit == Unit::Store;
}
inline bool is_prefetch(Opcode opcode) {
    return opcode >= Opcode::Prefetcht0 && opcode <= Opcode::Prefetchw;
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

// Turns of a loop, counted from 0.
struct Turns {
    int variable = 0;
    std::int64_t first = 0;
    std::int64_t last = 0;
    bool operator==(const Turns&) const = default;
};

inline constexpr std::int64_t kMostAddress = std::int64_t{1} << 37;  // what the cache tags reach

// Least and most that these turns make of an address, within +-kMostAddress a term.
std::pair<std::int64_t, std::int64_t> reach(const Address& address,
                                            const std::vector<Turns>& turns);

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
// finds out as it goes. Entry i starts at starts[i] and ends at starts[i + 1]. Or, with a count,
// lines in a random order: entry i is the line of block order(i) of `count` blocks of `block`
// bytes, `skew` lines further on in each block than in the one before.
struct AddressTable {
    std::string name;
    std::vector<std::int64_t> starts;  // one more than there are entries; the first: where it lies
    std::int64_t count = 0;            // 0: pieces
    std::int64_t block = kRowBytes;
    std::int64_t skew = 0;

    std::int64_t entries() const;
    std::int64_t start(std::int64_t index) const;
    std::int64_t bytes(std::int64_t index) const;
};

// What is done to a buffer's lines before a program is timed, in the order in which they stand:
// taken out of every cache, or put where a level begins.
struct Preparation {
    enum class To : std::uint8_t { L1, L2, L3, Memory };
    std::size_t buffer = 0;
    To to = To::Memory;
    bool dirty = false;
};

struct Program {
    std::vector<Buffer> buffers;
    std::vector<AddressTable> tables;
    std::vector<std::array<TileShape, kTiles>> configs;  // LDTILECFG's operands
    std::vector<std::string> variables;                  // names of loops, by variable
    std::vector<Statement> statements;
    std::vector<Preparation> preparations;
    std::int64_t runs = 1;  // one after the other; the last one counts

    int open_loop(std::string name, std::int64_t count);  // returns its variable
    void close_loop();
    void emit(Instruction instruction);
    int add_config(const std::array<TileShape, kTiles>& shapes);
    // Instructions executed in one run, loop ends included.
    std::int64_t dynamic_instructions() const;

  private:
    std::vector<int> open_;
};

}  // namespace tilesim::arch::amx::program
