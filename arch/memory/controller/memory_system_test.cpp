#include "arch/memory/controller/memory_system.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/memory/controller/memory_config_reader.hpp"
#include "arch/memory/device/legality_checker.hpp"
#include "arch/memory/policy/page_policies.hpp"
#include "arch/memory/policy/schedulers.hpp"
#include "arch/memory/traffic/stream_driver.hpp"

namespace tilesim::arch::memory::controller {
namespace {

device::MemoryConfig device(const std::string& name) {
    auto document = base::config::Document::load(std::string{TILESIM_SOURCE_DIR} +
                                                 "/configs/devices/" + name + ".yaml");
    return read_memory_config(document.root().child("memory", ""));
}

// Each channel's commands, checked.
class Checkers final : public CommandListener {
  public:
    explicit Checkers(const device::MemoryConfig& config)
        : checkers_(static_cast<std::size_t>(config.channels), device::LegalityChecker(config)) {}

    void on_command(std::size_t channel, device::Command command, std::size_t bank,
                    std::int64_t row, std::int64_t now) override {
        checkers_[channel].hear({command, bank, row, now});
    }
    std::int64_t commands() const {
        std::int64_t sum = 0;
        for (const device::LegalityChecker& checker : checkers_) {
            EXPECT_THAT(checker.violations(), testing::IsEmpty());
            sum += checker.commands();
        }
        return sum;
    }

