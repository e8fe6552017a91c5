#include "arch/npu/core/core_stream.hpp"

#include <gmock/gmock.h>

#include <array>

#include "arch/npu/core/core_testing.hpp"

namespace tilesim::arch::npu::core {
namespace {

using base::Cycles;
using ::testing::ElementsAre;

constexpr std::int64_t kWords = 13;
constexpr std::int64_t kLatency = 5;
constexpr std::int64_t kFit = 7;  // words the stream holds when nobody takes them

struct Client final : CoreStreamClient {
    explicit Client(testing::Timeline& line) : time(line) {}
    void on_core_stream(Cycles now) override {
        EXPECT_EQ(now.count(), time.now());
        done.push_back(now.count());
    }
    testing::Timeline& time;
    std::vector<std::int64_t> done;
};

// One core's output leads to another's input.
struct Bench {
    Bench() { output.add_flow(std::nullopt, flow); }
    testing::Timeline time;
    Client sender{time};
    Client receiver{time};
    CoreOutput output;
    CoreInput input{time.scheduler};
    stream::StreamFlow flow{
        "stream", time.scheduler, output, {{&input.sink(), Cycles{kLatency}, kFit}},
        {},       std::nullopt,   false,  true};
};

std::array<std::uint32_t, 2 * kWords> numbers() {
    std::array<std::uint32_t, 2 * kWords> words{};
    for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = static_cast<std::uint32_t>(7 * i + 1);
    }
    return words;
}

TEST(CoreStream, AWordACycleLeavesAndArrives) {
    Bench b;
    const auto words = numbers();
    b.input.begin(kWords, Cycles{0}, b.receiver);
    b.output.begin(kWords, std::as_bytes(std::span{words}).first(4 * kWords), Cycles{2}, b.sender);
    b.time.run();
    EXPECT_THAT(b.sender.done, ElementsAre(2 + kWords));
    EXPECT_THAT(b.receiver.done, ElementsAre(2 + kLatency + kWords));
}

TEST(CoreStream, WordsThatWaitAreReadOneACycle) {
    Bench b;
    const auto words = numbers();
    b.output.begin(kFit, std::as_bytes(std::span{words}), Cycles{0}, b.sender);
    b.time.at(31, [&] { b.input.begin(kFit, Cycles{31}, b.receiver); });
    b.time.run();
    EXPECT_THAT(b.sender.done, ElementsAre(kFit));
    EXPECT_THAT(b.receiver.done, ElementsAre(31 + kFit));
}

TEST(CoreStream, ASenderStopsWhenTheStreamIsFull) {
    Bench b;
    const auto words = numbers();
    b.output.begin(kFit + 1, std::as_bytes(std::span{words}), Cycles{0}, b.sender);
    b.time.at(31, [&] { b.input.begin(kFit + 1, Cycles{31}, b.receiver); });
    b.time.run();
    EXPECT_THAT(b.sender.done, ElementsAre(31 + 1));  // in the place of the first word
}

// Packets of two ids leave by one port; each id has a receiver of its own.
TEST(CoreStream, APacketGoesTheWayOfItsHeaderUntilItEnds) {
    testing::Timeline time;
    Client sender{time};
    Client at_first{time};
    Client at_second{time};
    CoreOutput output;
    CoreInput first{time.scheduler};
    CoreInput second{time.scheduler};
    const auto flow_to = [&](CoreInput& input, std::uint32_t id) {
        return stream::StreamFlow{
            "packets", time.scheduler, output, {{&input.sink(), Cycles{kLatency}, kFit, kFit}}, {},
            id,        false,          true};
    };
    auto three = flow_to(first, 3);
    auto nine = flow_to(second, 9);
    output.add_flow(3, three);
    output.add_flow(9, nine);
    const auto words = numbers();
    const auto bytes = std::as_bytes(std::span{words});
    first.begin(9, Cycles{0}, at_first);
    second.begin(4, Cycles{0}, at_second);
    output.begin(5, bytes, Cycles{0}, sender, {3, false});
    time.at(20, [&] { output.begin(2, bytes.subspan(20), Cycles{20}, sender, {9, false}); });
    time.at(30, [&] { output.begin(3, bytes.subspan(28), Cycles{30}, sender, {9, true}); });
    time.at(40, [&] { output.begin(5, bytes, Cycles{40}, sender, {9, true}); });
    time.run();
    EXPECT_THAT(sender.done, ElementsAre(5, 22, 33, 45));
    EXPECT_THAT(at_first.done, ElementsAre(33 + kLatency));  // 9 was no header: one was under way
    EXPECT_THAT(at_second.done, ElementsAre(45 + kLatency));
    std::vector<std::uint32_t> got;
    first.take_words(got);
    EXPECT_THAT(got, ::testing::ElementsAreArray(std::span{words}.subspan(1, 9)));
}

TEST(CoreStream, WordsOfACircuitHoldNoPacketBack) {
    testing::Timeline time;
    Client sender{time};
    Client at_circuit{time};
    Client at_packet{time};
    CoreOutput output;
    CoreInput circuit{time.scheduler};
    CoreInput packet{time.scheduler};
    const auto flow_to = [&](CoreInput& input, std::optional<std::uint32_t> id) {
        return stream::StreamFlow{
            "flow", time.scheduler, output, {{&input.sink(), Cycles{kLatency}, kFit, kFit}}, {},
            id,     false,          false};
    };
    auto without = flow_to(circuit, {});
    auto three = flow_to(packet, 3);
    output.add_flow(std::nullopt, without);
    output.add_flow(3, three);
    circuit.begin(5, Cycles{0}, at_circuit);
    packet.begin(4, Cycles{0}, at_packet);
    output.begin(5, {}, Cycles{0}, sender);
    time.at(20, [&] { output.begin(5, {}, Cycles{20}, sender, {3, true}); });
    time.run();
    EXPECT_THAT(at_circuit.done, ElementsAre(5 + kLatency));
    EXPECT_THAT(at_packet.done, ElementsAre(25 + kLatency));
}

TEST(CoreStream, TransfersKeepTheOrderOfTheirWords) {
    Bench b;
    const auto words = numbers();
    const auto bytes = std::as_bytes(std::span{words});
    std::vector<std::uint32_t> got;
    for (std::size_t half = 0; half < 2; ++half) {
        // Received in two transfers.
        b.output.begin(kWords, bytes.subspan(4 * kWords * half, 4 * kWords), b.time.scheduler.now(),
                       b.sender);
        for (const std::int64_t part : {std::int64_t{5}, kWords - 5}) {
            b.input.begin(part, b.time.scheduler.now(), b.receiver);
            b.time.run();
            b.input.take_words(got);
        }
    }
    EXPECT_THAT(got, ::testing::ElementsAreArray(words));
}

}  // namespace
}  // namespace tilesim::arch::npu::core
