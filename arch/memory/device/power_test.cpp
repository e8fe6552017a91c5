#include "arch/memory/device/power.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tilesim::arch::memory::device {
namespace {

// DDR4-2400 4 Gb x8 of Micron, as its sheet lists it, at tCK 0.833 ns.
MemoryConfig ddr4() {
    MemoryConfig config;
    config.clock = base::Hertz{1'200'480'192};
    config.channels = 1;
    config.bank_groups = config.banks_per_group = 4;
    config.timing.burst = base::Cycles{4};
    config.timing.tRP = base::Cycles{16};
    config.timing.tRAS = base::Cycles{39};
    config.timing.tRFC = base::Cycles{313};
    config.power.core = {1'200'000, 60'750, 38'250, 44'000, 184'500, 168'750, 118'000};
    config.power.pump = {2'500'000, 4'050};
    return config;
}

// Of four groups of banks.
constexpr Refreshes kSameBank{Command::RefreshSame, 4};

constexpr double kAThousandth = 0.001;
void expect_near(double got, double expected) {
    EXPECT_NEAR(got, expected, expected * kAThousandth);
}

TEST(Power, CommandsOfADdr4DeviceTakeWhatItsSheetSays) {
    const MemoryConfig config = ddr4();
    const CommandEnergy core = energy_of(config.power.core, config);
    expect_near(core.activate, 653);
    expect_near(core.precharge, 360);
    expect_near(core.read, 562);
    expect_near(core.write, 499);
    expect_near(core.refresh, 23153);
    expect_near(core.closed_mw, 45.9);
    expect_near(core.open_mw, 52.8);
    EXPECT_EQ(core.each_bank_mw, 0);  // all of active standby is common
    const CommandEnergy pump = energy_of(config.power.pump, config);
    expect_near(pump.activate, 329);
    expect_near(pump.precharge, 135);
}

TEST(Power, StandbyGrowsWithOpenBanksWhereItIsTheirs) {
    MemoryConfig config = ddr4();
    config.power.standby_permille = 0;
    const CommandEnergy core = energy_of(config.power.core, config);
    EXPECT_DOUBLE_EQ(core.open_mw, core.closed_mw);
    EXPECT_NEAR(core.each_bank_mw, 1.2 * (44 - 38.25) / 16, 1e-9);
    // One bank's activation is above that bank's standby alone.
    EXPECT_NEAR(core.activate, 1.2 * (60.75 - (44 + 15 * 38.25) / 16) * 39 / 1.200480192, 1e-6);
}

TEST(Power, ARunAddsUpItsCommandsAndTheTimeBetween) {
    MemoryConfig config = ddr4();
    config.power.devices = 8;
    config.power.pump = {};
    const CommandEnergy one = energy_of(config.power.core, config);
    const auto table =
        energy_of(config, {}, {.activates = 10, .any_row_open = 600, .cycles = 1000});
    ASSERT_TRUE(table.has_value());
    EXPECT_DOUBLE_EQ(table->at(0).second, one.activate * 10 * 8 / 1000);
    EXPECT_DOUBLE_EQ(table->at(1).second, one.precharge * 10 * 8 / 1000);  // each is closed once
    EXPECT_NEAR(table->at(5).second,
                (one.closed_mw * 400 + one.open_mw * 600) / 1.200480192 * 8 / 1000, 1e-9);
}

TEST(Power, BothSuppliesOfARunAddUpInEveryFigure) {
    MemoryConfig config = ddr4();
    config.power.standby_permille = 0;
    config.timing.tRFC_pb = base::Cycles{97};
    config.power.core.I5C = 77'000;
    const CommandEnergy core = energy_of(config.power.core, config);
    config.power.pump = config.power.core;
    const CommandCounts counts{.activates = 1,
                               .reads = 1,
                               .writes = 1,
                               .refreshes = 1,
                               .row_open = 700,
                               .any_row_open = 500,
                               .cycles = 1000};
    const auto table = energy_of(config, {}, counts);
    ASSERT_TRUE(table.has_value());
    const double background = (core.closed_mw * (500 - 313) + core.open_mw * (500 + 313) +
                               core.each_bank_mw * (700 + 16 * 313)) /
                              1.200480192;  // while it refreshes, too
    const std::vector<double> of_one{core.activate, core.precharge, core.read,
                                     core.write,    core.refresh,   background};
    for (std::size_t i = 0; i < of_one.size(); ++i) {
        EXPECT_NEAR(table->at(i).second, 2 * of_one[i] / 1000, 1e-9) << table->at(i).first;
    }
    EXPECT_NEAR(energy_of(config, kSameBank, counts)->at(4).second,
                2 * energy_of(config.power.core, config, kSameBank).refresh / 1000, 1e-9);
}

// IDD5B and its like are counted above the standby of open banks, so that this goes on meanwhile: a
// refresh takes in all what the sheet says, V I5B tRFC.
TEST(Power, WhileBanksAreRefreshedTheyTakeTheStandbyOfOpenOnes) {
    MemoryConfig config = ddr4();
    config.power.pump = {};
    config.power.standby_permille = 250;
    const double tck = 1 / 1.200480192;
    const auto taken = [&](const Refreshes& refreshes, const CommandCounts& counts) {
        const auto table = energy_of(config, refreshes, counts);
        return (table->at(4).second + table->at(5).second) * 1000;  // pJ
    };
    EXPECT_NEAR(taken({}, {.refreshes = 1, .cycles = 313}), 1.2 * 118 * 313 * tck, 1e-6);
    config.timing.tRFC_pb = base::Cycles{97};
    config.power.core.I5C = 77'000;
    EXPECT_NEAR(taken(kSameBank, {.refreshes = 1, .cycles = 97}), 1.2 * 77 * 97 * tck, 1e-6);
    // Beside a row that is open all the time, the common share is there anyway.
    const double each = 1.2 * (44 - (38.25 + 0.25 * (44 - 38.25))) / 16;  // mW of an open bank
    const double standby = taken(kSameBank, {.row_open = 97, .any_row_open = 97, .cycles = 97});
    const CommandCounts beside{.refreshes = 1, .row_open = 97, .any_row_open = 97, .cycles = 97};
    EXPECT_NEAR(taken(kSameBank, beside) - standby,
                energy_of(config.power.core, config, kSameBank).refresh + 4 * each * 97 * tck,
                1e-6);
}

TEST(Power, WithoutCurrentsThereIsNoNumber) {
    MemoryConfig config = ddr4();
    config.power.core = {};
    EXPECT_FALSE(energy_of(config, {}, {}).has_value());
}

// Same-bank refresh is measured beside active standby of a bank a group, refresh of single banks or
// pairs beside precharge standby at their interval, of which sixteen banks have sixteen or eight.
TEST(Power, RefreshOfSomeBanksIsAboveTheStandbyItWasMeasuredBeside) {
    MemoryConfig config = ddr4();
    config.timing.tRFC_pb = base::Cycles{97};
    config.timing.tREFI = base::Cycles{9363};
    config.power.core.I5C = 77'000;
    config.power.core.I5pb = 52'000;
    const double tck = 1 / 1.200480192;
    EXPECT_NEAR(energy_of(config.power.core, config, kSameBank).refresh, 1.2 * (77 - 44) * 97 * tck,
                1e-6);
    config.power.standby_permille = 0;  // of active standby all is the open banks'
    EXPECT_NEAR(energy_of(config.power.core, config, kSameBank).refresh,
                1.2 * (77 - (38.25 + 4 * (44 - 38.25) / 16)) * 97 * tck, 1e-6);
    config.power.standby_permille = 1000;
    for (const auto& [banks, turns] : {std::pair{1, 16}, std::pair{2, 8}}) {
        const double interval = 9363.0 / turns;
        const double during = (52 * interval - 38.25 * (interval - 97)) / 97;
        EXPECT_NEAR(energy_of(config.power.core, config, {Command::RefreshBank, banks}).refresh,
                    1.2 * (during - 44) * 97 * tck, 1e-6)
            << banks;
    }
}

// Where the sheet does not say what the policy's refreshes take, there is no number for them.
TEST(Power, RefreshesOfUnknownEnergyAreLeftOutAndNamed) {
    MemoryConfig config = ddr4();
    const CommandCounts counts{.refreshes = 1, .cycles = 1000};
    EXPECT_FALSE(missing_refresh_current(config, Command::Refresh));
    EXPECT_EQ(energy_of(config, {}, counts)->at(4).first, "refresh");
    for (const auto& [refresh, key] :
         {std::pair{Command::Refresh, "I5B"}, std::pair{Command::RefreshBank, "I5pb"},
          std::pair{Command::RefreshSame, "I5C"}}) {
        config.power.core.I5B = 0;
        EXPECT_EQ(missing_refresh_current(config, refresh), key);
        EXPECT_EQ(energy_of(config, {refresh, 1}, counts)->at(4).first, "background") << key;
    }
}

}  // namespace
}  // namespace tilesim::arch::memory::device