  private:
    std::vector<device::LegalityChecker> checkers_;
};

struct Outcome {
    traffic::StreamResult result;
    port::MemoryTotals totals;
    std::int64_t commands;
    port::BankUse banks;
};

Outcome run(const device::MemoryConfig& config, const traffic::StreamConfig& stream,
            bool check = false) {
    base::EventQueue queue;
    base::stats::Group root("");
    MemorySystem memory(config, traffic::StreamDriver::latency(config), queue, root);
    Checkers checkers(config);
    if (check) {
        memory.listen(&checkers);
    }
    traffic::StreamDriver driver(stream, memory);
    driver.start();
    while (!driver.finished() && !queue.empty()) {
        queue.run_until(queue.next_time());
    }
    EXPECT_TRUE(driver.finished());
    memory.finish_statistics();
    for (const auto& channel : memory.channels()) {
        EXPECT_GE(channel->stats().bus.spent(0), 0);
        port::BankCounts sum;
        for (const port::BankCounts& bank : channel->bank_counts()) {
            sum += bank;
        }
        EXPECT_EQ(sum.activates, channel->stats().activates.value());
        EXPECT_EQ(sum.reads, channel->stats().reads.value());
        EXPECT_EQ(sum.writes, channel->stats().writes.value());
    }
    return {driver.result(), memory.totals(), checkers.commands(), memory.bank_use()};
}

class Devices : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Shipped, Devices,
                         testing::Values("ddr5_5600", "lpddr5x_7500", "hbm3_6400"));

TEST_P(Devices, IdleReadTakesExactlyActivateColumnAndBurst) {
    const device::MemoryConfig config = device(GetParam());
    traffic::StreamConfig stream;
    stream.requests = 1;
    stream.granule = config.burst;
    const device::DramTiming& t = config.timing;
    const base::Clock clock{config.clock};
    EXPECT_EQ(clock.cycle_at(run(config, stream).result.latency_max + base::Femtoseconds{1}),
              t.tRCD + t.read_latency + t.burst);
}

TEST_P(Devices, SequentialReadsReachThePeakWithoutRefresh) {
    device::MemoryConfig config = device(GetParam());
    config.refresh = false;
    traffic::StreamConfig stream;
    stream.requests = 200'000;
    stream.granule = config.burst;
    stream.outstanding = 256 * config.channels;  // hides the latency of the fastest
    const Outcome outcome = run(config, stream);
    const double seconds = static_cast<double>(outcome.result.time.count()) * 1e-15;
    const double share =
        static_cast<double>(outcome.result.bytes) / seconds / config.peak_bytes_per_second();
    EXPECT_LE(share, 1.0);
    EXPECT_GE(share, 0.97);
}

TEST_P(Devices, CommandsAreLegalUnderEveryPolicy) {
    for (const auto& [scheduler_name, scheduler] : policy::Schedulers::names()) {
        for (const auto& [page_name, page] : policy::PagePolicies::names()) {
            SCOPED_TRACE(scheduler + " and " + page);
            device::MemoryConfig config = device(GetParam());
            config.controller.scheduler = scheduler;
            config.controller.page_policy = page;
            traffic::StreamConfig stream;
            stream.pattern = traffic::StreamConfig::Pattern::Random;
            stream.requests = 3'000;
            stream.granule = config.burst;
            stream.range = base::Bytes{1 << 20};
            stream.write_permille = 300;
            const Outcome outcome = run(config, stream, true);
            EXPECT_GT(outcome.commands, stream.requests);
            EXPECT_EQ(outcome.totals.bytes_read + outcome.totals.bytes_written,
                      outcome.totals.bytes_requested);
        }
    }
}

// One channel of several has all requests.
TEST_P(Devices, ChannelsWithoutRequestsAreRefreshedToTheEnd) {
    const device::MemoryConfig config = device(GetParam());
    traffic::StreamConfig stream;
    stream.requests = 200;
    stream.granule = stream.range = config.burst;
    stream.outstanding = 1;
    const Outcome outcome = run(config, stream, true);
    const base::Cycles end = base::Clock{config.clock}.cycle_at(outcome.result.time);
    const std::int64_t intervals = end.count() / config.timing.tREFI.count();
    EXPECT_GE(intervals, 2);
    EXPECT_NEAR(static_cast<double>(outcome.totals.refreshes),
                static_cast<double>(config.channels) * (static_cast<double>(intervals) + 0.5),
                0.5 * static_cast<double>(config.channels));
}

// One DDR burst on every data bus of the stack: 16 channels x 64 bit x 6.4 Gb/s.
TEST(Hbm3, PeaksAt819GigabytesASecond) {
    EXPECT_DOUBLE_EQ(device("hbm3_6400").peak_bytes_per_second(), 16 * 8 * 6.4e9);
}

// First come, first served in a closed form: every burst opens a row of its own bank.
TEST(Schedulers, StrictOrderCostsARowCycleABurst) {
    device::MemoryConfig config = device("ddr5_5600");
    config.channels = 1;
    config.mapping = {{device::AddressField::Column, 6},
                      {device::AddressField::BankGroup, 3},
                      {device::AddressField::Bank, 2},
                      {device::AddressField::Row, 16}};
    config.refresh = false;
    config.bank_hash = false;
    traffic::StreamConfig stream;
    stream.pattern = traffic::StreamConfig::Pattern::Strided;
    stream.granule = config.burst;
    stream.stride = config.row * config.banks();  // the next row of the same bank
    stream.requests = 1000;
    const device::DramTiming& t = config.timing;
    const base::Clock clock{config.clock};
    for (const char* scheduler : {"fcfs", "fr_fcfs"}) {
        config.controller.scheduler = scheduler;
        EXPECT_EQ(clock.cycle_at(run(config, stream).result.time + base::Femtoseconds{1}),
                  t.tRC * 999 + t.tRCD + t.read_latency + t.burst);
    }
    // The next bank group's row: only strict order still waits for each read before the next ACT.
    stream.stride = config.row;
    stream.requests = 8;
    config.controller.scheduler = "fcfs";
    EXPECT_EQ(clock.cycle_at(run(config, stream).result.time + base::Femtoseconds{1}),
              (t.tRCD + t.column_command) * 7 + t.tRCD + t.read_latency + t.burst);
    config.controller.scheduler = "fr_fcfs";
    EXPECT_EQ(clock.cycle_at(run(config, stream).result.time + base::Femtoseconds{1}),
              // The first RD is due with the sixth ACT (5 x tRRD_S = tRCD), which gives way to it.
              t.tRRD_S * 7 + t.column_command + t.tRCD + t.read_latency + t.burst);
}

TEST_P(Devices, EveryCommandIsCountedAtItsBank) {
    const device::MemoryConfig config = device(GetParam());
    traffic::StreamConfig stream;
    stream.requests = 7;
    stream.granule = config.burst;
    std::vector<std::vector<port::BankCounts>> expected(
        static_cast<std::size_t>(config.channels),
        std::vector<port::BankCounts>(static_cast<std::size_t>(config.banks())));
    const device::AddressMap map(config);
    for (std::int64_t burst = 0; burst < stream.requests; ++burst) {
        const device::Location where = map.locate(burst);
        port::BankCounts& bank = expected[where.channel()][where.bank()];
        bank.activates = 1;  // all lie in row 0
        ++bank.reads;
    }
    const port::BankUse use = run(config, stream).banks;
    EXPECT_EQ(use.banks_per_group, config.banks_per_group);
    EXPECT_EQ(use.channels, expected);
}

TEST_P(Devices, RunsRepeatBitForBit) {
    traffic::StreamConfig stream;
    stream.pattern = traffic::StreamConfig::Pattern::Random;
    stream.requests = 5'000;
    stream.write_permille = 300;
    EXPECT_EQ(run(device(GetParam()), stream).result.time,
              run(device(GetParam()), stream).result.time);
}

TEST_P(Devices, MisalignedRequestsCostWholeBursts) {
    const device::MemoryConfig config = device(GetParam());
    traffic::StreamConfig stream;
    stream.requests = 10;
    stream.granule = base::Bytes{4};
    stream.pattern = traffic::StreamConfig::Pattern::Strided;
    const Outcome outcome = run(config, stream);
    EXPECT_EQ(outcome.totals.bytes_requested, 40);
    EXPECT_EQ(outcome.totals.bytes_read, 10 * config.burst.count());
}

// Submits three further writes as soon as it hears that one is complete.
class Breeder final : public port::MemoryClient {
  public:
    static constexpr std::uint64_t kWrites = 1000;

