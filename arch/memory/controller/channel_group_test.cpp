#include "arch/memory/controller/channel_group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "arch/memory/controller/memory_system.hpp"
#include "arch/memory/device/prime_timing_testing.hpp"

namespace tilesim::arch::memory::controller {
namespace {

using namespace base::literals;
using testing::ElementsAre;

// Two pseudo-channels; a read of each arrives at once.
class Pair : private CommandListener, private port::MemoryClient {
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
        base::EventQueue queue;
        base::stats::Group root("");
        MemorySystem memory(config, 100_ns, queue, root);
        memory.listen(this);
        for (std::int64_t i = 0; i < 2 * reads; ++i) {
            memory.submit({i * config.burst.count(), 1, false, this, 0, 1000_ns});
        }
        queue.run_until(1'000'000_ns);
        EXPECT_TRUE(memory.idle());
        return heard;
    }

    device::MemoryConfig config = device::prime_device();
    std::vector<std::tuple<std::size_t, device::Command, std::int64_t>> heard;

  private:
    void on_command(std::size_t channel, device::Command command, std::size_t, std::int64_t,
                    std::int64_t now) override {
        heard.emplace_back(channel, command, now - 1000);
    }
    void on_memory_complete(std::uint64_t, base::Femtoseconds) override {}
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

}  // namespace
}  // namespace tilesim::arch::memory::controller
