// What lies where before a run begins.
#include <gtest/gtest.h>

#include "arch/amx/socket/socket_testing.hpp"

namespace tilesim::arch::amx::socket {
namespace {

TEST(Socket, APageThatIsFlushedIsStillTranslated) {
    AmxConfig config;
    config.pages.walk = base::Cycles{17};
    Machine machine(config, {loads(1)});
    machine.socket.flush(kData, 1024);
    EXPECT_TRUE(machine.run());
    EXPECT_EQ(machine.socket.core(0).pages().walks(), 0);
}

TEST(Socket, WhatLiesInTheCachesAtTheStartIsTranslatedAtOnce) {
    AmxConfig config;
    config.pages.walk = base::Cycles{17};
    for (const std::int64_t warm : {0, 1024}) {
        Machine machine(config, {loads(1)});
        if (warm > 0) {
            machine.socket.warm(0, kData, warm, caches::Level::L2, false);
        }
        EXPECT_TRUE(machine.run());
        EXPECT_EQ(machine.socket.core(0).pages().walks(), warm > 0 ? 0 : 1);
    }
}

TEST(Socket, WhatDoesNotFitIntoAnL2IsLeftInTheL3) {
    AmxConfig config;
    config.caches.l2 = {base::Bytes{64 * caches::kLineBytes}, 16};
    Machine machine(config, {loads(1)});
    machine.socket.warm(0, kData, 65 * caches::kLineBytes, caches::Level::L2, true);
    const caches::Line first = caches::line_at(kData);
    EXPECT_FALSE(machine.socket.core(0).caches().contains_l2(first));
    EXPECT_TRUE(machine.socket.uncore().l3().dirty(first));
    EXPECT_FALSE(machine.socket.uncore().l3().contains(first + 1));
    EXPECT_TRUE(machine.socket.core(0).caches().quiet());  // nothing of it is said in the run
}

TEST(Socket, WhatLiesInMemoryAtTheStartIsInNoCache) {
    AmxConfig config;
    Machine machine(config, {loads(1)});
    machine.socket.warm(0, kData, 1024, caches::Level::Memory, false);
    EXPECT_FALSE(machine.socket.uncore().l3().contains(caches::line_at(kData)));
    EXPECT_FALSE(machine.socket.core(0).caches().contains_l2(caches::line_at(kData)));
}

TEST(Socket, OfWhatAllCoresHaveNoneHasWritten) {
    AmxConfig config;
    const caches::Line line = caches::line_at(kData);
    for (const std::size_t cores : {1U, 2U}) {
        Machine machine(config, std::vector<std::string>(cores, "scalar\n"));
        machine.socket.warm(kData, 128, caches::Level::L2, true);
        for (std::size_t core = 0; core < cores; ++core) {
            EXPECT_TRUE(machine.socket.core(core).caches().contains_l2(line));
            EXPECT_EQ(machine.socket.core(core).caches().dirty(line), cores == 1);
        }
    }
}

TEST(Socket, WhatNobodyHasWrittenIsClean) {
    AmxConfig config;
    Machine machine(config, {"scalar\n"});
    machine.socket.warm(kData, 128, caches::Level::L2, false);
    EXPECT_FALSE(machine.socket.core(0).caches().dirty(caches::line_at(kData)));
}

// The second core stands where the first does, with a buffer of its own.
std::string reads_own(std::int64_t core) {
    return "buffer own " + std::to_string(kData + core * 4096) + " 1024\nvmovups zmm0, [own]\n";
}

TEST(Socket, LinesOfACoreInStepLieInNoCacheOfTheOneThatStandsForIt) {
    AmxConfig config;
    config.simulated_cores = 1;
    config.simulated_instructions = 0;
    Machine machine(config, {reads_own(0), reads_own(1)});
    ASSERT_EQ(machine.socket.simulated(), 1U);
    machine.socket.warm(1, kData + 4096, 1024, caches::Level::L2, false);
    EXPECT_FALSE(machine.socket.core(0).caches().contains_l2(caches::line_at(kData + 4096)));
    machine.socket.warm(0, kData, 1024, caches::Level::L2, false);
    EXPECT_TRUE(machine.socket.core(0).caches().contains_l2(caches::line_at(kData)));
}

class Addresses final : public core::InstructionObserver {
  public:
    void on_instruction(const program::DynamicInstruction& instruction) override {
        if (program::info_of(instruction.instruction->opcode).memory()) {
            seen.push_back(instruction.address);
        }
    }
    std::vector<std::int64_t> seen;
};

// Two in step and one of its own.
TEST(Socket, EveryProgramsObserverHearsOfItsOwnInstructions) {
    AmxConfig config;
    config.simulated_cores = 1;
    config.simulated_instructions = 0;
    base::EventQueue queue;
    base::stats::Group root{""};
    const std::vector<program::Program> programs =
        Machine::read({reads_own(0), reads_own(1), reads_own(2) + "scalar\n"});
    memory::controller::MemorySystem memory(memory::device::MemoryConfig{},
                                            Uncore::memory_lookahead(config), queue, root);
    std::vector<Addresses> heard(3);
    Socket socket(config, programs, {&heard[0], &heard[1], &heard[2]}, memory, queue);
    ASSERT_EQ(socket.simulated(), 2U);
    socket.start();
    while (!queue.empty()) {
        queue.run_until(queue.next_time());
    }
    ASSERT_TRUE(socket.finished());
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(heard[i].seen,
                  (std::vector<std::int64_t>{kData + static_cast<std::int64_t>(i) * 4096}));
    }
}

TEST(Socket, WhatIsFlushedLeavesEveryCacheLineByLine) {
    AmxConfig config;
    Machine machine(config, {"scalar\n", "scalar\n"});
    const caches::Line line = caches::line_at(kData);
    machine.socket.warm(0, kData, 192, caches::Level::L2, false);
    machine.socket.warm(1, kData, 192, caches::Level::L3, false);
    machine.socket.flush(kData + 127, 1);  // the last byte of the second line
    for (const caches::Line each : {line, line + 1, line + 2}) {
        EXPECT_EQ(machine.socket.core(0).caches().contains_l2(each), each != line + 1);
        EXPECT_EQ(machine.socket.uncore().l3().contains(each), each != line + 1);
    }
}

}  // namespace
}  // namespace tilesim::arch::amx::socket
