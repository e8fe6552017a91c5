#include "arch/npu/core/script_cursor.hpp"

#include <gmock/gmock.h>

#include "arch/npu/program/program_fault.hpp"

namespace tilesim::arch::npu::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Script = std::vector<program::CoreOp>;

// An operation told apart by its lock.
program::CoreOp acquire(std::int64_t lock) {
    return {program::AcquireOp{{lock, -1}}};
}

program::CoreOp loop(std::int64_t count, Script body) {
    program::LoopOp op;
    op.count = count;
    op.body = std::move(body);
    return {op};
}

program::CoreOp parameter_loop(std::int64_t parameter, Script body) {
    program::LoopOp op;
    op.parameter = parameter;
    op.body = std::move(body);
    return {op};
}

// The locks of the next operations, at most `most`.
std::vector<std::int64_t> next(ScriptCursor& cursor, std::size_t most = 100) {
    std::vector<std::int64_t> locks;
    while (locks.size() < most) {
        const program::CoreOp* op = cursor.next(base::Cycles{0});
        if (op == nullptr) {
            break;
        }
        locks.push_back(std::get<program::AcquireOp>(op->op).action.lock);
    }
    return locks;
}

TEST(ScriptCursor, RunsLoopsWithinLoopsAsOftenAsTheySay) {
    const Script script{acquire(1), loop(2, {acquire(2), loop(3, {acquire(3)})}), acquire(4)};
    ScriptCursor cursor(script, "core");
    cursor.start();
    EXPECT_THAT(next(cursor), ElementsAre(1, 2, 3, 3, 3, 2, 3, 3, 3, 4));
}

TEST(ScriptCursor, StandsAtTheEndUntilItStarts) {
    const Script script{acquire(1)};
    ScriptCursor cursor(script, "core");
    EXPECT_THAT(next(cursor), IsEmpty());
}

TEST(ScriptCursor, LoopsOfNoRoundsAndEmptyOnesAreSkipped) {
    const Script script{loop(0, {acquire(1)}), loop(5, {}), acquire(2)};
    ScriptCursor cursor(script, "core");
    cursor.start();
    EXPECT_THAT(next(cursor), ElementsAre(2));
}

TEST(ScriptCursor, AParameterCountsTheRoundsOfALoopEnteredAfterItIsWritten) {
    const Script script{parameter_loop(3, {acquire(1)}), acquire(2),
                        parameter_loop(3, {acquire(3)}), acquire(4),
                        parameter_loop(5, {acquire(5)})};
    ScriptCursor cursor(script, "core");
    cursor.start();
    cursor.write_parameter(3, 2);
    EXPECT_THAT(next(cursor, 1), ElementsAre(1));
    cursor.write_parameter(3, 4);  // too late for the loop under way
    EXPECT_THAT(next(cursor, 2), ElementsAre(1, 2));
    // One that nobody has written is 0.
    EXPECT_THAT(next(cursor), ElementsAre(3, 3, 3, 3, 4));
}

TEST(ScriptCursor, AParameterHasItsValueAtStartUntilItIsWritten) {
    const Script script{parameter_loop(1, {acquire(1)}), parameter_loop(1, {acquire(2)})};
    ScriptCursor cursor(script, "core", {0, 2});
    cursor.start();
    EXPECT_THAT(next(cursor, 2), ElementsAre(1, 1));
    cursor.write_parameter(1, 3);
    EXPECT_THAT(next(cursor), ElementsAre(2, 2, 2));
}

TEST(ScriptCursor, ALoopForEverHasNoEnd) {
    const Script script{loop(-1, {acquire(1)}), acquire(2)};
    ScriptCursor cursor(script, "core");
    cursor.start();
    const auto locks = next(cursor, 1000);
    EXPECT_EQ(locks, std::vector<std::int64_t>(1000, 1));
}

TEST(ScriptCursor, ALoopForEverWithoutOperationsIsAFault) {
    const Script script{loop(-1, {parameter_loop(0, {acquire(1)})})};
    ScriptCursor cursor(script, "npu.tile(0,2).core");
    cursor.start();
    try {
        cursor.next(base::Cycles{31});
        FAIL();
    } catch (const program::ProgramFault& fault) {
        EXPECT_STREQ(fault.what(),
                     "cycle 31: npu.tile(0,2).core runs a loop for ever that does nothing");
    }
}

TEST(ScriptCursor, SpinsInALoopForEverThatGivesNobodyAnything) {
    const auto spins = [](program::CoreOp op, std::int64_t count) {
        const Script script{loop(count, {acquire(1), loop(2, {op})})};
        ScriptCursor cursor(script, "core");
        cursor.start();
        cursor.next(base::Cycles{0});
        return cursor.spins();
    };
    EXPECT_TRUE(spins(acquire(2), -1));
    EXPECT_TRUE(spins({program::CallOp{}}, -1));
    EXPECT_FALSE(spins(acquire(2), 5));
    EXPECT_FALSE(spins({program::ReleaseOp{}}, -1));
    EXPECT_FALSE(spins({program::PutCascadeOp{}}, -1));
    EXPECT_FALSE(spins({program::GetCascadeOp{}}, -1));
    EXPECT_FALSE(spins({program::PutStreamOp{}}, -1));
    EXPECT_FALSE(spins({program::GetStreamOp{}}, -1));
}

}  // namespace
}  // namespace tilesim::arch::npu::core
