// The command log of every memory under every policy, held against the data sheet's rules.
#include "arch/memory/controller/command_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "arch/base/config.hpp"
#include "arch/memory/controller/memory_config_reader.hpp"
#include "arch/memory/controller/memory_system.hpp"
#include "arch/memory/controller/trace_rules_testing.hpp"
#include "arch/memory/device/prime_timing_testing.hpp"
#include "arch/memory/policy/page_policies.hpp"
#include "arch/memory/policy/refresh_policies.hpp"
#include "arch/memory/policy/schedulers.hpp"
#include "arch/memory/traffic/stream_driver.hpp"

namespace tilesim::arch::memory::controller {
namespace {

std::string commands_of(const device::MemoryConfig& config, std::int64_t requests) {
    traffic::StreamConfig stream;
    stream.pattern = traffic::StreamConfig::Pattern::Random;
    stream.requests = requests;
    stream.granule = config.burst;
    stream.write_permille = 300;
    stream.outstanding = 256;
    stream.range = config.capacity();
    base::EventQueue queue;
    base::stats::Group root("");
    MemorySystem memory(config, traffic::StreamDriver::latency(config), queue, root);
    CommandLog log(std::size_t{1} << 30);
    log.attach(config, nullptr);
    memory.listen(&log);
    traffic::StreamDriver driver(stream, memory);
    driver.start();
    while (!queue.empty()) {
        queue.run_until(queue.next_time());
    }
    EXPECT_TRUE(driver.finished());
    return log.text();
}

device::MemoryConfig load(const std::filesystem::path& file) {
    auto document = base::config::Document::load(file.string());
    return read_memory_config(document.root().child("memory", ""));
}

template <class Policies>
std::vector<std::string> names_of() {
    std::vector<std::string> names;
    for (const auto& [name, value] : Policies::names()) {
        names.push_back(value);
    }
    return names;
}

TEST(CommandLog, EveryMemoryKeepsItsRulesUnderEveryPolicy) {
    int memories = 0;
    for (const auto& entry : std::filesystem::directory_iterator(std::string{TILESIM_SOURCE_DIR} +
                                                                 "/configs/devices")) {
        auto document = base::config::Document::load(entry.path().string());
        if (document.text().find("\nkind: memory\n") == std::string::npos) {
            continue;
        }
        ++memories;
        for (const std::string& refresh : names_of<policy::RefreshPolicies>()) {
            for (const std::string& page : names_of<policy::PagePolicies>()) {
                for (const std::string& scheduler : names_of<policy::Schedulers>()) {
                    device::MemoryConfig config = load(entry.path());
                    config.controller.refresh_policy = refresh;
                    config.controller.page_policy = page;
                    config.controller.scheduler = scheduler;
                    if (refresh != "all_bank" && config.timing.tRFC_pb.count() == 0) {
                        continue;  // the standard has none
                    }
                    TraceRules rules(config);
                    EXPECT_THAT(rules.check(commands_of(config, 500)), testing::IsEmpty())
                        << entry.path() << ' ' << refresh << ' ' << page << ' ' << scheduler;
                    EXPECT_GT(rules.lines(), 500);
                }
            }
        }
    }
    EXPECT_GE(memories, 9);
}

device::MemoryConfig prime_ranks() {
    device::MemoryConfig config = device::prime_device();
    config.channels = 1;
    config.ranks = 2;
    config.mapping = {{device::AddressField::BankGroup, 2},
                      {device::AddressField::Rank, 1},
                      {device::AddressField::Column, 6},
                      {device::AddressField::Bank, 2},
                      {device::AddressField::Row, 16}};
    config.timing.tRTRS = base::Cycles{5};
    config.timing.tPPD = base::Cycles{2};
    config.timing.tRFC_pb = base::Cycles{151};
    config.timing.tREFpb_to_REFpb = base::Cycles{89};
    config.timing.tREFpb_to_ACT = base::Cycles{11};
    config.timing.tREFI = base::Cycles{4001};
    return config;
}

TEST(CommandLog, RanksKeepTheirRulesAndTheGapBetweenThem) {
    for (const std::string& refresh : names_of<policy::RefreshPolicies>()) {
        for (const std::string& page : names_of<policy::PagePolicies>()) {
            device::MemoryConfig config = prime_ranks();
            config.controller.refresh_policy = refresh;
            config.controller.page_policy = page;
            TraceRules rules(config);
            EXPECT_THAT(rules.check(commands_of(config, 5000)), testing::IsEmpty())
                << refresh << ' ' << page;
        }
    }
}

// A file changed by hand is caught: each number raised by one is a rule that some line breaks.
TEST(CommandLog, TheRulesAreKeptToTheCycle) {
    device::MemoryConfig config = prime_ranks();
    config.controller.refresh_policy = "per_bank";
    const std::string text = commands_of(config, 20'000);
    const auto stricter = [&](base::Cycles device::DramTiming::*number) {
        device::MemoryConfig other = config;
        other.timing.*number += base::Cycles{1};
        return TraceRules(other).check(text);
    };
    using T = device::DramTiming;
    for (base::Cycles T::*number :
         {&T::tRCD, &T::tRP, &T::tRAS, &T::tRRD_S, &T::tFAW, &T::tCCD_S, &T::tCCD_L, &T::tRTP,
          &T::tWR, &T::tWTR_L, &T::tRTRS, &T::tRFC_pb, &T::tREFpb_to_ACT}) {
        EXPECT_THAT(stricter(number), testing::Not(testing::IsEmpty()));
    }
}

TEST(CommandLog, ALineHasTheBankAndTheBurst) {
    device::MemoryConfig config = prime_ranks();
    config.refresh = false;
    config.bank_hash = false;
    base::EventQueue queue;
    base::stats::Group root("");
    MemorySystem memory(config, base::Femtoseconds{100'000'000}, queue, root);
    CommandLog log(1000);
    log.attach(config, nullptr);
    memory.listen(&log);
    struct Client final : port::MemoryClient {
        void on_memory_complete(std::uint64_t, base::Femtoseconds) override {}
    } client;
    // Group 1, rank 1, column 3, bank 2, row 5: bits 0, 2, 3, 9, 11.
    const std::int64_t burst = 1 | 1 << 2 | 3 << 3 | 2 << 9 | 5 << 11;
    memory.submit(
        {burst * config.burst.count(), 64, false, &client, 0, base::Femtoseconds{100'000'000}});
    queue.run_until(base::Femtoseconds{1'000'000'000});
    EXPECT_THAT(log.text(), testing::HasSubstr(",ACT,0,1,1,2,5,,\n"));
    EXPECT_THAT(log.text(), testing::HasSubstr(",RD,0,1,1,2,5,3,0\n"));
}

TEST(CommandLog, WhoeverListensBehindItHearsTheSame) {
    CommandLog log(1000);
    CommandLog behind(1000);
    behind.attach(prime_ranks(), nullptr);
    log.attach(prime_ranks(), &behind);
    log.on_command(0, device::Command::Activate, 3, 7, 0);
    log.on_column(0, device::Command::Read, 3, 7, 29, policy::Burst{});
    EXPECT_EQ(behind.text(), log.text());
    EXPECT_THAT(behind.text(), testing::HasSubstr("29,RD,"));
}

TEST(CommandLog, IsCutAtItsLimit) {
    CommandLog log(CommandLog::kHeader.size() + 1);
    log.on_command(0, device::Command::Activate, 0, 7, 0);
    EXPECT_FALSE(log.truncated());
    log.on_command(0, device::Command::Precharge, 0, -1, 90);
    EXPECT_TRUE(log.truncated());
}

}  // namespace
}  // namespace tilesim::arch::memory::controller
