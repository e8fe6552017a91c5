#include "arch/npu/program_verifier.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace tilesim::arch::npu {
namespace {

constexpr TileCoordinate kCore{0, 2};

Program good() {
    Program program;
    program.buffers = {{"first", kCore, 1024, 256}, {"second", kCore, 2048, 256}};
    program.locks = {{"lock", kCore, 3, 1}};
    BufferDescriptor descriptor;
    descriptor.length = 64;
    program.dmas = {{kCore, {descriptor}, {{Direction::S2MM, 0, {0, 1, false}}}}};
    return program;
}

std::string first_problem(const std::function<void(Program&)>& spoil) {
    Program program = good();
    spoil(program);
    const auto problems = verify(program, NpuConfig{});
    return problems.empty() ? "" : problems[0];
}

TEST(ProgramVerifier, AcceptsASoundProgram) {
    EXPECT_EQ(first_problem([](Program&) {}), "");
}

TEST(ProgramVerifier, NamesEachBrokenRule) {
    EXPECT_EQ(first_problem([](Program& p) { p.buffers[1].address = 1100; }),
              "buffers first and second of tile 0,2 overlap");
    EXPECT_EQ(first_problem([](Program& p) { p.buffers[1].address = 65500; }),
              "buffer second: bytes 65500..65756 lie outside the 65536 B of tile 0,2");
    EXPECT_EQ(first_problem([](Program& p) { p.locks[0].id = 16; }),
              "lock lock: tile 0,2 has locks 0..15, not 16");
    EXPECT_EQ(first_problem([](Program& p) { p.locks[0].initial = 64; }),
              "lock lock: starts at 64, must be 0..63");
    EXPECT_EQ(first_problem([](Program& p) { p.dmas[0].descriptors[0].length = 65; }),
              "tile 0,2 descriptor 0: reaches byte 260 of a buffer of 256");
    EXPECT_EQ(first_problem([](Program& p) {
                  p.dmas[0].descriptors[0].dimensions = {{300, 1}, {1, 1}};
                  p.dmas[0].descriptors[0].length = 300;
                  p.buffers[0].bytes = 1024;
                  p.buffers[0].address = 4096;
                  p.buffers[0].bytes = 2048;
              }),
              "tile 0,2 descriptor 0: wrap 300 of dimension 0 does not fit 8 bits");
    EXPECT_EQ(first_problem([](Program& p) {
                  p.dmas[0].descriptors[0].padding = {{1, 1}};
              }),
              "tile 0,2 descriptor 0: this tile cannot pad");
    EXPECT_EQ(first_problem([](Program& p) { p.dmas[0].descriptors[0].next = 7; }),
              "tile 0,2 s2mm0: its chain leads to descriptor 7, which does not exist");
    EXPECT_EQ(first_problem([](Program& p) { p.dmas[0].starts[0].channel = 2; }),
              "tile 0,2 s2mm2: no such channel; it has 0..1");
    EXPECT_EQ(first_problem([](Program& p) { p.dmas[0].starts[0].task.repeat = 257; }),
              "tile 0,2 s2mm0: repeat 257 is not 1..256");
    EXPECT_EQ(first_problem([](Program& p) {
                  p.dmas[0].tile = {1, 2};
              }),
              "tile 1,2 s2mm0: does not reach the memory of tile 0,2 (descriptor 0)");
}

}  // namespace
}  // namespace tilesim::arch::npu
