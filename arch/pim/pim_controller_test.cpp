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

memory::device::MemoryConfig three_channels() {
    memory::device::MemoryConfig config;
    config.channels = 3;
    config.refresh = false;
    return config;
}

struct Machine {
    explicit Machine(const PimProgram& program)
        : memory(config, PimController::memory_lookahead(config), queue, root),
          controller({}, program, memory, root, nullptr) {}
    void run() {
        while (!queue.empty()) {
            queue.run_until(queue.next_time());
        }
    }
    memory::device::MemoryConfig config = three_channels();
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

TEST(PimController, ItsLatencyCountsFromTheStart) {
    const PimProgram program = two_rows();
    Machine machine(program);
    const base::Clock clock{machine.config.clock};
    machine.controller.start(clock.time_of(base::Cycles{17}));
    machine.run();
    EXPECT_EQ(machine.controller.units()[0]->began(), 117);
    EXPECT_EQ(machine.controller.program_cycles().count(), turn(machine.config.timing, {}));
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
