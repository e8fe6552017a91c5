#include "arch/amx/core/tile_machine.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "arch/amx/program/instruction_stream.hpp"
#include "arch/amx/program/program_text.hpp"

namespace tilesim::arch::amx::core {
namespace {

template <class Element>
void put(memory::port::BackingStore& store, std::int64_t address, Element value) {
    std::array<std::byte, sizeof value> image;
    std::memcpy(image.data(), &value, sizeof value);
    store.write(address, image);
}
template <class Element>
Element get(const memory::port::BackingStore& store, std::int64_t address) {
    std::array<std::byte, sizeof(Element)> image{};
    store.read(address, image);
    return std::bit_cast<Element>(image);
}

void execute(const std::string& text, memory::port::BackingStore& store) {
    const program::Program program = program::read_program(text, "test");
    TileMachine machine(program, store);
    for (program::InstructionStream stream(program); !stream.finished(); stream.advance()) {
        machine.on_instruction(stream.current());
    }
}

// C 3 x 5, A 3 x 8, B 8 x 5.
std::string product(const std::string& mnemonic) {
    return "config 0 3x20 3x8 2x20 1x4 1x4 1x4 1x4 1x4\nldtilecfg 0\n"
           "tileloadd tmm0, [0x3000], 32\ntileloadd tmm1, [0x1000], 16\n"
           "tileloadd tmm2, [0x2000], 64\n" +
           mnemonic + " tmm0, tmm1, tmm2\ntilestored [0x4000], 24, tmm0\n";
}

TEST(TileMachine, MultipliesEveryCombinationOfSigns) {
    for (const auto& [mnemonic, a_signed, b_signed] :
         {std::tuple{"tdpbssd", true, true}, std::tuple{"tdpbsud", true, false},
          std::tuple{"tdpbusd", false, true}, std::tuple{"tdpbuud", false, false}}) {
        memory::port::BackingStore store;
        const auto a = [](int m, int k) {
            return static_cast<std::uint8_t>(37 * m + 91 * k + 130);
        };
        const auto b = [](int k, int n) {
            return static_cast<std::uint8_t>(53 * k + 29 * n + 120);
        };
        for (int k = 0; k < 8; ++k) {
            for (int m = 0; m < 3; ++m) {
                put(store, 0x1000 + m * 16 + k, a(m, k));
            }
            for (int n = 0; n < 5; ++n) {
                put(store, 0x2000 + k / 4 * 64 + n * 4 + k % 4, b(k, n));
            }
        }
        put(store, 0x3000 + 32 * 2 + 4 * 3, std::int32_t{-1000});  // C[2][3]
        execute(product(mnemonic), store);
        for (int m = 0; m < 3; ++m) {
            for (int n = 0; n < 5; ++n) {
                std::int32_t sum = m == 2 && n == 3 ? -1000 : 0;
                for (int k = 0; k < 8; ++k) {
                    const int x = a_signed ? static_cast<std::int8_t>(a(m, k)) : a(m, k);
                    const int y = b_signed ? static_cast<std::int8_t>(b(k, n)) : b(k, n);
                    sum += x * y;
                }
                EXPECT_EQ(get<std::int32_t>(store, 0x4000 + m * 24 + n * 4), sum)
                    << mnemonic << " " << m << " " << n;
            }
        }
    }
}

TEST(TileMachine, Bf16AddsEvenAndOddProductsApart) {
    memory::port::BackingStore store;
    // Row 0 of A: 2^24, 1, 1, -1; B column 0 all ones. In one chain 2^24 + 1 would lose the 1s:
    // even: 2^24 + 1 = 2^24 (ties to even); odd: 1 - 1 = 0.
    const std::array<float, 4> a{16777216.0F, 1.0F, 1.0F, -1.0F};
    for (int k = 0; k < 4; ++k) {
        put(store, 0x1000 + 2 * k, round_to_bf16(a[static_cast<std::size_t>(k)]));
        put(store, 0x2000 + k / 2 * 64 + k % 2 * 2, round_to_bf16(1.0F));
    }
    put(store, 0x3000, 0.5F);
    execute(product("tdpbf16ps"), store);
    EXPECT_EQ(get<float>(store, 0x4000), 16777216.0F);
    // Odd products 3 and 4 add up before they meet the large even one: 2^24 + 4 + ... stays exact.
    put(store, 0x1000 + 2, round_to_bf16(3.0F));
    put(store, 0x1000 + 6, round_to_bf16(3.0F));
    execute(product("tdpbf16ps"), store);
    EXPECT_EQ(get<float>(store, 0x4000), 16777222.0F);
}

TEST(TileMachine, Bf16TreatsDenormalsAsZero) {
    EXPECT_EQ(from_bf16(0x0001), 0.0F);
    EXPECT_EQ(round_to_bf16(1e-40F), 0);
    EXPECT_EQ(round_to_bf16(1.00390625F), 0x3F80);  // tie to even
    EXPECT_EQ(round_to_bf16(1.01171875F), 0x3F82);
}

TEST(TileMachine, ShiftsByAnElementsBitsAndMoreLeaveNothing) {
    memory::port::BackingStore store;
    put(store, 0x1000, std::uint32_t{0x80000001});
    const auto shifted = [&store](const std::string& by) {
        execute("vmovups zmm0, [0x1000]\n" + by + "\nvmovups [0x2000], zmm1\n", store);
        return get<std::uint32_t>(store, 0x2000);
    };
    EXPECT_EQ(shifted("vpslld zmm1, zmm0, 31"), 0x80000000);
    EXPECT_EQ(shifted("vpsrld zmm1, zmm0, 31"), 1U);
    for (const char* const by : {"32", "33", "64", "255"}) {
        EXPECT_EQ(shifted(std::string{"vpslld zmm1, zmm0, "} + by), 0U) << by;
        EXPECT_EQ(shifted(std::string{"vpsrld zmm1, zmm0, "} + by), 0U) << by;
    }
}

TEST(TileMachine, ConfigurationZeroesTilesAndIsWrittenBack) {
    memory::port::BackingStore store;
    execute(
        "config 0 3x20 3x8 2x20 1x4 1x4 1x4 1x4 1x4\nldtilecfg 0\nsttilecfg [0x5000]\n"
        "tilerelease\nsttilecfg [0x6000]\n",
        store);
    EXPECT_EQ(get<std::uint8_t>(store, 0x5000), 1);
    EXPECT_EQ(get<std::uint16_t>(store, 0x5000 + 16), 20);
    EXPECT_EQ(get<std::uint8_t>(store, 0x5000 + 48), 3);
    EXPECT_EQ(get<std::uint8_t>(store, 0x6000), 0);
}

}  // namespace
}  // namespace tilesim::arch::amx::core
