#include "arch/amx/socket/in_step.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "arch/amx/program/program_text.hpp"

namespace tilesim::arch::amx::socket {
namespace {

using program::Program;

constexpr std::int64_t kShared = 0x100000;
constexpr std::int64_t kFirstOwn = 0x200000;
constexpr std::int64_t kApart = 0x30000;  // from a core's data to the next one's

// Core `i` reads what all share and 512 bytes of its own.
Program reads(std::int64_t i, std::int64_t count = 8, const std::string& more = "") {
    return program::read_program(
        fmt::format("buffer x {:#x} 4096\nbuffer own {:#x} 512\nloop k {}\nvmovups zmm0, [x]\n"
                    "vmovups zmm1, [own + 64*k]\nend\n{}",
                    kShared, kFirstOwn + i * kApart, count, more),
        "test");
}

std::vector<Program> alike(std::int64_t count) {
    std::vector<Program> programs;
    for (std::int64_t i = 0; i < count; ++i) {
        programs.push_back(reads(i));
    }
    return programs;
}

std::vector<std::size_t> cores_of(const std::vector<Member>& members) {
    std::vector<std::size_t> cores;
    for (const Member& member : members) {
        cores.push_back(member.core);
    }
    return cores;
}

TEST(InStep, BuffersMoveAsWholesAndWhatIsSharedStays) {
    const auto moved = displacement(reads(0), reads(3));
    ASSERT_TRUE(moved.has_value());
    const caches::Line own = caches::line_at(kFirstOwn);
    const caches::Line by = caches::line_at(3 * kApart);
    EXPECT_EQ(moved->of(own), own + by);
    EXPECT_EQ(moved->of(own + 7), own + 7 + by);  // the buffer's last line
    EXPECT_EQ(moved->of(own + 8), own + 8);
    EXPECT_EQ(moved->of(own - 1), own - 1);
    EXPECT_EQ(moved->back(own + by), own);
    EXPECT_EQ(moved->back(own), own);
    EXPECT_EQ(moved->back(own + by + 7), own + 7);
    EXPECT_EQ(moved->back(own + by + 8), own + by + 8);
    EXPECT_EQ(moved->of(caches::line_at(kShared)), caches::line_at(kShared));
}

TEST(InStep, WhatOnlyLiesInTheCachesMovesToo) {
    const auto warmed = [](std::int64_t i) {
        return program::read_program(
            fmt::format("buffer w {:#x} 512\nbuffer x {:#x} 4096\ntouch w l2\ntouch x l3\n"
                        "vmovups zmm0, [x]\n",
                        kFirstOwn + i * kApart, kShared),
            "test");
    };
    const auto moved = displacement(warmed(0), warmed(3));
    ASSERT_TRUE(moved.has_value());
    const caches::Line own = caches::line_at(kFirstOwn);
    EXPECT_EQ(moved->of(own + 7), own + 7 + caches::line_at(3 * kApart));
    EXPECT_EQ(moved->of(own + 8), own + 8);
    EXPECT_EQ(moved->of(caches::line_at(kShared)), caches::line_at(kShared));
}

TEST(InStep, ProgramsThatDifferInMoreThanPlacesAreNotAlike) {
    EXPECT_FALSE(displacement(reads(0), reads(1, 7)).has_value());              // a loop's count
    EXPECT_FALSE(displacement(reads(0), reads(1, 8, "scalar\n")).has_value());  // an instruction
    EXPECT_FALSE(displacement(reads(0, 8, "vaddps zmm1, zmm2, zmm3\n"),         // an operand
                              reads(1, 8, "vaddps zmm1, zmm2, zmm4\n"))
                     .has_value());
    Program twice = reads(1);
    twice.runs = 2;
    EXPECT_FALSE(displacement(reads(0), twice).has_value());
    // One buffer moved in two ways.
    EXPECT_FALSE(displacement(reads(0, 8, "vmovups zmm0, [own]\n"),
                              reads(1, 8, "vmovups zmm0, [own + 64]\n"))
                     .has_value());
    // Half a line further.
    EXPECT_FALSE(displacement(program::read_program("buffer b 0x1000 64\nvmovups zmm0, [b]\n", "a"),
                              program::read_program("buffer b 0x1020 64\nvmovups zmm0, [b]\n", "b"))
                     .has_value());
    // Not in any buffer: nobody knows how far it reaches.
    EXPECT_FALSE(displacement(program::read_program("vmovups zmm0, [0x1000]\n", "a"),
                              program::read_program("vmovups zmm0, [0x2000]\n", "b"))
                     .has_value());
}

// Programs of one load each way, or of what `head` says.
bool alike_but_for(const std::string& one, const std::string& other) {
    const auto program = [](const std::string& text, const char* name) {
        return program::read_program("buffer b 0x1000 8192\n" + text, name);
    };
    return displacement(program(one, "a"), program(other, "b")).has_value();
}

TEST(InStep, ProgramsWhoseAddressesGoOnOtherwiseAreNotAlike) {
    const auto loops = [](const char* term) {
        return std::string{"loop i 4\nloop k 4\nvmovups zmm0, [b + "} + term + "]\nend\nend\n";
    };
    EXPECT_TRUE(alike_but_for(loops("64*k"), loops("64*k")));
    EXPECT_FALSE(alike_but_for(loops("64*k"), loops("128*k")));
    EXPECT_FALSE(alike_but_for(loops("64*k"), loops("64*i")));
    EXPECT_FALSE(alike_but_for(loops("64*k"), loops("64*k + 64*i")));
}

TEST(InStep, ProgramsOfOtherTilesOrWithTablesAreNotAlike) {
    const auto tiles = [](const char* shape) {
        return std::string{"config 0 "} + shape +
               " 16x64 16x64 16x64 16x64 16x64 16x64 16x64\nldtilecfg 0\n";
    };
    EXPECT_TRUE(alike_but_for(tiles("16x64"), tiles("16x64")));
    EXPECT_FALSE(alike_but_for(tiles("16x64"), tiles("8x64")));
    EXPECT_FALSE(alike_but_for(tiles("16x64"), tiles("16x32")));
    const std::string table = "shuffle order 0x1000 4 64\n";
    EXPECT_FALSE(alike_but_for(table, ""));
    EXPECT_FALSE(alike_but_for("", table));
}

TEST(InStep, TheLargestBufferOfAnAddressMovesAsAWhole) {
    const auto at = [](const char* base) {
        return program::read_program(
            fmt::format("buffer part {0} 64\nbuffer whole {0} 4096\nvmovups zmm0, [part]\n", base),
            "test");
    };
    const auto moved = displacement(at("0x10000"), at("0x30000"));
    ASSERT_TRUE(moved.has_value());
    EXPECT_EQ(moved->of(caches::line_at(0x10000 + 4032)), caches::line_at(0x30000 + 4032));
    // Also where it is named first.
    const auto behind = [](std::int64_t base) {
        return program::read_program(fmt::format("buffer whole {0:#x} 4096\nbuffer part {0:#x} 64\n"
                                                 "vmovups zmm0, [part]\n",
                                                 base),
                                     "test");
    };
    const auto first = displacement(behind(0x10000), behind(0x30000));
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->of(caches::line_at(0x10000 + 4032)), caches::line_at(0x30000 + 4032));
    // Behind its end there is none.
    EXPECT_FALSE(displacement(program::read_program("buffer b 0x1000 64\nprefetcht0 [b+64]\n", "a"),
                              program::read_program("buffer b 0x2000 64\nprefetcht0 [b+64]\n", "b"))
                     .has_value());
}

TEST(InStep, ABufferMayBeReadInSeveralPlacesAndBeginWithinALine) {
    const auto at = [](const char* base) {
        return program::read_program(
            fmt::format("buffer b {} 512\nvmovups zmm0, [b]\nvmovups zmm1, [b + 64]\n", base),
            "test");
    };
    const auto moved = displacement(at("0x10010"), at("0x20010"));
    ASSERT_TRUE(moved.has_value());
    EXPECT_EQ(moved->of(caches::line_at(0x10010)), caches::line_at(0x20010));
}

TEST(InStep, EveryCoreIsSimulatedUpToSoManyAndWhereNoNumberIsGiven) {
    for (const std::int64_t most : {0, 6, 7}) {
        EXPECT_EQ(cores_of(members_of(alike(6), most)),
                  (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
    }
}

// Each core executes eight times two loads and the loop's counter.
TEST(InStep, EveryCoreIsSimulatedWhereAllTogetherExecuteFew) {
    const std::vector<std::size_t> every{0, 1, 2, 3, 4, 5, 6};
    EXPECT_EQ(cores_of(members_of(alike(7), 3, 7 * 8 * 3)), every);
    EXPECT_NE(cores_of(members_of(alike(7), 3, 7 * 8 * 3 - 1)), every);
    std::vector<Program> twice = alike(7);
    for (Program& program : twice) {
        program.runs = 2;
    }
    EXPECT_EQ(cores_of(members_of(twice, 3, 2 * 7 * 8 * 3)), every);
    EXPECT_NE(cores_of(members_of(twice, 3, 2 * 7 * 8 * 3 - 1)), every);
}

TEST(InStep, EachSimulatedCoreStandsForNeighbours) {
    const std::vector<Member> members = members_of(alike(7), 3);
    EXPECT_EQ(cores_of(members), (std::vector<std::size_t>{0, 0, 0, 1, 1, 2, 2}));
    EXPECT_TRUE(members[3].simulated);
    EXPECT_FALSE(members[4].simulated);
    const caches::Line own = caches::line_at(kFirstOwn + 3 * kApart);
    EXPECT_EQ(members[4].displacement.of(own), own + caches::line_at(kApart));
}

TEST(InStep, ACoreWithAProgramOfItsOwnIsSimulated) {
    std::vector<Program> programs = alike(6);
    programs[2] = reads(2, 5);
    programs[4] = Program{};  // nothing to do, like nobody
    EXPECT_EQ(cores_of(members_of(programs, 2)), (std::vector<std::size_t>{0, 0, 1, 0, 2, 0}));
}

class Noter final : public core::InstructionObserver {
  public:
    void on_instruction(const program::DynamicInstruction& instruction) override {
        addresses.push_back(instruction.address);
    }
    std::vector<std::int64_t> addresses;
};

TEST(InStep, ObserversOfAllSeeTheirOwnAddressesRunAfterRun) {
    const Program own = program::read_program(
        "buffer b 0x1000 128\nvmovups zmm0, [b]\nbarrier\nvmovups zmm0, [b + 64]\n", "a");
    const Program other = program::read_program(
        "buffer b 0x5000 128\nvmovups zmm0, [b]\nbarrier\nvmovups zmm0, [b + 64]\n", "b");
    Noter mine;
    Noter theirs;
    InStepObserver observer(mine);
    observer.add(other, theirs);
    for (int run = 0; run < 2; ++run) {
        for (program::InstructionStream stream(own); !stream.finished(); stream.advance()) {
            if (stream.current().instruction->opcode != program::Opcode::Barrier) {
                observer.on_instruction(stream.current());
            }
        }
    }
    EXPECT_EQ(mine.addresses, (std::vector<std::int64_t>{0x1000, 0x1040, 0x1000, 0x1040}));
    EXPECT_EQ(theirs.addresses, (std::vector<std::int64_t>{0x5000, 0x5040, 0x5000, 0x5040}));
}

}  // namespace
}  // namespace tilesim::arch::amx::socket
