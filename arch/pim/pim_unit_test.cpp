#include "arch/pim/pim_unit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/memory/controller/memory_config_reader.hpp"
#include "arch/memory/controller/memory_system.hpp"
#include "arch/memory/device/legality_checker.hpp"
#include "arch/memory/traffic/stream_driver.hpp"

namespace tilesim::arch::pim {
namespace {

PimProgram macs(std::int64_t words) {
    PimProgram program;
    program.words_per_row = 64;
    program.commands = {{PimOp::ModeVisit, 4},
                        {PimOp::WriteInputs, 8},
                        {PimOp::Mac, words},
                        {PimOp::Spill, 1, words},
                        {PimOp::ModeVisit, 2}};
    return program;
}

memory::device::MemoryConfig lpddr5x() {
    auto document = base::config::Document::load(std::string{TILESIM_SOURCE_DIR} +
                                                 "/configs/devices/lpddr5x_7500.yaml");
    return memory::controller::read_memory_config(document.root().child("memory", ""));
}

struct Machine {
    explicit Machine(bool refresh) {
        config.refresh = refresh;
        memory.emplace(config, memory::traffic::StreamDriver::latency(config), queue, root);
    }
    void run() {
        while (!queue.empty()) {
            queue.run_until(queue.next_time());
        }
    }
    memory::device::MemoryConfig config = lpddr5x();
    base::EventQueue queue;
    base::stats::Group root{""};
    std::optional<memory::controller::MemorySystem> memory;
};

base::Femtoseconds soon(const Machine& machine) {
    return memory::traffic::StreamDriver::latency(machine.config) + base::Femtoseconds{1};
}

TEST(PimUnit, TimeOfEveryCycleHasACause) {
    Machine machine(true);
    const PimProgram program = macs(5000);
    PimUnit unit(machine.config, {}, program, 0, machine.root, nullptr);
    machine.memory->lend(0, unit, soon(machine));
    machine.run();
    ASSERT_TRUE(unit.left().has_value());
    EXPECT_EQ(unit.stats().macs.value(), 5000);
    EXPECT_EQ(unit.bank_counts(),
              (memory::port::BankCounts{unit.stats().activates.value(), 5000, 1}));
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
    PimUnit slow(with.config, {}, program, 0, with.root, nullptr);
    PimUnit fast(without.config, {}, program, 0, without.root, nullptr);
    with.memory->lend(0, slow, soon(with));
    without.memory->lend(0, fast, soon(without));
    with.run();
    without.run();
    const std::int64_t periods = *fast.left() / with.config.timing.tREFI.count();  // at the least
    EXPECT_GE(with.memory->totals().refreshes, periods);
    EXPECT_GE(*slow.left() - *fast.left(), periods * with.config.timing.tRFC.count());
}

// Everything on the command bus of channel 0, the unit's commands and ordinary ones, goes through
// the one checker of memory commands.
class OneChecker final : public AllBankListener, public memory::controller::CommandListener {
  public:
    OneChecker(const memory::device::MemoryConfig& config, const PimConfig& pim)
        : checker_(config), pim_(pim) {}

    void on_all_bank_command(std::size_t, AllBankCommand command, BankSet, std::int64_t row,
                             std::int64_t now) override {
        using memory::device::Command;
        switch (command) {
            case AllBankCommand::Activate:
                checker_.hear({Command::Activate, memory::device::kAllBanks, row, now});
                break;
            case AllBankCommand::Precharge:
                checker_.hear({Command::Precharge, memory::device::kAllBanks, row, now});
                precharged_ = now;
                break;
            case AllBankCommand::Mac:
            case AllBankCommand::ArrayRead:
                checker_.hear({Command::Read, memory::device::kAllBanks, row, now, true,
                               pim_.mac_to_precharge});
                break;
            case AllBankCommand::RegisterWrite:
            case AllBankCommand::ArrayWrite:
                checker_.hear({Command::Write, memory::device::kAllBanks, row, now,
                               command == AllBankCommand::ArrayWrite});
                break;
            case AllBankCommand::RegisterRead:
            case AllBankCommand::Alu:  // touch no bank
            case AllBankCommand::Move:
                break;
        }
        if (command == AllBankCommand::Activate) {
            EXPECT_GE(now - precharged_, pim_.precharge_all.count()) << "tRPab";
        }
    }
    void on_command(std::size_t channel, memory::device::Command command, std::size_t bank,
                    std::int64_t row, std::int64_t now) override {
        if (channel == 0) {
            checker_.hear({command, bank, row, now});
            ++ordinary;
        }
    }
    const memory::device::LegalityChecker& checker() const { return checker_; }
    std::int64_t ordinary = 0;

  private:
    memory::device::LegalityChecker checker_;
    PimConfig pim_;
    std::int64_t precharged_ = -1000;
};

TEST(PimUnit, CommandsAndOrdinaryTrafficAreLegalTogetherWhateverTheProgram) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        std::mt19937 random(seed);
        PimProgram program;
        program.words_per_row = 64;
        const std::vector<PimOp> ops{PimOp::ModeVisit, PimOp::WriteInputs, PimOp::WriteBankInputs,
                                     PimOp::Mac,       PimOp::Alu,         PimOp::LoadOutputs,
                                     PimOp::Spill,     PimOp::Yield};
        for (int i = 0; i < 200; ++i) {
            program.commands.push_back({ops[random() % ops.size()],
                                        static_cast<std::int64_t>(random() % 20),
                                        static_cast<std::int64_t>(random() % 1000)});
        }
        Machine machine(seed % 2 == 0);
        PimConfig config;
        config.overlap_row_switch = seed % 3 == 0;
        PimUnit unit(machine.config, config, program, 0, machine.root, nullptr);
        OneChecker both(machine.config, config);
        unit.listen(&both);
        machine.memory->listen(&both);
        memory::traffic::StreamConfig stream;
        stream.pattern = memory::traffic::StreamConfig::Pattern::Random;
        stream.requests = 2000;
        stream.write_permille = 300;
        memory::traffic::StreamDriver driver(stream, *machine.memory);
        driver.start();
        machine.memory->lend(0, unit, soon(machine));
        machine.run();
        EXPECT_TRUE(unit.left().has_value());
        EXPECT_TRUE(driver.finished());
        EXPECT_GT(both.checker().commands() - both.ordinary, 500);
        EXPECT_GT(both.ordinary, 100);
        EXPECT_THAT(both.checker().violations(), testing::IsEmpty());
    }
}

TEST(PimUnit, RequestsWaitForTheProgramAndThenGoOn) {
    Machine machine(false);
    const PimProgram program = macs(2000);
    PimUnit unit(machine.config, {}, program, 0, machine.root, nullptr);
    memory::traffic::StreamConfig stream;
    stream.requests = 400;
    stream.outstanding = 400;
    memory::traffic::StreamDriver driver(stream, *machine.memory);
    driver.start();
    machine.memory->lend(0, unit, soon(machine));
    machine.run();
    ASSERT_TRUE(unit.left().has_value());
    ASSERT_TRUE(driver.finished());
    const base::Clock clock{machine.config.clock};
    EXPECT_GT(driver.result().time + memory::traffic::StreamDriver::latency(machine.config),
              clock.time_of(base::Cycles{*unit.left()}));
}

}  // namespace
}  // namespace tilesim::arch::pim
