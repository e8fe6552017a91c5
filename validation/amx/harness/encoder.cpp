#include "validation/amx/harness/encoder.hpp"

#include <fmt/format.h>

#include "arch/base/config.hpp"

namespace tilesim::validation::amx::harness {

namespace {

constexpr int kNoBase = 5;   // in a SIB byte with mod 00: displacement only
constexpr int kNoIndex = 4;  // in a SIB byte
constexpr int kSib = 4;      // in a ModRM byte
constexpr int kRexWide = 0x48;
constexpr int kLength512 = 2;

int low(int reg) {
    return reg & 7;
}
int high(int reg) {
    return reg >> 3 & 1;
}
int index_high(const MemoryOperand& memory) {
    return memory.index < 0 ? 0 : high(memory.index);
}
int base_high(const MemoryOperand& memory) {
    return memory.base < 0 ? 0 : high(memory.base);
}
bool fits_in_32_bits(std::int64_t value) {
    return value >= INT32_MIN && value <= INT32_MAX;
}

}  // namespace

void Encoder::word32(std::int64_t value) {
    if (!fits_in_32_bits(value)) {
        throw arch::base::config::ConfigError(fmt::format("{} does not fit in 32 bits", value));
    }
    for (int shift = 0; shift < 32; shift += 8) {
        byte(static_cast<int>(value >> shift & 0xFF));
    }
}

void Encoder::immediate8(std::int64_t value) {
    byte(static_cast<int>(value & 0xFF));
}

void Encoder::push(int reg) {
    if (high(reg) != 0) {
        byte(0x41);
    }
    byte(0x50 + low(reg));
}

void Encoder::pop(int reg) {
    if (high(reg) != 0) {
        byte(0x41);
    }
    byte(0x58 + low(reg));
}

void Encoder::move(int reg, std::int64_t value) {
    byte(kRexWide | high(reg));
    if (fits_in_32_bits(value)) {
        byte(0xC7);
        byte(0xC0 | low(reg));
        word32(value);
        return;
    }
    byte(0xB8 + low(reg));
    for (int shift = 0; shift < 64; shift += 8) {
        byte(static_cast<int>(value >> shift & 0xFF));
    }
}

void Encoder::add(int reg, std::int64_t value) {
    byte(kRexWide | high(reg));
    byte(0x81);
    byte(0xC0 | low(reg));
    word32(value);
}

void Encoder::add_register(int reg, int other) {
    byte(kRexWide | high(other) << 2 | high(reg));
    byte(0x01);
    byte(0xC0 | low(other) << 3 | low(reg));
}

void Encoder::rex_wide(int reg, const MemoryOperand& memory) {
    byte(kRexWide | high(reg) << 2 | index_high(memory) << 1 | base_high(memory));
}

void Encoder::load(int reg, const MemoryOperand& memory) {
    rex_wide(reg, memory);
    byte(0x8B);
    operand(reg, memory);
}

void Encoder::count_bits(int reg, const MemoryOperand& memory) {
    byte(0xF3);
    rex_wide(reg, memory);
    byte(0x0F);
    byte(0xB8);
    operand(reg, memory);
}

void Encoder::prefetch(int hint, const MemoryOperand& memory) {
    if (base_high(memory) != 0) {
        byte(0x41);
    }
    byte(0x0F);
    byte(0x18);
    operand(hint, memory);
}

void Encoder::prefetch_to_write(const MemoryOperand& memory) {
    if (base_high(memory) != 0) {
        byte(0x41);
    }
    byte(0x0F);
    byte(0x0D);
    operand(1, memory);
}

void Encoder::load_fence() {
    byte(0x0F);
    byte(0xAE);
    byte(0xE8);
}

void Encoder::compare_nothing() {
    byte(0x39);  // cmp eax, eax
    byte(0xC0);
}

void Encoder::jump_if_not_zero(std::size_t target) {
    byte(0x0F);
    byte(0x85);
    word32(static_cast<std::int64_t>(target) - static_cast<std::int64_t>(code_.size()) - 4);
}

void Encoder::store(const MemoryOperand& memory, std::int64_t value) {
    rex_wide(0, memory);
    byte(0xC7);
    operand(0, memory);
    word32(value);
}

void Encoder::add_to(const MemoryOperand& memory, std::int64_t value) {
    rex_wide(0, memory);
    byte(0x81);
    operand(0, memory);
    word32(value);
}

void Encoder::locked_increment(const MemoryOperand& memory) {
    byte(0xF0);
    rex_wide(0, memory);
    byte(0xFF);
    operand(0, memory);
}

void Encoder::spin_until_reached(int reg, const MemoryOperand& memory) {
    const auto top = static_cast<std::int64_t>(code_.size());
    rex_wide(reg, memory);
    byte(0x3B);  // cmp reg, memory
    operand(reg, memory);
    byte(0x0F);  // jg
    byte(0x8F);
    word32(top - static_cast<std::int64_t>(code_.size()) - 4);
}

// ModRM, SIB and a 32-bit displacement, always in this long form.
void Encoder::operand(int reg, const MemoryOperand& memory) {
    byte((memory.base < 0 ? 0x00 : 0x80) | low(reg) << 3 | kSib);
    byte(memory.scale << 6 | (memory.index < 0 ? kNoIndex : low(memory.index)) << 3 |
         (memory.base < 0 ? kNoBase : low(memory.base)));
    word32(memory.displacement);
}

void Encoder::vex(const VectorForm& form, int reg, int vvvv, const MemoryOperand& memory) {
    byte(0xC4);
    byte((high(reg) ^ 1) << 7 | (index_high(memory) ^ 1) << 6 | (base_high(memory) ^ 1) << 5 |
         static_cast<int>(form.map));
    byte((form.wide ? 1 : 0) << 7 | (vvvv ^ 15) << 3 | static_cast<int>(form.prefix));
    byte(form.opcode);
    operand(reg, memory);
}

void Encoder::vex_registers(const VectorForm& form, int reg, int vvvv, int rm) {
    byte(0xC4);
    byte((high(reg) ^ 1) << 7 | 1 << 6 | (high(rm) ^ 1) << 5 | static_cast<int>(form.map));
    byte((form.wide ? 1 : 0) << 7 | (vvvv ^ 15) << 3 | static_cast<int>(form.prefix));
    byte(form.opcode);
    byte(0xC0 | low(reg) << 3 | low(rm));
}

void Encoder::evex_prefix(const VectorForm& form, int reg, int vvvv, int length, bool x, bool b,
                          WriteMask mask) {
    byte(0x62);
    byte((high(reg) ^ 1) << 7 | (x ? 0 : 1) << 6 | (b ? 0 : 1) << 5 | ((reg >> 4 & 1) ^ 1) << 4 |
         static_cast<int>(form.map));
    byte((form.wide ? 1 : 0) << 7 | ((vvvv & 15) ^ 15) << 3 | 1 << 2 |
         static_cast<int>(form.prefix));
    byte((mask.zeroes ? 1 : 0) << 7 | length << 5 | ((vvvv >> 4 & 1) ^ 1) << 3 | mask.reg);
    byte(form.opcode);
}

void Encoder::evex(const VectorForm& form, int reg, const MemoryOperand& memory, std::int64_t bytes,
                   WriteMask mask) {
    evex_prefix(form, reg, 0,
                bytes == 64   ? kLength512
                : bytes == 32 ? 1
                              : 0,
                index_high(memory) != 0, base_high(memory) != 0, mask);
    operand(reg, memory);
}

void Encoder::evex_registers(const VectorForm& form, int reg, int vvvv, int rm) {
    evex_prefix(form, reg, vvvv, kLength512, (rm >> 4 & 1) != 0, high(rm) != 0, {});
    byte(0xC0 | low(reg) << 3 | low(rm));
}

}  // namespace tilesim::validation::amx::harness
