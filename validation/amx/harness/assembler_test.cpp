#include "validation/amx/harness/assembler.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "arch/amx/program/program_text.hpp"
#include "arch/base/config.hpp"
#include "arch/base/shell_testing.hpp"
#include "arch/base/temporary_folder_testing.hpp"
#include "sim/scenario.hpp"
#include "sim/session/session.hpp"
#include "validation/amx/harness/counted_expands.hpp"
#include "validation/amx/harness/machine.hpp"
#include "workloads/amx/tiles/kernel_text.hpp"

namespace tilesim::validation::amx::harness {
namespace {

using arch::amx::program::Opcode;

constexpr std::int64_t kConfigs = 0x200000;
constexpr Placement kPlacement{kConfigs - 64, 0x1FF000, 4};
constexpr std::size_t kPrologue = 10;  // pushes of the registers a callee keeps
constexpr std::size_t kMove = 7;       // a register set to a 32-bit constant

// The code of `instruction`, behind the prologue and `moves` constants.
std::vector<std::uint8_t> code_of(const std::string& instruction, std::size_t moves = 0) {
    const std::string text =
        "buffer a 0x100000 65536\nconfig 0 1x4 1x4 1x4 1x4 1x4 1x4 1x4 1x4\n" + instruction + "\n";
    const arch::amx::program::Program program = arch::amx::program::read_program(text, "test");
    const std::vector<std::uint8_t> code = Assembler(program, kPlacement).code();
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

TEST(Assembler, EncodesWideningAndShifts) {
    EXPECT_EQ(code_of("vpmovzxwd zmm9, zmm18"), (Bytes{0x62, 0x32, 0x7D, 0x48, 0x33, 0xCA}));
    EXPECT_EQ(code_of("vpslld zmm9, zmm18, 16"), (Bytes{0x62, 0xB1, 0x35, 0x48, 0x72, 0xF2, 16}));
}

// Behind the constant that becomes the mask: mov rax, 2^elements - 1; kmovq k2, rax.
Bytes masked_code_of(const std::string& instruction, std::uint8_t bits) {
    Bytes code = code_of(instruction);
    const Bytes start{0x48, 0xC7, 0xC0, bits, 0, 0, 0, 0xC4, 0xE1, 0xFB, 0x92, 0xD0};
    EXPECT_TRUE(std::equal(start.begin(), start.end(), code.begin())) << instruction;
    code.erase(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(start.size()));
    return code;
}

TEST(Assembler, MasksPartialVectors) {
    EXPECT_EQ(masked_code_of("vmovups zmm1, [a], 20", 0x1F),
              (Bytes{0x62, 0xF1, 0x7C, 0xCA, 0x10, 0x0C, 0x25, 0, 0, 0x10, 0}));
    EXPECT_EQ(masked_code_of("vmovups [a], zmm17, 28", 0x7F),
              (Bytes{0x62, 0xE1, 0x7C, 0x4A, 0x11, 0x0C, 0x25, 0, 0, 0x10, 0}));
    EXPECT_EQ(masked_code_of("vmovups [a], zmm3, 14", 0x7F),  // vmovdqu16
              (Bytes{0x62, 0xF1, 0xFF, 0x4A, 0x7F, 0x1C, 0x25, 0, 0, 0x10, 0}));
    EXPECT_EQ(masked_code_of("vmovups zmm3, [a], 6", 0x07),
              (Bytes{0x62, 0xF1, 0xFF, 0xCA, 0x6F, 0x1C, 0x25, 0, 0, 0x10, 0}));
    EXPECT_EQ(masked_code_of("vmovups zmm3, [a], 5", 0x1F),  // vmovdqu8
              (Bytes{0x62, 0xF1, 0x7F, 0xCA, 0x6F, 0x1C, 0x25, 0, 0, 0x10, 0}));
    EXPECT_EQ(masked_code_of("vmovups [a], zmm3, 5", 0x1F),
              (Bytes{0x62, 0xF1, 0x7F, 0x4A, 0x7F, 0x1C, 0x25, 0, 0, 0x10, 0}));
    EXPECT_EQ(masked_code_of("vpmovsdb [a], zmm4, 5", 0x1F),
              (Bytes{0x62, 0xF2, 0x7E, 0x4A, 0x21, 0x24, 0x25, 0, 0, 0x10, 0}));
    // 63 bytes of 64: a constant that needs all 64 bits.
    const Bytes code = code_of("vmovups zmm3, [a], 63");
    EXPECT_EQ(Bytes(code.begin(), code.begin() + 10),
              (Bytes{0x48, 0xB8, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F}));
}

TEST(Assembler, ExpandsThroughMasks) {
    EXPECT_EQ(code_of("kmovq k1, [a]"), (Bytes{0xC4, 0xE1, 0xF8, 0x90, 0x0C, 0x25, 0, 0, 0x10, 0}));
    EXPECT_EQ(code_of("vpexpandb zmm1, [a]"),
              (Bytes{0x62, 0xF2, 0x7D, 0xC9, 0x62, 0x0C, 0x25, 0, 0, 0x10, 0}));
    // Outside a loop the table, behind one configuration and four shuffles, says where it lies:
    // mov rax, [0x200140 + 8]; vpexpandb zmm1{k1}{z}, [rax].
    EXPECT_EQ(code_of("table lines 0x100000 5 7\nvpexpandb zmm1, [lines[1]]"),
              (Bytes{0x48, 0x8B, 0x04, 0x25, 0x48, 0x01, 0x20, 0,  //
                     0x62, 0xF2, 0x7D, 0xC9, 0x62, 0x8C, 0x20, 0, 0, 0, 0}));
}

TEST(Assembler, FollowsATableByCountingBits) {
    const Bytes code = code_of(
        "table lines 0x100000 5 7 9\nloop i 3\nkmovq k1, [a + 64]\nvpexpandb zmm1, [lines[i]]\n"
        "scalar\nscalar\nend");
    EXPECT_EQ(code, (Bytes{0x48, 0x8B, 0x04, 0x25, 0x40, 0x01, 0x20, 0,              // mov rax, [.]
                           0x48, 0xC7, 0xC1, 3,    0,    0,    0,                    // mov rcx, 3
                           0xC4, 0xE1, 0xF8, 0x90, 0x0C, 0x25, 0x40, 0, 0x10, 0,     // kmovq
                           0x62, 0xF2, 0x7D, 0xC9, 0x62, 0x8C, 0x20, 0, 0,    0, 0,  // vpexpandb
                           0xF3, 0x48, 0x0F, 0xB8, 0x14, 0x25, 0x40, 0, 0x10, 0,     // popcnt rdx
                           0x48, 0x01, 0xD0,                                         // add rax, rdx
                           0x48, 0x81, 0xC1, 0xFF, 0xFF, 0xFF, 0xFF,                 // add rcx, -1
                           0x0F, 0x85, 0xD1, 0xFF, 0xFF, 0xFF}));                    // jnz
    const arch::amx::program::Program program = arch::amx::program::read_program(
        "buffer a 0x100000 64\ntable lines 0x200000 0 64 3\nloop i 3\n"
        "kmovq k1, [a + 8*i]\nvpexpandb zmm1, [lines[i]]\nend\n",
        "test");
    const std::map<std::int64_t, std::uint64_t> masks = line_masks(program);
    ASSERT_EQ(masks.size(), 3U);
    EXPECT_EQ(masks.at(0x100000), 0U);
    EXPECT_EQ(masks.at(0x100008), UINT64_MAX);
    EXPECT_EQ(std::popcount(masks.at(0x100010)), 3);
}

TEST(Assembler, ShufflesBytesThroughIndices) {
    // vmovups zmm31, [indices]; vmovdqa64 zmm4, zmm17; vpermt2b zmm4, zmm31, zmm1.
    EXPECT_EQ(code_of("vpermt2b zmm4, zmm17, zmm1, 0"),
              (Bytes{0x62, 0x61, 0x7C, 0x48, 0x10, 0x3C, 0x25, 0x40, 0, 0x20, 0,  //
                     0x62, 0xB1, 0xFD, 0x48, 0x6F, 0xE1,                          //
                     0x62, 0xF2, 0x05, 0x40, 0x7D, 0xE1}));
    EXPECT_EQ(code_of("vpermt2w zmm18, zmm18, zmm5, 1"),
              (Bytes{0x62, 0x61, 0x7C, 0x48, 0x10, 0x3C, 0x25, 0, 0x01, 0x20, 0,  //
                     0x62, 0xE2, 0x85, 0x40, 0x7D, 0xD5}));
    const ConstantPool constants{arch::amx::program::Program{}};
    const auto byte_at = [&](Opcode opcode, std::int64_t half, std::size_t i) {
        const auto start = static_cast<std::size_t>(constants.shuffle(opcode, half));
        return std::to_integer<int>(constants.image().at(start + i));
    };
    EXPECT_EQ(byte_at(Opcode::Vpermt2b, 0, 2), 1);
    EXPECT_EQ(byte_at(Opcode::Vpermt2b, 0, 3), 65);
    EXPECT_EQ(byte_at(Opcode::Vpermt2b, 1, 62), 63);
    EXPECT_EQ(byte_at(Opcode::Vpermt2b, 1, 63), 127);
    EXPECT_EQ(byte_at(Opcode::Vpermt2w, 0, 2), 32);  // 16-bit indices
    EXPECT_EQ(byte_at(Opcode::Vpermt2w, 1, 0), 16);
    EXPECT_EQ(byte_at(Opcode::Vpermt2w, 1, 62), 63);
}

TEST(Assembler, CountsArrivalsAtABarrier) {
    EXPECT_EQ(code_of("barrier"),
              (Bytes{0x48, 0x81, 0x04, 0x25, 0xC0, 0xFF, 0x1F, 0,    4, 0, 0, 0,  // add [own], 4
                     0x48, 0x8B, 0x04, 0x25, 0xC0, 0xFF, 0x1F, 0,                 // mov rax, [own]
                     0xF0, 0x48, 0xFF, 0x04, 0x25, 0,    0xF0, 0x1F, 0,           // lock inc [all]
                     0x48, 0x3B, 0x04, 0x25, 0,    0xF0, 0x1F, 0,                 // cmp rax, [all]
                     0x0F, 0x8F, 0xF2, 0xFF, 0xFF, 0xFF}));                       // jg
}

TEST(Assembler, SaysWhatItCannotEncode) {
    for (const char* text :
         {"vmovups zmm1, [a], 0", "vpmovsdb [a], zmm1, 17", "vpermt2b zmm1, zmm2, zmm1, 0"}) {
        EXPECT_THROW(code_of(text), arch::base::config::ConfigError) << text;
    }
}

// Each thread's program.
void expect_code(const std::string& text, const std::string& name) {
    for (const arch::amx::program::Program& program :
         workloads::amx::tiles::read_kernel(text, name, 3)) {
        EXPECT_GT(Assembler(program, kPlacement).code().size(), 2 * kPrologue) << name;
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
        expect_code(stream.str(), entry.path().filename());
        ++kernels;
    }
    EXPECT_GT(kernels, 97U);
}

TEST(Assembler, EncodesEveryLoweredScenario) {
    const std::filesystem::path folder =
        std::filesystem::path(TILESIM_SOURCE_DIR) / "configs" / "scenarios";
    std::size_t scenarios = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename();
        if (name.starts_with("amx_")) {
            expect_code(sim::session::Session().lowered_text(sim::load_scenario(entry.path(), {})),
                        name);
            ++scenarios;
        }
    }
    EXPECT_GT(scenarios, 20U);
}

// The products that need most registers: run-time re-layout of B within every kind of blocking.
TEST(Assembler, EncodesRelayoutsInEveryBlocking) {
    const std::filesystem::path folder =
        std::filesystem::path(TILESIM_SOURCE_DIR) / "configs" / "scenarios";
    using Overrides = std::vector<std::pair<std::string, std::string>>;
    const std::vector<Overrides> settings{
        {{"mapping.amx.outer", "m"}, {"mapping.amx.mc", "64"}},
        {{"mapping.amx.m_acc", "1"}, {"mapping.amx.n_acc", "4"}, {"mapping.amx.repeat", "2"}},
        {{"mapping.amx.threads", "3"}, {"mapping.amx.partition", "n"}},
        {{"workload.gemm.c", "int8"}, {"workload.gemm.N", "250"}}};
    for (const char* file : {"amx_gemm_sparse.yaml", "amx_gemm_b_as_stored.yaml"}) {
        for (const Overrides& each : settings) {
            expect_code(
                sim::session::Session().lowered_text(sim::load_scenario(folder / file, each)),
                each[0].first);
        }
    }
}

TEST(Measure, RunsLoopsOnTheHost) {
    const arch::amx::program::Program program = arch::amx::program::read_program(
        "buffer a 0x10000000 8192\n"
        "loop i 1000\n  loop k 7\n    prefetcht0 [a + 64*k + 512*i]\n    scalar\n  end\nend\n",
        "test");
    const ProgramMemory memory({program});
    const Assembler assembler(program, memory.placement(0));
    const std::vector<Sample> samples = measure({assembler.code()}, {0}, 5);
    ASSERT_EQ(samples.size(), 5U);
    for (const Sample& sample : samples) {
        EXPECT_GT(sample.tsc, 1000);  // seven thousand iterations take a while
    }
}

// More loops and patterns than registers: outer loops count in memory.
TEST(Measure, RunsDeepLoopsOnTheHost) {
    std::string text = "buffer a 0x10000000 65536\n";
    for (int depth = 0; depth < 9; ++depth) {
        text += "loop i" + std::to_string(depth) + " 3\n";
    }
    for (int stride = 1; stride <= 8; ++stride) {
        text += "prefetcht0 [a + " + std::to_string(stride) + "*i0]\n";
    }
    for (int depth = 0; depth < 9; ++depth) {
        text += "end\n";
    }
    const arch::amx::program::Program program = arch::amx::program::read_program(text, "test");
    const ProgramMemory memory({program});
    const Assembler assembler(program, memory.placement(0));
    for (const Sample& sample : measure({assembler.code()}, {0}, 2)) {
        EXPECT_GT(sample.tsc, 19'683);  // 3^9 iterations, of eight prefetches each
    }
}

TEST(Measure, ThreadsMeetAtEveryBarrier) {
    const std::vector<arch::amx::program::Program> programs = workloads::amx::tiles::read_kernel(
        "# thread 0\nbuffer a 0x10000000 8192\nloop i 50\n  barrier\nend\n"
        "# thread 1\nloop i 50\n  loop k 1000\n    scalar\n  end\n  barrier\nend\n",
        "test", 1);
    const ProgramMemory memory(programs);
    std::vector<Code> codes;
    for (std::size_t i = 0; i < programs.size(); ++i) {
        EXPECT_EQ(memory.placement(i).parties, 2);
        codes.push_back(Assembler(programs[i], memory.placement(i)).code());
    }
    // On one processor, too, though they then wait for the scheduler.
    const std::vector<Sample> samples =
        measure(codes, {0, std::thread::hardware_concurrency() > 1 ? 1 : 0}, 3);
    ASSERT_EQ(samples.size(), 3U);
    for (const Sample& sample : samples) {
        EXPECT_GT(sample.tsc, 10'000);  // the second thread's fifty thousand iterations
    }
    EXPECT_THROW(measure(codes, {0}, 1), arch::base::config::ConfigError);
    EXPECT_THROW(measure(codes, {0, 1'000'000}, 1), arch::base::config::ConfigError);
}

TEST(Measure, TilesAreUsableOrThereIsAReason) {
    const std::string reason = why_no_tiles();
    if (!reason.empty()) {
        EXPECT_THAT(reason, testing::AnyOf(testing::HasSubstr("AMX"), testing::HasSubstr("tiles"),
                                           testing::HasSubstr("x86-64")));
        return;
    }
    const arch::amx::program::Program program = arch::amx::program::read_program(
        "buffer a 0x10000000 8192\nconfig 0 1x4 1x4 1x4 1x4 1x4 1x4 1x4 1x4\nldtilecfg 0\n"
        "tileloadd tmm1, [a], 64\ntdpbssd tmm0, tmm1, tmm2\ntilerelease\n",
        "test");
    const ProgramMemory memory({program});
    EXPECT_EQ(measure({Assembler(program, memory.placement(0)).code()}, {0}, 3).size(), 3U);
}

// The program as a user calls it: what is wrong is said before anything is measured.
TEST(Measure, RefusesFilesThatAreNoKernelsBeforeItMeasures) {
    const arch::base::TemporaryFolder folder;
    const std::string path = folder.path();
    std::ofstream(path + "/good.amx") << "buffer a 0x100000 64\nvmovups zmm0, [a]\n";
    std::ofstream(path + "/bad.amx") << "buffer a 0x100000 64\nvmovups zmm0, [b]\n";
    std::ofstream(path + "/empty.amx") << "buffer a 0x100000 64\n";
    const auto call = [&path](const std::string& arguments) {
        return arch::base::shell("cd " + path + " && " + TILESIM_BINARY_DIR +
                                 "/tilesim_amx_measure " + arguments + " 2>&1");
    };
    const auto wrong = call("good.amx bad.amx empty.amx nowhere.amx");
    EXPECT_EQ(wrong.code, 2);
    EXPECT_EQ(wrong.text,
              "bad.amx:2:16: 'b' is neither a buffer nor a loop around this line\n"
              "empty.amx: holds no instruction\n"
              "nowhere.amx: there is no such file\n");
    const auto nothing = call("");
    EXPECT_EQ(nothing.code, 2);
    EXPECT_THAT(nothing.text,
                testing::StartsWith("no kernel is named: tilesim_amx_measure [--cpu"));
    const auto help = call("--help");
    EXPECT_EQ(help.code, 0);
    EXPECT_THAT(help.text, testing::StartsWith("Usage: tilesim_amx_measure [--cpu"));
    // Nothing measured is not success, on a machine without AVX-512 neither.
    EXPECT_EQ(call("--cpu 8191 good.amx").code, 77);
    EXPECT_EQ(call("good.amx --cpu 8191").code, 77);
    // Two threads on one processor would wait for each other by the scheduler's turns.
    const auto twice = call("--cpu 1,0,1 good.amx");
    EXPECT_EQ(twice.code, 2);
    EXPECT_THAT(twice.text, testing::StartsWith("--cpu 1,0,1: 1 stands twice"));
    // What faults would end the program, and rows with it.
    std::ofstream(path + "/fault.amx") << "# tiles without shapes\ntilezero tmm0\n";
    const auto faults = call("good.amx fault.amx");
    EXPECT_EQ(faults.code, 2);
    EXPECT_EQ(faults.text,
              "fault.amx:2:1: #UD tiles are not configured: no LDTILECFG has given them shapes\n");
    // Rows are told by the file's name.
    std::filesystem::create_directory(path + "/other");
    std::filesystem::copy(path + "/good.amx", path + "/other/good.amx");
    EXPECT_THAT(call("good.amx other/good.amx").text,
                testing::HasSubstr("other/good.amx: has the name of good.amx"));
}

TEST(Measure, WhatAMachineLacksForAProgramIsNamed) {
    const auto reason = [](const std::string& text) {
        return why_not_here(arch::amx::program::read_program("buffer a 0x1000 64\n" + text, "t"));
    };
    EXPECT_EQ(reason("prefetcht0 [a]\nscalar\nvmovups zmm0, [a]\n"), "");
    EXPECT_EQ(reason("tilerelease\n").empty(), why_no_tiles().empty());
    EXPECT_THAT(reason("vcvtneps2bf16 zmm0, zmm1\n"),
                testing::AnyOf("", "vcvtneps2bf16: the processor has no AVX-512 BF16"));
}

}  // namespace
}  // namespace tilesim::validation::amx::harness
