// What streams of bursts cost on every shipped memory, in every mode of its banks: exact, from the
// numbers of its file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "arch/base/config.hpp"
#include "arch/memory/controller/channel_bench_testing.hpp"
#include "arch/memory/controller/memory_config_reader.hpp"
#include "arch/memory/policy/partial_refresh.hpp"

namespace tilesim::arch::memory::controller {
namespace {

using base::Cycles;

constexpr std::int64_t kBegin = 1000;

// A memory of configs/devices in one of its modes. Every test's process makes the whole list, so
// that it reads no more than it must.
struct Shipped {
    std::filesystem::path file;
    std::string mode;  // none: as the file has it
    std::string name() const { return file.stem().string() + (mode.empty() ? "" : "_") + mode; }
};

void PrintTo(const Shipped& shipped, std::ostream* out) {
    *out << shipped.name();
}

std::vector<Shipped> shipped() {
    std::vector<Shipped> list;
    const std::filesystem::path folder = std::string{TILESIM_SOURCE_DIR} + "/configs/devices";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string text = base::config::read_file(entry.path().string());
        if (text.find("\nkind: memory\n") == std::string::npos) {
            continue;
        }
        list.push_back({entry.path(), ""});
        if (text.find("\n  bank_modes:") == std::string::npos) {
            continue;
        }
        auto document = base::config::Document::load(entry.path().string());
        for (const std::string& mode :
             document.root().child("memory", "").child("bank_modes", "").keys()) {
            list.push_back({entry.path(), mode});
        }
    }
    std::sort(list.begin(), list.end(),
              [](const Shipped& a, const Shipped& b) { return a.name() < b.name(); });
    return list;
}

// To the fastest clock of a mode of the banks that has one.
void slow_down_for(const std::string& mode, base::config::Document& document) {
    base::config::Node root = document.root();
    base::config::Node of_mode = root.child("memory", "").child("bank_modes", "").child(mode, "");
    std::string clock;
    of_mode.optional("clock_up_to", clock, "");
    if (!clock.empty()) {
        document.override_value("memory.clock", clock, "test");
    }
}

device::MemoryConfig read(const Shipped& shipped) {
    auto document = base::config::Document::load(shipped.file.string());
    if (!shipped.mode.empty()) {
        document.override_value("memory.bank_mode", shipped.mode, "test");
        slow_down_for(shipped.mode, document);
    }
    device::MemoryConfig config = read_memory_config(document.root().child("memory", ""));
    document.finish();
    config.refresh = false;
    return config;
}

class Streams : public testing::TestWithParam<Shipped> {
  protected:
    Streams() { bench.config = config; }

    // The RD, WR, ACT ... in order.
    std::vector<std::int64_t> times(device::Command command) {
        std::vector<std::int64_t> list;
        for (const Heard& each : bench.heard) {
            if (each.command == command) {
                list.push_back(each.when);
            }
        }
        return list;
    }