    Breeder(const device::MemoryConfig& config, base::EventQueue& queue, base::stats::Group& stats)
        : memory(config, kLatency, queue, stats), queue_(queue) {}

    void submit_next() {
        if (submitted_ < kWrites) {
            constexpr std::int64_t kFarApart = 1 << 20;
            const auto address = static_cast<std::int64_t>(submitted_) * kFarApart;
            memory.submit({address, 256, true, this, submitted_, queue_.now() + 2 * kLatency});
            ++submitted_;
        }
    }
    void on_memory_complete(std::uint64_t tag, base::Femtoseconds) override {
        completed.push_back(tag);
        for (int i = 0; i < 3; ++i) {
            submit_next();
        }
    }

    MemorySystem memory;
    std::vector<std::uint64_t> completed;

  private:
    static constexpr base::Femtoseconds kLatency{100'000'000};
    base::EventQueue& queue_;
    std::uint64_t submitted_ = 0;
};

TEST_P(Devices, AClientMaySubmitWhileItIsToldOfAnother) {
    base::EventQueue queue;
    base::stats::Group root("");
    Breeder breeder(device(GetParam()), queue, root);
    breeder.submit_next();
    queue.run_until(base::Femtoseconds{1'000'000'000'000});
    EXPECT_TRUE(breeder.memory.idle());
    std::vector<std::uint64_t> all(Breeder::kWrites);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_THAT(breeder.completed, testing::UnorderedElementsAreArray(all));
}

TEST(MemoryConfig, BrokenRelationsAreNamed) {
    auto document = base::config::Document::parse(
        "memory: {timing: {tRAS: 12 cycle, tREFI: 100 cycle}}\n", "f.yaml");
    read_memory_config(document.root().child("memory", ""));
    try {
        document.finish();
        FAIL();
    } catch (const base::config::ConfigError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("tRAS: must be at least tRCD"), std::string::npos);
        EXPECT_NE(text.find("tREFI: must be above tRFC"), std::string::npos);
    }
}

