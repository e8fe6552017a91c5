#include "arch/memory/controller/command_path.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "arch/memory/controller/memory_system.hpp"
#include "arch/memory/device/prime_timing_testing.hpp"
#include "arch/memory/traffic/stream_driver.hpp"

namespace tilesim::arch::memory::controller {
namespace {

using device::Command;

constexpr std::int64_t kFirst = 100;
constexpr std::size_t kNearBank = 1;  // of bank 0's group
constexpr std::size_t kFarBank = 4;
constexpr std::int64_t kAnswer = 23 + 4;  // RL and the data

std::int64_t sum_of(const MemoryPath& path) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < MemoryPath::kParts; ++i) {
        sum += path.spent(static_cast<MemoryPart>(i));
    }
    return sum;
}

// A path that is told of commands by hand.
struct Told {
    device::MemoryConfig config = device::prime_device();
    CommandPath path{config, nullptr};

    Told() { path.on_first_request(kFirst); }
    void go(Command command, std::int64_t now, std::size_t bank = 0) {
        path.on_command(0, command, bank, 7, now);
    }
    void column(Command command, std::int64_t now, std::size_t bank = 0) {
        path.on_column(0, command, bank, 7, now, {});
    }
    // Of all its parts these, and no others.
    void expect(std::initializer_list<std::pair<MemoryPart, std::int64_t>> parts) const {
        std::int64_t sum = 0;
        for (const auto& [part, cycles] : parts) {
            EXPECT_EQ(path.path().spent(part), cycles) << static_cast<std::size_t>(part);
            sum += cycles;
        }
        EXPECT_EQ(sum_of(path.path()), sum);
        EXPECT_EQ(path.path().until(), kFirst + sum);
    }
};

TEST(CommandPath, AReadAloneOpensItsRowAndHasItsAnswerOnItsWay) {
    Told told;
    told.go(Command::Activate, kFirst);
    told.column(Command::Read, kFirst + 29);
    told.expect({{MemoryPart::Rows, 29}, {MemoryPart::Requests, 23}, {MemoryPart::DataBus, 4}});
}

TEST(CommandPath, ColumnsOfOneKindFollowEachOtherOnTheDataBus) {
    for (const auto& [bank, spacing] : {std::pair{kNearBank, 13}, {kFarBank, 11}}) {
        Told told;
        told.go(Command::Activate, kFirst);
        told.go(Command::Activate, kFirst + 7, bank);
        told.column(Command::Read, kFirst + 36);
        told.column(Command::Read, kFirst + 36 + spacing, bank);
        told.expect({{MemoryPart::Rows, 29},
                     {MemoryPart::Requests, 7 + 23},
                     {MemoryPart::DataBus, spacing + 4}});
    }
}

TEST(CommandPath, WritesOfAGroupKeepTheirOwnSpacing) {
    Told told;
    told.go(Command::Activate, kFirst);
    told.column(Command::Write, kFirst + 29);
    told.column(Command::Write, kFirst + 29 + 37);
    told.expect(
        {{MemoryPart::Rows, 29}, {MemoryPart::DataBus, 37 + 4}, {MemoryPart::Requests, 19}});
}

TEST(CommandPath, RowsOfAllBanksWaitForEachOtherAndForTheWindowOfFour) {
    Told told;
    told.go(Command::Activate, kFirst);
    told.go(Command::Activate, kFirst + 5, 4);
    told.column(Command::Read, kFirst + 5 + 29, 4);
    told.expect({{MemoryPart::Activates, 5},
                 {MemoryPart::Rows, 29},
                 {MemoryPart::Requests, 23},
                 {MemoryPart::DataBus, 4}});
    told.go(Command::Activate, kFirst + 5 + 7, 5);
    told.go(Command::Activate, kFirst + 5 + 7 + 5, 8);
    told.go(Command::Activate, kFirst + 43, 12);
    told.column(Command::Read, kFirst + 43 + 29, 12);
    told.expect({{MemoryPart::Activates, 43},
                 {MemoryPart::Rows, 29},
                 {MemoryPart::Requests, 23},
                 {MemoryPart::DataBus, 4}});
}

