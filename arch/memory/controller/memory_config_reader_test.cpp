// What the keys of a controller have to hold to, each up to its edge.
#include "arch/memory/controller/memory_config_reader.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "arch/base/config.hpp"

namespace tilesim::arch::memory::controller {
namespace {

std::string refusal_of(const std::string& memory) {
    auto document = base::config::Document::parse("memory: " + memory + "\n", "f.yaml");
    read_memory_config(document.root().child("memory", ""));
    try {
        document.finish();
    } catch (const base::config::ConfigError& error) {
        return error.what();
    }
    return {};
}

// Of the defaults: a queue of 64 writes, of which 48 start a drain.
TEST(MemoryConfigReader, WritesDrainDownToALowerWatermarkOfTheirQueue) {
    EXPECT_EQ(refusal_of("{controller: {write_low: 47}}"), "");
    EXPECT_THAT(refusal_of("{controller: {write_low: 48}}"),
                testing::HasSubstr("must be below write_high, 48, got 48"));
    EXPECT_EQ(refusal_of("{controller: {write_high: 64}}"), "");
    EXPECT_THAT(refusal_of("{controller: {write_high: 65}}"),
                testing::HasSubstr("must not exceed write_queue, 64, got 65"));
}

TEST(MemoryConfigReader, ARefreshOfSomeBanksTakesATimeOfItsOwn) {
    EXPECT_THAT(refusal_of("{controller: {refresh_policy: per_bank}}"),
                testing::HasSubstr("needs timing.tRFC_pb above 0"));
    EXPECT_EQ(refusal_of("{timing: {tRFC_pb: 1 cycle}, controller: {refresh_policy: per_bank}}"),
              "");
}

// Two ranks of 32 banks: a refresh every 640 / 64 = 10 CK, every other one of the same rank.
TEST(MemoryConfigReader, RefreshesOfARankAreDueNoFasterThanTheyMayFollowEachOther) {
    const auto with = [](int interval, int apart) {
        return refusal_of(fmt::format(
            "{{ranks: 2, mapping: [column, bank_group, bank, channel, rank, row], timing: {{tREFI: "
            "{} cycle, tRFC: 5 cycle, tRFC_pb: 5 cycle, tREFpb_to_REFpb: {} cycle}}, controller: "
            "{{refresh_policy: per_bank}}}}",
            interval, apart));
    };
    EXPECT_EQ(with(640, 20), "");
    EXPECT_THAT(with(640, 21), testing::HasSubstr("has 20 cycle from a refresh to the next"));
    EXPECT_EQ(with(64, 0), "");
    EXPECT_THAT(with(63, 0), testing::HasSubstr("at least 2 cycle apart"));
}

}  // namespace
}  // namespace tilesim::arch::memory::controller
