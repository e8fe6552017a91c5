// One unit alone with its channel: every command of a turn at its cycle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/pim/pim_turn_testing.hpp"

namespace tilesim::arch::pim {
namespace {

using testing::ElementsAre;
using enum AllBankCommand;

TEST(PimTurn, MacsRunAtTheCommandIntervalAndARowIsSwitchedWhereTheNextWordNeedsOne) {
    Bench bench({{PimOp::Mac, 3, kWordsPerRow - 2}});
    const std::int64_t quiet = bench.run();
    // tRCD 29, interval 7, tRAS 67, tRPab 31.
    EXPECT_THAT(bench.issued, ElementsAre(Issued{Activate, 0}, Issued{Mac, 29}, Issued{Mac, 29 + 7},
                                          Issued{Precharge, 67}, Issued{Activate, 67 + 31},
                                          Issued{Mac, 98 + 29}, Issued{Precharge, 98 + 67}));
    EXPECT_EQ(quiet, 98 + 67 + 31);
    EXPECT_EQ(bench.unit.bank_counts(), (memory::port::BankCounts{2, 3, 0}));
    EXPECT_EQ(bench.spent(PimState::Mac), 3 * 7);
    EXPECT_EQ(bench.spent(PimState::RowOpen), quiet - 3 * 7);
}

TEST(PimTurn, ARowClosesSoLongAfterItsLastMac) {
    Bench bench({{PimOp::Mac, 10}});
    EXPECT_EQ(bench.run(), 29 + 9 * 7 + 11 + 31);  // beyond tRAS
    EXPECT_EQ(bench.issued.back(), (Issued{Precharge, 29 + 9 * 7 + 11}));
}

TEST(PimTurn, InputsAreBroadcastBeforeTheBusTurnsForTheMacs) {
    Bench bench({{PimOp::WriteInputs, 2}, {PimOp::Mac, 1}});
    bench.run();
    const std::int64_t turned = 7 + kToMac;
    EXPECT_THAT(bench.issued, ElementsAre(Issued{RegisterWrite, 0}, Issued{RegisterWrite, 7},
                                          Issued{Activate, turned}, Issued{Mac, turned + 29},
                                          Issued{Precharge, turned + 67}));
    EXPECT_EQ(bench.spent(PimState::InputBroadcast), 2 * 7);
    EXPECT_EQ(bench.spent(PimState::Turnaround), turned - 2 * 7);
}

TEST(PimTurn, RowsMayOpenWhileTheBusTurnsWhereTheyOverlap) {
    PimConfig config = prime_pim();
    config.overlap_row_switch = true;
    Bench bench({{PimOp::WriteInputs, 2}, {PimOp::Mac, 1}}, config);
    bench.run();
    EXPECT_THAT(bench.issued, ElementsAre(Issued{RegisterWrite, 0}, Issued{RegisterWrite, 7},
                                          Issued{Activate, 14}, Issued{Mac, 7 + kToMac},
                                          Issued{Precharge, 14 + 67}));
    EXPECT_EQ(bench.spent(PimState::Turnaround), 7 + kToMac - (14 + 2));  // from ACT's slot on
}

// Even banks' row is closed by tRAS, between two MACs of the odd banks, which close theirs between
// the other's ACT and MAC; the even banks' next row then only waits for the command before it.
TEST(PimTurn, BanksThatTakeTurnsCloseTheirRowBesideTheOthersWork) {
    const std::vector<PimCommand> commands{
        {.op = PimOp::Mac, .count = 1, .word = 0, .banks = {BankSet::kEven}},
        {.op = PimOp::Mac, .count = 3, .word = 0, .banks = {BankSet::kOdd}},
        {.op = PimOp::Mac, .count = 1, .word = kWordsPerRow, .banks = {BankSet::kEven}}};
    PimConfig config = prime_pim();
    Bench waits(commands, config);
    waits.run();
    EXPECT_THAT(
        waits.issued,
        ElementsAre(Issued{Activate, 0}, Issued{Mac, 29}, Issued{Activate, 36}, Issued{Mac, 65},
                    Issued{Mac, 72}, Issued{Mac, 79}, Issued{Precharge, 86},
                    Issued{Activate, 86 + 31}, Issued{Mac, 117 + 29}, Issued{Precharge, 117 + 67}));
    config.early_close = true;
    Bench closes(commands, config);
    closes.run();
    EXPECT_THAT(closes.issued,
                ElementsAre(Issued{Activate, 0}, Issued{Mac, 29}, Issued{Activate, 36},
                            Issued{Mac, 65}, Issued{Precharge, 67}, Issued{Mac, 72},
                            Issued{Mac, 79}, Issued{Activate, 67 + 31}, Issued{Precharge, 36 + 67},
                            Issued{Mac, 98 + 29}, Issued{Precharge, 98 + 67}));
}

TEST(PimTurn, TheAluDrainsBeforeSumsAreFolded) {
    Bench bench({{PimOp::Mac, 1},
                 {PimOp::Alu, 2, 0, 0, 0, PimCommand::Purpose::Fold},
                 {PimOp::Alu, 3, 0, 0, 0, PimCommand::Purpose::Scale}});
    bench.run();
    const std::int64_t drained = 29 + kToWrite;
    EXPECT_EQ(bench.issued[2], (Issued{Alu, drained}));
    EXPECT_EQ(bench.issued[6], (Issued{Move, drained + 4 * 7}));
    EXPECT_EQ(bench.spent(PimState::Fold), 2 * 7);
    EXPECT_EQ(bench.spent(PimState::Scale), 3 * 7);
}

TEST(PimTurn, OutputsAreSpilledAndReadBack) {
    Bench bench({{PimOp::Mac, 1}, {PimOp::Spill, 2, 5}, {PimOp::LoadOutputs, 1, 5}});
    const std::int64_t quiet = bench.run();
    const std::int64_t spill = 29 + kToWrite;
    const std::int64_t refill = spill + 7 + kToMac;
    EXPECT_THAT(bench.issued,
                ElementsAre(Issued{Activate, 0}, Issued{Mac, 29}, Issued{ArrayWrite, spill},
                            Issued{ArrayWrite, spill + 7}, Issued{ArrayRead, refill},
                            Issued{Precharge, refill + 11}));
    EXPECT_EQ(quiet, refill + 11 + 31);
    EXPECT_EQ(bench.spent(PimState::Spill), 2 * 7);
    EXPECT_EQ(bench.spent(PimState::Refill), 7);
    EXPECT_EQ(bench.unit.bank_counts(), (memory::port::BankCounts{1, 2, 2}));
}

TEST(PimTurn, AVisitToTheModeRegistersOpensTheirRowWritesAndClosesIt) {
    Bench bench({{PimOp::ModeVisit, 3}});
    const std::int64_t quiet = bench.run();
    const std::int64_t last = 29 + 2 * 7;
    EXPECT_THAT(bench.issued,
                ElementsAre(Issued{Activate, 0}, Issued{ArrayWrite, 29}, Issued{ArrayWrite, 29 + 7},
                            Issued{ArrayWrite, last}, Issued{Precharge, last + kToMac}));
    EXPECT_EQ(quiet, last + kToMac + 31);
    EXPECT_EQ(bench.spent(PimState::ModeSwitch), quiet);
    EXPECT_EQ(bench.unit.bank_counts(), memory::port::BankCounts{});  // none of the data's
    PimConfig config = prime_pim();
    config.bus_turnaround = false;
    Bench recovers({{PimOp::ModeVisit, 3}}, config);
    recovers.run();
    EXPECT_EQ(recovers.issued.back(), (Issued{Precharge, last + kRecovery}));
}

TEST(PimTurn, AParkingVisitOpensAndClosesAllBanks) {
    Bench bench({{PimOp::ModeVisit, 0}, {PimOp::ModeVisit, 0}});
    EXPECT_EQ(bench.run(), 2 * (67 + 31));
    EXPECT_THAT(bench.issued, ElementsAre(Issued{Activate, 0}, Issued{Precharge, 67},
                                          Issued{Activate, 98}, Issued{Precharge, 98 + 67}));
}

TEST(PimTurn, ADataRowIsClosedBeforeAVisitToTheModeRegisters) {
    Bench bench({{PimOp::Mac, 1}, {PimOp::ModeVisit, 0}});
    bench.run();
    EXPECT_THAT(bench.issued,
                ElementsAre(Issued{Activate, 0}, Issued{Mac, 29}, Issued{Precharge, 67},
                            Issued{Activate, 67 + 31}, Issued{Precharge, 98 + 67}));
}

// As many commands one by one or as one step of the program.
TEST(PimTurn, ATurnEndsWithTheCommandAfterWhichTheBanksAreQuietTooLateForTheRefresh) {
    const std::vector<PimCommand> steps(40, PimCommand{PimOp::Mac, 1});
    // After n of them the banks could be quiet at this CK.
    const auto close = [](std::int64_t n) { return 29 + (n - 1) * 7 + 11 + 31; };
    for (const auto& macs : {steps, {PimCommand{PimOp::Mac, 40}}}) {
        for (const std::int64_t more : {0, 1}) {
            Bench bench(macs);
            const std::int64_t quiet = bench.run(kStart + close(17) - 1 + more);
            EXPECT_EQ(bench.commands_of(Mac), 17 + more);
            EXPECT_EQ(quiet, close(17 + more));
            EXPECT_FALSE(bench.unit.finished());
            // The refresh takes 97 CK; the row is opened again.
            const std::int64_t again = quiet + 97;
            bench.issued.clear();
            bench.unit.run(kStart + again, INT64_MAX);
            EXPECT_EQ(bench.issued[0], (Issued{Activate, again}));
            EXPECT_EQ(bench.commands_of(Mac), 40 - 17 - more);
            // With the row's close, behind the slot of the last MAC, and its ACT.
            EXPECT_EQ(bench.spent(PimState::Refresh), (11 - 7 + 31) + 97 + 29);
            EXPECT_TRUE(bench.unit.finished());
        }
        Bench short_turn(macs);
        short_turn.run(kStart + 1);  // one command goes in any case
        EXPECT_EQ(short_turn.commands_of(Mac), 1);
        short_turn.unit.run(kStart + 500, kStart + 501);
        EXPECT_EQ(short_turn.commands_of(Mac), 2);
    }
}

// A register write every 7 CK; no row has to be closed.
TEST(PimTurn, ATurnWithClosedRowsEndsWithTheCommandBehindWhichTheBusIsFreeTooLate) {
    for (const std::int64_t more : {0, 1}) {
        Bench bench({{PimOp::WriteInputs, 40}});
        bench.run(kStart + 20 + more);
        EXPECT_EQ(bench.commands_of(RegisterWrite), 3 + more);
    }
}

TEST(PimTurn, ATurnWithoutCommandsTakesACycle) {
    Bench bench({{PimOp::Yield, 211}, {PimOp::Mac, 1}});
    EXPECT_EQ(bench.run(), 1);
}

TEST(PimTurn, AProgramIsQuietWhenItsLastCommandsSlotIsOver) {
    PimConfig config = prime_pim();
    config.bus_turnaround = false;
    for (const ProgramEnd end : {ProgramEnd::RowsClosed, ProgramEnd::LastCommand}) {
        config.program_end = end;
        Bench bench({{PimOp::WriteInputs, 2}}, config);
        EXPECT_EQ(bench.run(), 2 * 7);
    }
}

TEST(PimTurn, AYieldGivesTheChannelBackForSoLong) {
    Bench bench({{PimOp::Mac, 1}, {PimOp::Yield, 211}, {PimOp::Mac, 1}});
    const std::int64_t quiet = bench.run();
    EXPECT_EQ(bench.commands_of(Mac), 1);
    EXPECT_TRUE(bench.unit.finished());
    EXPECT_EQ(bench.unit.on_left(kStart + quiet), kStart + quiet + 211);
    EXPECT_FALSE(bench.unit.left());
    EXPECT_FALSE(bench.unit.finished());
    const std::int64_t end = bench.unit.run(kStart + quiet + 223, INT64_MAX);  // when it could
    EXPECT_EQ(bench.spent(PimState::Yielded), 223);
    EXPECT_EQ(bench.unit.on_left(end), std::nullopt);
    EXPECT_EQ(bench.unit.left(), end);
}

TEST(PimTurn, ARefreshAfterAYieldIsNoYield) {
    Bench bench({{PimOp::Mac, 1}, {PimOp::Yield, 211}, {PimOp::Mac, 1}, {PimOp::Mac, 1, 1}});
    const std::int64_t again = bench.run() + 211;
    bench.unit.on_left(kStart + again - 211);
    const std::int64_t quiet = bench.unit.run(kStart + again, kStart + again + 1);
    EXPECT_EQ(bench.commands_of(Mac), 2);
    bench.unit.run(quiet + 97, INT64_MAX);
    EXPECT_EQ(bench.spent(PimState::Yielded), 211);
    EXPECT_EQ(bench.spent(PimState::Refresh), (67 - 29 - 7 + 31) + 97 + 29);
}

// Which it would have opened in any case.
TEST(PimTurn, AnotherRowBehindARefreshIsNotTheRefreshs) {
    Bench bench({{PimOp::Mac, 1}, {PimOp::Mac, 1, kWordsPerRow}});
    const std::int64_t quiet = bench.run(kStart + 1);
    bench.unit.run(kStart + quiet + 97, INT64_MAX);
    EXPECT_EQ(bench.commands_of(Mac), 2);
    EXPECT_EQ(bench.spent(PimState::Refresh), (67 - 29 - 7 + 31) + 97);
}

TEST(PimTurn, AKernelBehindAnotherOpensItsRowOverTheLastOne) {
    PimConfig config = prime_pim();
    config.program_end = ProgramEnd::NextKernel;
    Bench bench({{PimOp::Mac, 1}}, config);
    bench.run();
    EXPECT_THAT(bench.issued, ElementsAre(Issued{Precharge, 0}, Issued{Activate, 31},
                                          Issued{Mac, 31 + 29}, Issued{Precharge, 31 + 67}));
    EXPECT_EQ(bench.unit.ended(), kStart + 31 + 29 + 7);  // the MAC's slot
    config.program_end = ProgramEnd::LastCommand;
    config.completion = base::Cycles{19};
    Bench alone({{PimOp::Mac, 1}}, config);
    alone.run();
    EXPECT_EQ(alone.unit.ended(), kStart + 29 + 7 + 19);
    config.program_end = ProgramEnd::RowsClosed;
    Bench closed({{PimOp::Mac, 1}}, config);
    const std::int64_t quiet = closed.run();
    EXPECT_EQ(closed.unit.ended(), kStart + quiet + 19);
}

TEST(PimTurn, APassBeginsWhenTheHostKnowsOfTheEndOfTheLastOne) {
    PimConfig config = prime_pim();
    config.completion = base::Cycles{19};
    Bench one({{PimOp::Mac, 1}}, config);
    const std::int64_t quiet = one.run();
    Bench bench({{PimOp::Mac, 1}}, config, 3);
    EXPECT_EQ(bench.run(), 3 * quiet + 2 * 19);
    EXPECT_EQ(bench.unit.ended(), kStart + 3 * (quiet + 19));
    EXPECT_EQ(bench.commands_of(Mac), 3);
    EXPECT_EQ(bench.spent(PimState::Host), 2 * 19);
}

TEST(PimTurn, APassOpensItsRowOverTheOneTheLastPassLeftOpen) {
    PimConfig config = prime_pim();
    config.program_end = ProgramEnd::NextKernel;
    Bench bench({{PimOp::WriteInputs, 1}, {PimOp::Mac, 1}}, config, 2);
    bench.run();
    // The inputs go right behind the MAC but for the bus, rows are switched when it has turned.
    const std::int64_t mac = kToMac + 31 + 29;
    const std::int64_t inputs = mac + kToWrite;
    EXPECT_THAT(
        bench.issued,
        ElementsAre(Issued{RegisterWrite, 0}, Issued{Precharge, kToMac},
                    Issued{Activate, kToMac + 31}, Issued{Mac, mac}, Issued{RegisterWrite, inputs},
                    Issued{Precharge, inputs + kToMac}, Issued{Activate, inputs + kToMac + 31},
                    Issued{Mac, inputs + mac}, Issued{Precharge, inputs + kToMac + 31 + 67}));
    EXPECT_EQ(bench.unit.ended(), kStart + inputs + mac + 7);
}

TEST(PimTurn, APassThatARefreshCutsGoesOnWhereItWas) {
    Bench bench({{PimOp::Mac, 1}, {PimOp::Mac, 1, 1}}, prime_pim(), 2);
    const std::int64_t quiet = bench.run(67 + 31 - 1);  // the row could not be closed earlier
    EXPECT_EQ(bench.commands_of(Mac), 1);
    bench.unit.run(kStart + quiet + 211, INT64_MAX);
    EXPECT_EQ(bench.commands_of(Mac), 4);
}

TEST(PimTurn, PassesOfOneCommandEachMakeWayForARefreshAsWell) {
    Bench bench({{PimOp::Mac, 1}}, prime_pim(), 3);
    bench.run(kStart + 1);
    EXPECT_EQ(bench.commands_of(Mac), 1);
}

// The slot of the first MAC ends at 36; the row stays open.
TEST(PimTurn, APassBeginsBehindTheLastCommandsSlotWhereThatEndsTheOneBefore) {
    PimConfig config = prime_pim();
    config.program_end = ProgramEnd::LastCommand;
    config.completion = base::Cycles{19};
    Bench bench({{PimOp::Mac, 1}}, config, 2);
    bench.run();
    EXPECT_THAT(bench.issued, ElementsAre(Issued{Activate, 0}, Issued{Mac, 29},
                                          Issued{Mac, 36 + 19}, Issued{Precharge, 67}));
}

TEST(PimTurn, ResultsMayGoToTheRowThatIsOpen) {
    Bench bench({{PimOp::Mac, 1, 3 * kWordsPerRow}, {PimOp::Spill, 2, PimCommand::kOpenRow}});
    bench.run();
    EXPECT_THAT(bench.issued,
                ElementsAre(Issued{Activate, 0}, Issued{Mac, 29}, Issued{ArrayWrite, 29 + kToWrite},
                            Issued{ArrayWrite, 29 + kToWrite + 7},
                            Issued{Precharge, 29 + kToWrite + 7 + kToMac}));
}

TEST(PimTurn, AVisitForResultsOpensTheirRowWhenTheBusHasTurned) {
    Bench bench({{PimOp::Mac, 1}, {PimOp::SpillVisit, 2, kWordsPerRow}});
    bench.run();
    // The bus has turned at 29 + kToWrite; the row was opened tRAS before its close.
    const std::int64_t close = std::max<std::int64_t>(29 + kToWrite, 67);
    EXPECT_THAT(bench.issued,
                ElementsAre(Issued{Activate, 0}, Issued{Mac, 29}, Issued{Precharge, close},
                            Issued{Activate, close + 31}, Issued{ArrayWrite, close + 31 + 29},
                            Issued{ArrayWrite, close + 31 + 36},
                            Issued{Precharge, close + 31 + 36 + kToMac}));
    // After ten MACs it is the turn of the bus that decides.
    Bench late({{PimOp::Mac, 10}, {PimOp::SpillVisit, 2, kWordsPerRow}});
    late.run();
    EXPECT_EQ(late.issued[11], (Issued{Precharge, 29 + 9 * 7 + kToWrite}));
}

TEST(PimTurn, TheHostWaitsForTheResultsItReads) {
    PimConfig config = prime_pim();
    Bench bench({{PimOp::Mac, 1}, {PimOp::ReadResults, 2}, {PimOp::Mac, 1, 1}}, config);
    bench.run();
    // The sums have to have arrived; the second read's data come after the read latency.
    const std::int64_t second = 29 + kToWrite + 7;
    EXPECT_EQ(bench.issued[3], (Issued{RegisterRead, second}));
    EXPECT_EQ(bench.issued[4], (Issued{Mac, second + 23 + 3}));
    config.result_latency = base::Cycles{61};
    Bench slow({{PimOp::Mac, 1}, {PimOp::ReadResults, 2}, {PimOp::Mac, 1, 1}}, config);
    slow.run();
    EXPECT_EQ(slow.issued[4], (Issued{Mac, second + 61}));
}

TEST(PimTurn, ABarrierWaitsForTheData) {
    PimConfig config = prime_pim();
    config.barrier = base::Cycles{11};
    Bench bench({{PimOp::Mac, 1}, {PimOp::Barrier}, {PimOp::Mac, 1, 1}}, config);
    bench.run();
    EXPECT_EQ(bench.issued[2], (Issued{Mac, 29 + 23 + 3 + 11}));
    EXPECT_EQ(bench.spent(PimState::Host), 23 + 3 + 11 - 7);
    Bench waits({{PimOp::Mac, 1}, {PimOp::Wait, 101}, {PimOp::Mac, 1, 1}});
    waits.run();
    EXPECT_EQ(waits.issued[2], (Issued{Mac, 29 + 7 + 101}));
}

TEST(PimTurn, BanksAreParkedByAReadOfEach) {
    Bench bench({{PimOp::ReadBanks, 5}, {PimOp::ModeWrite, 2}, {PimOp::ModeWrite, 1}});
    bench.run();
    // Five ACTs, spaced by tRRD or a quarter of the window: 14 CK.
    const std::int64_t read = 4 * 14 + 29;
    EXPECT_EQ(bench.issued[1], (Issued{ArrayRead, read}));
    // Another row, which then stays open: turn of the bus, two writes, one write.
    const std::int64_t opened = read + 11 + 31;
    EXPECT_EQ(bench.issued[3], (Issued{Activate, opened}));
    EXPECT_EQ(bench.issued[4], (Issued{ArrayWrite, std::max(opened + 29, read + kToWrite)}));
    EXPECT_EQ(bench.commands_of(Activate), 2);
    EXPECT_EQ(bench.commands_of(ArrayWrite), 3);
}

TEST(PimTurn, OneBankWorksAlone) {
    Bench bench({{.op = PimOp::Mac, .count = 2, .word = 0, .banks = {3}},
                 {.op = PimOp::WriteBank, .count = 1, .word = 0, .banks = {5}}});
    bench.run();
    EXPECT_EQ(bench.unit.bank_counts(3), (memory::port::BankCounts{1, 2, 0}));
    EXPECT_EQ(bench.unit.bank_counts(5), (memory::port::BankCounts{1, 0, 1}));
    EXPECT_EQ(bench.unit.bank_counts(4), memory::port::BankCounts{});
}

}  // namespace
}  // namespace tilesim::arch::pim
