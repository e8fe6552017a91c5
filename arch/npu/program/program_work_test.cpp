#include "arch/npu/program/program_work.hpp"

#include <gtest/gtest.h>

namespace tilesim::arch::npu::program {
namespace {

constexpr TileCoordinate kCore{0, 2};
constexpr TileCoordinate kShim{0, 0};

// A core that calls a kernel five times in each of `tiles` passes of its loop, and one that clears.
Program program_with(std::int64_t tiles) {
    Program program;
    program.kernels.resize(2);
    program.kernels[1].kind = KernelKind::Zero;
    LoopOp calls;
    calls.count = 5;
    calls.body = {{CallOp{}}};
    LoopOp passes;
    passes.parameter = 3;
    passes.body = {{CallOp{1, {}, {}}}, {calls}, {AcquireOp{}}};
    CoreProgram core;
    core.tile = kCore;
    core.script = {{CallOp{}}, {passes}};
    program.cores = {core};
    program.sequence.emplace_back(WriteParameter{kCore, 3, tiles});
    return program;
}

void add_task(Program& program, std::int64_t length, std::int64_t repeat, Direction direction) {
    BufferDescriptor descriptor;
    descriptor.id = 1;
    descriptor.length = length;
    program.sequence.emplace_back(WriteDescriptor{kShim, descriptor});
    program.sequence.emplace_back(PushTask{{kShim, direction, 0}, {1, repeat}});
}

TEST(ProgramWork, CallsFollowTheLoopsAndTheirParameters) {
    EXPECT_EQ(work_of(program_with(7))->calls, 1 + 7 * 5);
}

TEST(ProgramWork, WordsWrittenAreThoseOfTheTasksTowardsMemory) {
    Program program = program_with(1);
    add_task(program, 11, 3, Direction::S2MM);
    add_task(program, 13, 2, Direction::S2MM);  // the descriptor is written anew
    add_task(program, 17, 1, Direction::MM2S);
    EXPECT_EQ(work_of(program)->words_written, 11 * 3 + 13 * 2);
    EXPECT_EQ(work_of(program)->write_runs, 3 + 2);
    program.sequence.emplace_back(PushTask{{kShim, Direction::S2MM, 1}, {1, 4}});
    EXPECT_EQ(work_of(program)->write_runs, 4);  // of this channel
}

// Word 0 of the first iteration to the last of the last one.
TEST(ProgramWork, TheSpanOfADescriptorReachesItsLastWord) {
    BufferDescriptor descriptor;
    descriptor.length = 11;
    EXPECT_EQ(span_of(descriptor), 11 * kWordBytes);
    descriptor.length = 3 * 5;
    descriptor.dimensions = {{3, 2}, {7, 17}};  // the length says 5 of the outer steps, not 7
    EXPECT_EQ(span_of(descriptor), (2 * 2 + 4 * 17 + 1) * kWordBytes);
    descriptor.length = 2;  // no whole inner step
    EXPECT_EQ(span_of(descriptor), (2 * 2 + 1) * kWordBytes);
    descriptor.length = 3 * 5;
    descriptor.iteration = Iteration{4, 101};
    EXPECT_EQ(span_of(descriptor), (2 * 2 + 4 * 17 + 3 * 101 + 1) * kWordBytes);
}

TEST(ProgramWork, ATaskOfADescriptorNobodyHasWrittenIsNotKnown) {
    for (const bool another : {false, true}) {
        Program program = program_with(1);
        if (another) {
            add_task(program, 11, 3, Direction::S2MM);
        }
        program.sequence.emplace_back(PushTask{{kShim, Direction::S2MM, 0}, {7, 1}});
        EXPECT_FALSE(work_of(program));
    }
}

TEST(ProgramWork, WhatNeverEndsHasNone) {
    Program program = program_with(1);
    LoopOp forever;
    forever.count = -1;
    forever.body = {{CallOp{}}};
    program.cores[0].script.push_back({forever});
    EXPECT_FALSE(work_of(program));
    LoopOp around;
    around.count = 2;
    around.body = {{forever}};
    program.cores[0].script.back() = {around};
    EXPECT_FALSE(work_of(program));
}

}  // namespace
}  // namespace tilesim::arch::npu::program
