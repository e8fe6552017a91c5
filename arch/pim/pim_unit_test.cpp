#include "arch/pim/pim_unit.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>
#include <utility>
#include <vector>

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

// Checks every all-bank command from nothing but the list of past ones: it shares no code and no
// state with AllBankTiming.
class LegalityChecker final : public AllBankListener {
  public:
    LegalityChecker(const memory::DramTiming& dram, const PimConfig& pim) : t_(dram), pim_(pim) {}

    void on_all_bank_command(AllBankCommand command, std::int64_t row, std::int64_t now) override {
        const auto reads = [](AllBankCommand c) {
            return c == AllBankCommand::Mac || c == AllBankCommand::ArrayRead;
        };
        const auto writes = [](AllBankCommand c) {
            return c == AllBankCommand::RegisterWrite || c == AllBankCommand::ArrayWrite;
        };
        const bool in_array = reads(command) || command == AllBankCommand::ArrayWrite;
        const std::int64_t to_write =
            (t_.read_latency + t_.burst + t_.tRTW + pim_.drain - t_.write_latency).count();
        const std::int64_t to_mac = (t_.write_latency + t_.burst + t_.tWTR_L).count();
        for (const auto& [old, when] : past_) {
            const std::int64_t age = now - when;
            const bool old_row =
                old == AllBankCommand::Activate || old == AllBankCommand::Precharge;
            require(age >= (old_row ? 1 : pim_.command_interval.count()), "interval", now);
            if (old == AllBankCommand::Activate && in_array) {
                require(age >= t_.tRCD.count(), "tRCD", now);
            } else if (old == AllBankCommand::Activate && command == AllBankCommand::Precharge) {
                require(age >= t_.tRAS.count(), "tRAS", now);
            } else if (old == AllBankCommand::Precharge && command == AllBankCommand::Activate) {
                require(age >= pim_.precharge_all.count(), "tRPab", now);
            } else if (reads(old) && writes(command)) {
                require(age >= to_write, "MAC to write", now);
            } else if (writes(old) && reads(command)) {
                require(age >= to_mac, "write to MAC", now);
            } else if (old == AllBankCommand::ArrayWrite && command == AllBankCommand::Precharge) {
                require(age >= (t_.write_latency + t_.burst + t_.tWR).count(), "tWR", now);
            }
        }
        if (command == AllBankCommand::Activate) {
            require(open_ == memory::kNoRow, "the banks must be closed", now);
            open_ = row;
        } else if (command == AllBankCommand::Precharge) {
            open_ = memory::kNoRow;
        } else if (in_array) {
            require(open_ == row && row != memory::kNoRow, "the row must be open", now);
        }
        past_.emplace_back(command, now);
        if (past_.size() > 64) {
            past_.pop_front();
        }
        ++commands;
    }
    std::int64_t commands = 0;

  private:
    static void require(bool holds, const char* rule, std::int64_t now) {
        EXPECT_TRUE(holds) << rule << " broken at " << now;
    }
    memory::DramTiming t_;
    PimConfig pim_;
    std::deque<std::pair<AllBankCommand, std::int64_t>> past_;
    std::int64_t open_ = memory::kNoRow;
};

TEST(PimUnit, CommandsAreLegalWhateverTheProgram) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        std::mt19937 random(seed);
        PimProgram program;
        program.words_per_row = 64;
        const std::vector<PimOp> ops{PimOp::ModeWrite, PimOp::WriteInputs, PimOp::WriteBankInputs,
                                     PimOp::Mac,       PimOp::Alu,         PimOp::LoadOutputs,
                                     PimOp::Spill};
        for (int i = 0; i < 200; ++i) {
            program.commands.push_back({ops[random() % ops.size()],
                                        static_cast<std::int64_t>(random() % 20),
                                        static_cast<std::int64_t>(random() % 1000)});
        }
        Machine machine(seed % 2 == 0);
        PimConfig config;
        config.overlap_row_switch = seed % 3 == 0;
        PimUnit unit(machine.config.timing, config, program, 0, machine.root, nullptr);
        LegalityChecker checker(machine.config.timing, config);
        unit.listen(&checker);
        machine.memory->lend(0, unit, soon(machine));
        machine.run();
        EXPECT_TRUE(unit.left().has_value());
        EXPECT_GT(checker.commands, 500);
    }
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
