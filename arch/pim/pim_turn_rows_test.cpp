// One unit alone with its channel: rows that open and close, the host between, what is counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/pim/pim_turn_testing.hpp"

namespace tilesim::arch::pim {
namespace {

using testing::ElementsAre;
using enum AllBankCommand;

TEST(PimTurn, ARowIsClosedWhereTheProgramSaysAndTheOneThatWasOpenIsFoundAgain) {
    Bench bench({{PimOp::Mac, 1, 3 * kWordsPerRow},
                 {PimOp::Close, 1},
                 {PimOp::Spill, 1, PimCommand::kOpenRow}});
    bench.run();
    EXPECT_THAT(bench.issued,
                ElementsAre(Issued{Activate, 0}, Issued{Mac, 29}, Issued{Precharge, 67},
                            Issued{Activate, 98}, Issued{ArrayWrite, 98 + 29},
                            Issued{Precharge, 98 + 29 + kToMac}));
    EXPECT_THAT(bench.opened, ElementsAre(3, 3));
}

// Even banks work on row 3, odd ones on row 5; each spills to its own.
TEST(PimTurn, TheRowThatIsOpenIsThatOfTheBanks) {
    const auto even = [](PimOp op, std::int64_t word) {
        return PimCommand{.op = op, .count = 1, .word = word, .banks = {BankSet::kEven}};
    };
    const auto odd = [](PimOp op, std::int64_t word) {
        return PimCommand{.op = op, .count = 1, .word = word, .banks = {BankSet::kOdd}};
    };
    Bench bench({even(PimOp::Mac, 3 * kWordsPerRow), odd(PimOp::Mac, 5 * kWordsPerRow),
                 even(PimOp::Spill, PimCommand::kOpenRow)});
    bench.run();
    EXPECT_THAT(bench.opened, ElementsAre(3, 5));
}

TEST(PimTurn, TheHostTakesItsTimeBetweenInputsAndMacs) {
    for (const PimOp inputs : {PimOp::WriteInputs, PimOp::WriteBankInputs}) {
        PimConfig config = prime_pim();
        config.host_turn = base::Femtoseconds{19'000'000};  // 2.8 GHz: 54 CK
        Bench bench({{inputs, 2}, {PimOp::Mac, 1}}, config);
        bench.run();
        EXPECT_EQ(bench.issued[2], (Issued{Activate, 7 + kToMac + 54}));
    }
}

// Rows have been used last, in this turn and after the refresh.
TEST(PimTurn, AChangeToRegistersIsACommandOfTheTurn) {
    PimConfig config = prime_pim();
    config.bus_turnaround = false;
    config.mode_change = base::Cycles{37};
    Bench bench({{PimOp::WriteInputs, 1}, {PimOp::Mac, 1}, {PimOp::WriteInputs, 1}}, config);
    const std::int64_t row = (1 + 37) + 1 + 37;
    const std::int64_t quiet = bench.run(kStart + row + 67 + 31 - 1);
    EXPECT_THAT(bench.issued, ElementsAre(Issued{RegisterWrite, 1 + 37}, Issued{Activate, row},
                                          Issued{Mac, row + 29}, Issued{Precharge, row + 67}));
    bench.issued.clear();
    bench.unit.run(kStart + quiet + 211, INT64_MAX);
    EXPECT_THAT(bench.issued, ElementsAre(Issued{RegisterWrite, quiet + 211 + 1 + 37}));
}

// Before a command to registers, and before one to banks, where rows are not what it waits for.
TEST(PimTurn, AChangeBetweenBanksAndRegistersIsASwitchOfModes) {
    PimConfig config = prime_pim();
    config.bus_turnaround = false;
    config.mode_change = base::Cycles{37};
    Bench bench({{PimOp::WriteInputs, 1}, {PimOp::Mac, 1}, {PimOp::WriteInputs, 1}}, config);
    const std::int64_t quiet = bench.run();
    EXPECT_EQ(bench.spent(PimState::ModeSwitch), (1 + 37) + 3 * (1 + 37 - 7));
    EXPECT_EQ(bench.spent(PimState::RowOpen), 29 + 31);
    EXPECT_EQ(quiet, (1 + 37) + 3 * (1 + 37 - 7) + 29 + 31 + 3 * 7);
    config.mode_change = base::Cycles{6};  // over before the slot of the command before
    Bench hidden({{PimOp::WriteInputs, 1}, {PimOp::Mac, 1}, {PimOp::WriteInputs, 1}}, config);
    hidden.run();
    EXPECT_EQ(hidden.spent(PimState::ModeSwitch), 1 + 6);  // the first
}

// tRAS of 67 from the ACT on, and 11 from the last MAC: at 29, 36, 43, 50, 57.
TEST(PimTurn, MacsUnderTheLeastTimeOfARowAreTheRows) {
    Bench few({{PimOp::Mac, 4}});
    EXPECT_EQ(few.run(), 67 + 31);
    EXPECT_EQ(few.unit.blamed(PimState::Mac), 0);
    EXPECT_EQ(few.unit.blamed(PimState::RowOpen), 67 + 31);
    EXPECT_EQ(few.spent(PimState::Mac), 4 * 7);
    Bench more({{PimOp::Mac, 5}});
    EXPECT_EQ(more.run(), 57 + 11 + 31);
    EXPECT_EQ(more.unit.blamed(PimState::Mac), 5 * 7);
    EXPECT_EQ(more.unit.blamed(PimState::RowOpen), more.spent(PimState::RowOpen));
}

// tRC of 97 from one ACT to the next, which tRPab of 23 would let go at 68 + 23.
TEST(PimTurn, MacsUnderTheLeastTimeBetweenRowsAreTheRows) {
    PimConfig config = prime_pim();
    config.precharge_all = base::Cycles{23};
    Bench bench({{PimOp::Mac, 5}, {PimOp::Mac, 5, kWordsPerRow}}, config);
    EXPECT_EQ(bench.run(), 97 + 97);
    EXPECT_EQ(bench.unit.blamed(PimState::Mac), 5 * 7);
    // Both wait behind the first row's MACs, which are the rows' but once.
    Bench both({{PimOp::Mac, 4}, {PimOp::Mac, 5, kWordsPerRow}}, config);
    both.run();
    EXPECT_EQ(both.unit.blamed(PimState::Mac), 5 * 7);
}

TEST(PimTurn, WritesUnderTheLeastTimeOfTheModeRegistersRowAreTheChangesOfMode) {
    PimConfig config = prime_pim();
    config.write_to_precharge = base::Cycles{5};
    config.bus_turnaround = false;
    Bench bench({{PimOp::ModeVisit, 1}, {PimOp::Mac, 1}}, config);
    bench.run();
    EXPECT_EQ(bench.issued[2], (Issued{Precharge, 67}));
    EXPECT_EQ(bench.unit.blamed(PimState::ModeSwitch), bench.spent(PimState::ModeSwitch));
}

TEST(PimTurn, AReadWaitsForItsRowAsAMacDoes) {
    for (const PimOp op : {PimOp::Mac, PimOp::LoadOutputs}) {
        Bench bench({{op, 1}});
        const std::int64_t quiet = bench.run();
        EXPECT_EQ(bench.spent(PimState::Turnaround), 0);
        EXPECT_EQ(bench.spent(PimState::RowOpen), quiet - 7);
    }
}

TEST(PimTurn, TheHostWaitsForTheWordsItReadsFromABank) {
    Bench bench({{PimOp::ReadBank, 1}, {PimOp::Mac, 1}});
    bench.run();
    EXPECT_EQ(bench.issued[1], (Issued{ArrayRead, 29}));
    EXPECT_EQ(bench.issued[2], (Issued{Mac, 29 + 23 + 3}));
}

TEST(PimTurn, AVisitForResultsSwitchesRowsWhileTheBusTurnsWhereTheyOverlap) {
    const std::vector<PimCommand> commands{{PimOp::Mac, 10}, {PimOp::SpillVisit, 1, kWordsPerRow}};
    const std::int64_t last = 29 + 9 * 7;
    Bench waits(commands);
    waits.run();
    EXPECT_EQ(waits.issued[11], (Issued{Precharge, last + kToWrite}));
    EXPECT_EQ(waits.spent(PimState::Mac), 10 * 7);
    EXPECT_THAT(waits.opened, ElementsAre(0, 1));
    PimConfig config = prime_pim();
    config.overlap_row_switch = true;
    Bench overlaps(commands, config);
    overlaps.run();
    EXPECT_EQ(overlaps.issued[11], (Issued{Precharge, last + 11}));
    EXPECT_EQ(overlaps.issued[12], (Issued{Activate, last + 11 + 31}));
}

TEST(PimTurn, RowsThatAreNotOfTheDataAreNotCounted) {
    Bench bench({{PimOp::ReadBanks, 4}, {PimOp::ModeVisit, 1}});
    bench.run();
    EXPECT_EQ(bench.unit.stats().activates.value(), 0);
    EXPECT_EQ(bench.unit.bank_counts(), memory::port::BankCounts{});
}

TEST(PimTurn, OnlyTheFirstRowIsOpenedOverTheLastKernels) {
    PimConfig config = prime_pim();
    config.program_end = ProgramEnd::NextKernel;
    Bench bench({{PimOp::Mac, 1}, {PimOp::Mac, 1, 1}}, config);
    bench.run();
    EXPECT_THAT(bench.issued,
                ElementsAre(Issued{Precharge, 0}, Issued{Activate, 31}, Issued{Mac, 31 + 29},
                            Issued{Mac, 31 + 29 + 7}, Issued{Precharge, 31 + 67}));
}

// What closing the row takes is not the program's.
TEST(PimTurn, AProgramThatEndsWithItsLastCommandWaitsForNoRow) {
    PimConfig config = prime_pim();
    Bench closes({{PimOp::Mac, 1}}, config);
    const std::int64_t quiet = closes.run();
    EXPECT_EQ(closes.spent(PimState::RowOpen), quiet - 7);
    config.program_end = ProgramEnd::LastCommand;
    Bench ends({{PimOp::Mac, 1}}, config);
    EXPECT_EQ(ends.run(), quiet);
    EXPECT_EQ(ends.spent(PimState::RowOpen), 29);
    EXPECT_EQ(ends.spent(PimState::Mac), 7);
    EXPECT_EQ(ends.spent(PimState::Idle), kStart + quiet - 29 - 7);
    // One that closes its row itself does not wait until banks may open.
    Bench itself({{PimOp::Mac, 1}, {PimOp::Close, 1}}, config);
    EXPECT_EQ(itself.run(), quiet);
    EXPECT_EQ(itself.spent(PimState::RowOpen), 67 - 7 + 1);
}

TEST(PimTurn, CommandsOfHalfTheBanksCountForThose) {
    Bench bench({{.op = PimOp::Mac, .count = 2, .word = 0, .banks = {BankSet::kOdd}},
                 {.op = PimOp::Mac, .count = 1, .word = 0, .banks = {BankSet::kEven}}});
    bench.run();
    for (const std::size_t bank : {0U, 1U, 14U, 15U}) {
        EXPECT_EQ(bench.unit.bank_counts(bank),
                  (memory::port::BankCounts{1, bank % 2 == 1 ? 2 : 1, 0}));
    }
}

// PRE at 67 behind a MAC whose slot ends at 36, and a CK of the bus for it. A visit closes its own
// row, parked banks stay open until the turn is over: from the end of the read's slot at 134 on.
TEST(PimTurn, ClosingTheDatasRowIsNoPartOfWhatTheModesTake) {
    Bench visit({{PimOp::Mac, 1}, {PimOp::ModeVisit, 0}});
    visit.run();
    EXPECT_EQ(visit.spent(PimState::RowOpen), 29 + (68 - 36));
    Bench parked({{PimOp::Mac, 1}, {PimOp::ReadBanks, 1}});
    const std::int64_t quiet = parked.run();
    EXPECT_EQ(parked.spent(PimState::RowOpen), 29 + (68 - 36) + (quiet - 134));
}

// The row is opened at 98 and written at 127.
TEST(PimTurn, AVisitForResultsClosesItsRowBeforeWhatFollows) {
    Bench bench({{PimOp::Mac, 1}, {PimOp::SpillVisit, 1, kWordsPerRow}, {PimOp::WriteInputs, 1}});
    bench.run();
    EXPECT_THAT(bench.issued,
                ElementsAre(Issued{Activate, 0}, Issued{Mac, 29}, Issued{Precharge, 67},
                            Issued{Activate, 98}, Issued{ArrayWrite, 127},
                            Issued{Precharge, 127 + kToMac}, Issued{RegisterWrite, 191}));
}

// They arrive at 55, the row is closed from 67 to 98.
TEST(PimTurn, ABarrierForDataThatHaveArrivedTakesNothing) {
    Bench bench({{PimOp::Mac, 1}, {PimOp::Close, 1}, {PimOp::Barrier}});
    const std::int64_t quiet = bench.run();
    EXPECT_EQ(bench.spent(PimState::Host), 0);
    EXPECT_EQ(bench.spent(PimState::RowOpen), quiet - 7);
}

// The even banks' row could be closed from 67 on.
TEST(PimTurn, OnlyBanksThatTakeTurnsCloseTheirRowBesideTheOthersWork) {
    PimConfig config = prime_pim();
    config.early_close = true;
    Bench all({{.op = PimOp::Mac, .count = 1, .word = 0, .banks = {BankSet::kEven}},
               {.op = PimOp::Mac, .count = 1, .word = 0, .banks = {BankSet::kOdd}},
               {PimOp::WriteInputs, 1}},
              config);
    all.run();
    EXPECT_THAT(all.issued, ElementsAre(Issued{Activate, 0}, Issued{Mac, 29}, Issued{Activate, 36},
                                        Issued{Mac, 65}, Issued{RegisterWrite, 65 + kToWrite},
                                        Issued{Precharge, 65 + kToWrite + kToMac}));
    Bench one({{.op = PimOp::Mac, .count = 1, .word = 0, .banks = {2}},
               {.op = PimOp::Mac, .count = 3, .word = 0, .banks = {3}}},
              config);
    one.run();
    EXPECT_THAT(one.issued, ElementsAre(Issued{Activate, 0}, Issued{Mac, 29}, Issued{Activate, 36},
                                        Issued{Mac, 65}, Issued{Mac, 72}, Issued{Mac, 79},
                                        Issued{Precharge, 36 + 67}));
}

TEST(BankSet, HoldsAllBanksEveryOtherOneOrOne) {
    for (const std::int64_t bank : {0, 1, 6, 7}) {
        EXPECT_TRUE(BankSet{}.holds(bank));
        EXPECT_EQ(BankSet{BankSet::kEven}.holds(bank), bank % 2 == 0);
        EXPECT_EQ(BankSet{BankSet::kOdd}.holds(bank), bank % 2 == 1);
        EXPECT_EQ(BankSet{6}.holds(bank), bank == 6);
    }
    for (const BankSet set :
         {BankSet{}, BankSet{BankSet::kEven}, BankSet{BankSet::kOdd}, BankSet{0}, BankSet{6}}) {
        std::vector<std::int64_t> visited;
        set.for_each(8, [&](std::int64_t bank) { visited.push_back(bank); });
        std::vector<std::int64_t> held;
        for (std::int64_t bank = 0; bank < 8; ++bank) {
            if (set.holds(bank)) {
                held.push_back(bank);
            }
        }
        EXPECT_EQ(visited, held) << set.which;
    }
    EXPECT_THAT(turns_of(1), ElementsAre(BankSet{}));
    EXPECT_THAT(turns_of(2), ElementsAre(BankSet{BankSet::kEven}, BankSet{BankSet::kOdd}));
}

}  // namespace
}  // namespace tilesim::arch::pim
