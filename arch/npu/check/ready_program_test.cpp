// What a program goes through before it runs.
#include "arch/npu/check/ready_program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/base/config.hpp"

namespace tilesim::arch::npu::check {
namespace {

using enum program::Bundle;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr program::TileCoordinate kFrom{0, 2};
constexpr program::TileCoordinate kTo{0, 3};
constexpr std::int64_t kBufferWords = 300;

NpuConfig small_device() {
    NpuConfig config;
    config.stream.sink_fifo = 5;
    config.stream.hop_latency = base::Cycles{3};
    config.memory_dma.channels = 6;
    config.memory_dma.descriptors = 48;
    return config;
}

program::TileDma channel(program::TileCoordinate tile, program::Direction direction,
                         std::int64_t buffer, std::int64_t words) {
    program::BufferDescriptor descriptor;
    descriptor.buffer = buffer;
    descriptor.length = words;
    return {tile, {descriptor}, {{direction, 0, {0, 1, false}}}};
}

// One core's DMA sends `sent` words, the next takes `taken`.
program::Program transfer(std::int64_t sent, std::int64_t taken) {
    program::Program program;
    program.buffers = {{"out", kFrom, program::kUnplaced, 4 * sent},
                       {"in", kTo, program::kUnplaced, 4 * taken}};
    program.dmas = {channel(kFrom, program::Direction::MM2S, 0, sent),
                    channel(kTo, program::Direction::S2MM, 1, taken)};
    program.routes = {{"way",
                       {kFrom, program::Direction::MM2S, 0},
                       {{kTo, program::Direction::S2MM, 0}},
                       std::nullopt,
                       false,
                       {}}};
    return program;
}

std::string refusal(const program::Program& program) {
    try {
        prepare(program, small_device());
    } catch (const base::config::ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(ReadyProgram, HasItsBuffersPlacedAndItsRoutesPaths) {
    const ReadyProgram ready = prepare(transfer(kBufferWords, kBufferWords), small_device());
    EXPECT_EQ(ready.program().buffers[0].address, NpuConfig{}.core.stack.count());
    EXPECT_EQ(ready.program().buffers[1].address, NpuConfig{}.core.stack.count());
    EXPECT_EQ(ready.program().routes[0].path.size(), 2u);  // one switch a tile
    EXPECT_THAT(ready.findings(), IsEmpty());
}

TEST(ReadyProgram, HasNothingLeftToPrepare) {
    program::Program program = transfer(kBufferWords, kBufferWords);
    program.then = {program};
    program.then[0].name = "second";
    EXPECT_THAT(left_to_prepare(program), HasSubstr("has no address"));
    const program::Program ready = prepare(program, small_device()).program();
    EXPECT_EQ(left_to_prepare(ready), "");
    program = ready;
    program.then[0].routes[0].path.clear();
    EXPECT_EQ(left_to_prepare(program), "configuration second: route way has no path");
}

TEST(ReadyProgram, IsRefusedWithAllThatOneCheckFinds) {
    program::Program program = transfer(kBufferWords, kBufferWords);
    program.locks = {{"low", kFrom, 16, 0}, {"high", kTo, 0, 64}};
    EXPECT_EQ(refusal(program),
              "the program cannot run:\n  lock low: tile 0,2 has locks 0..15, not 16\n"
              "  lock high: starts at 64, must be 0..63");
}

TEST(ReadyProgram, IsRefusedWithThePlaceOfEachPartThatWasReadFromAFile) {
    program::Program program = transfer(kBufferWords, kBufferWords);
    program.file = "p.yaml";
    program.locks = {{"low", kFrom, 16, 0, {3, 5}}, {"high", kTo, 0, 64}};
    program.routes[0].where = {9, 1};
    program.routes[0].packet_id = 32;
    program.dmas[0].descriptors[0].where = {7, 2};
    program.dmas[0].descriptors[0].next = 99;
    program.dmas[0].starts[0].task.where = {8, 2};
    EXPECT_EQ(refusal(program),
              "the program cannot run:\n"
              "  p.yaml:3:5: lock low: tile 0,2 has locks 0..15, not 16\n"
              "  lock high: starts at 64, must be 0..63\n"
              "  p.yaml:7:2: tile 0,2 descriptor 0: next descriptor 99 is not 0..15\n"
              "  p.yaml:8:2: tile 0,2 mm2s0: its chain leads to descriptor 99, which does not "
              "exist\n"
              "  p.yaml:9:1: route way: packet id 32 is not 0..31");
}

TEST(ReadyProgram, SaysWhereTheReceiverIsStartedThatGetsTooMuch) {
    program::Program program = transfer(2 * kBufferWords, kBufferWords);
    program.file = "p.yaml";
    program.dmas[1].starts[0].task.where = {12, 3};
    EXPECT_THAT(refusal(program), HasSubstr("  p.yaml:12:3: tile 0,3 s2mm0 expects 300 words"));
}

TEST(ReadyProgram, NeedsRoomForItsBuffers) {
    program::Program program = transfer(kBufferWords, kBufferWords);
    program.buffers.push_back({"large", kFrom, program::kUnplaced, 65536});
    EXPECT_THAT(refusal(program), HasSubstr("buffer large: tile 0,2 has no 65536 bytes in a row"));
}

TEST(ReadyProgram, NeedsSoundPathsWhereTheyAreGiven) {
    program::Program program = transfer(kBufferWords, kBufferWords);
    program.routes[0].path = {{kFrom, {Dma, 0}, {North, 3}, {}}};
    EXPECT_THAT(refusal(program), HasSubstr("the program cannot run:\n  route way: "));
}

TEST(ReadyProgram, NeedsAWayForEveryStream) {
    // The circuit has the receiver's port to itself: there is no way left for packets.
    program::Program program = transfer(kBufferWords, kBufferWords);
    program.routes[0].path = {{kFrom, {Dma, 0}, {North, 0}, {}}, {kTo, {South, 0}, {Dma, 0}, {}}};
    program.routes.push_back(program.routes[0]);
    program.routes[1].name = "other";
    program.routes[1].packet_id = 7;
    program.routes[1].path.clear();
    program.routes[1].source.index = 1;
    EXPECT_THAT(refusal(program), HasSubstr("other"));
}

// Four wires lead south to a memory tile; words can reach it from another column through its shim.
TEST(ReadyProgram, KeepsToItsColumns) {
    program::Program program;
    program.buffers = {{"box", {0, 1}, program::kUnplaced, 4 * kBufferWords}};
    program.dmas = {{{0, 1}, {}, {}}};
    for (std::int64_t i = 0; i < 6; ++i) {
        const program::TileCoordinate core{0, 2 + i / 2};
        const auto receiver = program::Direction::S2MM;
        if (i % 2 == 0) {
            program.buffers.push_back(
                {fmt::format("out{}", i), core, program::kUnplaced, 4 * kBufferWords});
            program.dmas.push_back(
                channel(core, program::Direction::MM2S, 1 + i / 2, kBufferWords));
        } else {
            program.dmas.back().starts.push_back({program::Direction::MM2S, 1, {0, 1, false}});
        }
        program::BufferDescriptor descriptor;
        descriptor.id = i % 2 * 24 + i;
        descriptor.length = kBufferWords;
        program.dmas[0].descriptors.push_back(descriptor);
        program.dmas[0].starts.push_back({receiver, i, {descriptor.id, 1, false}});
        program.routes.push_back({fmt::format("way{}", i),
                                  {core, program::Direction::MM2S, i % 2},
                                  {{{0, 1}, receiver, i}},
                                  std::nullopt,
                                  false,
                                  {}});
    }
    EXPECT_EQ(refusal(program), "");
    program.columns = 1;
    EXPECT_THAT(refusal(program), HasSubstr("way"));
    program.routes.resize(1);
    program.dmas[0].starts.resize(1);
    program.dmas.push_back(channel({1, 2}, program::Direction::MM2S, 1, kBufferWords));
    EXPECT_THAT(refusal(program), HasSubstr("1,2: outside the array"));
}

TEST(ReadyProgram, MayNotSendMoreThanIsTakenAndTheStreamHolds) {
    // Two switches of 3 cycles and a FIFO of 5 words hold 11.
    const std::int64_t room = 2 * 3 + 5;
    EXPECT_EQ(refusal(transfer(kBufferWords + room + 1, kBufferWords)),
              "the program cannot run:\n  tile 0,3 s2mm0 expects 300 words, tile 0,2 mm2s0 sends "
              "312");
    EXPECT_THAT(prepare(transfer(kBufferWords + room, kBufferWords), small_device()).findings(),
                ElementsAre("tile 0,3 s2mm0 expects 300 words, tile 0,2 mm2s0 sends 311"));
}

// A tile has four neighbours, and the fifth packet takes a wire of its own as well.
TEST(ReadyProgram, SaysWhereItsRoutesNeedMoreRulesThanAPortHas) {
    constexpr program::TileCoordinate kEnds[] = {{0, 3}, {2, 3}, {1, 4}, {1, 2}, {0, 2}};
    program::Program program;
    std::int64_t id = 1;
    for (const program::TileCoordinate end : kEnds) {
        program.routes.push_back({"r" + std::to_string(id),
                                  {{1, 3}, program::Direction::MM2S, 0},
                                  {{end, program::Direction::S2MM, 0}},
                                  id,
                                  false,
                                  {}});
        ++id;
    }
    const char* problem = "as routed: tile 1,3 dma0: its 5 packet ids need 5 rules, a port has 4";
    EXPECT_THAT(prepare(program, small_device()).findings(), ElementsAre(problem));
    program.routes.pop_back();
    EXPECT_THAT(prepare(program, small_device()).findings(), IsEmpty());
}

TEST(ReadyProgram, NamesItsCertainDeadlocksAfterItsWarnings) {
    program::Program program = transfer(kBufferWords + 1, kBufferWords);
    program.locks = {{"never", kFrom, 0, 0}, {"given", kFrom, 1, 0}};
    program::LoopOp loop;
    loop.count = -1;
    loop.body = {{program::AcquireOp{{0, -1}}}, {program::ReleaseOp{{0, 1}}}};
    program.cores = {{kFrom, {}, {{loop}}}};
    const ReadyProgram ready = prepare(program, small_device());
    ASSERT_EQ(ready.analysis().deadlocks.size(), 1u);
    EXPECT_THAT(ready.findings(),
                ElementsAre(HasSubstr("expects 300 words"),
                            "certain deadlock: " + ready.analysis().deadlocks[0]));
}

}  // namespace
}  // namespace tilesim::arch::npu::check
