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
         {Relation{"tREFI", 827, 826, "tREFI: must be above tRFC, 826 cycle, got 826 cycle"},
          Relation{"tRAS", 40, 39, "tRAS: must be at least tRCD, 40 cycle, got 39 cycle"},
          Relation{"tRC", 130, 129, "tRC: must be at least tRAS + tRP, 130 cycle, got 129 cycle"},
          Relation{"tRRD_L", 8, 7, "tRRD_L: must be at least tRRD_S, 8 cycle, got 7 cycle"},
          Relation{"tFAW", 24, 23, "tFAW: must be at least 3 x tRRD_S, 24 cycle, got 23 cycle"},
          Relation{"tCCD_L", 8, 7, "tCCD_L: must be at least tCCD_S, 8 cycle, got 7 cycle"},
          Relation{"burst", 8, 9, "tCCD_S: must be at least burst, 9 cycle, got 8 cycle"},
          Relation{"tWTR_L", 7, 6, "tWTR_L: must be at least tWTR_S, 7 cycle, got 6 cycle"}}) {
        EXPECT_EQ(with_timing(key, allowed), "") << key;
        EXPECT_THAT(with_timing(key, refused), testing::HasSubstr(text));
    }
}

std::string with_currents(const std::string& core, const std::string& pump = "{}") {
    return errors_of("{timing: {tRFC_pb: 97 cycle}, power: {core: " + core + ", pump: " + pump +
                     "}}");
}

// An energy is what a current is above the standby that goes on meanwhile, and none is negative.
TEST(MemoryConfig, CurrentsAreAboveTheirStandbyAndHaveASupply) {
    const auto core = [](const std::string& more) {
        return with_currents("{voltage: 1.2 V, I0: 60mA, I2N: 38 mA, I3N: 44 mA" + more + "}");
    };
    const std::string bursts = ", I4R: 184.5 mA, I4W: 168 mA";
    EXPECT_EQ(core(bursts), "");
    EXPECT_EQ(core(bursts + ", I5B: 44 mA"), "");
    EXPECT_THAT(core(bursts + ", I5B: 43 mA"), testing::HasSubstr("power.core.I5B: is below"));
    EXPECT_THAT(core(bursts + ", I5C: 43 mA"), testing::HasSubstr("power.core.I5C: is below"));
    EXPECT_THAT(core(", I4R: 43 mA, I4W: 43 mA"),
                testing::AllOf(testing::HasSubstr("I4R: is below"), testing::HasSubstr("I4W: is")));
    EXPECT_THAT(core(""), testing::HasSubstr("power.core.voltage: needs I4R, I4W beside it"));
    EXPECT_THAT(with_currents("{I0: 60 mA}"),
                testing::HasSubstr("power.core.I0: needs the supply's voltage beside it"));
    EXPECT_THAT(with_currents("{}", "{voltage: 2.5 V, I0: 4 mA}"),
                testing::HasSubstr("power.pump.voltage: needs the currents of the core's supply"));
    const auto standby = [&bursts](const std::string& three) {
        return with_currents("{voltage: 1.2 V" + three + bursts + "}");
    };
    EXPECT_THAT(standby(", I0: 43 mA, I2N: 38 mA, I3N: 44 mA"),
                testing::HasSubstr("power.core.I0: is below"));
    EXPECT_THAT(standby(", I0: 60 mA, I2N: 45 mA, I3N: 44 mA"),
                testing::HasSubstr("power.core.I3N: is below"));
    EXPECT_THAT(standby(", I0: 60 A, I2N: 45 mA, I3N: 44 mA"),
                testing::HasSubstr("power.core.I0: must be 0 to 20000 mA, got 60 A"));
    EXPECT_THAT(standby(", I0: 60, I2N: 45 V"),
                testing::AllOf(testing::HasSubstr("I0: needs a unit (uA, mA, A), got '60'"),
                               testing::HasSubstr("I2N: has the unknown unit 'V'")));
}

// Two ranks of eight groups of four are 64.
TEST(MemoryConfig, AChannelHasNoMoreBanksThanASetHolds) {
    const std::string mapping = ", mapping: [column, bank_group, bank, channel, rank, row]}";
    EXPECT_EQ(errors_of("{ranks: 2" + mapping), "");
    EXPECT_THAT(errors_of("{ranks: 4" + mapping),
                testing::HasSubstr("at most 64 banks a channel, makes 128"));
}

// A burst of 64 B every 8 CK of 2.8 GHz in each of four channels.
TEST(MemoryConfig, ThePeakIsABurstEveryColumnSpacingOfEveryChannel) {
    EXPECT_DOUBLE_EQ(MemoryConfig{}.peak_bytes_per_second(), 4 * 64 * 2.8e9 / 8);
}

}  // namespace
}  // namespace tilesim::arch::memory::device
