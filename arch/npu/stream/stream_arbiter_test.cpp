#include "arch/npu/stream/stream_arbiter.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "arch/npu/stream/stream_testing.hpp"

namespace tilesim::arch::npu::stream {
namespace {

using namespace base::literals;
using base::Cycles;
using namespace testing;

// Two flows, a and b, whose packets share an arbiter.
struct AtOneReceiver : Bench {
    Source first, second;
    Receiver receiver{scheduler};
    StreamArbiter arbiter{"arbiter"};
    std::unique_ptr<StreamFlow> a = flow_to(*this, first, {&receiver}, {&arbiter}, 1);
    std::unique_ptr<StreamFlow> b = flow_to(*this, second, {&receiver}, {&arbiter}, 2);
};
struct AtTwoReceivers : Bench {
    Source first, second;
    Receiver of_a{scheduler}, of_b{scheduler};
    StreamArbiter arbiter{"arbiter"};
    std::unique_ptr<StreamFlow> a = flow_to(*this, first, {&of_a}, {&arbiter}, 1);
    std::unique_ptr<StreamFlow> b = flow_to(*this, second, {&of_b}, {&arbiter}, 2);
};

TEST(StreamArbiter, IsHeldUntilTheEndOfThePacket) {
    AtOneReceiver bench;
    bench.at(0_cyc, [&] {
        bench.receiver.sink.begin(80, 0_cyc);
        bench.a->begin(40, 40, 0_cyc);
        bench.b->begin(40, 40, 0_cyc);
    });
    bench.run();
    EXPECT_EQ(bench.first.sent.at(0), 41_cyc);  // the header goes first
    // The second packet's header waits at the arbiter; its words follow without a gap.
    EXPECT_EQ(bench.second.sent.at(0), 81_cyc);
    EXPECT_EQ(bench.receiver.received.at(0), 81_cyc + kLatency);
    ASSERT_EQ(bench.receiver.words.size(), 80U);
    for (std::uint32_t i = 0; i < 40; ++i) {
        EXPECT_EQ(bench.receiver.words[i], i);       // of the first, whole,
        EXPECT_EQ(bench.receiver.words[40 + i], i);  // then of the second
    }
}

// Measured on npu2 (mlir-aie docs/DeadlockModel.md): what has left the sender, and still waits for
// a receiver that has stopped, holds back no packet from there that goes another way.
TEST(StreamArbiter, ASendingPortIsFreeWhenThePacketHasLeft) {
    Bench bench;
    Source source;
    Receiver stops{bench.scheduler};
    Receiver takes{bench.scheduler};
    StreamArbiter port{"port"};
    StreamArbiter first_way{"first_way"};
    StreamArbiter second_way{"second_way"};
    const auto a = flow_to(bench, source, {&stops}, {&first_way}, 1);
    const auto b = flow_to(bench, source, {&takes}, {&second_way}, 2);
    a->set_sending_port(port);
    b->set_sending_port(port);
    constexpr std::int64_t kLong = kCapacity;  // more than fits behind the last arbiter
    static_assert(kLong > kArbiterCapacity);
    bench.at(0_cyc, [&] { a->begin(kLong, kLong, 0_cyc); });
    bench.at(20_cyc, [&] {
        EXPECT_EQ(source.sent.size(), 1U);
        takes.sink.begin(8, 20_cyc);
        b->begin(8, 8, 20_cyc);
        EXPECT_EQ(b->waiting_arbiter(), nullptr);
    });
    bench.at(40_cyc, [&] {
        const auto c = flow_to(bench, source, {&takes}, {&first_way}, 3);
        c->begin(4, 4, 40_cyc);
        EXPECT_EQ(c->waiting_arbiter(), &first_way);  // its words stand before that one
    });
    bench.run();
    EXPECT_EQ(takes.received.at(0), 29_cyc + kLatency);
}

// Three packets of one port, to receivers of their own; the headers of those that wait pass
// meanwhile.
TEST(StreamArbiter, ASendingPortPassesOnePacketAfterTheOther) {
    Bench bench;
    std::array<Source, 3> sources;
    StreamArbiter port{"port"};
    std::vector<std::unique_ptr<Receiver>> receivers;
    std::vector<std::unique_ptr<StreamFlow>> flows;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        receivers.push_back(std::make_unique<Receiver>(bench.scheduler));
        flows.push_back(flow_to(bench, sources[i], {receivers[i].get()}, {}, 1));
        flows[i]->set_sending_port(port);
    }
    bench.at(0_cyc, [&] {
        for (std::size_t i = 0; i < sources.size(); ++i) {
            receivers[i]->sink.begin(40, 0_cyc);
            flows[i]->begin(40, 40, 0_cyc);
        }
    });
    bench.run();
    for (std::size_t i = 0; i < sources.size(); ++i) {
        EXPECT_EQ(sources[i].sent,
                  (std::vector{1_cyc + 40_cyc * static_cast<std::int64_t>(i + 1)}));
    }
}

TEST(StreamArbiter, APacketThatWaitsForItSendsNothingThoughItsReceiverIsReady) {
    AtTwoReceivers bench;
    bench.at(0_cyc, [&] {
        bench.of_a.sink.begin(40, 0_cyc);
        bench.a->begin(40, 40, 0_cyc);
        bench.b->begin(40, 40, 0_cyc);
    });
    bench.at(10_cyc, [&] { bench.of_b.sink.begin(40, 10_cyc); });
    bench.run_until(40_cyc);
    EXPECT_TRUE(bench.second.pieces.empty());
    bench.run();
    EXPECT_EQ(bench.second.sent, (std::vector{81_cyc}));
}

TEST(StreamArbiter, IsHeldBetweenTheTransfersOfAPacket) {
    AtOneReceiver bench;
    bench.at(0_cyc, [&] {
        bench.receiver.sink.begin(80, 0_cyc);
        bench.a->begin(20, 20, 0_cyc, {.ends = false});
        bench.b->begin(40, 40, 0_cyc);
    });
    bench.at(100_cyc, [&] { bench.a->begin(20, 20, 100_cyc, {.begins = false}); });
    bench.run();
    EXPECT_EQ(bench.first.sent,
              (std::vector<Cycles>{21_cyc, 120_cyc}));  // the second without a header
    EXPECT_EQ(bench.second.sent.at(0), 160_cyc);
    EXPECT_EQ(bench.receiver.received.at(0), 160_cyc + kLatency);
}

// Three flows to one receiver, each with a packet of 40 words a turn.
struct ThreeFlows : Bench {
    std::array<Source, 3> sources;
    Receiver receiver{scheduler};
    StreamArbiter arbiter{"arbiter"};
    std::vector<std::unique_ptr<StreamFlow>> flows;