    const device::MemoryConfig config = read(GetParam());
    Bench bench;
    const device::DramTiming& t = config.timing;
    std::int64_t groups = config.bank_groups;
    std::int64_t group_size = config.banks_per_group;
    Cycles to_write = t.tRCD_WR.count() > 0 ? t.tRCD_WR : t.tRCD;
};
INSTANTIATE_TEST_SUITE_P(Shipped, Streams, testing::ValuesIn(shipped()),
                         [](const auto& one) { return one.param.name(); });

TEST_P(Streams, AReadAloneTakesActivateLatencyAndBurst) {
    bench.arrive(kBegin, 0, 7);
    bench.run();
    EXPECT_EQ(bench.channel().data_end(), kBegin + (t.tRCD + t.read_latency + t.burst).count());
}

// Rows that stay open, one in each group: a burst every tCCD_S, or tCCD_L where a group's turn
// comes again before.
TEST_P(Streams, SequentialReadsKeepTheDataBusAsBusyAsTheirSpacingLets) {
    constexpr std::int64_t kRound = 64;  // bursts of each group
    for (std::int64_t i = 0; i < kRound * groups; ++i) {
        bench.arrive(kBegin, static_cast<std::size_t>(i % groups * group_size), 7);
    }
    bench.run();
    const auto reads = times(device::Command::Read);
    ASSERT_EQ(std::ssize(reads), kRound * groups);
    const std::size_t half = reads.size() / 2;
    const std::int64_t spacing = std::max({t.tCCD_S, t.column_command, Cycles{1}}).count();
    const std::int64_t round = std::max(spacing * groups, t.tCCD_L.count());
    EXPECT_EQ(reads.back() - reads[half - 1], round * static_cast<std::int64_t>(half) / groups);
}

TEST_P(Streams, WithoutGroupsNothingIsLongerInOne) {
    if (groups == 1) {
        EXPECT_EQ(t.tCCD_L, t.tCCD_S);
        EXPECT_EQ(t.tCCD_L_WR, t.tCCD_S);
        EXPECT_EQ(t.tRRD_L, t.tRRD_S);
        EXPECT_EQ(t.tWTR_L, t.tWTR_S);
    }
}

TEST_P(Streams, RowsOfABankCostARowCycleEach) {
    constexpr std::int64_t kRows = 20;
    for (const bool write : {false, true}) {
        Bench one;
        one.config = config;
        for (std::int64_t row = 0; row < kRows; ++row) {
            one.arrive(kBegin, 0, row, write);
        }
        one.run();
        const Cycles open = write ? to_write + t.write_latency + t.burst + t.tWR : t.tRCD + t.tRTP;
        const Cycles cycle = std::max(t.tRC, std::max(t.tRAS, open) + t.tRP);
        const Cycles last = write ? to_write + t.write_latency : t.tRCD + t.read_latency;
        EXPECT_EQ(one.channel().data_end(), kBegin + (cycle * (kRows - 1) + last + t.burst).count())
            << write;
    }
}

// Every burst opens a row, group after group, and closes it by itself: four ACTs in tFAW or a tRRD
// apart, or the banks' row cycles where there are too few of them. Rows and columns have pins of
// their own here: on common ones the phase of one to the other may cost some CK more.
TEST_P(Streams, RowMissesOverAllBanksAreBoundByTheirActivates) {
    bench.config.controller.page_policy = "closed_adaptive";
    bench.config.split_command_bus = true;
    const std::int64_t banks = bench.config.banks_per_rank();
    constexpr std::int64_t kRounds = 24;
    for (std::int64_t i = 0; i < kRounds * banks; ++i) {
        const std::int64_t group = i % groups;
        const std::int64_t bank = i / groups % group_size;
        bench.arrive(kBegin, static_cast<std::size_t>(group * group_size + bank), i / banks);
    }
    bench.run();
    const auto acts = times(device::Command::Activate);
    ASSERT_EQ(std::ssize(acts), kRounds * banks);
    const Cycles spacing = groups > 1 ? t.tRRD_S : t.tRRD_L;
    const Cycles activates = std::max(t.tFAW, spacing * 4) * (banks / 4);
    const Cycles row = std::max(t.tRC, std::max(t.tRAS, t.tRCD + t.tRTP) + t.tRP);
    const std::int64_t round = std::max({activates, row, t.tCCD_S * banks}).count();
    const auto at = [&](std::int64_t n) { return acts[static_cast<std::size_t>(n * banks)]; };
    EXPECT_EQ(at(kRounds - 1) - at(kRounds / 2), round * (kRounds - 1 - kRounds / 2));
}

TEST_P(Streams, AReadBehindAWriteWaitsForTheTurnOfItsGroup) {
    const std::int64_t write_at = kBegin + to_write.count();
    for (const std::int64_t other : {std::int64_t{0}, group_size}) {
        if (other >= bench.config.banks_per_rank()) {
            continue;  // no groups
        }
        Bench one;
        one.config = config;
        constexpr std::int64_t kOpened = 300;  // CK before: both rows are open
        one.arrive(kBegin - kOpened, static_cast<std::size_t>(other), 7);
        one.arrive(kBegin, 1, 7, true);
        one.arrive(write_at + 1, static_cast<std::size_t>(other), 7);
        one.run();
        const Cycles turn = other == 0 ? t.tWTR_L : t.tWTR_S;
        EXPECT_EQ(one.heard.back(), (Heard{device::Command::Read, static_cast<std::size_t>(other),
                                           write_at + (t.write_latency + t.burst + turn).count()}));
    }
}

TEST_P(Streams, AWriteBehindAReadWaitsForItsDataAndTheTurn) {
    const std::int64_t read_at = kBegin + t.tRCD.count();
    constexpr std::int64_t kOpened = 300;
    bench.arrive(kBegin - kOpened, 1, 7);
    bench.arrive(kBegin, 0, 7);
    bench.arrive(read_at + 1, 1, 7, true);
    bench.run();
    EXPECT_EQ(bench.heard.back(),
              (Heard{device::Command::Write, 1,
                     read_at + (t.read_latency + t.burst + t.tRTW - t.write_latency).count()}));
}

// --- refresh: a burst that comes when one begins -------------------------------------------------

TEST_P(Streams, ABurstWaitsForARefreshOfAllBanks) {
    bench.config.refresh = true;
    bench.config.controller.refresh_first = Cycles{kBegin};
    bench.arrive(kBegin, 0, 7);
    bench.run(kBegin + 2 * t.tRFC.count());
    EXPECT_EQ(bench.channel().data_end(),
              kBegin + (t.tRFC + t.tRCD + t.read_latency + t.burst).count());
}

TEST_P(Streams, ABurstWaitsForARefreshOfItsBankAndOthersForTheirSpacing) {
    const std::int64_t banks = config.banks_per_rank();
    const std::pair<const char*, std::int64_t> policies[] = {
        {"per_bank", t.tREFI.count() / banks},
        {"bank_pair", t.tREFI.count() * 2 / banks},
        {"same_bank", t.tREFI.count() / 2 / group_size}};
    for (const auto& [policy, interval] : policies) {
        for (const std::size_t bank : {0U, 1U}) {
            Bench one;
            one.config = config;
            if (t.tRFC_pb.count() == 0 || interval <= t.tRFC_pb.count()) {
                continue;  // not of this standard: the next one would begin before its end
            }
            one.config.refresh = true;
            one.config.controller.refresh_policy = policy;
            one.config.controller.refresh_first = Cycles{kBegin};
            one.arrive(kBegin, bank, 7);  // the first round has bank 0, and not bank 1
            one.run(kBegin + 2 * t.tRFC_pb.count());
            const Cycles wait = bank == 0 ? t.tRFC_pb : t.tREFpb_to_ACT;
            EXPECT_EQ(one.channel().data_end(),
                      kBegin + (wait + t.tRCD + t.read_latency + t.burst).count())
                << policy << " of bank " << bank;
        }
    }
}

// A stream over one row, refreshed: as long as it takes to close and open the row around each.
TEST_P(Streams, SequentialReadsLoseToEachRefreshItsTimeAndTheRows) {
    bench.config.refresh = true;
    bench.config.controller.refresh_first = Cycles{kBegin + 500};
    constexpr std::int64_t kBursts = 9000;
    for (std::int64_t i = 0; i < kBursts; ++i) {
        bench.arrive(kBegin, 0, 7);
    }
    bench.run(10'000'000);
    std::int64_t due = kBegin + 500;
    std::int64_t opened = kBegin;
    std::int64_t read = kBegin + t.tRCD.count();
    const std::int64_t spacing = std::max(t.tCCD_L, t.column_command).count();
    for (std::int64_t i = 1; i < kBursts; ++i) {
        if (read + spacing < due) {
            read += spacing;
            continue;
        }
        const std::int64_t closed = std::max({due, read + t.tRTP.count(), opened + t.tRAS.count()});
        const std::int64_t refreshed = std::max(
            closed + (t.tRPab.count() > 0 ? t.tRPab : t.tRP).count(), opened + t.tRC.count());
        opened = refreshed + t.tRFC.count();
        read = opened + t.tRCD.count();
        due += t.tREFI.count();
    }
    EXPECT_EQ(times(device::Command::Read).back(), read);
    EXPECT_GT(times(device::Command::Refresh).size(), 1U);
}

}  // namespace
}  // namespace tilesim::arch::memory::controller
