#include "workloads/npu/run_time_sequence.hpp"

#include <gtest/gtest.h>

#include <variant>

#include "workloads/npu/stream_route.hpp"

namespace tilesim::workloads::npu {
namespace {

using namespace arch::npu::program;

template <class Op>
const Op& step(const std::vector<SequenceOp>& sequence, std::size_t i) {
    return std::get<Op>(sequence.at(i));
}

TEST(RunTimeSequence, ArgumentsBeginAtPages) {
    Program program;
    place_arguments(program, {{"A", 4097}, {"B", 4096}, {"C", 3}});
    ASSERT_EQ(program.external_buffers.size(), 3U);
    EXPECT_EQ(program.external_buffers[0].address, 0);
    EXPECT_EQ(program.external_buffers[1].address, 2 * 4096);
    EXPECT_EQ(program.external_buffers[2].address, 3 * 4096);
    EXPECT_EQ(program.external_buffers[0].bytes, 4097);
    EXPECT_EQ(program.external_buffers[2].name, "C");
}

// A core that went before its count was written would run too often, or not at all.
TEST(RunTimeSequence, EveryCountIsWrittenBeforeAnyCoreGoes) {
    Program program;
    program.cores.resize(2);
    program.cores[0].tile = {0, 2};
    program.cores[1].tile = {1, 2};
    start_cores(program, {7, 11}, {3, 5});
    ASSERT_EQ(program.sequence.size(), 6U);
    for (std::size_t core = 0; core < 2; ++core) {
        for (std::size_t i = 0; i < 2; ++i) {
            const auto& write = step<WriteParameter>(program.sequence, 2 * core + i);
            EXPECT_EQ(write.tile, program.cores[core].tile);
            EXPECT_EQ(write.index, static_cast<std::int64_t>(i));
            EXPECT_EQ(write.value, i == 0 ? 7 : 11);
        }
    }
    EXPECT_EQ(step<SetLock>(program.sequence, 4).lock, 3);
    EXPECT_EQ(step<SetLock>(program.sequence, 5).lock, 5);
    EXPECT_EQ(step<SetLock>(program.sequence, 5).value, 1);
}

TEST(RunTimeSequence, ADescriptorIsWrittenThenPushedAndOnlyWhatEndsInDramSendsAToken) {
    std::vector<SequenceOp> sequence;
    write_and_push(sequence, sends({3, 0}, 1), shim_descriptor(9, 2, 5, 64), 4);
    write_and_push(sequence, takes({3, 0}, 0), shim_descriptor(10, 2, 0, 64));
    ASSERT_EQ(sequence.size(), 4U);
    const auto& write = step<WriteDescriptor>(sequence, 0);
    EXPECT_EQ(write.tile, (TileCoordinate{3, 0}));
    EXPECT_EQ(write.descriptor.id, 9);
    EXPECT_EQ(write.descriptor.buffer, 2);
    EXPECT_EQ(write.descriptor.offset, 5 * 4);  // bytes
    EXPECT_EQ(write.descriptor.length, 64);
    const auto& sent = step<PushTask>(sequence, 1);
    EXPECT_EQ(sent.channel, sends({3, 0}, 1));
    EXPECT_EQ(sent.task.descriptor, 9);
    EXPECT_EQ(sent.task.repeat, 4);
    EXPECT_FALSE(sent.task.token);
    EXPECT_EQ(step<PushTask>(sequence, 3).task.repeat, 1);
    EXPECT_TRUE(step<PushTask>(sequence, 3).task.token);
}

TEST(RunTimeSequence, ATokenOfEachColumnIsWaitedFor) {
    arch::npu::NpuConfig config;
    config.shim_columns = {5, 2, 7, 11};
    std::vector<SequenceOp> sequence;
    wait_for_columns(sequence, ShimColumns(config), 3, 1);
    ASSERT_EQ(sequence.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(step<WaitToken>(sequence, i).channel, takes({config.shim_columns[i], 0}, 1));
    }
}

}  // namespace
}  // namespace tilesim::workloads::npu
