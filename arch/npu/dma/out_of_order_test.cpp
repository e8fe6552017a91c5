// A channel that takes packets as they come: their headers name their descriptors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/npu/dma/dma_channel_testing.hpp"
#include "arch/npu/program/program_fault.hpp"

namespace tilesim::arch::npu::dma {
namespace {

using namespace testing;
using ::testing::ElementsAre;

struct OutOfOrder : ReceivingChannel {
    OutOfOrder() {
        write(3, 5);  // the chain behind it does not count
        write(7);
        push_at(0_cyc, {.descriptor = 0, .repeat = 2, .token = true, .out_of_order = true});
    }
    void packet_at(Cycles cycle, std::int64_t descriptor) {
        at(cycle, [this, descriptor] { channel.on_packet(descriptor); });
    }
};

TEST(OutOfOrder, EachPacketsHeaderNamesItsDescriptor) {
    OutOfOrder bench;
    bench.packet_at(41_cyc, 7);
    bench.packet_at(97_cyc, 3);
    bench.run();
    EXPECT_THAT(bench.mover->descriptors, ElementsAre(7, 3));
    EXPECT_THAT(bench.mover->begun, ElementsAre(41_cyc, 97_cyc));
}

TEST(OutOfOrder, ATaskTakesSoManyPackets) {
    OutOfOrder bench;
    bench.packet_at(41_cyc, 7);
    bench.packet_at(97_cyc, 3);
    bench.run_until(kTaskStart - 1_cyc);
    EXPECT_EQ(bench.mover->packets_awaited, 0);
    bench.run_until(kTaskStart);
    EXPECT_EQ(bench.mover->packets_awaited, 1);
    EXPECT_TRUE(bench.channel.out_of_order());
    bench.run();
    EXPECT_EQ(bench.mover->packets_awaited, 2);
    EXPECT_THAT(bench.tokens, ElementsAre(97_cyc + kMoved));
}

TEST(OutOfOrder, ADescriptorNobodyHasWrittenIsAFaultOfTheProgram) {
    OutOfOrder bench;
    bench.packet_at(41_cyc, 6);
    EXPECT_THROW(bench.run(), program::ProgramFault);
}

TEST(OutOfOrder, TheMiddleOfAPacketIsAFaultOfTheProgram) {
    OutOfOrder bench;
    bench.at(41_cyc, [&] { bench.channel.on_packet(std::nullopt); });
    EXPECT_THROW(bench.run(), program::ProgramFault);
}

TEST(OutOfOrder, AResetWhileATaskIsFetchedLetsNothingBegin) {
    OutOfOrder bench;
    bench.at(kTaskStart - 1_cyc, [&] { bench.channel.reset(); });
    bench.run();
    EXPECT_EQ(bench.mover->packets_awaited, 0);
    EXPECT_TRUE(bench.channel.idle());
}

// The port has been promised the next packet: it takes that one, and the task ends with it.
TEST(OutOfOrder, AResetTakesEffectBehindTheNextPacket) {
    OutOfOrder bench;
    bench.at(kTaskStart + 1_cyc, [&] { bench.channel.reset(); });
    bench.packet_at(41_cyc, 7);
    bench.run();
    EXPECT_THAT(bench.mover->begun, ElementsAre(41_cyc));
    EXPECT_EQ(bench.mover->packets_awaited, 1);
    EXPECT_TRUE(bench.tokens.empty());
    EXPECT_TRUE(bench.channel.idle());
}

}  // namespace
}  // namespace tilesim::arch::npu::dma
