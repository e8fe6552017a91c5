// What becomes of the headers of packets on their way.
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "arch/npu/stream/stream_testing.hpp"

namespace tilesim::arch::npu::stream {
namespace {

using namespace base::literals;
using base::Cycles;
using namespace testing;

TEST(StreamHeader, AHeaderCostsACycleAndIsDroppedUnlessItIsKept) {
    const auto received = [](bool keep, std::int64_t expected) {
        Bench bench;
        Source source;
        Receiver receiver{bench.scheduler};
        StreamFlow flow("flow", bench.scheduler, source,
                        {{&receiver.sink, kLatency, kCapacity, kArbiterCapacity}}, {}, 29, keep,
                        true);
        bench.at(0_cyc, [&] {
            receiver.sink.begin(expected, 0_cyc);
            flow.begin(40, 40, 0_cyc);
        });
        bench.run();
        EXPECT_EQ(source.sent.at(0), 41_cyc);
        EXPECT_EQ(receiver.received.at(0), 41_cyc + kLatency);
        return receiver.words;
    };
    EXPECT_EQ(received(false, 40).front(), 0U);
    EXPECT_EQ(received(true, 41).front(), 29U);
}

TEST(StreamHeader, AHeaderAmongTheDataIsItsFirstWordAndDroppedUnlessItIsKept) {
    const auto received = [](bool keep, std::int64_t expected) {
        Bench bench;
        Source source;
        Receiver receiver{bench.scheduler};
        StreamFlow flow("flow", bench.scheduler, source,
                        {{&receiver.sink, kLatency, kCapacity, kArbiterCapacity}}, {}, 29, keep,
                        true);
        bench.at(0_cyc, [&] {
            receiver.sink.begin(expected, 0_cyc);
            flow.begin(40, 0, 0_cyc, {.header_in_data = true});
        });
        bench.at(11_cyc, [&] { flow.supply(40, 11_cyc); });
        bench.run();
        EXPECT_EQ(source.sent.at(0), 51_cyc);
        EXPECT_EQ(receiver.received.at(0), 51_cyc + kLatency);
        std::int64_t pushed = 0;
        for (const auto& [words, end] : source.pieces) {
            pushed += words;
        }
        EXPECT_EQ(pushed, 40);
        return receiver.words;
    };
    EXPECT_EQ(received(false, 39).front(), 1U);
    EXPECT_EQ(received(true, 40).front(), 0U);
}

// The source gives its words once: a header among them and what follows it.
TEST(StreamHeader, AHeaderAmongTheDataTakesNoWordOfTheNextTransfer) {
    Bench bench;
    Source source;
    Receiver receiver{bench.scheduler};
    StreamFlow flow("flow", bench.scheduler, source,
                    {{&receiver.sink, kLatency, kCapacity, kArbiterCapacity}}, {}, 29, false, true);
    bench.at(0_cyc, [&] {
        receiver.sink.begin(4, 0_cyc);
        flow.begin(3, 3, 0_cyc, {.header_in_data = true});
    });
    bench.at(50_cyc, [&] { flow.begin(3, 3, 50_cyc, {.header_in_data = true}); });
    bench.run();
    EXPECT_EQ(receiver.words, (std::vector<std::uint32_t>{1, 2, 4, 5}));
    EXPECT_EQ(source.next_word, 6U);
}

// A packet flow that keeps headers, to a receiver whose port drops them.
struct DroppingPort : Bench {
    explicit DroppingPort(std::int64_t capacity = kCapacity)
        : flow("flow", scheduler, source, {{&drops.sink, kLatency, capacity, 0, true}}, {}, 77U,
               true, true) {}
    Source source;
    Receiver drops{scheduler};
    StreamFlow flow;
};
// So many words, counted from 0.
std::vector<std::uint32_t> counted(std::int64_t words) {
    std::vector<std::uint32_t> numbers(static_cast<std::size_t>(words));
    std::iota(numbers.begin(), numbers.end(), 0U);
    return numbers;
}

// A packet that follows without a gap, in a flow whose receiver keeps up.
TEST(StreamHeader, AHeaderInSteadyFlowIsDroppedToo) {
    constexpr std::int64_t kPacket = 53;
    DroppingPort bench;
    const Cycles sent{kPacket + 1};
    bench.at(0_cyc, [&] {
        bench.drops.sink.begin(2 * kPacket, 0_cyc);
        bench.flow.begin(kPacket, kPacket, 0_cyc);
    });
    bench.at(sent, [&] {  // once the first has ended
        bench.at(sent, [&] { bench.flow.begin(kPacket, kPacket, sent); });
    });
    bench.run();
    EXPECT_EQ(bench.source.sent, (std::vector{sent, sent * 2}));
    EXPECT_EQ(bench.drops.received, (std::vector{sent * 2 + kLatency}));
    for (const auto& [words, start] : bench.drops.runs) {
        EXPECT_GT(words, 0);  // none is given back
    }
    EXPECT_EQ(bench.drops.words, counted(2 * kPacket));
}

// One receiver's port keeps headers, the other's drops them where they arrive.
TEST(StreamHeader, AHeaderIsDroppedByTheReceiversWhosePortsDoSo) {
    for (const bool in_data : {false, true}) {
        Bench bench;
        Source source;
        source.next_word = 100;
        Receiver keeps{bench.scheduler};
        Receiver drops{bench.scheduler};
        StreamFlow flow{
            "flow",
            bench.scheduler,
            source,
            {{&keeps.sink, kLatency, kCapacity, 0}, {&drops.sink, kLatency, kCapacity, 0, true}},
            {},
            77U,
            true,
            true};
        const PacketPart part{.header_in_data = in_data};
        const std::int64_t sent = in_data ? 14 : 13;
        bench.at(0_cyc, [&] {
            keeps.sink.begin(2 * 14, 0_cyc);
            drops.sink.begin(2 * 13, 0_cyc);
            flow.begin(sent, sent, 0_cyc, part);
        });
        bench.at(40_cyc, [&] { flow.begin(sent, sent, 40_cyc, part); });
        bench.run();
        EXPECT_EQ(keeps.received, (std::vector{40_cyc + 14_cyc + kLatency}));
        EXPECT_EQ(drops.received, keeps.received);
        ASSERT_EQ(keeps.words.size(), 28U);
        ASSERT_EQ(drops.words.size(), 26U);
        EXPECT_EQ(keeps.words[0], in_data ? 100U : 77U);
        EXPECT_EQ(keeps.words[14], in_data ? 114U : 77U);
        std::vector<std::uint32_t> without = keeps.words;
        without.erase(without.begin() + 14);
        without.erase(without.begin());
        EXPECT_EQ(drops.words, without);
    }
}

// Two packets that stand before their receiver without a gap: it takes the words of both at once,
// neither header.
TEST(StreamHeader, AHeaderBetweenWordsThatWaitIsDroppedToo) {
    constexpr std::int64_t kPacket = 13;
    DroppingPort bench{2 * (kPacket + 1)};
    const Cycles sent{kPacket + 1};
    bench.at(0_cyc, [&] { bench.flow.begin(kPacket, kPacket, 0_cyc); });
    bench.at(sent, [&] {  // once the first has ended
        bench.at(sent, [&] { bench.flow.begin(kPacket, kPacket, sent); });
    });
    bench.at(60_cyc, [&] { bench.drops.sink.begin(2 * kPacket, 60_cyc); });
    bench.at(200_cyc, [&] {
        bench.flow.begin(kPacket, kPacket, 200_cyc);
        bench.drops.sink.begin(kPacket, 200_cyc);
    });
    bench.run();
    EXPECT_EQ(bench.source.sent, (std::vector{sent, sent * 2, 200_cyc + sent}));
    EXPECT_EQ(bench.drops.received,
              (std::vector{60_cyc + Cycles{2 * kPacket}, 200_cyc + sent + kLatency}));
    EXPECT_EQ(bench.drops.words, counted(3 * kPacket));
}

// A receiver that has stopped does not keep its port from dropping a header.
TEST(StreamHeader, AHeaderIsDroppedBeforeItsReceiverTakesAnything) {
    DroppingPort bench;
    bench.at(0_cyc, [&] { bench.flow.begin(kCapacity, kCapacity, 0_cyc); });
    bench.at(50_cyc, [&] { bench.drops.sink.begin(kCapacity, 50_cyc); });
    bench.run();
    EXPECT_EQ(bench.source.sent, (std::vector{Cycles{kCapacity + 1}}));  // header and words fit
    EXPECT_EQ(bench.drops.received, (std::vector{50_cyc + Cycles{kCapacity}}));
    EXPECT_EQ(bench.drops.words, counted(kCapacity));
}

TEST(StreamHeader, AHeaderAloneIsATransfer) {
    Bench bench;
    Source source;
    Receiver receiver{bench.scheduler};
    const auto flow = flow_to(bench, source, {&receiver}, {}, 1);
    bench.at(0_cyc, [&] { flow->begin(1, 1, 3_cyc, {.header_in_data = true, .ends = false}); });
    bench.at(20_cyc, [&] {
        receiver.sink.begin(10, 20_cyc);
        flow->begin(10, 10, 20_cyc, {.header_in_data = true, .begins = false});
    });
    bench.run();
    EXPECT_EQ(source.sent, (std::vector<Cycles>{4_cyc, 30_cyc}));
    EXPECT_EQ(receiver.words.front(), 1U);  // the second transfer has no header
}

}  // namespace
}  // namespace tilesim::arch::npu::stream
