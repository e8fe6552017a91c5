#include "arch/amx/core/tile_machine.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "arch/base/check.hpp"

namespace tilesim::arch::amx::core {

namespace {

using Row = TileMachine::Row;

template <class Element>
Element get(const Row& row, std::size_t index) {
    Element value;
    std::memcpy(&value, row.data() + index * sizeof(Element), sizeof(Element));
    return value;
}
template <class Element>
void put(Row& row, std::size_t index, Element value) {
    std::memcpy(row.data() + index * sizeof(Element), &value, sizeof(Element));
}

std::int32_t widened(std::byte value, bool is_signed) {
    const auto bits = std::to_integer<std::uint8_t>(value);
    return is_signed ? static_cast<std::int8_t>(bits) : bits;
}

std::int32_t to_int32(float value) {  // VCVTPS2DQ: nearest even, out of range to the lowest
    constexpr float kLimit = 2147483648.0F;
    return value >= -kLimit && value < kLimit ? static_cast<std::int32_t>(std::nearbyint(value))
                                              : std::numeric_limits<std::int32_t>::min();
}

std::int8_t saturated(std::int32_t value) {
    return static_cast<std::int8_t>(std::clamp<std::int32_t>(value, INT8_MIN, INT8_MAX));
}
std::uint8_t saturated_unsigned(std::int32_t value) {  // VPMOVUSDB: the source is unsigned
    return static_cast<std::uint8_t>(
        std::min<std::uint32_t>(static_cast<std::uint32_t>(value), UINT8_MAX));
}

// Nothing is left of an element.
bool shifts_out(const program::Instruction& shift) {
    return shift.immediate >= std::numeric_limits<std::uint32_t>::digits;
}

// Element `i` of a vector result; `before` is what the destination held.
void compute_lane(const program::Instruction& instruction, std::size_t i, const Row& a,
                  const Row& b, const Row& before, Row& out) {
    const auto x = get<float>(a, i);
    const auto y = get<float>(b, i);
    switch (instruction.opcode) {
        case program::Opcode::Vcvtdq2ps:
            put(out, i, static_cast<float>(get<std::int32_t>(a, i)));
            break;
        case program::Opcode::Vcvtps2dq:
            put(out, i, to_int32(x));
            break;
        case program::Opcode::Vaddps:
            put(out, i, x + y);
            break;
        case program::Opcode::Vpaddd:
            put(out, i, get<std::uint32_t>(a, i) + get<std::uint32_t>(b, i));
            break;
        case program::Opcode::Vsubps:
            put(out, i, x - y);
            break;
        case program::Opcode::Vmulps:
            put(out, i, x * y);
            break;
        case program::Opcode::Vmaxps:
            put(out, i, x > y ? x : y);
            break;
        case program::Opcode::Vfmadd231ps:
            put(out, i, std::fma(x, y, get<float>(before, i)));
            break;
        case program::Opcode::Vfmadd213ps:
            put(out, i, std::fma(x, get<float>(before, i), y));
            break;
        case program::Opcode::Vcvtneps2bf16:
            put(out, i, round_to_bf16(x));
            break;
        case program::Opcode::Vcvtne2ps2bf16:
            put(out, i, round_to_bf16(y));
            put(out, TileMachine::kLanes + i, round_to_bf16(x));
            break;
        case program::Opcode::Vpandd:
            put(out, i, get<std::uint32_t>(a, i) & get<std::uint32_t>(b, i));
            break;
        case program::Opcode::Vpermd:
            put(out, i, get<std::uint32_t>(b, get<std::uint32_t>(a, i) % TileMachine::kLanes));
            break;
        case program::Opcode::Vpsrld:
            put(out, i,
                shifts_out(instruction) ? 0 : get<std::uint32_t>(a, i) >> instruction.immediate);
            break;
        case program::Opcode::Vpmovzxwd:
            put(out, i, std::uint32_t{get<std::uint16_t>(a, i)});
            break;
        case program::Opcode::Vpslld:
            put(out, i,
                shifts_out(instruction) ? 0 : get<std::uint32_t>(a, i) << instruction.immediate);
            break;
        case program::Opcode::Vpxord:  // of a register with itself
            break;
        default:
            SIM_CHECK(false, "{} has no arithmetic", program::info_of(instruction.opcode).mnemonic);
    }
}

}  // namespace

float flushed(float value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}

// The product of two bf16 is exact in a float unless it leaves the float's range.
float fused_multiply_add(float a, float b, float c) {
    const float product = a * b;
    const float size = std::fabs(product);
    const bool exact = product == 0.0F ? a == 0.0F || b == 0.0F : size > 1e-30F && size < 1e38F;
    return exact ? product + c : std::fma(a, b, c);
}

std::uint16_t round_to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(flushed(value));
    if (std::isnan(value)) {
        return static_cast<std::uint16_t>((bits >> 16U) | 0x40U);
    }
    const std::uint32_t odd = (bits >> 16U) & 1U;
    return static_cast<std::uint16_t>((bits + 0x7FFFU + odd) >> 16U);
}