std::string errors_of(const std::string& memory) {
    auto document = base::config::Document::parse("memory: " + memory + "\n", "f.yaml");
    read_memory_config(document.root().child("memory", ""));
    try {
        document.finish();
    } catch (const base::config::ConfigError& error) {
        return error.what();
    }
    return {};
}

TEST(MemoryConfig, AMappingWithTheWrongNumberOfBitsIsToldHowManyItNeeds) {
    EXPECT_THAT(errors_of("{channels: 2}"),
                testing::HasSubstr("has 2 bits for 2 channels, which need 1"));
    EXPECT_THAT(errors_of("{rows: 131072}"),
                testing::HasSubstr("has 16 bits for 131072 rows, which need 17"));
    EXPECT_THAT(errors_of("{channels: 6}"),
                testing::HasSubstr("cannot share addresses out to 6 channels"));
    EXPECT_EQ(errors_of("{channels: 4}"), "");
}

// 32 banks in four of a group: a refresh of one bank every 10 CK, of a pair every 20, of the same
// bank of each group, which has to be through twice as fast, every 40.
TEST(MemoryConfig, RefreshesOfSomeBanksAreDueNoFasterThanTheyMayFollowEachOther) {
    const auto with = [](const std::string& policy, int apart) {
        return errors_of(
            fmt::format("{{timing: {{tREFI: 320 cycle, tRFC: 5 cycle, tRFC_pb: 5 cycle, "
                        "tREFpb_to_REFpb: {} cycle}}, controller: {{refresh_policy: {}}}}}",
                        apart, policy));
    };
    for (const auto& [policy, interval] :
         {std::pair{"per_bank", 10}, {"bank_pair", 20}, {"same_bank", 40}}) {
        EXPECT_EQ(with(policy, interval), "");
        EXPECT_THAT(with(policy, interval + 1), testing::HasSubstr("at least"));
    }
    EXPECT_EQ(with("all_bank", 41), "");
    EXPECT_THAT(errors_of("{timing: {tREFI: 31 cycle, tRFC: 5 cycle, tRFC_pb: 5 cycle}, "
                          "controller: {refresh_policy: per_bank}}"),
                testing::HasSubstr("has 0 cycle"));
}

TEST(MemoryConfig, APairOfBanksNeedsTwo) {
    EXPECT_THAT(errors_of("{bank_groups: 1, banks_per_group: 1, mapping: [channel, column, row], "
                          "timing: {tRFC_pb: 5 cycle}, controller: {refresh_policy: bank_pair}}"),
                testing::HasSubstr("needs two banks"));
    EXPECT_EQ(errors_of("{timing: {tRFC_pb: 5 cycle}, controller: {refresh_policy: bank_pair}}"),
              "");
}

TEST(MemoryConfig, AFieldWithoutANumberTakesTheBitsThatAreLeft) {
    const std::string mapping =
        ", mapping: [bank_group:1, column:1, channel, bank_group, column, bank, row]}";
    for (const char* count : {"{channels: 1", "{channels: 16", "{rows: 1024", "{row: 8 KiB",
                              "{bank_groups: 2, channels: 2"}) {
        EXPECT_EQ(errors_of(count + mapping), "") << count;
    }
    auto document =
        base::config::Document::parse("memory: {channels: 16" + mapping + "\n", "f.yaml");
    const auto config = read_memory_config(document.root().child("memory", ""));
    EXPECT_EQ(config.mapping[2].bits, 4);
    EXPECT_EQ(config.mapping[3].bits, 2);  // of eight bank groups, one bit stands below
    EXPECT_THAT(errors_of("{mapping: [channel, channel, column:6, bank_group:3, bank:2, row]}"),
                testing::HasSubstr("stands twice without a number"));
    // Of what is wrong itself, nothing is said of what does not add up then.
    EXPECT_THAT(errors_of("{mapping: [column, colum]}"), testing::EndsWith("got 'colum'"));
    EXPECT_THAT(errors_of("{mapping: column}"), testing::EndsWith("must be a list, got a value"));
    EXPECT_THAT(errors_of("{mapping: []}"), testing::EndsWith("fields of an address, got none"));
    EXPECT_THAT(errors_of("{channels: 6" + mapping),
                testing::HasSubstr("cannot share addresses out to 6 channels"));
}

