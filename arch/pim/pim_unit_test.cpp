#include "arch/pim/pim_unit.hpp"

#include <gtest/gtest.h>

#include "arch/memory/memory_system.hpp"
#include "arch/memory/stream_driver.hpp"

namespace tilesim::arch::pim {
namespace {

PimProgram macs(std::int64_t words) {
    PimProgram program;
    program.words_per_row = 64;
    program.commands = {{PimOp::ModeWrite, 4},
                        {PimOp::WriteInputs, 8},
                        {PimOp::Mac, words},
                        {PimOp::Spill, 1, words},
                        {PimOp::ModeWrite, 2}};
    return program;
}

struct Machine {
    explicit Machine(bool refresh) {
        config.refresh = refresh;
        memory.emplace(config, memory::StreamDriver::latency(config), queue, root);
    }
    void run() {
        while (!queue.empty()) {
            queue.run_until(queue.next_time());
        }
    }
    memory::MemoryConfig config;
    base::EventQueue queue;
    base::stats::Group root{""};
    std::optional<memory::MemorySystem> memory;
};

base::Femtoseconds soon(const Machine& machine) {
    return memory::StreamDriver::latency(machine.config) + base::Femtoseconds{1};
}

TEST(PimUnit, TimeOfEveryCycleHasACause) {
    Machine machine(true);
    const PimProgram program = macs(5000);
    PimUnit unit(machine.config.timing, {}, program, 0, machine.root, nullptr);
    machine.memory->lend(0, unit, soon(machine));
    machine.run();
    ASSERT_TRUE(unit.left().has_value());
    EXPECT_EQ(unit.stats().macs.value(), 5000);
    const auto& time = unit.stats().time;
    EXPECT_EQ(time.total(), time.since());
    for (std::size_t state = 0; state < time.states().size(); ++state) {
        EXPECT_GE(time.spent(state), 0) << time.states()[state].name;
    }
    // The MACs' own slots, whatever they waited for.
    EXPECT_EQ(time.spent(static_cast<std::size_t>(PimState::Mac)),
              5000 * PimConfig{}.command_interval.count());
}

TEST(PimUnit, RefreshesComeBetweenTurns) {
    Machine with(true);
    Machine without(false);
    const PimProgram program = macs(20'000);
    PimUnit slow(with.config.timing, {}, program, 0, with.root, nullptr);
    PimUnit fast(without.config.timing, {}, program, 0, without.root, nullptr);
    with.memory->lend(0, slow, soon(with));
    without.memory->lend(0, fast, soon(without));
    with.run();
    without.run();
    const std::int64_t periods = *fast.left() / with.config.timing.tREFI.count();  // at the least
    EXPECT_GE(with.memory->totals().refreshes, periods);
    EXPECT_GE(*slow.left() - *fast.left(), periods * with.config.timing.tRFC.count());
}

TEST(PimUnit, RequestsWaitForTheProgramAndThenGoOn) {
    Machine machine(false);
    const PimProgram program = macs(2000);
    PimUnit unit(machine.config.timing, {}, program, 0, machine.root, nullptr);
    memory::StreamConfig stream;
    stream.requests = 400;
    stream.outstanding = 400;
    memory::StreamDriver driver(stream, *machine.memory);
    driver.start();
    machine.memory->lend(0, unit, soon(machine));
    machine.run();
    ASSERT_TRUE(unit.left().has_value());
    ASSERT_TRUE(driver.finished());
    const base::Clock clock{machine.config.clock};
    EXPECT_GT(driver.result().time + memory::StreamDriver::latency(machine.config),
              clock.time_of(base::Cycles{*unit.left()}));
}

}  // namespace
}  // namespace tilesim::arch::pim