TEST(CommandPath, TheBusTurnsBetweenReadsAndWrites) {
    Told told;
    told.go(Command::Activate, kFirst);
    told.column(Command::Read, kFirst + 29);
    told.column(Command::Write, kFirst + 29 + 23 + 4 + 2 - 19);
    told.expect({{MemoryPart::Rows, 29},
                 {MemoryPart::Turns, 23 + 2 - 19},
                 {MemoryPart::DataBus, 4 + 4},
                 {MemoryPart::Requests, 19}});
    const std::int64_t write = kFirst + 29 + 10;
    told.go(Command::Activate, write - 29, kFarBank);
    told.column(Command::Read, write + 19 + 4 + 3, kFarBank);
    told.expect({{MemoryPart::Rows, 29},
                 {MemoryPart::Turns, 23 + 2 - 19 + 19 + 3},
                 {MemoryPart::DataBus, 4 + 4 + 4},
                 {MemoryPart::Requests, 23}});
    told.column(Command::Read, write + 19 + 4 + 47);
    told.expect({{MemoryPart::Rows, 29},
                 {MemoryPart::Turns, 23 + 2 - 19 + 19 + 47},
                 {MemoryPart::DataBus, 4 + 4 + 4},
                 {MemoryPart::Requests, 23}});
}

TEST(CommandPath, DataOfAnotherRankAreAGapApart) {
    Told told;
    told.config.ranks = 2;
    told.config.timing.tRTRS = base::Cycles{5};
    CommandPath path(told.config, nullptr);
    path.on_first_request(kFirst);
    path.on_command(0, Command::Activate, 0, 7, kFirst);
    path.on_command(0, Command::Activate, 16, 7, kFirst + 2);
    path.on_column(0, Command::Read, 0, 7, kFirst + 29, {});
    path.on_column(0, Command::Read, 16, 7, kFirst + 29 + 4 + 5, {});
    EXPECT_EQ(path.path().spent(MemoryPart::Turns), 5);
    EXPECT_EQ(path.path().spent(MemoryPart::DataBus), 4 + 4);
    EXPECT_EQ(path.path().spent(MemoryPart::CommandBus), 0);
}

TEST(CommandPath, AnotherRowOfABankWaitsForAllTheRowBeforeTakes) {
    Told by_time;
    by_time.go(Command::Activate, kFirst);
    by_time.column(Command::Read, kFirst + 29);
    by_time.go(Command::Precharge, kFirst + 67);
    by_time.go(Command::Activate, kFirst + 101);
    by_time.column(Command::Read, kFirst + 101 + 29);
    by_time.expect(
        {{MemoryPart::Rows, 101 + 29}, {MemoryPart::Requests, 23}, {MemoryPart::DataBus, 4}});
    Told by_write;
    by_write.go(Command::Activate, kFirst);
    by_write.column(Command::Write, kFirst + 29);
    const std::int64_t close = kFirst + 29 + 19 + 4 + 41;
    by_write.go(Command::Precharge, close);
    by_write.go(Command::Activate, close + 31);
    by_write.column(Command::Read, close + 31 + 29);
    by_write.expect({{MemoryPart::Rows, 29 + 19 + 4 + 41 + 31 + 29},
                     {MemoryPart::Requests, 23},
                     {MemoryPart::DataBus, 4}});
}

TEST(CommandPath, ARowThatClosesWithItsColumnDoesSoAsSoonAsItMay) {
    Told told;
    told.go(Command::Activate, kFirst);
    told.column(Command::ReadPrecharge, kFirst + 60);
    told.go(Command::Activate, kFirst + 60 + 17 + 31);
    told.column(Command::Read, kFirst + 60 + 17 + 31 + 29);
    // The read came 31 later than it could.
    told.expect({{MemoryPart::Rows, 29 + 17 + 31 + 29},
                 {MemoryPart::Requests, 31 + 23},
                 {MemoryPart::DataBus, 4}});
}

