#include "arch/npu/stream/stream_flow.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "arch/npu/stream/stream_testing.hpp"

namespace tilesim::arch::npu::stream {
namespace {

using namespace base::literals;
using base::Cycles;
using ::testing::ElementsAre;
using namespace testing;

TEST(StreamFlow, MovesOneWordACycleAfterItsLatency) {
    Bench bench;
    Source source;
    Receiver receiver{bench.scheduler};
    const auto flow = flow_to(bench, source, {&receiver});
    bench.at(3_cyc, [&] {
        receiver.sink.begin(100, 3_cyc);
        flow->begin(100, 100, 3_cyc);
    });
    bench.run();
    ASSERT_EQ(source.sent.size(), 1U);
    EXPECT_EQ(source.sent[0], 103_cyc);
    EXPECT_EQ(receiver.received.at(0), 103_cyc + kLatency);
    EXPECT_EQ(receiver.words.size(), 100U);
}

// Whoever comes later is waited for, and whoever comes last of several receivers.
TEST(StreamFlow, WhoWaitsForTheOtherEndGoesOnWithItsPath) {
    const auto run = [](Cycles source_at, Cycles first_at, Cycles second_at) {
        Bench bench;
        Source source;
        Receiver first{bench.scheduler}, second{bench.scheduler};
        const auto flow = flow_to(bench, source, {&first, &second});
        source.path.charge(PathPart::Reading, source_at);
        first.path.charge(PathPart::Multiply, first_at);
        second.path.charge(PathPart::Zero, second_at);
        bench.at(source_at, [&] { flow->begin(100, 100, source_at); });
        bench.at(first_at, [&] { first.sink.begin(100, first_at); });
        bench.at(second_at, [&] { second.sink.begin(100, second_at); });
        bench.run();
        return std::array{source.path, first.path, second.path};
    };
    const auto late_source = run(50_cyc, 0_cyc, 1_cyc);
    EXPECT_EQ(late_source[0].spent(PathPart::Reading), 50);
    EXPECT_EQ(late_source[1].spent(PathPart::Reading), 50);
    EXPECT_EQ(late_source[2].spent(PathPart::Reading), 50);
    const auto late_receiver = run(0_cyc, 40_cyc, 90_cyc);
    EXPECT_EQ(late_receiver[0].spent(PathPart::Zero), 90);
    EXPECT_EQ(late_receiver[1].spent(PathPart::Zero), 90);
    EXPECT_EQ(late_receiver[2].spent(PathPart::Zero), 90);
}

// They have arrived before.
TEST(StreamFlow, AReceiverHearsOfItsWordsAsItTakesThem) {
    Bench bench;
    Source source;
    Receiver receiver{bench.scheduler};
    const auto flow = flow_to(bench, source, {&receiver});
    bench.at(0_cyc, [&] { flow->begin(3, 3, 0_cyc); });
    bench.at(50_cyc, [&] { receiver.sink.begin(3, 53_cyc); });
    bench.run();
    EXPECT_EQ(receiver.runs, (std::vector<std::pair<std::int64_t, Cycles>>{{3, 53_cyc}}));
}

// Two words a cycle of the array: ticks of half a nanosecond.
struct WiderStream : Bench {
    CycleScheduler ticks{queue, base::Clock{base::Hertz{2'000'000'000}}, 2};
    Source source;
    Receiver receiver{ticks};
    StreamFlow flow{"flow", ticks, source, {{&receiver.sink, kLatency, kCapacity, 0}},
                    {},     {},    false,  true};
};

// Its ends count in cycles.
TEST(StreamFlow, AWiderStreamMovesItsWordsInFewerCycles) {
    WiderStream bench;
    bench.at(3_cyc, [&] {
        bench.receiver.sink.begin(101, 3_cyc);
        bench.flow.begin(101, 101, 3_cyc);
    });
    bench.run();
    EXPECT_EQ(bench.source.sent,
              (std::vector{3_cyc + 51_cyc}));  // half a cycle more is a whole one
    EXPECT_EQ(bench.receiver.received, (std::vector{3_cyc + 54_cyc}));  // 101 words and seven ticks
}

// Its cycles are the array's, to which its ends keep, whenever it is told of them.
TEST(StreamFlow, AWiderStreamBeginsAndGoesOnInTheCyclesItIsTold) {
    WiderStream bench;
    bench.at(3_cyc, [&] {
        bench.receiver.sink.begin(16, 3_cyc);
        bench.flow.begin(20, 10, 11_cyc);
    });
    bench.at(30_cyc, [&] { bench.flow.supply(10, 37_cyc); });
    bench.at(60_cyc, [&] { bench.receiver.sink.begin(4, 67_cyc); });
    bench.run();
    EXPECT_EQ(bench.source.pieces.front(), (std::pair<std::int64_t, Cycles>{10, 32_cyc}));  // ticks
    EXPECT_EQ(bench.source.sent, (std::vector{42_cyc}));
    EXPECT_EQ(bench.receiver.received.back(), 69_cyc);
}

TEST(StreamFlow, PiecesFollowWithoutAGapAndAreNoLongerThanWhatIsBetweenTheEnds) {
    Bench bench;
    Source source;
    Receiver one{bench.scheduler};
    Receiver other{bench.scheduler};
    const auto flow = flow_to(bench, source, {&one, &other});
    const auto transfer = [&](std::int64_t words, Cycles from) {
        one.sink.begin(words, from);
        other.sink.begin(words, from);
        flow->begin(words, words, from);
    };
    bench.at(0_cyc, [&] { transfer(100, 0_cyc); });
    bench.at(200_cyc, [&] {
        source.pieces.clear();
        transfer(503, 200_cyc);
    });
    bench.run();
    Cycles end = 200_cyc;
    for (const auto& [words, left] : source.pieces) {
        EXPECT_LE(Cycles{words}, kLatency + Cycles{kCapacity});
        end += Cycles{words};
        EXPECT_EQ(left, end);
    }
    EXPECT_EQ(end, 703_cyc);
    EXPECT_EQ(one.received, (std::vector{100_cyc + kLatency, 703_cyc + kLatency}));
    EXPECT_EQ(other.received, one.received);
    EXPECT_EQ(one.words.size(), 603U);
    EXPECT_EQ(other.words, one.words);
}

// The nearer receiver's is the least that lies between the ends.
TEST(StreamFlow, PiecesAreNoLongerThanWhatIsBetweenTheSourceAndItsNearestReceiver) {
    for (const bool nearest_last : {false, true}) {
        Bench bench;
        Source source;
        Receiver near{bench.scheduler};
        Receiver far{bench.scheduler};
        std::vector<StreamFlow::Branch> branches{{&near.sink, kLatency, kCapacity, 0},
                                                 {&far.sink, kLatency * 3, kCapacity, 0}};
        if (nearest_last) {
            std::swap(branches[0], branches[1]);
        }
        StreamFlow flow{"flow", bench.scheduler, source, branches, {}, {}, false, true};
        for (const Cycles from : {0_cyc, 200_cyc}) {
            bench.at(from, [&, from] {
                source.pieces.clear();
                near.sink.begin(150, from);
                far.sink.begin(150, from);
                flow.begin(150, 150, from);
            });
        }
        bench.run();
        for (const auto& [words, left] : source.pieces) {
            EXPECT_LE(Cycles{words}, kLatency + Cycles{kCapacity});
        }
        EXPECT_EQ(near.received.at(1), 350_cyc + kLatency);
    }
}

TEST(StreamFlow, AReceiverThatStopsInSteadyFlowHoldsBackTheOthers) {
    Bench bench;
    Source source;
    Receiver stops{bench.scheduler};
    Receiver takes_all{bench.scheduler};
    const auto flow = flow_to(bench, source, {&stops, &takes_all});
    bench.at(0_cyc, [&] {
        stops.sink.begin(10, 0_cyc);
        takes_all.sink.begin(10, 0_cyc);
        flow->begin(10, 10, 0_cyc);
    });
    bench.at(100_cyc, [&] {
        stops.sink.begin(200, 100_cyc);
        takes_all.sink.begin(300, 100_cyc);
        flow->begin(300, 300, 100_cyc);
    });
    bench.at(1000_cyc, [&] { stops.sink.begin(100, 1000_cyc); });
    bench.run();
    EXPECT_EQ(stops.received.at(1), 300_cyc + kLatency);
    EXPECT_EQ(stops.received.at(2), 1100_cyc + kRestartGap);
    EXPECT_GT(takes_all.received.at(1), 1000_cyc);
    EXPECT_EQ(stops.words, takes_all.words);
}

TEST(StreamFlow, SourceRunsAheadOfAStoppedReceiverByTheCapacityOnly) {
    Bench bench;
    Source source;
    Receiver receiver{bench.scheduler};
    const auto flow = flow_to(bench, source, {&receiver});
    bench.at(0_cyc, [&] { flow->begin(kCapacity, kCapacity, 0_cyc); });
    bench.run();
    EXPECT_EQ(source.sent.size(), 1U);

    Bench other;
    Source blocked;
    Receiver never{other.scheduler};
    const auto stuck = flow_to(other, blocked, {&never});
    other.at(0_cyc, [&] { stuck->begin(kCapacity + 1, kCapacity + 1, 0_cyc); });
    other.run();
    EXPECT_TRUE(blocked.sent.empty());
    ASSERT_EQ(stuck->blocked_by().size(), 1U);
    EXPECT_EQ(stuck->blocked_by()[0], &never.sink);
}

// The receiver takes its first word at 50: until then twelve words are under way or in its FIFO,
// and every other enters when the one twelve before it has been taken.
TEST(StreamFlow, AWordEntersWhenThereIsRoomForIt) {
    Bench bench;
    Source source;
    Receiver receiver{bench.scheduler};
    const auto flow = flow_to(bench, source, {&receiver});
    bench.at(0_cyc, [&] {
        receiver.sink.begin(100, 50_cyc);
        flow->begin(100, 100, 0_cyc);
    });
    bench.run();
    EXPECT_EQ(receiver.received, std::vector{50_cyc + 100_cyc});
    const Cycles window = kLatency + Cycles{kCapacity};
    EXPECT_EQ(source.sent, std::vector{50_cyc + 1_cyc + 100_cyc - window});
}

// Two senders before one receiver, which has not asked yet.
struct TwoSenders : Bench {
    Source of_one, of_other;
    Receiver receiver{scheduler};
    std::vector<StreamFlow::Branch> branches{
        {&receiver.sink, kLatency, kCapacity, kArbiterCapacity}};
    StreamFlow one{"one", scheduler, of_one, branches, {}, 29, true, true};
    StreamFlow other{"other", scheduler, of_other, branches, {}, 29, true, true};
};

TEST(StreamFlow, AReceiverTakesFirstWhatHasArrivedFirst) {
    TwoSenders bench;
    bench.at(0_cyc, [&] { bench.other.begin(6, 6, 0_cyc); });
    bench.at(3_cyc, [&] { bench.one.begin(6, 6, 3_cyc); });
    bench.at(50_cyc, [&] { bench.receiver.sink.begin(7, 50_cyc); });  // six words and a header
    bench.run();
    EXPECT_EQ(bench.receiver.received, std::vector{57_cyc + kRestartGap});
    EXPECT_EQ(bench.of_other.sent.size(), 1U);
    EXPECT_TRUE(bench.of_one.sent.empty());
}

// The rest of what a receiver has taken in part has arrived when its own first word did.
TEST(StreamFlow, WhatIsLeftOfATransferArrivedBehindItsBeginning) {
    TwoSenders bench;
    bench.at(0_cyc, [&] {
        bench.receiver.sink.begin(8, 0_cyc);  // a header and seven words
        bench.one.begin(11, 11, 0_cyc);
    });
    bench.at(5_cyc, [&] { bench.other.begin(3, 3, 5_cyc); });
    bench.at(50_cyc, [&] { bench.receiver.sink.begin(4, 50_cyc); });
    bench.at(90_cyc, [&] { bench.receiver.sink.begin(1, 90_cyc); });
    bench.run();
    EXPECT_EQ(bench.receiver.words,
              (std::vector<std::uint32_t>{29, 0, 1, 2, 3, 4, 5, 6, 29, 0, 1, 2, 7}));
}

TEST(StreamFlow, OfPacketsThatWaitTheFirstToArriveIsAnnounced) {
    TwoSenders bench;
    bench.at(0_cyc, [&] { bench.one.begin(6, 6, 0_cyc, {.descriptor = 3}); });
    bench.at(3_cyc, [&] { bench.other.begin(6, 6, 3_cyc, {.descriptor = 4}); });
    bench.at(50_cyc, [&] { bench.receiver.sink.await_packet(); });
    bench.run();
    EXPECT_THAT(bench.receiver.packets, ElementsAre(3));
}

// Two packets of a sender stand before the receiver, a header and a word each, and half a third.
TEST(StreamFlow, OfPacketsOneBehindTheOtherTheFirstNotTakenIsAnnounced) {
    TwoSenders bench;
    bench.at(0_cyc, [&] { bench.one.begin(1, 1, 0_cyc, {.descriptor = 3}); });
    bench.at(10_cyc, [&] { bench.one.begin(1, 1, 10_cyc, {.descriptor = 4}); });
    bench.at(20_cyc, [&] { bench.one.begin(1, 1, 20_cyc, {.descriptor = 5}); });
    bench.at(50_cyc, [&] { bench.receiver.sink.await_packet(); });
    bench.at(60_cyc, [&] { bench.receiver.sink.begin(2, 60_cyc); });
    bench.at(70_cyc, [&] { bench.receiver.sink.await_packet(); });
    bench.run_until(69_cyc);
    EXPECT_THAT(bench.receiver.packets, ElementsAre(3));
    bench.run();
    EXPECT_THAT(bench.receiver.packets, ElementsAre(3, 4));
}

// A packet of a header and three words, of which the receiver takes three in all.
TEST(StreamFlow, TheMiddleOfAPacketIsAnnouncedAsNoHeader) {
    TwoSenders bench;
    bench.at(0_cyc, [&] { bench.one.begin(3, 3, 0_cyc, {.descriptor = 3}); });
    bench.at(50_cyc, [&] { bench.receiver.sink.await_packet(); });
    bench.at(60_cyc, [&] { bench.receiver.sink.begin(3, 60_cyc); });
    bench.at(70_cyc, [&] { bench.receiver.sink.await_packet(); });
    bench.run();
    EXPECT_THAT(bench.receiver.packets, ElementsAre(3, std::nullopt));
}

TEST(StreamFlow, APacketThatIsAwaitedIsAnnouncedAsItsFirstWordArrives) {
    TwoSenders bench;
    bench.at(0_cyc, [&] { bench.receiver.sink.await_packet(); });
    bench.at(10_cyc, [&] { bench.one.begin(1, 1, 10_cyc, {.descriptor = 4}); });
    bench.run_until(10_cyc + kLatency - 1_cyc);
    EXPECT_TRUE(bench.receiver.packets.empty());
    bench.run_until(10_cyc + kLatency);
    EXPECT_THAT(bench.receiver.packets, ElementsAre(4));
}

// Its first word has left when somebody begins to wait for it.
TEST(StreamFlow, APacketOnItsWayIsAnnouncedAsItsFirstWordArrives) {
    TwoSenders bench;
    bench.at(10_cyc, [&] { bench.one.begin(1, 1, 10_cyc, {.descriptor = 4}); });
    bench.at(12_cyc, [&] { bench.receiver.sink.await_packet(); });
    bench.run_until(10_cyc + kLatency - 1_cyc);
    EXPECT_TRUE(bench.receiver.packets.empty());
    bench.run_until(10_cyc + kLatency);
    EXPECT_THAT(bench.receiver.packets, ElementsAre(4));
}

// Whether it is still to leave or on its way; of one that was there before nobody has waited for
// anything.
TEST(StreamFlow, WhoAwaitsAPacketGoesOnWithItsSendersPath) {
    const auto path = [](Cycles awaited) {
        TwoSenders bench;
        bench.of_one.path.charge(PathPart::Reading, 10_cyc);
        bench.receiver.path.charge(PathPart::Multiply, awaited);
        bench.at(awaited, [&] { bench.receiver.sink.await_packet(); });
        bench.at(10_cyc, [&] { bench.one.begin(1, 1, 10_cyc, {.descriptor = 4}); });
        bench.run();
        return bench.receiver.path;
    };
    EXPECT_EQ(path(2_cyc).spent(PathPart::Reading), 10);
    EXPECT_EQ(path(10_cyc + kLatency - 1_cyc).spent(PathPart::Reading), 10);
    EXPECT_EQ(path(10_cyc + kLatency).spent(PathPart::Reading), 0);
}

TEST(StreamFlow, BroadcastGoesAtThePaceOfTheLastReceiver) {
    Bench bench;
    Source source;
    Receiver early{bench.scheduler};
    Receiver late{bench.scheduler};
    const auto flow = flow_to(bench, source, {&early, &late});
    bench.at(0_cyc, [&] {
        early.sink.begin(50, 0_cyc);
        flow->begin(50, 50, 0_cyc);
    });
    bench.at(1000_cyc, [&] { late.sink.begin(50, 1000_cyc); });
    bench.run();
    EXPECT_EQ(late.received.at(0), 1050_cyc + kRestartGap);
    EXPECT_GT(early.received.at(0), 1000_cyc);
    EXPECT_EQ(early.words, late.words);
}

TEST(StreamFlow, EachReceiverOfABroadcastIsAsFarAwayAsItsOwnPath) {
    constexpr Cycles kFar{13};
    Bench bench;
    Source source;
    Receiver near{bench.scheduler};
    Receiver far{bench.scheduler};
    StreamFlow flow("flow", bench.scheduler, source,
                    {{&near.sink, kLatency, kCapacity, 0}, {&far.sink, kFar, kCapacity, 0}}, {}, {},
                    false, true);
    bench.at(0_cyc, [&] {
        near.sink.begin(50, 0_cyc);
        far.sink.begin(50, 0_cyc);
        flow.begin(50, 50, 0_cyc);
    });
    bench.run();
    EXPECT_EQ(near.received.at(0), 50_cyc + kLatency);
    EXPECT_EQ(far.received.at(0), 50_cyc + kFar);
}

TEST(StreamFlow, DescriptorsOfBothEndsNeedNotAgree) {
    Bench bench;
    Source source;
    Receiver receiver{bench.scheduler};
    const auto flow = flow_to(bench, source, {&receiver});
    bench.at(0_cyc, [&] {
        receiver.sink.begin(30, 0_cyc);
        flow->begin(60, 60, 0_cyc);
    });
    bench.at(200_cyc, [&] { receiver.sink.begin(30, 200_cyc); });
    bench.run();
    ASSERT_EQ(receiver.received.size(), 2U);
    EXPECT_EQ(receiver.received[0], 30_cyc + kLatency);
    EXPECT_EQ(receiver.received[1], 230_cyc + kRestartGap);
    ASSERT_EQ(receiver.words.size(), 60U);
    EXPECT_EQ(receiver.words[59], 59U);
}

TEST(StreamFlow, WordsLeaveNoEarlierThanTheyAreSupplied) {
    Bench bench;
    Source source;
    Receiver receiver{bench.scheduler};
    const auto flow = flow_to(bench, source, {&receiver});
    bench.at(0_cyc, [&] {
        receiver.sink.begin(20, 0_cyc);
        flow->begin(20, 0, 0_cyc);
    });
    bench.at(100_cyc, [&] { flow->supply(10, 100_cyc); });
    bench.at(300_cyc, [&] { flow->supply(10, 300_cyc); });
    bench.run();
    EXPECT_EQ(source.sent.at(0), 310_cyc);
    EXPECT_EQ(receiver.received.at(0), 310_cyc + kLatency);
}

// Two words wait for their receiver from cycle 9 on, two are on their way until 109.
TEST(StreamFlow, AReceiverWaitsForWordsBehindAGap) {
    Bench bench;
    Source source;
    Receiver receiver{bench.scheduler};
    const auto flow = flow_to(bench, source, {&receiver});
    bench.at(0_cyc, [&] { flow->begin(4, 2, 0_cyc); });
    bench.at(100_cyc, [&] { flow->supply(2, 100_cyc); });
    bench.at(103_cyc, [&] { receiver.sink.begin(4, 103_cyc); });
    bench.run();
    EXPECT_EQ(receiver.received, (std::vector{102_cyc + kLatency}));
}

TEST(StreamFlow, EveryWordIsToldToItsSource) {
    for (std::int64_t words = 1; words < 60; ++words) {
        Bench bench;
        Source source;
        Receiver receiver{bench.scheduler};
        const auto flow = flow_to(bench, source, {&receiver});
        bench.at(0_cyc, [&] {
            receiver.sink.begin(100, 0_cyc);
            flow->begin(100, 0, 0_cyc);
        });
        bench.at(3_cyc, [&] { flow->supply(20, 3_cyc); });
        bench.at(5_cyc, [&] { flow->supply(words, 5_cyc); });
        bench.at(7_cyc, [&] { flow->supply(80 - words, 7_cyc); });
        bench.run();
        Cycles left{3};
        for (const auto& [piece, end] : source.pieces) {
            left += Cycles{piece};
            EXPECT_EQ(end, left) << words;
        }
        EXPECT_EQ(left, 103_cyc);
    }
}

TEST(StreamFlow, AReceiverWithoutAFifoTakesWhatItAsksFor) {
    Bench bench;
    Source source;
    Receiver receiver{bench.scheduler};
    StreamFlow flow("flow", bench.scheduler, source, {{&receiver.sink, kLatency, 0, 0}}, {}, {},
                    false, true);
    bench.at(0_cyc, [&] {
        receiver.sink.begin(20, 0_cyc);
        flow.begin(20, 20, 0_cyc);
    });
    bench.run();
    EXPECT_EQ(source.sent, (std::vector{20_cyc}));
    EXPECT_EQ(receiver.received, (std::vector{20_cyc + kLatency}));
}

TEST(StreamFlow, ASingleWordLeavesWhenItIsSupplied) {
    Bench bench;
    Source source;
    Receiver receiver{bench.scheduler};
    const auto flow = flow_to(bench, source, {&receiver});
    bench.at(0_cyc, [&] {
        receiver.sink.begin(3, 0_cyc);
        flow->begin(3, 0, 0_cyc);
    });
    for (const Cycles cycle : {11_cyc, 23_cyc, 37_cyc}) {
        bench.at(cycle - 2_cyc, [&flow, cycle] { flow->supply(1, cycle); });  // ahead of time
    }
    bench.run();
    EXPECT_EQ(source.pieces, (std::vector<std::pair<std::int64_t, Cycles>>{
                                 {1, 12_cyc}, {1, 24_cyc}, {1, 38_cyc}}));
    EXPECT_EQ(source.sent, (std::vector{38_cyc}));
    EXPECT_EQ(receiver.received, (std::vector{38_cyc + kLatency}));
}

}  // namespace
}  // namespace tilesim::arch::npu::stream
