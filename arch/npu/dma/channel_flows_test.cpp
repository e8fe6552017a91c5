#include "arch/npu/dma/channel_flows.hpp"

#include <gtest/gtest.h>

#include "arch/npu/bench_testing.hpp"
#include "arch/npu/program/program_fault.hpp"

namespace tilesim::arch::npu::dma {
namespace {

struct NoWords final : stream::StreamSourceClient {
    void on_stream_pushed(std::int64_t, std::int64_t, base::Cycles) override {}
    void on_stream_sent(base::Cycles) override {}
    void read_words(std::span<std::uint32_t>) override {}
};

struct FlowsBench : TestBench {
    stream::StreamFlow flow(const char* name) {
        return {name, scheduler, source, {}, {}, std::nullopt, false, false};
    }
    static program::BufferDescriptor sending(std::optional<std::int64_t> packet) {
        program::BufferDescriptor descriptor;
        if (packet) {
            descriptor.packet = program::Packet{*packet, 0, 0};
        }
        return descriptor;
    }
    NoWords source;
    stream::StreamFlow third = flow("third");
    stream::StreamFlow circuit = flow("circuit");
    stream::StreamFlow fifth = flow("fifth");
};

TEST(ChannelFlows, ADescriptorsPacketTakesTheStreamOfItsIdOthersTheCircuit) {
    FlowsBench bench;
    ChannelFlows flows;
    flows.add(3, bench.third);
    flows.add({}, bench.circuit);
    flows.add(5, bench.fifth);
    EXPECT_EQ(&flows.of(FlowsBench::sending(3), "channel"), &bench.third);
    EXPECT_EQ(&flows.of(FlowsBench::sending({}), "channel"), &bench.circuit);
    EXPECT_EQ(&flows.of(FlowsBench::sending(5), "channel"), &bench.fifth);
}

TEST(ChannelFlows, WordsThatNoStreamTakesAreAFaultOfTheProgram) {
    FlowsBench bench;
    ChannelFlows flows;
    flows.add(3, bench.third);
    EXPECT_THROW(flows.of(FlowsBench::sending(5), "channel"), program::ProgramFault);
    EXPECT_THROW(flows.of(FlowsBench::sending({}), "channel"), program::ProgramFault);
}

}  // namespace
}  // namespace tilesim::arch::npu::dma
