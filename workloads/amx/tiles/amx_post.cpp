#include "workloads/amx/tiles/amx_post.hpp"

#include "arch/amx/program/tile_config.hpp"
#include "arch/base/units.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::program::Address;
using arch::amx::program::Instruction;
using arch::amx::program::kTileBytes;
using arch::amx::program::Opcode;

namespace {

constexpr std::int8_t kScale = 31;
constexpr std::int8_t kZero = 30;
constexpr std::int8_t kBias = 29;
constexpr std::int8_t kRotating = 16;
constexpr std::int64_t kFloatBytes = 4;

Instruction vector(Opcode opcode, std::int8_t destination, std::int8_t a, std::int8_t b) {
    Instruction instruction;
    instruction.opcode = opcode;
    instruction.destination = destination;
    instruction.source_a = a;
    instruction.source_b = b;
    return instruction;
}

Instruction memory(Opcode opcode, std::int8_t reg, const Address& address, std::int64_t bytes) {
    Instruction instruction;
    instruction.opcode = opcode;
    instruction.destination = reg;
    instruction.address = address;
    instruction.bytes = bytes;
    return instruction;
}

}  // namespace

std::int64_t PostWriter::temporary(std::int64_t index, std::int64_t tiles) const {
    return post_.temporary + (index + (upper_ ? tiles : 0)) * kTileBytes;
}

void PostWriter::constants() {
    if (!post_.any) {
        return;
    }
    program_.emit(memory(Opcode::Vbroadcastss, kScale, Address{}.plus(post_.scale), kFloatBytes));
    program_.emit(vector(Opcode::Vpxord, kZero, kZero, kZero));
}

void PostWriter::some(std::int64_t products_left) {
    const std::int64_t waiting = static_cast<std::int64_t>(rows_.size());
    for (std::int64_t i = arch::base::ceil_div(waiting, products_left); i > 0; --i) {
        write(rows_.front());
        rows_.pop_front();
    }
}

void PostWriter::rest() {
    while (!rows_.empty()) {
        write(rows_.front());
        rows_.pop_front();
    }
}

void PostWriter::write(const Row& row) {
    const std::int8_t value = register_;
    register_ = static_cast<std::int8_t>((register_ + 1) % kRotating);
    const std::int64_t bytes = row.columns * kFloatBytes;
    program_.emit(memory(Opcode::Vmovups, value, Address{}.plus(row.temporary),
                         arch::amx::program::kRowBytes));
    if (row.new_bias) {
        program_.emit(memory(Opcode::Vmovups, kBias, row.bias, bytes));
    }
    if (post_.from_int32) {
        program_.emit(vector(Opcode::Vcvtdq2ps, value, value, 0));
        program_.emit(vector(Opcode::Vfmadd213ps, value, kScale, kBias));
    } else {
        program_.emit(vector(Opcode::Vaddps, value, value, kBias));
    }
    if (post_.relu) {
        program_.emit(vector(Opcode::Vmaxps, value, value, kZero));
    }
    if (post_.to == DataType::Int8) {
        program_.emit(vector(Opcode::Vcvtps2dq, value, value, 0));
        program_.emit(memory(Opcode::VpmovsdbStore, value, row.c, row.columns));
    } else if (post_.to == DataType::Bf16) {
        program_.emit(vector(Opcode::Vcvtneps2bf16, value, value, 0));
        program_.emit(memory(Opcode::VmovupsStore, value, row.c, bytes / 2));
    } else {
        program_.emit(memory(Opcode::VmovupsStore, value, row.c, bytes));
    }
}

}  // namespace tilesim::workloads::amx::tiles