TEST(CommandPath, WhatARefreshClosesAndTakesIsItsOwn) {
    Told told;
    told.go(Command::Activate, kFirst);
    told.column(Command::Read, kFirst + 29);
    told.go(Command::PrechargeAll, kFirst + 80);
    told.go(Command::Refresh, kFirst + 80 + 31);
    told.go(Command::Activate, kFirst + 80 + 31 + 307);
    told.column(Command::Read, kFirst + 80 + 31 + 307 + 29);
    // tRAS, and 13 later than it could.
    told.expect({{MemoryPart::Refresh, 67 + 31 + 307},
                 {MemoryPart::Rows, 29},
                 {MemoryPart::Requests, 13 + 23},
                 {MemoryPart::DataBus, 4}});
    EXPECT_EQ(told.path.needs().front().refresh, 307);
}

TEST(CommandPath, ABankWaitsForItsOwnRefreshAndOthersForItsStart) {
    Told told;
    told.config.timing.tRFC_pb = base::Cycles{113};
    told.config.timing.tREFpb_to_ACT = base::Cycles{11};
    for (const auto& [bank, wait] : {std::pair{std::size_t{2}, 113}, {kFarBank, 11}}) {
        CommandPath path(told.config, nullptr);
        path.on_first_request(kFirst);
        path.on_command(0, Command::Activate, 0, 7, kFirst);
        path.on_command(0, Command::RefreshBank, 2, device::kNoRow, kFirst + 2);
        path.on_command(0, Command::Activate, bank, 7, kFirst + 2 + wait);
        path.on_column(0, Command::Read, bank, 7, kFirst + 2 + wait + 29, {});
        EXPECT_EQ(path.path().spent(MemoryPart::Refresh), wait);
        EXPECT_EQ(path.path().spent(MemoryPart::CommandBus), 2);
    }
}

TEST(CommandPath, TheCommandBusCarriesOneAtATime) {
    Told told;
    told.go(Command::Activate, kFirst);
    told.column(Command::Read, kFirst + 29);
    told.go(Command::Activate, kFirst + 32, kFarBank);
    told.column(Command::Read, kFirst + 32 + 29, kFarBank);
    told.expect({{MemoryPart::Rows, 29 + 29},
                 {MemoryPart::CommandBus, 3},
                 {MemoryPart::Requests, 23},
                 {MemoryPart::DataBus, 4}});
}

// tFAW lets it go at 143, when the read still holds the bus.
TEST(CommandPath, AMomentOnTheCommandBusDoesNotLeadElsewhere) {
    Told told;
    told.go(Command::Activate, kFirst);
    told.go(Command::Activate, kFirst + 5, 4);
    told.go(Command::Activate, kFirst + 10, 8);
    told.go(Command::Activate, kFirst + 15, 12);
    told.column(Command::Read, kFirst + 42);
    told.go(Command::Activate, kFirst + 45, 1);
    told.column(Command::Read, kFirst + 45 + 29, 1);
    told.expect({{MemoryPart::Activates, 43},
                 {MemoryPart::CommandBus, 2},
                 {MemoryPart::Rows, 29},
                 {MemoryPart::Requests, 23},
                 {MemoryPart::DataBus, 4}});
}

// Which comes an answer's way later, and waits for none of the memory's.
TEST(CommandPath, ARequestComesForAnotherThatWasDone) {
    Told told;
    told.go(Command::Activate, kFirst);
    told.column(Command::Read, kFirst + 29);
    const std::int64_t done = kFirst + 29 + kAnswer;
    told.path.on_next_request(false, done, done + 100);
    told.go(Command::Activate, done + 100, kFarBank);
    told.column(Command::Read, done + 100 + 29, kFarBank);
    told.expect({{MemoryPart::Rows, 29 + 29},
                 {MemoryPart::Requests, 23 + 100 + 23},
                 {MemoryPart::DataBus, 4 + 4}});
    EXPECT_EQ(told.path.path().in_turn(), 29 + kAnswer + 100);
}