TEST(MemoryConfig, AModeOfTheBanksChangesTheirNumbersAndNamesWhatItOverrules) {
    const std::string modes =
        ", rows: 65536, bank_modes: {wide: {}, eight: {clock_up_to: 3 GHz, bank_groups: 1, "
        "banks_per_group: 8, row: 8 KiB, burst: 128 B, mapping: [column, bank, channel, row], "
        "timing: {burst: 16 cycle, tCCD_S: 16 cycle, tCCD_L: 17 cycle}}}}";
    const auto read = [&](const std::string& chosen) {
        auto document =
            base::config::Document::parse("memory: {" + chosen + modes + "\n", "f.yaml");
        const auto config = read_memory_config(document.root().child("memory", ""));
        document.finish();
        return config;
    };
    const device::MemoryConfig wide = read("bank_mode: wide");
    EXPECT_EQ(wide.banks(), 32);
    EXPECT_EQ(wide.timing.tCCD_L, base::Cycles{14});
    // What a mode leaves to the numbers beside it counts no more than what it gives.
    EXPECT_THAT(wide.overruled, testing::IsSupersetOf({"memory.bank_modes.eight.timing.tCCD_L",
                                                       "memory.bank_modes.eight.timing.tWTR_S",
                                                       "memory.bank_modes.wide.clock_up_to"}));
    EXPECT_THAT(wide.of_mode, testing::Contains("tWTR_S"));
    const device::MemoryConfig eight = read("bank_mode: eight");
    EXPECT_EQ(eight.banks(), 8);
    EXPECT_EQ(eight.row, base::Bytes{8192});
    EXPECT_EQ(eight.timing.tCCD_L, base::Cycles{17});
    EXPECT_EQ(eight.timing.tRRD_L, base::Cycles{14});  // as it was
    EXPECT_EQ(eight.capacity() + eight.capacity(), wide.capacity());
    EXPECT_THAT(eight.overruled, testing::AllOf(testing::Contains("memory.timing.tCCD_L"),
                                                testing::Contains("memory.row")));
    EXPECT_THAT(errors_of("{bank_mode: four" + modes),
                testing::HasSubstr("must be one of bank_modes (wide, eight), got 'four'"));
    EXPECT_THAT(errors_of("{bank_mode: eight, clock: 3001 MHz" + modes),
                testing::HasSubstr("clock_up_to: this mode of the banks takes clocks up to 3 GHz, "
                                   "got 3001 MHz"));
}

TEST(MemoryConfig, PseudoChannelsDivideTheChannels) {
    EXPECT_THAT(errors_of("{pseudo_channels: 3}"),
                testing::HasSubstr("pseudo_channels: must divide the 4 channels, got 3"));
}

TEST(MemoryConfig, PoliciesAreThoseOfTheTables) {
    EXPECT_THAT(errors_of("{controller: {scheduler: fifo}}"),
                testing::AllOf(testing::HasSubstr("fr_fcfs"), testing::HasSubstr("fcfs")));
    EXPECT_THAT(errors_of("{controller: {page_policy: shut}}"), testing::HasSubstr("adaptive"));
    EXPECT_THAT(errors_of("{controller: {refresh_policy: none}}"), testing::HasSubstr("all_bank"));
    EXPECT_EQ(errors_of("{controller: {scheduler: fcfs, page_policy: adaptive}}"), "");
}

}  // namespace
}  // namespace tilesim::arch::memory::controller
