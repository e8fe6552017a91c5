#include "arch/pim/pim_controller.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "arch/base/probe_testing.hpp"

namespace tilesim::arch::pim {
namespace {

using Activity = base::ProbeRecorder::Activity;

// Two rows of two words, then one more.
PimProgram two_rows() {
    PimProgram program;
    program.words_per_row = 2;
    program.commands = {{PimOp::Mac, 3}};
    return program;
}

memory::device::MemoryConfig three_channels(bool refresh = false) {
    memory::device::MemoryConfig config;
    config.channels = 3;
    config.refresh = refresh;
    return config;
}

struct Machine {
    explicit Machine(const PimProgram& program, const PimConfig& pim = {}, bool refresh = false)
        : config(three_channels(refresh)),
          memory(config, PimController::memory_lookahead(config), queue, root),
          controller(pim, program, memory, root, nullptr) {}
    void run() {
        while (!queue.empty()) {
            queue.run_until(queue.next_time());
        }
    }
    memory::device::MemoryConfig config;
    base::EventQueue queue;
    base::stats::Group root{""};
    memory::controller::MemorySystem memory;
    PimController controller;
};

// What two_rows takes in a channel from ACT on.
std::int64_t turn(const memory::device::DramTiming& dram, const PimConfig& pim) {
    const std::int64_t row =
        std::max(dram.tRAS.count(), (dram.tRCD + pim.mac_to_precharge).count());
    const std::int64_t first_row =
        std::max(row, (dram.tRCD + pim.command_interval + pim.mac_to_precharge).count());
    // Banks may be opened again tRPab after their close and tRC after they were opened.
    const auto again = [&](std::int64_t open) {
        return std::max(open + pim.precharge_all.count(), dram.tRC.count());
    };
    return again(first_row) + again(row);
}

TEST(PimController, TheProgramRunsInEveryChannelAHundredCyclesAfterItsStart) {
    const PimProgram program = two_rows();
    Machine machine(program);
    machine.controller.start(base::Femtoseconds{0});
    EXPECT_FALSE(machine.controller.finished());
    machine.run();
    ASSERT_TRUE(machine.controller.finished());
    const std::int64_t cycles = turn(machine.config.timing, {});
    for (const auto& unit : machine.controller.units()) {
        EXPECT_EQ(unit->began(), 100);
        EXPECT_EQ(unit->left(), 100 + cycles);
    }
    EXPECT_EQ(machine.controller.finish_cycle().count(), 100 + cycles);
    EXPECT_EQ(machine.controller.program_cycles().count(), cycles);
    EXPECT_EQ(machine.controller.finish_time(),
              base::Clock{machine.config.clock}.time_of(base::Cycles{100 + cycles}));
}

// Whenever the others end, and whatever the channel needs behind the last command.
TEST(PimController, TheStatesOfEveryUnitAddUpToTheProgramsCycles) {
    for (const ProgramEnd end :
         {ProgramEnd::RowsClosed, ProgramEnd::LastCommand, ProgramEnd::NextKernel}) {
        for (const std::int64_t completion : {0, 1000}) {
            PimProgram program = two_rows();
            program.commands = {{PimOp::Mac, 60}, {PimOp::Spill, 1}};
            PimConfig pim;
            pim.program_end = end;
            pim.completion = base::Cycles{completion};
            Machine machine(program, pim, true);
            machine.controller.start(base::Femtoseconds{0});
            machine.run();
            ASSERT_TRUE(machine.controller.finished());
            machine.controller.finish_statistics();
            for (const auto& unit : machine.controller.units()) {
                EXPECT_EQ(unit->stats().time.total(), machine.controller.program_cycles().count());
            }
            // Thirty rows of tRC: the first channel meets its first refresh, the last one not.
            const auto refreshing = [&](std::size_t unit) {
                return machine.controller.units()[unit]->stats().time.spent(
                    static_cast<std::size_t>(PimState::Refresh));
            };
            EXPECT_GT(refreshing(0), 0);
            EXPECT_EQ(refreshing(2), 0);
        }
    }
}

TEST(PimController, ItsLatencyCountsFromTheStart) {
    const PimProgram program = two_rows();
    Machine machine(program);
    const base::Clock clock{machine.config.clock};
    machine.controller.start(clock.time_of(base::Cycles{17}));
    machine.run();
    EXPECT_EQ(machine.controller.units()[0]->began(), 117);
    EXPECT_EQ(machine.controller.program_cycles().count(), turn(machine.config.timing, {}));
    Machine between(program);  // two edges
    between.controller.start(clock.time_of(base::Cycles{17}) + base::Femtoseconds{1});
    between.run();
    EXPECT_EQ(between.controller.units()[0]->began(), 118);
}

// Edges are rounded up to femtoseconds, so that a hundred may be one longer here than there.
TEST(PimController, AMemoryThatLooksAheadCanStillBeToldOfAProgram) {
    const memory::device::MemoryConfig config = three_channels();
    const base::Clock clock{config.clock};
    const base::Femtoseconds lookahead = PimController::memory_lookahead(config);
    for (std::int64_t now = 0; now < 100; ++now) {
        EXPECT_LE(clock.first_cycle_from(clock.time_of(base::Cycles{now}) + lookahead).count(),
                  now + 100);
    }
}

// A read opens a row of the first channel just before: it is closed after tRAS, and after tRC the
// banks are quiet.
TEST(PimController, AProgramIsOverWithItsLastChannel) {
    struct Reader final : memory::port::MemoryClient {
        void on_memory_complete(std::uint64_t, base::Femtoseconds) override {}
    } reader;
    const PimProgram program = two_rows();
    Machine machine(program);
    const base::Clock clock{machine.config.clock};
    machine.memory.submit({0, 64, false, &reader, 0, clock.time_of(base::Cycles{99})});
    machine.controller.start(base::Femtoseconds{0});
    machine.run();
    const memory::device::DramTiming& dram = machine.config.timing;
    const std::int64_t began = 99 + std::max(dram.tRAS + dram.tRP, dram.tRC).count();
    EXPECT_EQ(machine.controller.units()[0]->began(), began);
    EXPECT_EQ(machine.controller.units()[2]->began(), 100);
    EXPECT_EQ(machine.controller.finish_cycle().count(), began + turn(dram, {}));
    EXPECT_EQ(machine.controller.program_cycles().count(), began + turn(dram, {}) - 100);
}

// Odd banks are a line each, the mode registers' row has no number.
TEST(PimController, ItsCommandsAreLoggedByBank) {
    PimProgram program = two_rows();
    program.commands = {{PimOp::ModeVisit, 1},
                        {.op = PimOp::Mac, .count = 1, .word = 2, .banks = {BankSet::kOdd}}};
    Machine machine(program);
    memory::controller::CommandLog log(1 << 20);
    log.attach(machine.config, nullptr);
    machine.controller.log_commands(log);
    machine.controller.start(base::Femtoseconds{0});
    machine.run();
    EXPECT_THAT(log.text(), testing::HasSubstr("\n100,ACTab,2,,,,,,\n"));
    std::int64_t macs = 0;
    for (std::size_t at = 0; (at = log.text().find(",MAC,1,0,", at)) != std::string::npos; ++at) {
        ++macs;
    }
    EXPECT_EQ(macs, 16);
    EXPECT_THAT(log.text(), testing::HasSubstr(",MAC,1,0,7,3,1,,\n"));
    EXPECT_THAT(log.text(), testing::Not(testing::HasSubstr(",MAC,1,0,0,0,")));
}

TEST(PimController, CountsAddToWhatRequestsHaveDone) {
    const PimProgram program = two_rows();
    Machine machine(program);
    machine.controller.start(base::Femtoseconds{0});
    machine.run();
    memory::port::BankUse use = machine.memory.bank_use();
    use.channels[1][2].reads = 7;
    machine.controller.add_to(use);
    ASSERT_EQ(use.channels.size(), 3U);
    EXPECT_EQ(use.channels[0][0], (memory::port::BankCounts{2, 3, 0}));
    EXPECT_EQ(use.channels[1][2], (memory::port::BankCounts{2, 10, 0}));
    EXPECT_EQ(use.channels[2].back(), (memory::port::BankCounts{2, 3, 0}));
}

// For the standby that they take: of two words the one, of a word the other.
TEST(PimController, CountsHowLongItsRowsAreOpen) {
    const PimProgram program = two_rows();
    Machine machine(program);
    machine.controller.start(base::Femtoseconds{0});
    machine.run();
    const memory::device::DramTiming& dram = machine.config.timing;
    const PimConfig pim;
    const base::Cycles to_close = dram.tRCD + pim.mac_to_precharge;
    const std::int64_t open =
        (std::max(dram.tRAS, to_close + pim.command_interval) + std::max(dram.tRAS, to_close))
            .count();
    memory::port::BankUse use = machine.memory.bank_use();
    machine.controller.add_to(use);
    EXPECT_EQ(use.guest_any_row_open, 3 * open);
    EXPECT_EQ(use.guest_row_open, 3 * open * machine.config.banks());
}

TEST(PimController, ProbesHearEveryUnitsStatesAtTheirTimes) {
    const PimProgram program = two_rows();
    Machine machine(program);
    base::ProbeRecorder recorder{base::Clock{machine.config.clock}};
    machine.controller.connect(&recorder);
    machine.controller.start(base::Femtoseconds{0});
    machine.run();
    const memory::device::DramTiming& dram = machine.config.timing;
    const PimConfig pim;
    const std::int64_t first_mac = 100 + dram.tRCD.count();
    const std::int64_t first_end = first_mac + 2 * pim.command_interval.count();
    const std::int64_t left = machine.controller.finish_cycle().count();
    // Both rows are closed so early that tRC decides when the banks may be opened again.
    ASSERT_GE(dram.tRC, dram.tRAS + pim.precharge_all);
    const std::int64_t second_act = 100 + dram.tRC.count();
    EXPECT_EQ(left, second_act + dram.tRC.count());
    const std::int64_t second_mac = second_act + dram.tRCD.count();
    const std::int64_t second_end = second_mac + pim.command_interval.count();
    EXPECT_THAT(recorder.of("pim(2)"),
                testing::ElementsAre(Activity{"pim(2)", "row_open", 100, first_mac},
                                     Activity{"pim(2)", "mac", first_mac, first_end},
                                     Activity{"pim(2)", "row_open", first_end, second_mac},
                                     Activity{"pim(2)", "mac", second_mac, second_end},
                                     Activity{"pim(2)", "row_open", second_end, left}));
    EXPECT_EQ(machine.controller.last_progress().count(), left);
}

TEST(PimController, AStandstillNamesTheUnitsWhoseChannelsDoNotCome) {
    PimProgram program = two_rows();
    program.commands.insert(program.commands.begin(), {PimOp::ModeVisit, 1});
    Machine machine(program);
    machine.controller.start(base::Femtoseconds{0});
    const std::string text = machine.controller.standstill();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
    EXPECT_THAT(text, testing::HasSubstr(
                          "pim(1) waits for its channel to take command 1 of 2 (mode_visit)\n"));
    machine.run();
    EXPECT_EQ(machine.controller.standstill(), "");
}

}  // namespace
}  // namespace tilesim::arch::pim