// It was opened for another one, whatever it waited for then.
TEST(CommandPath, OfItsOwnIsWhatNoOtherRequestHasAPartIn) {
    Told told;
    told.go(Command::Activate, kFirst);
    told.column(Command::Read, kFirst + 29);
    told.go(Command::Precharge, kFirst + 67);
    told.go(Command::Activate, kFirst + 101);
    told.column(Command::Read, kFirst + 101 + 29);
    const std::int64_t done = kFirst + 101 + 29 + kAnswer;
    told.path.on_next_request(false, done, done + 100);
    told.go(Command::Activate, done + 100, kFarBank);
    told.column(Command::Read, done + 100 + 29, kFarBank);
    EXPECT_EQ(told.path.path().in_turn(), 29 + kAnswer + 100);
}

TEST(CommandPath, AWriteTakenAtOnceLetsTheNextComeAndOneThatWaitedDoesOnceThereIsRoom) {
    Told told;
    told.path.on_next_request(true, kFirst, kFirst + 100);
    told.go(Command::Activate, kFirst + 100);
    told.column(Command::Write, kFirst + 100 + 29);
    told.path.on_next_request(true, kFirst + 130, kFirst + 230);
    told.go(Command::Activate, kFirst + 230, kFarBank);
    told.column(Command::Write, kFirst + 230 + 29, kFarBank);
    told.expect({{MemoryPart::Rows, 29 + 29},
                 {MemoryPart::Requests, 100 + 101 + 19},
                 {MemoryPart::DataBus, 4}});
    EXPECT_EQ(told.path.path().in_turn(), 230);
}

// What others go on to ask for comes later.
TEST(CommandPath, TheLastAnswerMayComeBeforeTheLastData) {
    Told told;
    told.go(Command::Activate, kFirst);
    told.column(Command::Read, kFirst + 29);
    told.path.on_last_answer(false, kFirst + 29 + kAnswer);
    told.column(Command::Read, kFirst + 500);
    const MemoryPath path = told.path.to_last_answer();
    EXPECT_EQ(path.until(), kFirst + 29 + kAnswer);
    EXPECT_EQ(path.spent(MemoryPart::Rows), 29);
    EXPECT_EQ(sum_of(path), 29 + kAnswer);
}

TEST(CommandPath, WhatWaitedForARequestOfAnotherWaitedForTheOthers) {
    Told told;
    told.path.on_other_request(kFirst + 17);
    told.go(Command::Activate, kFirst + 17);
    told.path.on_other_request(kFirst + 300);
    told.column(Command::Read, kFirst + 300);
    told.column(Command::Read, kFirst + 300 + 13);
    told.expect({{MemoryPart::Rows, 29},
                 {MemoryPart::Others, 300 - 29},
                 {MemoryPart::DataBus, 13 + 4},
                 {MemoryPart::Requests, 23}});
}

// Of those that come at the same time one's own is followed.
TEST(CommandPath, ARequestOfAnotherHidesNoneOfItsOwn) {
    for (const bool before : {true, false}) {
        Told told;
        told.go(Command::Activate, kFirst);
        told.column(Command::Read, kFirst + 29);
        const std::int64_t done = kFirst + 29 + kAnswer;
        if (before) {
            told.path.on_other_request(done + 100);
        }
        told.path.on_next_request(false, done, done + 100);
        if (!before) {
            told.path.on_other_request(done + 100);
        }
        told.column(Command::Read, done + 100);
        EXPECT_EQ(told.path.path().spent(MemoryPart::Others), 0) << before;
    }
}