float from_bf16(std::uint16_t bits) {
    return flushed(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U));
}

TileMachine::TileMachine(const program::Program& program, memory::port::BackingStore& store)
    : program_(program), store_(store) {}

void TileMachine::on_instruction(const program::DynamicInstruction& dynamic) {
    const program::Instruction& instruction = *dynamic.instruction;
    switch (instruction.opcode) {
        case program::Opcode::Tileloadd:
        case program::Opcode::Tileloaddt1:
            return load_tile(dynamic);
        case program::Opcode::Tilestored:
            return store_tile(dynamic);
        case program::Opcode::Tilezero:
            tiles_[static_cast<std::size_t>(instruction.destination)] = {};
            return;
        case program::Opcode::Tdpbssd:
            return dot_int8(instruction, true, true);
        case program::Opcode::Tdpbsud:
            return dot_int8(instruction, true, false);
        case program::Opcode::Tdpbusd:
            return dot_int8(instruction, false, true);
        case program::Opcode::Tdpbuud:
            return dot_int8(instruction, false, false);
        case program::Opcode::Tdpbf16ps:
            return dot_bf16(instruction);
        case program::Opcode::Ldtilecfg:
            config_.load(program::make_image(
                program_.configs[static_cast<std::size_t>(instruction.immediate)]));
            tiles_ = {};
            return;
        case program::Opcode::Sttilecfg:
            store_.write(dynamic.address, config_.image());
            return;
        case program::Opcode::Tilerelease:
            config_.release();
            tiles_ = {};
            return;
        default:
            if (!vector_memory(dynamic)) {
                vector_math(instruction);
            }
    }
}

void TileMachine::load_tile(const program::DynamicInstruction& dynamic) {
    const program::Instruction& instruction = *dynamic.instruction;
    Tile& tile = tiles_[static_cast<std::size_t>(instruction.destination)];
    const program::TileShape& shape = config_.shape(instruction.destination);
    tile = {};
    for (int row = 0; row < shape.rows; ++row) {
        store_.read(dynamic.address + row * instruction.row_stride,
                    std::span{tile[static_cast<std::size_t>(row)]}.first(
                        static_cast<std::size_t>(shape.row_bytes)));
    }
}

void TileMachine::store_tile(const program::DynamicInstruction& dynamic) {
    const program::Instruction& instruction = *dynamic.instruction;
    const Tile& tile = tiles_[static_cast<std::size_t>(instruction.destination)];
    const program::TileShape& shape = config_.shape(instruction.destination);
    for (int row = 0; row < shape.rows; ++row) {
        store_.write(dynamic.address + row * instruction.row_stride,
                     std::span{tile[static_cast<std::size_t>(row)]}.first(
                         static_cast<std::size_t>(shape.row_bytes)));
    }
}

void TileMachine::dot_int8(const program::Instruction& instruction, bool a_signed, bool b_signed) {
    Tile& c = tiles_[static_cast<std::size_t>(instruction.destination)];
    const Tile& a = tiles_[static_cast<std::size_t>(instruction.source_a)];
    const Tile& b = tiles_[static_cast<std::size_t>(instruction.source_b)];
    const program::TileShape& shape = config_.shape(instruction.destination);
    const auto groups = static_cast<std::size_t>(config_.shape(instruction.source_b).rows);
    const auto columns = static_cast<std::size_t>(shape.row_bytes) / 4;
    for (std::size_t m = 0; m < static_cast<std::size_t>(shape.rows); ++m) {
        for (std::size_t n = 0; n < columns; ++n) {
            auto sum = get<std::uint32_t>(c[m], n);
            for (std::size_t k = 0; k < groups; ++k) {
                for (std::size_t i = 0; i < 4; ++i) {
                    sum += static_cast<std::uint32_t>(widened(a[m][4 * k + i], a_signed) *
                                                      widened(b[k][4 * n + i], b_signed));
                }
            }
            put(c[m], n, sum);
        }
    }
}

