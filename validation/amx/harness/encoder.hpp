// Bytes of x86-64 instructions: the forms that the kernels need, each in its longest encoding.
//
// Source: Intel SDM volume 2: REX, VEX and EVEX prefixes, ModRM and SIB bytes.
#pragma once

#include <cstdint>
#include <vector>

namespace tilesim::validation::amx::harness {

// base + index * 2^scale + displacement; a register of -1 is left out.
struct MemoryOperand {
    int base = -1;
    int index = -1;
    std::int64_t displacement = 0;
    int scale = 0;
};

enum class OpcodeMap : std::uint8_t { Of = 1, Of38 = 2 };
enum class Prefix : std::uint8_t { None, P66, Pf3, Pf2 };

// What VEX and EVEX instructions are told apart by.
struct VectorForm {
    OpcodeMap map;
    Prefix prefix;
    int opcode;
    bool wide = false;  // the W bit
};

// The mask register of an EVEX instruction; 0: none.
struct WriteMask {
    int reg = 0;
    bool zeroes = false;  // elements without a bit become zero
};

class Encoder {
  public:
    const std::vector<std::uint8_t>& code() const { return code_; }

    void push(int reg);
    void pop(int reg);
    void ret() { byte(0xC3); }
    void move(int reg, std::int64_t value);  // any 64 bits
    void add(int reg, std::int64_t value);
    void add_register(int reg, int other);
    void load(int reg, const MemoryOperand& memory);        // 64 bits
    void count_bits(int reg, const MemoryOperand& memory);  // POPCNT, 64 bits
    void prefetch(int hint, const MemoryOperand& memory);
    void prefetch_to_write(const MemoryOperand& memory);
    void load_fence();
    void compare_nothing();  // one uop that keeps every register
    void jump_if_not_zero(std::size_t target);
    void store(const MemoryOperand& memory, std::int64_t value);  // 64 bits
    // Adds to a 64-bit word that only this core writes.
    void add_to(const MemoryOperand& memory, std::int64_t value);
    void locked_increment(const MemoryOperand& memory);
    // Reads the word again and again until it is no less than the register.
    void spin_until_reached(int reg, const MemoryOperand& memory);

    void vex(const VectorForm& form, int reg, int vvvv, const MemoryOperand& memory);
    void vex_registers(const VectorForm& form, int reg, int vvvv, int rm);
    // `bytes`: of the vector, 16, 32 or 64.
    void evex(const VectorForm& form, int reg, const MemoryOperand& memory, std::int64_t bytes,
              WriteMask mask = {});
    void evex_registers(const VectorForm& form, int reg, int vvvv, int rm);  // of 64 bytes
    void immediate8(std::int64_t value);

  private:
    void byte(int value) { code_.push_back(static_cast<std::uint8_t>(value)); }
    void word32(std::int64_t value);
    void rex_wide(int reg, const MemoryOperand& memory);
    void operand(int reg, const MemoryOperand& memory);
    void evex_prefix(const VectorForm& form, int reg, int vvvv, int length, bool x, bool b,
                     WriteMask mask);

    std::vector<std::uint8_t> code_;
};

}  // namespace tilesim::validation::amx::harness
