#include "validation/amx/harness/assembler.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "arch/amx/program_text.hpp"
#include "arch/base/config.hpp"
#include "validation/amx/harness/machine.hpp"

namespace tilesim::validation::amx {
namespace {

constexpr std::int64_t kConfigs = 0x200000;
constexpr std::size_t kPrologue = 10;  // pushes of the registers a callee keeps
constexpr std::size_t kMove = 7;       // a register set to a 32-bit constant

// The code of `instruction`, behind the prologue and `moves` constants.
std::vector<std::uint8_t> code_of(const std::string& instruction, std::size_t moves = 0) {
    const std::string text =
        "buffer a 0x100000 65536\nconfig 0 1x4 1x4 1x4 1x4 1x4 1x4 1x4 1x4\n" + instruction + "\n";
    const arch::amx::Program program = arch::amx::read_program(text, "test");
    const std::vector<std::uint8_t> code = Assembler(program, kConfigs).code();
    constexpr std::size_t kEpilogue = kPrologue + 1;
    return {code.begin() + static_cast<std::ptrdiff_t>(kPrologue + moves * kMove),
            code.end() - static_cast<std::ptrdiff_t>(kEpilogue)};
}

using Bytes = std::vector<std::uint8_t>;

// Expected bytes: GNU binutils 2.40 disassembles them to the instruction.
TEST(Assembler, EncodesTileInstructions) {
    EXPECT_EQ(code_of("ldtilecfg 0"), (Bytes{0xC4, 0xE2, 0x78, 0x49, 0x04, 0x25, 0, 0, 0x20, 0}));
    EXPECT_EQ(code_of("tdpbusd tmm0, tmm4, tmm6"), (Bytes{0xC4, 0xE2, 0x49, 0x5E, 0xC4}));
    EXPECT_EQ(code_of("tdpbssd tmm1, tmm4, tmm6"), (Bytes{0xC4, 0xE2, 0x4B, 0x5E, 0xCC}));
    EXPECT_EQ(code_of("tdpbsud tmm2, tmm4, tmm6"), (Bytes{0xC4, 0xE2, 0x4A, 0x5E, 0xD4}));
    EXPECT_EQ(code_of("tdpbuud tmm3, tmm5, tmm7"), (Bytes{0xC4, 0xE2, 0x40, 0x5E, 0xDD}));
    EXPECT_EQ(code_of("tdpbf16ps tmm3, tmm5, tmm7"), (Bytes{0xC4, 0xE2, 0x42, 0x5C, 0xDD}));
    EXPECT_EQ(code_of("tilezero tmm5"), (Bytes{0xC4, 0xE2, 0x7B, 0x49, 0xE8}));
    EXPECT_EQ(code_of("tilerelease"), (Bytes{0xC4, 0xE2, 0x78, 0x49, 0xC0}));
    // The stride lies in the first register given out, rax: [rax + 0x100040].
    EXPECT_EQ(code_of("tileloadd tmm4, [a + 64], 1024", 1),
              (Bytes{0xC4, 0xE2, 0x7B, 0x4B, 0x24, 0x05, 0x40, 0, 0x10, 0}));
    EXPECT_EQ(code_of("tileloaddt1 tmm4, [a + 64], 1024", 1),
              (Bytes{0xC4, 0xE2, 0x79, 0x4B, 0x24, 0x05, 0x40, 0, 0x10, 0}));
    EXPECT_EQ(code_of("tilestored [a + 64], 1024, tmm4", 1),
              (Bytes{0xC4, 0xE2, 0x7A, 0x4B, 0x24, 0x05, 0x40, 0, 0x10, 0}));
}

TEST(Assembler, EncodesVectorInstructions) {
    EXPECT_EQ(code_of("vfmadd231ps zmm4, zmm3, zmm2"), (Bytes{0x62, 0xF2, 0x65, 0x48, 0xB8, 0xE2}));
    EXPECT_EQ(code_of("vaddps zmm24, zmm13, zmm22"), (Bytes{0x62, 0x21, 0x14, 0x48, 0x58, 0xC6}));
    EXPECT_EQ(code_of("vcvtdq2ps zmm9, zmm18"), (Bytes{0x62, 0x31, 0x7C, 0x48, 0x5B, 0xCA}));
    EXPECT_EQ(code_of("vcvtps2dq zmm19, zmm8"), (Bytes{0x62, 0xC1, 0x7D, 0x48, 0x5B, 0xD8}));
    EXPECT_EQ(code_of("vpmovsdb [a], zmm4, 16"),
              (Bytes{0x62, 0xF2, 0x7E, 0x48, 0x21, 0x24, 0x25, 0, 0, 0x10, 0}));
    EXPECT_EQ(code_of("vmovups zmm3, [a + 64], 32"),
              (Bytes{0x62, 0xF1, 0x7C, 0x28, 0x10, 0x1C, 0x25, 0x40, 0, 0x10, 0}));
}

TEST(Assembler, SaysWhatItCannotEncode) {
    for (const char* text : {"barrier", "vmovups zmm1, [a], 17", "kmovq k1, [a]"}) {
        EXPECT_THROW(code_of(text), arch::base::config::ConfigError) << text;
    }
}

TEST(Assembler, EncodesEveryShippedKernel) {
    const std::filesystem::path folder =
        std::filesystem::path(TILESIM_SOURCE_DIR) / "validation" / "amx" / "kernels";
    std::size_t kernels = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        std::ifstream in(entry.path());
        std::ostringstream stream;
        stream << in.rdbuf();
        std::string text = stream.str();
        if (const std::size_t at = text.find("COUNT"); at != std::string::npos) {
            text.replace(at, 5, "3");
        }
        const arch::amx::Program program = arch::amx::read_program(text, entry.path().filename());
        EXPECT_GT(Assembler(program, kConfigs).code().size(), 2 * kPrologue) << entry.path();
        ++kernels;
    }
    EXPECT_GT(kernels, 90U);
}

TEST(Measure, RunsLoopsOnTheHost) {
    const arch::amx::Program program = arch::amx::read_program(
        "buffer a 0x10000000 8192\n"
        "loop i 1000\n  loop k 7\n    prefetcht0 [a + 64*k + 512*i]\n    scalar\n  end\nend\n",
        "test");
    const ProgramMemory memory(program);
    const Assembler assembler(program, memory.configs());
    const std::vector<Sample> samples = measure(assembler.code(), 5);
    ASSERT_EQ(samples.size(), 5U);
    for (const Sample& sample : samples) {
        EXPECT_GT(sample.tsc, 1000);  // seven thousand iterations take a while
    }
}

TEST(Measure, TilesAreUsableOrThereIsAReason) {
    const std::string reason = why_no_tiles();
    if (!reason.empty()) {
        EXPECT_THAT(reason, testing::AnyOf(testing::HasSubstr("AMX"), testing::HasSubstr("tiles"),
                                           testing::HasSubstr("x86-64")));
        return;
    }
    const arch::amx::Program program = arch::amx::read_program(
        "buffer a 0x10000000 8192\nconfig 0 1x4 1x4 1x4 1x4 1x4 1x4 1x4 1x4\nldtilecfg 0\n"
        "tileloadd tmm1, [a], 64\ntdpbssd tmm0, tmm1, tmm2\ntilerelease\n",
        "test");
    const ProgramMemory memory(program);
    EXPECT_EQ(measure(Assembler(program, memory.configs()).code(), 3).size(), 3U);
}

}  // namespace
}  // namespace tilesim::validation::amx