void TileMachine::dot_bf16(const program::Instruction& instruction) {
    Tile& c = tiles_[static_cast<std::size_t>(instruction.destination)];
    const Tile& a = tiles_[static_cast<std::size_t>(instruction.source_a)];
    const Tile& b = tiles_[static_cast<std::size_t>(instruction.source_b)];
    const program::TileShape& shape = config_.shape(instruction.destination);
    const auto pairs = static_cast<std::size_t>(config_.shape(instruction.source_b).rows);
    const auto columns = static_cast<std::size_t>(shape.row_bytes) / 4;
    for (std::size_t m = 0; m < static_cast<std::size_t>(shape.rows); ++m) {
        for (std::size_t n = 0; n < columns; ++n) {
            std::array<float, 2> chain{0.0F, 0.0F};
            for (std::size_t k = 0; k < pairs; ++k) {
                for (std::size_t i = 0; i < 2; ++i) {
                    chain[i] = flushed(fused_multiply_add(
                        from_bf16(get<std::uint16_t>(a[m], 2 * k + i)),
                        from_bf16(get<std::uint16_t>(b[k], 2 * n + i)), chain[i]));
                }
            }
            const float both = flushed(chain[0] + chain[1]);
            put(c[m], n, flushed(flushed(get<float>(c[m], n)) + both));
        }
    }
}

bool TileMachine::vector_memory(const program::DynamicInstruction& dynamic) {
    const program::Instruction& instruction = *dynamic.instruction;
    const auto bytes = static_cast<std::size_t>(dynamic.bytes);
    Row& reg = vector(instruction.destination);
    switch (instruction.opcode) {
        case program::Opcode::Vmovups:
            reg = {};
            store_.read(dynamic.address, std::span{reg}.first(bytes));
            return true;
        case program::Opcode::VmovupsStore:
        case program::Opcode::Vmovntps:
            store_.write(dynamic.address, std::span{reg}.first(bytes));
            return true;
        case program::Opcode::Vbroadcastss: {
            store_.read(dynamic.address, std::span{reg}.first(sizeof(float)));
            const auto value = get<float>(reg, 0);
            for (std::size_t i = 0; i < Floats{}.size(); ++i) {
                put(reg, i, value);
            }
            return true;
        }
        case program::Opcode::VpmovsdbStore:
        case program::Opcode::VpmovusdbStore: {
            Row narrow{};
            for (std::size_t i = 0; i < bytes; ++i) {
                const auto value = get<std::int32_t>(reg, i);
                if (instruction.opcode == program::Opcode::VpmovsdbStore) {
                    put(narrow, i, saturated(value));
                } else {
                    put(narrow, i, saturated_unsigned(value));
                }
            }
            store_.write(dynamic.address, std::span{narrow}.first(bytes));
            return true;
        }
        case program::Opcode::Vpmovsxbd: {
            Row narrow{};
            store_.read(dynamic.address, std::span{narrow}.first(bytes));
            for (std::size_t i = 0; i < kLanes; ++i) {
                put(reg, i, std::int32_t{get<std::int8_t>(narrow, i)});
            }
            return true;
        }
        case program::Opcode::Kmovq: {
            Row bits{};
            store_.read(dynamic.address, std::span{bits}.first(sizeof mask_));
            mask_ = get<std::uint64_t>(bits, 0);
            return true;
        }
        case program::Opcode::Vpexpandb: {
            Row packed{};
            store_.read(dynamic.address, std::span{packed}.first(bytes));
            reg = {};
            std::size_t next = 0;
            for (std::size_t i = 0; i < reg.size(); ++i) {
                if ((mask_ >> i & 1U) != 0 && next < packed.size()) {
                    reg[i] = packed[next++];
                }
            }
            return true;
        }
        default:
            return false;
    }
}

void TileMachine::interleave(const program::Instruction& instruction, std::size_t element) {
    const Row a = vector(instruction.source_a);
    const Row b = vector(instruction.source_b);
    Row& out = vector(instruction.destination);
    const std::size_t start = instruction.immediate == 0 ? 0 : a.size() / 2;
    for (std::size_t i = 0; i < a.size() / 2; ++i) {
        const std::size_t pair = i / element * 2 * element + i % element;
        out[pair] = a[start + i];
        out[pair + element] = b[start + i];
    }
}

void TileMachine::vector_math(const program::Instruction& instruction) {
    const program::Opcode opcode = instruction.opcode;
    if (opcode == program::Opcode::Vpermt2b || opcode == program::Opcode::Vpermt2w) {
        return interleave(instruction, opcode == program::Opcode::Vpermt2b ? 1 : 2);
    }
    if (program::info_of(opcode).registers != program::RegisterKind::Vector) {
        return;
    }
    const Row a = vector(instruction.source_a);
    const Row b = vector(instruction.source_b);
    Row& out = vector(instruction.destination);
    const Row before = out;
    if (opcode == program::Opcode::Vcvtneps2bf16 || opcode == program::Opcode::Vpxord) {
        out = {};
    }
    for (std::size_t i = 0; i < Floats{}.size(); ++i) {
        compute_lane(instruction, i, a, b, before, out);
    }
}

}  // namespace tilesim::arch::amx::core
