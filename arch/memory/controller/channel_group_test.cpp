#include "arch/memory/controller/channel_group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <tuple>
#include <vector>

#include "arch/memory/controller/memory_system.hpp"
#include "arch/memory/device/prime_timing_testing.hpp"

namespace tilesim::arch::memory::controller {
namespace {

using namespace base::literals;
using testing::ElementsAre;

// Two pseudo-channels; a read of each arrives at once.
class Pair : private CommandListener, private port::MemoryClient, private base::EventHandler {
  public:
    Pair() {
        config.channels = 2;
        config.pseudo_channels = 2;
        config.refresh = false;
        config.bank_hash = false;
        config.clock = base::Hertz{1'000'000'000};
        config.mapping = {{device::AddressField::Channel, 1},
                          {device::AddressField::Column, 6},
                          {device::AddressField::BankGroup, 2},
                          {device::AddressField::Bank, 2},
                          {device::AddressField::Row, 16}};
    }
    // By time: channel, command, CK after the arrival.
    const std::vector<std::tuple<std::size_t, device::Command, std::int64_t>>& run(int reads) {
        for (std::int64_t i = 0; i < 2 * reads; ++i) {
            read(i, 1, 1000_ns);
        }
        return run();
    }
    // So many bursts from one on: even ones are of the first, odd ones of the second.
    void read(std::int64_t burst, std::int64_t bursts, base::Femtoseconds arrival) {
        requests.push_back({burst * config.burst.count(), bursts * config.burst.count(), false,
                            this, requests.size(), arrival});
    }
    const std::vector<std::tuple<std::size_t, device::Command, std::int64_t>>& run() {
        base::EventQueue queue;
        base::stats::Group root("");
        MemorySystem memory(config, 100_ns, queue, root);
        memory.listen(this);
        if (lookahead > base::Femtoseconds{0}) {
            memory.limit_lookahead(lookahead);
        }
        if (guest != nullptr) {
            memory.lend(0, *guest, guest_from);
        }
        done.resize(requests.size());
        for (const port::MemoryRequest& each : requests) {
            memory.submit(each);
        }
        memory_ = &memory;
        if (later) {
            queue.at(later_at, *this, 0);
        }
        queue.run_until(1'000'000_ns);
        EXPECT_TRUE(memory.idle());
        busy_until = memory.busy_until();
        return heard;
    }

    device::MemoryConfig config = device::prime_device();
    std::vector<port::MemoryRequest> requests;
    std::optional<port::MemoryRequest> later;  // submitted then
    base::Femtoseconds later_at{0};
    base::Femtoseconds lookahead{0};  // 0: 100 ns
    ChannelGuest* guest = nullptr;    // of the first
    base::Femtoseconds guest_from{0};
    std::vector<std::tuple<std::size_t, device::Command, std::int64_t>> heard;
    std::vector<base::Femtoseconds> done;  // by request
    base::Femtoseconds busy_until{0};

  private:
    void on_command(std::size_t channel, device::Command command, std::size_t, std::int64_t,
                    std::int64_t now) override {
        heard.emplace_back(channel, command, now - 1000);
    }
    void on_memory_complete(std::uint64_t tag, base::Femtoseconds when) override {
        done[tag] = when;
    }
    void on_event(std::uint64_t, base::Femtoseconds) override {
        later->client = this;
        later->tag = done.size();
        done.emplace_back();
        memory_->submit(*later);
    }

    MemorySystem* memory_ = nullptr;
};

std::tuple<std::size_t, device::Command, std::int64_t> at(std::int64_t when, std::size_t channel,
                                                          device::Command command) {
    return {channel, command, when};
}
constexpr device::Command kActivate = device::Command::Activate;
constexpr device::Command kRead = device::Command::Read;

TEST(ChannelGroup, PseudoChannelsTakeTurnsOnTheirCommandBus) {
    Pair pair;
    // An ACT holds the bus for 2 CK, and no other constraint reaches across.
    EXPECT_THAT(pair.run(1), ElementsAre(at(0, 0, kActivate), at(2, 1, kActivate), at(29, 0, kRead),
                                         at(2 + 29 + 1, 1, kRead)));
}

TEST(ChannelGroup, ChannelsOfTheirOwnDoNot) {
    Pair pair;
    pair.config.pseudo_channels = 1;
    EXPECT_THAT(pair.run(1), testing::UnorderedElementsAre(at(0, 0, kActivate), at(0, 1, kActivate),
                                                           at(29, 0, kRead), at(29, 1, kRead)));
}

TEST(ChannelGroup, ASplitBusLetsARowAndAColumnCommandGoTogether) {
    Pair pair;
    pair.config.split_command_bus = true;
    pair.config.timing.tRCD = base::Cycles{2};
    EXPECT_THAT(pair.run(1), ElementsAre(at(0, 0, kActivate), at(2, 0, kRead), at(2, 1, kActivate),
                                         at(2 + 3, 1, kRead)));
}

TEST(ChannelGroup, EachPseudoChannelKeepsItsOwnDataBusFull) {
    Pair pair;
    pair.config.timing.tCCD_L = pair.config.timing.tCCD_S;
    const auto& heard = pair.run(40);
    // The last RD of either: 39 column spacings after its first, the second's 3 CK later.
    EXPECT_EQ(heard[heard.size() - 2], at(29 + 39 * 11, 0, kRead));
    EXPECT_EQ(heard.back(), at(2 + 29 + 1 + 39 * 11, 1, kRead));
}

// Of bank 0 of the first: the one that is asked for first arrives last.
TEST(ChannelGroup, WhatArrivesFirstIsServedFirstWhenItWasAskedForLater) {
    for (const std::int64_t pseudo_channels : {1, 2}) {
        Pair pair;
        pair.config.pseudo_channels = pseudo_channels;
        pair.read(0, 1, 1500_ns);
        pair.read(2, 1, 1000_ns);
        EXPECT_THAT(pair.run(),
                    ElementsAre(at(0, 0, kActivate), at(29, 0, kRead), at(500, 0, kRead)));
        Pair in_order;
        in_order.config.pseudo_channels = pseudo_channels;
        in_order.read(0, 1, 1000_ns);
        in_order.read(2, 1, 1500_ns);
        EXPECT_EQ(in_order.run(), pair.heard);
    }
}

TEST(ChannelGroup, ARequestArrivesWithTheNextEdge) {
    Pair pair;
    pair.read(0, 1, 1000_ns + base::Femtoseconds{1});
    EXPECT_THAT(pair.run(), ElementsAre(at(1, 0, kActivate), at(30, 0, kRead)));
}

// The first has two reads of its row, tCCD_L apart, and says so before the second tells of its one.
TEST(ChannelGroup, ARequestIsCompleteWithTheLastDataOfAnyChannel) {
    Pair pair;
    pair.config.pseudo_channels = 1;
    pair.read(0, 1, 1000_ns);
    pair.read(2, 2, 1000_ns);
    pair.run();
    EXPECT_EQ(pair.done[0], 1000_ns + 29_ns + 23_ns + 4_ns);
    EXPECT_EQ(pair.done[1], 1000_ns + 29_ns + 13_ns + 23_ns + 4_ns);
    EXPECT_EQ(pair.busy_until, pair.done[1]);
}

// Three rows of a bank of the first, while the second is asked for a read at 50 that arrives
// `after`.
struct AskedLater : Pair {
    explicit AskedLater(base::Femtoseconds after) {
        constexpr std::int64_t kRow = 1 << 11;  // bursts
        for (const std::int64_t row : {1, 2, 3}) {
            read(row * kRow, 1, 1000_ns);
        }
        later_at = 1050_ns;
        later = port::MemoryRequest{config.burst.count(), 1, false, nullptr, 0, later_at + after};
    }
};

TEST(ChannelGroup, NoCommandIsDecidedBeforeWhatMayComeUntilThenIsKnown) {
    AskedLater pair(100_ns);
    const auto& heard = pair.run();
    EXPECT_THAT(heard, testing::Contains(at(150, 1, kActivate)));
    EXPECT_THAT(heard, testing::Contains(at(150 + 29, 1, kRead)));
    EXPECT_THAT(heard, testing::Contains(at(2 * 101 + 29, 0, kRead)));
}

TEST(ChannelGroup, WhatComesALookaheadAfterItIsAskedForIsInTime) {
    AskedLater pair(100_ns);
    pair.later_at = 1000_ns;  // behind the decisions at that time
    pair.later->arrival = 1100_ns;
    EXPECT_THAT(pair.run(), testing::Contains(at(100, 1, kActivate)));
}

// Both are due at 60: the second, idle so far, begins then, the first at 101, once its row is
// closed. The second's read comes a CK after its own has ended.
TEST(ChannelGroup, AnIdlePseudoChannelIsRefreshedWhileTheOtherUsesTheBus) {
    for (const std::int64_t pseudo_channels : {1, 2}) {
        Pair pair;
        pair.config.pseudo_channels = pseudo_channels;
        pair.config.refresh = true;
        pair.config.controller.refresh_first = base::Cycles{1060};
        pair.read(0, 1, 1000_ns);
        pair.read(2, 1, 1000_ns + 60_ns);
        pair.read(1, 1, 1000_ns + 60_ns + 307_ns + 1_ns);
        EXPECT_THAT(pair.run(), testing::IsSupersetOf({at(60, 1, device::Command::Refresh),
                                                       at(60 + 307 + 1, 1, kActivate)}))
            << pseudo_channels;
    }
}

// Of each channel the last column of a row, and the first of the next bank group's.
TEST(ChannelGroup, ARequestOfTwoRowsOpensBoth) {
    Pair pair;
    pair.config.pseudo_channels = 1;
    pair.read(2 * 63, 4, 1000_ns);
    pair.run();
    for (const std::size_t channel : {0U, 1U}) {
        for (const auto& each : {at(0, channel, kActivate), at(5, channel, kActivate),
                                 at(29, channel, kRead), at(40, channel, kRead)}) {
            EXPECT_THAT(pair.heard, testing::Contains(each));
        }
    }
}

TEST(ChannelGroup, WhoAsksLateShortensHowFarCommandsAreDecidedAhead) {
    AskedLater pair(10_ns);
    pair.lookahead = 10_ns;
    EXPECT_THAT(pair.run(), testing::Contains(at(60, 1, kActivate)));
    base::EventQueue queue;
    base::stats::Group root("");
    MemorySystem memory(pair.config, 100_ns, queue, root);
    memory.limit_lookahead(10_ns);
    memory.limit_lookahead(50_ns);
    EXPECT_EQ(memory.lookahead(), 10_ns);
}

// He comes between two edges, at 999.000001 ns.
TEST(ChannelGroup, WhatIsLentOfOnePseudoChannelLeavesTheOtherItsBanks) {
    struct Visitor final : ChannelGuest {
        std::int64_t run(std::int64_t now, std::int64_t) override {
            came = now;
            return now + 211;
        }
        bool finished() const override { return came > 0; }
        std::optional<std::int64_t> on_left(std::int64_t) override { return std::nullopt; }
        std::int64_t came = 0;
    } visitor;
    Pair pair;
    pair.guest = &visitor;
    pair.guest_from = 999_ns + base::Femtoseconds{1};
    pair.read(1, 1, 1050_ns);
    EXPECT_THAT(pair.run(), ElementsAre(at(50, 1, kActivate), at(50 + 29, 1, kRead)));
    EXPECT_EQ(visitor.came, 1000);
}

}  // namespace
}  // namespace tilesim::arch::memory::controller
