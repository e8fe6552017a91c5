#include "workloads/amx/tiles/kernel_text.hpp"

#include <gmock/gmock.h>

#include "arch/base/config.hpp"

namespace tilesim::workloads::amx::tiles {
namespace {

// The message with which `text` is refused.
std::string message_of(const std::string& text) {
    try {
        read_kernel(text, "x.amx", 2);
    } catch (const arch::base::config::ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(KernelText, IsOneProgramOrOneAThread) {
    EXPECT_EQ(read_kernel("", "x.amx", 1).size(), 1U);
    EXPECT_EQ(read_kernel("# a kernel\nscalar\n", "x.amx", 1).size(), 1U);
    const auto programs = read_kernel(
        "# a kernel\n# thread 0: work\nloop i COUNT\nbarrier\nend\n# thread 1\n"
        "loop i COUNT\nscalar\nbarrier\nend\n# thread 2: none",
        "x.amx", 7);
    ASSERT_EQ(programs.size(), 3U);
    EXPECT_EQ(programs[0].statements[0].count, 7);
    EXPECT_EQ(programs[1].statements[0].count, 7);
    EXPECT_TRUE(programs[2].statements.empty());
}

TEST(KernelText, CommentsMaySayCount) {
    const std::string text = "# COUNT passes\nscalar # COUNT\nloop i COUNT\nscalar\nend\n";
    EXPECT_TRUE(has_count(text));
    EXPECT_EQ(read_kernel(text, "x.amx", 7)[0].statements[1].count, 7);
    EXPECT_FALSE(has_count("# COUNT passes\nscalar\n"));
}

TEST(KernelText, LoopsOfNoTurnsDoNothing) {
    EXPECT_TRUE(
        does_nothing(read_kernel("# thread 0\n# thread 1\nloop i 0\nscalar\nend\n", "x", 1)));
    EXPECT_FALSE(does_nothing(read_kernel("# thread 0\n# thread 1\nscalar\n", "x", 1)));
}

TEST(KernelText, OneThreadMayStateTheCaches) {
    const std::string other = "# thread 0\nscalar\n# thread 1\nbuffer a 0x1000 64\n";
    EXPECT_TRUE(states_no_caches(read_kernel(other + "scalar\n", "x", 1)));
    EXPECT_FALSE(states_no_caches(read_kernel(other + "flush a\nscalar\n", "x", 1)));
}

TEST(KernelText, KeepsLineNumbersOfThreads) {
    EXPECT_THAT(message_of("# thread 0\nscalar\n# thread 1\nscaler\n"),
                testing::StartsWith("x.amx:4:1: unknown instruction 'scaler'"));
}

TEST(KernelText, RefusesThreadsThatWouldWaitForever) {
    EXPECT_THAT(message_of("# thread 0\nbarrier\n# thread 1\nloop i COUNT\nbarrier\nend\n"),
                testing::StartsWith("x.amx:5:1: thread 1 comes to 2 barriers, threads before it to "
                                    "1"));
}

TEST(KernelText, ThreadsAreNumberedInOrder) {
    EXPECT_THAT(message_of("# thread 0\nscalar\n# thread 2\nscalar\n"),
                testing::StartsWith("x.amx:3:10: thread 2: threads are numbered from 0, in order; "
                                    "this one must be 1"));
    EXPECT_THAT(message_of("# thread 0\nscalar\n# thread 0\nscalar\n"),
                testing::StartsWith("x.amx:3:10: thread 0:"));
    EXPECT_THAT(message_of("# thread 1\nscalar\n"), testing::StartsWith("x.amx:1:10: thread 1:"));
    EXPECT_EQ(read_kernel("# thread 0\nscalar\n# thread pool\nscalar\n", "x.amx", 1).size(), 1U);
}

TEST(KernelText, ErrorsOfAllThreadsAreReportedAtOnce) {
    const std::string message = message_of("# thread 0\nscaler\n# thread 1\nscalor\n");
    EXPECT_THAT(message, testing::HasSubstr("x.amx:2:1: unknown instruction 'scaler'"));
    EXPECT_THAT(message, testing::HasSubstr("\nx.amx:4:1: unknown instruction 'scalor'"));
}

TEST(KernelText, ThreadsRunAsOften) {
    EXPECT_THAT(message_of("# thread 0\nruns 3\nscalar\n# thread 1\nruns 2\nscalar\n"),
                testing::StartsWith("x.amx:6:1: thread 1 has runs 2, thread 0 has runs 3"));
    EXPECT_EQ(message_of("# thread 0\nruns 3\nscalar\n# thread 1\n"), "");
    // Threads that do nothing say nothing of it, be they the first.
    EXPECT_THAT(message_of("# thread 0\n# thread 1\nruns 3\nscalar\n# thread 2\nscalar\n"),
                testing::StartsWith("x.amx:6:1: thread 2 has runs 1, thread 1 has runs 3"));
    const auto programs =
        read_kernel("# thread 0\n# thread 1\nruns 3\nscalar\n# thread 2\nruns 5\n", "x.amx", 1);
    for (const auto& program : programs) {
        EXPECT_EQ(program.runs, 3);
    }
}

TEST(KernelText, NamesThreadsThatComeToNoBarrier) {
    const auto without = [](const std::string& text) {
        return without_barrier(read_kernel(text, "x.amx", 1));
    };
    EXPECT_THAT(without("# thread 0\nscalar\n# thread 1\nbarrier\n# thread 2\n"),
                testing::ElementsAre(0));
    EXPECT_THAT(without("# thread 0\nscalar\n# thread 1\nscalar\n"), testing::IsEmpty());
}

TEST(KernelText, BuffersThatShareBytesAreNamed) {
    const auto shared = [](const std::string& text) { return overlap(read_kernel(text, "x", 1)); };
    EXPECT_EQ(shared("buffer a 0x1000 64\nbuffer b 0x1040 64\n"), std::nullopt);
    EXPECT_EQ(shared("buffer b 0x1020 16\nbuffer a 0x1000 64\n"),
              "buffers a and b share bytes 0x1020 to 0x102f");
    EXPECT_EQ(shared("buffer a 0x1000 64\nbuffer b 0x103f 64\n"),
              "buffers a and b share bytes 0x103f to 0x103f");
    // Threads share what they like.
    EXPECT_EQ(shared("# thread 0\nbuffer a 0x1000 64\n# thread 1\nbuffer b 0x1000 64\n"),
              std::nullopt);
}

TEST(KernelText, WhatTakesMinutesToSimulateSaysSo) {
    const auto said = [](const std::string& count) {
        return long_run(read_kernel("runs 10\nloop i " + count + "\nscalar\nend\n", "x", 1));
    };
    EXPECT_EQ(said("25000000"), std::nullopt);  // each turn of two instructions
    EXPECT_EQ(said("25000001"),
              "500000020 instructions take minutes for every 500000000, but for loops whose turns "
              "are all alike; run.max_wall_time ends the run");
}

TEST(KernelText, WithoutCacheStatesEveryBufferIsAtTheSameLevel) {
    using To = arch::amx::program::Preparation::To;
    const auto levels = [](const std::string& text) {
        auto program = read_kernel(text, "x.amx", 1).front();
        state_buffers(program, To::L2);
        std::vector<std::pair<std::size_t, To>> found;
        for (const auto& each : program.preparations) {
            found.emplace_back(each.buffer, each.to);
        }
        return found;
    };
    const std::string three = "buffer a 0x1000 64\nbuffer b 0x2000 64\nbuffer c 0x3000 64\n";
    EXPECT_THAT(levels(three + "scalar\n"),
                testing::ElementsAre(testing::Pair(0, To::L2), testing::Pair(1, To::L2),
                                     testing::Pair(2, To::L2)));
    EXPECT_THAT(levels(three + "touch b l1\nscalar\n"),
                testing::ElementsAre(testing::Pair(1, To::L1)));
}

}  // namespace
}  // namespace tilesim::workloads::amx::tiles