    ThreeFlows() {
        for (Source& source : sources) {
            flows.push_back(flow_to(*this, source, {&receiver}, {&arbiter}, 1));
        }
        at(0_cyc, [this] { receiver.sink.begin(1000, 0_cyc); });
    }
    void begin(std::size_t flow, Cycles from) {
        at(from, [this, flow, from] { flows[flow]->begin(40, 40, from); });
    }
    // When the packet that is served as this one, counted from 1, has left: each has a header, and
    // follows without a gap, its header having waited.
    static Cycles end(std::int64_t packet) { return 1_cyc + Cycles{40 * packet}; }
};

TEST(StreamArbiter, ServesPacketsOfOnePortInOrderOfTheirArrival) {
    ThreeFlows bench;
    bench.begin(1, 0_cyc);  // not the order they were built in
    bench.begin(2, 3_cyc);
    bench.begin(0, 6_cyc);
    bench.run();
    EXPECT_EQ(bench.sources[1].sent.at(0), ThreeFlows::end(1));
    EXPECT_EQ(bench.sources[2].sent.at(0), ThreeFlows::end(2));
    EXPECT_EQ(bench.sources[0].sent.at(0), ThreeFlows::end(3));
}

// As npu1 serves them: mlir-aie test/npu-xrt/packet_flow_merge_order without an order.
TEST(StreamArbiter, ServesPortsInTurnWhateverArrivedFirst) {
    ThreeFlows bench;
    using program::Bundle;
    bench.arbiter.enters(*bench.flows[0], {Bundle::North, 2});
    bench.arbiter.enters(*bench.flows[1], {Bundle::East, 2});
    bench.arbiter.enters(*bench.flows[2], {Bundle::East, 0});
    bench.begin(0, 0_cyc);
    bench.begin(1, 3_cyc);
    bench.begin(2, 6_cyc);
    // Behind the packet from east0 the next port is east2, not north2 again.
    bench.begin(0, 50_cyc);
    bench.run();
    EXPECT_EQ(bench.sources[2].sent.at(0), ThreeFlows::end(2));
    EXPECT_EQ(bench.sources[1].sent.at(0), ThreeFlows::end(3));
    EXPECT_EQ(bench.sources[0].sent, (std::vector{ThreeFlows::end(1), ThreeFlows::end(4)}));
}

TEST(StreamArbiter, KeepsAFixedOrderAndWaitsForWhoseTurnItIs) {
    ThreeFlows bench;
    constexpr std::array<program::SwitchPort, 3> kPorts{
        {{program::Bundle::Dma, 0}, {program::Bundle::Dma, 1}, {program::Bundle::Dma, 2}}};
    for (std::size_t i = 0; i < kPorts.size(); ++i) {
        bench.arbiter.enters(*bench.flows[i], kPorts[i]);
    }
    bench.arbiter.take_turns({{kPorts[1], 1}, {kPorts[0], 2}});
    bench.begin(0, 0_cyc);
    bench.begin(2, 0_cyc);
    bench.at(10_cyc, [&] {
        EXPECT_EQ(bench.flows[0]->waiting_arbiter(), &bench.arbiter);
        EXPECT_EQ(bench.arbiter.owner(), nullptr);
        EXPECT_EQ(bench.arbiter.next_owners(),
                  std::vector<const ArbiterClient*>{bench.flows[1].get()});
    });
    bench.begin(1, 20_cyc);  // ends in 61; the first of the two that follow in 101
    bench.begin(1, 70_cyc);
    bench.begin(0, 150_cyc);
    bench.run();
    EXPECT_EQ(bench.sources[0].sent, (std::vector{101_cyc, 191_cyc}));
    EXPECT_EQ(bench.sources[1].sent, (std::vector{61_cyc, 231_cyc}));
    EXPECT_TRUE(bench.sources[2].sent.empty());  // has no turn
}

TEST(StreamArbiter, APacketHoldsEveryArbiterOnItsWay) {
    Bench bench;
    std::array<Source, 3> sources;
    Receiver receiver{bench.scheduler};
    Receiver other{bench.scheduler};
    StreamArbiter first{"first"};
    StreamArbiter second{"second"};
    const auto both = flow_to(bench, sources[0], {&receiver}, {&first, &second}, 1);
    const auto behind_first = flow_to(bench, sources[1], {&receiver}, {&first}, 2);
    const auto behind_second = flow_to(bench, sources[2], {&other}, {&second}, 3);
    bench.at(0_cyc, [&] {
        receiver.sink.begin(80, 0_cyc);
        other.sink.begin(40, 0_cyc);
        both->begin(40, 40, 0_cyc);
        behind_first->begin(40, 40, 0_cyc);
        behind_second->begin(40, 40, 0_cyc);
        EXPECT_EQ(behind_first->waiting_arbiter(), &first);
        EXPECT_EQ(behind_second->waiting_arbiter(), &second);
    });
    bench.run();
    EXPECT_EQ(sources[0].sent.at(0), 41_cyc);
    EXPECT_EQ(sources[1].sent.at(0), 81_cyc);
    EXPECT_EQ(sources[2].sent.at(0), 81_cyc);
}

// A's packet is longer than what its receiver takes; B shares the arbiter but not the receiver.
std::size_t packets_of_b(std::int64_t surplus) {
    AtTwoReceivers bench;
    bench.at(0_cyc, [&] {
        bench.of_a.sink.begin(20, 0_cyc);
        bench.of_b.sink.begin(20, 0_cyc);
        bench.a->begin(20 + surplus, 20 + surplus, 0_cyc);
    });
    bench.at(100_cyc, [&] { bench.b->begin(20, 20, 100_cyc); });
    bench.run();
    EXPECT_EQ(bench.first.sent.size(), surplus <= kCapacity ? 1U : 0U);
    return bench.of_b.received.size();
}

TEST(StreamArbiter, PassesOthersWhenTheSurplusFitsBehindIt) {
    EXPECT_EQ(packets_of_b(kArbiterCapacity), 1U);
    EXPECT_EQ(packets_of_b(kArbiterCapacity + 1), 0U);  // though the sender has finished
    EXPECT_EQ(packets_of_b(kCapacity + 1), 0U);
}

// One flow of packets through an arbiter.
struct ThroughOne : Bench {
    Source source;
    Receiver receiver{scheduler};
    StreamArbiter arbiter{"arbiter"};
    const std::unique_ptr<StreamFlow> flow = flow_to(*this, source, {&receiver}, {&arbiter}, 1);
};

TEST(StreamArbiter, TheEndOfAPacketIsDeliveredAfterItHasGivenTheArbiterBack) {
    ThroughOne bench;
    bench.at(0_cyc, [&] {
        bench.receiver.sink.begin(10, 0_cyc);
        bench.flow->begin(10 + kCapacity, 10 + kCapacity, 0_cyc);
    });
    bench.at(100_cyc, [&] { bench.receiver.sink.begin(kCapacity, 100_cyc); });
    bench.run();
    EXPECT_EQ(bench.receiver.received.size(), 2U);
    EXPECT_EQ(bench.arbiter.owner(), nullptr);
}

// Another flow's packet has it in between, and waits for its words.
TEST(StreamArbiter, IsAskedForAgainByTheNextPacketOfAFlow) {
    AtTwoReceivers bench;
    bench.at(0_cyc, [&] {
        bench.of_a.sink.begin(20, 0_cyc);
        bench.of_b.sink.begin(10, 0_cyc);
        bench.a->begin(10, 10, 0_cyc);
    });
    bench.at(50_cyc, [&] { bench.b->begin(10, 0, 50_cyc); });
    bench.at(60_cyc, [&] { bench.a->begin(10, 10, 60_cyc); });
    bench.at(100_cyc, [&] { bench.b->supply(10, 100_cyc); });
    bench.run();
    EXPECT_EQ(bench.second.sent, (std::vector{110_cyc}));
    EXPECT_EQ(bench.first.sent, (std::vector{11_cyc, 120_cyc}));
}

// Of five words too many, three fit behind it.
TEST(StreamArbiter, IsHeldUntilEnoughOfAnEndThatWaitsIsTaken) {
    ThroughOne bench;
    bench.at(0_cyc, [&] {
        bench.receiver.sink.begin(10, 0_cyc);
        bench.flow->begin(10 + kArbiterCapacity + 2, 10 + kArbiterCapacity + 2, 0_cyc);
    });
    for (const Cycles from : {100_cyc, 200_cyc}) {
        bench.at(from, [&, from] { bench.receiver.sink.begin(1, from); });
    }
    bench.run_until(199_cyc);
    EXPECT_EQ(bench.arbiter.owner(), bench.flow.get());
    bench.run();
    EXPECT_EQ(bench.arbiter.owner(), nullptr);
}

// It has its header wait at the arbiter, which the end of the packet before still holds, and so
// does a word that the receiver's FIFO has room for.
TEST(StreamArbiter, ThePacketBehindOneWhoseEndWaitsFollowsOnceThatFits) {
    for (const std::int64_t surplus : {kArbiterCapacity + 1, kCapacity}) {
        ThroughOne bench;
        bench.at(0_cyc, [&] {
            bench.receiver.sink.begin(10, 0_cyc);
            bench.flow->begin(10 + surplus, 10 + surplus, 0_cyc);
        });
        bench.at(50_cyc, [&] { bench.flow->begin(10, 10, 50_cyc); });
        bench.at(100_cyc, [&] { bench.receiver.sink.begin(surplus + 10, 100_cyc); });
        bench.run();
        EXPECT_EQ(bench.source.sent, (std::vector{1_cyc + Cycles{10 + surplus}, 110_cyc}));
        EXPECT_EQ(bench.receiver.received.back(), 110_cyc + kLatency);
    }
}

// Its end has left the source, and has room in the receiver's FIFO: but not all behind the arbiter.
TEST(StreamArbiter, APacketWhoseEndHasNoRoomBehindItIsBlocked) {
    for (const std::int64_t words : {kArbiterCapacity, kArbiterCapacity + 1}) {
        ThroughOne bench;
        bench.at(0_cyc, [&] { bench.flow->begin(words, words, 0_cyc); });
        bench.run();
        EXPECT_EQ(bench.source.sent.size(), 1U);
        EXPECT_EQ(bench.flow->blocked(), words > kArbiterCapacity);
        EXPECT_EQ(bench.flow->blocked_by().empty(), words <= kArbiterCapacity);
    }
}

}  // namespace
}  // namespace tilesim::arch::npu::stream
