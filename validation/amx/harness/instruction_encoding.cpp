// What the assembler makes of single instructions.
#include <fmt/format.h>

#include <algorithm>

#include "arch/base/config.hpp"
#include "validation/amx/harness/assembler.hpp"
#include "validation/amx/harness/assembler_parts.hpp"

namespace tilesim::validation::amx::harness {

using arch::amx::program::Instruction;
using arch::amx::program::kRowBytes;
using arch::amx::program::Opcode;
using arch::base::config::ConfigError;

namespace {

constexpr VectorForm kLoadMask{OpcodeMap::Of, Prefix::None, 0x90, true};
constexpr VectorForm kStoreFloats{OpcodeMap::Of, Prefix::None, 0x11};
constexpr VectorForm kMoveVector{OpcodeMap::Of, Prefix::P66, 0x6F, true};
constexpr VectorForm kExpandBytes{OpcodeMap::Of38, Prefix::P66, 0x62};

bool moves_floats(Opcode opcode) {
    return opcode == Opcode::Vmovups || opcode == Opcode::VmovupsStore;
}
bool narrows(Opcode opcode) {
    return opcode == Opcode::VpmovsdbStore || opcode == Opcode::VpmovusdbStore;
}
bool is_whole(std::int64_t bytes) {
    return bytes == 16 || bytes == 32 || bytes == kRowBytes;
}

}  // namespace

bool is_shuffle(Opcode opcode) {
    return opcode == Opcode::Vpermt2b || opcode == Opcode::Vpermt2w;
}

std::int64_t element_bytes(std::int64_t bytes) {
    return bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
}

std::int64_t masked_elements(const Instruction& each) {
    if (moves_floats(each.opcode) && !is_whole(each.bytes)) {
        return each.bytes / element_bytes(each.bytes);
    }
    constexpr std::int64_t kElements = 16;
    return narrows(each.opcode) && each.bytes < kElements ? each.bytes : 0;
}

std::size_t Assembler::instruction(std::size_t at) {
    const Instruction& each = program_.statements[at].instruction;
    if (tile(each) || vector_memory(each) || vector(each)) {
        return 1;
    }
    switch (each.opcode) {
        case Opcode::Prefetchnta:
            encoder_.prefetch(0, memory_of(each.address));
            return 1;
        case Opcode::Prefetcht0:
            encoder_.prefetch(1, memory_of(each.address));
            return 1;
        case Opcode::Prefetcht1:
            encoder_.prefetch(2, memory_of(each.address));
            return 1;
        case Opcode::Prefetcht2:
            encoder_.prefetch(3, memory_of(each.address));
            return 1;
        case Opcode::Prefetchw:
            encoder_.prefetch_to_write(memory_of(each.address));
            return 1;
        case Opcode::Lfence:
            encoder_.load_fence();
            return 1;
        case Opcode::Scalar:
            encoder_.compare_nothing();
            return 1;
        case Opcode::Kmovq:
            last_mask_ = &each;
            encoder_.vex(kLoadMask, kExpandMask, 0, memory_of(each.address));
            return 1;
        case Opcode::Vpexpandb:
            return expand(each);
        case Opcode::Barrier:
            barrier();
            return 1;
        default:
            throw ConfigError(fmt::format("{} is not measured", info_of(each.opcode).mnemonic));
    }
}

// Through the loop's pointer, which then moves on by the mask's bits in place of the two scalar
// instructions; elsewhere the table says where the piece starts.
std::size_t Assembler::expand(const Instruction& each) {
    const WriteMask mask{kExpandMask, true};
    if (each.address.table < 0) {
        encoder_.evex(kExpandBytes, each.destination, memory_of(each.address), kRowBytes, mask);
        return 1;
    }
    MemoryOperand piece;
    if (pointer_ >= 0) {
        piece.base = kRegisters[static_cast<std::size_t>(pointer_)];
        const int bits = take_register();
        encoder_.evex(kExpandBytes, each.destination, piece, kRowBytes, mask);
        encoder_.count_bits(kRegisters[static_cast<std::size_t>(bits)],
                            memory_of(last_mask_->address));
        encoder_.add_register(piece.base, kRegisters[static_cast<std::size_t>(bits)]);
        give_register(bits);
        return 3;
    }
    const int start = take_register();
    piece.base = kRegisters[static_cast<std::size_t>(start)];
    encoder_.load(piece.base, piece_start(each.address));
    encoder_.evex(kExpandBytes, each.destination, piece, kRowBytes, mask);
    give_register(start);
    return 1;
}

// Every core counts its arrivals in a word of its own and waits until all cores' sum is as large.
void Assembler::barrier() {
    MemoryOperand target;
    target.displacement = placement_.constants + constants_.barrier_target();
    MemoryOperand arrived;
    arrived.displacement = placement_.barrier;
    const int reg = take_register();
    encoder_.add_to(target, placement_.parties);
    encoder_.load(kRegisters[static_cast<std::size_t>(reg)], target);
    encoder_.locked_increment(arrived);
    encoder_.spin_until_reached(kRegisters[static_cast<std::size_t>(reg)], arrived);
    give_register(reg);
}

bool Assembler::tile(const Instruction& each) {
    constexpr OpcodeMap kMap = OpcodeMap::Of38;
    const int c = each.destination;
    const auto dot = [&](Prefix prefix, int code) {
        encoder_.vex_registers({kMap, prefix, code}, c, each.source_b, each.source_a);
        return true;
    };
    const auto memory = [&](Prefix prefix) {
        encoder_.vex({kMap, prefix, 0x4B}, c, 0, tile_memory(each));
        return true;
    };
    MemoryOperand config;
    switch (each.opcode) {
        case Opcode::Tileloadd:
            return memory(Prefix::Pf2);
        case Opcode::Tileloaddt1:
            return memory(Prefix::P66);
        case Opcode::Tilestored:
            return memory(Prefix::Pf3);
        case Opcode::Tilezero:
            encoder_.vex_registers({kMap, Prefix::Pf2, 0x49}, c, 0, 0);
            return true;
        case Opcode::Tdpbssd:
            return dot(Prefix::Pf2, 0x5E);
        case Opcode::Tdpbsud:
            return dot(Prefix::Pf3, 0x5E);
        case Opcode::Tdpbusd:
            return dot(Prefix::P66, 0x5E);
        case Opcode::Tdpbuud:
            return dot(Prefix::None, 0x5E);
        case Opcode::Tdpbf16ps:
            return dot(Prefix::Pf3, 0x5C);
        case Opcode::Ldtilecfg:
            config.displacement = placement_.constants + constants_.config(each.immediate);
            encoder_.vex({kMap, Prefix::None, 0x49}, 0, 0, config);
            return true;
        case Opcode::Sttilecfg:
            encoder_.vex({kMap, Prefix::P66, 0x49}, 0, 0, memory_of(each.address));
            return true;
        case Opcode::Tilerelease:
            encoder_.vex_registers({kMap, Prefix::None, 0x49}, 0, 0, 0);
            return true;
        default:
            return false;
    }
}

bool Assembler::vector_memory(const Instruction& each) {
    constexpr VectorForm kBroadcast{OpcodeMap::Of38, Prefix::P66, 0x18};
    constexpr VectorForm kNarrow{OpcodeMap::Of38, Prefix::Pf3, 0x21};
    constexpr VectorForm kNarrowUnsigned{OpcodeMap::Of38, Prefix::Pf3, 0x11};
    constexpr VectorForm kWiden{OpcodeMap::Of38, Prefix::P66, 0x21};
    constexpr VectorForm kStream{OpcodeMap::Of, Prefix::None, 0x2B};
    const int reg = each.destination;
    if (narrows(each.opcode) || moves_floats(each.opcode)) {
        if (each.bytes < 1 || each.bytes > arch::amx::program::info_of(each.opcode).bytes) {
            throw ConfigError(
                fmt::format("{} of {} bytes", info_of(each.opcode).mnemonic, each.bytes));
        }
    }
    switch (each.opcode) {
        case Opcode::Vmovups:
        case Opcode::VmovupsStore:
            if (masked_elements(each) > 0) {
                masked(each);
            } else {
                encoder_.evex(each.opcode == Opcode::Vmovups ? kLoadFloats : kStoreFloats, reg,
                              memory_of(each.address), each.bytes);
            }
            return true;
        case Opcode::Vbroadcastss:
            encoder_.evex(kBroadcast, reg, memory_of(each.address), kRowBytes);
            return true;
        case Opcode::VpmovsdbStore:
        case Opcode::VpmovusdbStore:
            encoder_.evex(each.opcode == Opcode::VpmovsdbStore ? kNarrow : kNarrowUnsigned, reg,
                          memory_of(each.address), kRowBytes,
                          mask_of(masked_elements(each), false));
            return true;
        case Opcode::Vpmovsxbd:
            encoder_.evex(kWiden, reg, memory_of(each.address), kRowBytes);
            return true;
        case Opcode::Vmovntps:
            encoder_.evex(kStream, reg, memory_of(each.address), kRowBytes);
            return true;
        default:
            return false;
    }
}

// VMOVUPS, or VMOVDQU16 and VMOVDQU8 where the length asks for narrower elements.
void Assembler::masked(const Instruction& each) {
    const bool store = each.opcode == Opcode::VmovupsStore;
    const std::int64_t element = element_bytes(each.bytes);
    VectorForm form = store ? kStoreFloats : kLoadFloats;
    if (element < 4) {
        form = {OpcodeMap::Of, Prefix::Pf2, store ? 0x7F : 0x6F, element == 2};
    }
    encoder_.evex(form, each.destination, memory_of(each.address), kRowBytes,
                  mask_of(masked_elements(each), !store));
}

bool Assembler::vector(const Instruction& each) {
    constexpr OpcodeMap kOf = OpcodeMap::Of;
    constexpr OpcodeMap kOf38 = OpcodeMap::Of38;
    static constexpr std::array<std::pair<Opcode, VectorForm>, 15> kForms{
        {{Opcode::Vpxord, {kOf, Prefix::P66, 0xEF}},
         {Opcode::Vcvtdq2ps, {kOf, Prefix::None, 0x5B}},
         {Opcode::Vcvtps2dq, {kOf, Prefix::P66, 0x5B}},
         {Opcode::Vaddps, {kOf, Prefix::None, 0x58}},
         {Opcode::Vpaddd, {kOf, Prefix::P66, 0xFE}},
         {Opcode::Vsubps, {kOf, Prefix::None, 0x5C}},
         {Opcode::Vmulps, {kOf, Prefix::None, 0x59}},
         {Opcode::Vmaxps, {kOf, Prefix::None, 0x5F}},
         {Opcode::Vfmadd231ps, {kOf38, Prefix::P66, 0xB8}},
         {Opcode::Vfmadd213ps, {kOf38, Prefix::P66, 0xA8}},
         {Opcode::Vpandd, {kOf, Prefix::P66, 0xDB}},
         {Opcode::Vpermd, {kOf38, Prefix::P66, 0x36}},
         {Opcode::Vcvtne2ps2bf16, {kOf38, Prefix::Pf2, 0x72}},
         {Opcode::Vcvtneps2bf16, {kOf38, Prefix::Pf3, 0x72}},
         {Opcode::Vpmovzxwd, {kOf38, Prefix::P66, 0x33}}}};
    if (is_shuffle(each.opcode)) {
        interleave(each);
        return true;
    }
    if (each.opcode == Opcode::Vpslld || each.opcode == Opcode::Vpsrld) {
        const int direction =
            each.opcode == Opcode::Vpslld ? 6 : 2;  // where others have a register
        encoder_.evex_registers({kOf, Prefix::P66, 0x72}, direction, each.destination,
                                each.source_a);
        encoder_.immediate8(each.immediate);
        return true;
    }
    const auto* const form = std::find_if(kForms.begin(), kForms.end(), [&](const auto& known) {
        return known.first == each.opcode;
    });
    if (form == kForms.end()) {
        return false;
    }
    const int reg = each.destination;
    if (each.opcode == Opcode::Vpxord) {
        encoder_.evex_registers(form->second, reg, reg, reg);
    } else if (info_of(each.opcode).sources == 2) {
        encoder_.evex_registers(form->second, reg, each.source_a, each.source_b);
    } else {
        encoder_.evex_registers(form->second, reg, 0, each.source_a);
    }
    return true;
}

// The hardware's VPERMT2B and VPERMT2W overwrite their first source: it is copied where the program
// keeps it.
void Assembler::interleave(const Instruction& each) {
    const int reg = each.destination;
    if (reg != each.source_a) {
        if (reg == each.source_b) {
            throw ConfigError(fmt::format("{} cannot overwrite its second source",
                                          info_of(each.opcode).mnemonic));
        }
        encoder_.evex_registers(kMoveVector, reg, 0, each.source_a);
    }
    encoder_.evex_registers({OpcodeMap::Of38, Prefix::P66, 0x7D, each.opcode == Opcode::Vpermt2w},
                            reg, shuffles_.at({each.opcode, each.immediate == 0 ? 0 : 1}),
                            each.source_b);
}

}  // namespace tilesim::validation::amx::harness