TEST(CommandPath, NeedsAreWhatTheCommandsTakeAtLeast) {
    Told told;
    told.go(Command::Activate, kFirst);
    told.column(Command::Read, kFirst + 500);
    told.column(Command::Read, kFirst + 600);
    told.column(Command::Write, kFirst + 700);
    told.go(Command::Precharge, kFirst + 900);
    told.go(Command::Activate, kFirst + 1000);
    const ChannelNeeds needs = told.path.needs().front();
    EXPECT_EQ(needs.data_bus, 13 + 13 + 37);  // of one group, more than 3 x 11
    EXPECT_EQ(needs.turns, 2);
    EXPECT_EQ(needs.rows, (29 + 19 + 4 + 41 + 31) + 29);
    EXPECT_EQ(needs.activates, 2 * 10);  // a quarter of tFAW
    EXPECT_EQ(needs.command_bus, 2 * 2 + 3 * 3 + 1);
}

TEST(CommandPath, NothingIsHeardBeforeTheFirstRequest) {
    const device::MemoryConfig config = device::prime_device();
    CommandPath path(config, nullptr);
    path.on_command(0, Command::Activate, 0, 7, kFirst);
    path.on_column(0, Command::Read, 0, 7, kFirst + 29, {});
    EXPECT_EQ(sum_of(path.path()), 0);
    EXPECT_EQ(path.needs().front().command_bus, 0);
    path.on_first_request(kFirst + 200);
    path.on_command(0, Command::Activate, kFarBank, 7, kFirst + 200);
    path.on_column(0, Command::Read, kFarBank, 7, kFirst + 200 + 29, {});
    EXPECT_EQ(path.path().spent(MemoryPart::Rows), 29);
    EXPECT_EQ(sum_of(path.path()), 29 + kAnswer);
}

// Of a request that was under way before.
TEST(CommandPath, ACommandThatWaitedForNothingHeardOfBeginsThePath) {
    Told told;
    told.go(Command::Activate, kFirst + 50);
    told.column(Command::Read, kFirst + 50 + 29);
    EXPECT_EQ(told.path.path().spent(MemoryPart::Rows), 29);
    EXPECT_EQ(sum_of(told.path.path()), 29 + kAnswer);
}

// Whatever the stream, the policy and the memory.
TEST(CommandPath, ItsPartsAddUpToTheTime) {
    for (const std::int64_t outstanding : {1, 8, 256}) {
        for (const char* const page : {"open", "closed_adaptive", "timeout"}) {
            for (const bool partial : {false, true}) {
                device::MemoryConfig config;
                config.controller.page_policy = page;
                config.controller.refresh_policy = partial ? "per_bank" : "all_bank";
                config.timing.tRFC_pb = base::Cycles{113};
                config.ranks = partial ? 2 : 1;
                if (partial) {
                    config.mapping.push_back({device::AddressField::Rank, 1});
                }
                traffic::StreamConfig stream;
                stream.pattern = traffic::StreamConfig::Pattern::Random;
                stream.requests = 3000;
                stream.write_permille = 300;
                stream.outstanding = outstanding;
                base::EventQueue queue;
                base::stats::Group root("");
                MemorySystem memory(config, traffic::StreamDriver::latency(config), queue, root);
                CommandPath path(config, nullptr);
                memory.listen(&path);
                traffic::StreamDriver driver(stream, memory);
                driver.listen(&path, 0);
                driver.start();
                while (!queue.empty()) {
                    queue.run_until(queue.next_time());
                }
                const base::Clock clock(config.clock);
                EXPECT_EQ(clock.time_of(base::Cycles{kFirst + sum_of(path.path())}) -
                              clock.time_of(base::Cycles{kFirst}),
                          driver.result().time);
                EXPECT_LE(path.path().in_turn(), sum_of(path.path()));
                EXPECT_EQ(outstanding > 8, path.path().in_turn() < sum_of(path.path()) / 2);
            }
        }
    }
}

}  // namespace
}  // namespace tilesim::arch::memory::controller
