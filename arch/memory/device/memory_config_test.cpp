// What the numbers of a memory have to hold to, each up to its edge.
#include "arch/memory/device/memory_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "arch/base/config.hpp"

namespace tilesim::arch::memory::device {
namespace {

std::string errors_of(const std::string& memory) {
    auto document = base::config::Document::parse("memory: " + memory + "\n", "f.yaml");
    base::config::Node node = document.root().child("memory", "");
    read_device(node);
    node.done();
    try {
        document.finish();
    } catch (const base::config::ConfigError& error) {
        return error.what();
    }
    return {};
}

std::string with_timing(const std::string& key, int cycles) {
    return errors_of("{timing: {" + key + ": " + std::to_string(cycles) + " cycle}}");
}

// Of the defaults: tRCD 40, tRP 40, tRAS 90, tRRD_S 8, tCCD_S 8, tWTR_S 7, tRFC 826.
TEST(MemoryConfig, ConstraintsThatBelongTogetherAreHeldToIt) {
    struct Relation {
        const char* key;
        int allowed;
        int refused;
        const char* text;
    };
    for (const auto& [key, allowed, refused, text] :
         {Relation{"tREFI", 827, 826, "tRFC < tREFI"}, Relation{"tRAS", 40, 39, "tRCD <= tRAS"},
          Relation{"tRC", 130, 129, "tRAS + tRP <= tRC"},
          Relation{"tRRD_L", 8, 7, "tRRD_S <= tRRD_L"},
          Relation{"tFAW", 24, 23, "3 x tRRD_S <= tFAW"},
          Relation{"tCCD_L", 8, 7, "tCCD_S <= tCCD_L"}, Relation{"burst", 8, 9, "burst <= tCCD_S"},
          Relation{"tWTR_L", 7, 6, "tWTR_S <= tWTR_L"}}) {
        EXPECT_EQ(with_timing(key, allowed), "") << key;
        EXPECT_THAT(with_timing(key, refused), testing::HasSubstr(text));
    }
}

// Two ranks of eight groups of four are 64.
TEST(MemoryConfig, AChannelHasNoMoreBanksThanASetHolds) {
    const std::string mapping = ", mapping: [column, bank_group, bank, channel, rank, row]}";
    EXPECT_EQ(errors_of("{ranks: 2" + mapping), "");
    EXPECT_THAT(errors_of("{ranks: 4" + mapping), testing::HasSubstr("more than 64 banks"));
}

// A burst of 64 B every 8 CK of 2.8 GHz in each of four channels.
TEST(MemoryConfig, ThePeakIsABurstEveryColumnSpacingOfEveryChannel) {
    EXPECT_DOUBLE_EQ(MemoryConfig{}.peak_bytes_per_second(), 4 * 64 * 2.8e9 / 8);
}

}  // namespace
}  // namespace tilesim::arch::memory::device
