#include "arch/systemc/pim_memory/pim_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/systemc/hierarchy_testing.hpp"
#include "arch/systemc/initiators_testing.hpp"
#include "arch/systemc/protocol_checker_testing.hpp"
#include "arch/systemc/reports_testing.hpp"

namespace tilesim::arch::systemc::pim_memory {
namespace {

using testing::StartsWith;

pim::PimProgram program() {
    pim::PimProgram program;
    program.words_per_row =
        memory::device::MemoryConfig{}.row.count() * 8 / pim::PimConfig{}.register_bits;
    program.commands = {{pim::PimOp::WriteInputs, 4}, {pim::PimOp::Mac, 300}};
    return program;
}

// As the PIM controller alone runs it on an idle memory.
std::int64_t cycles_alone() {
    base::EventQueue queue;
    base::stats::Group root("");
    const memory::device::MemoryConfig config;
    memory::controller::MemorySystem memory(config, pim::PimController::memory_lookahead(config),
                                            queue, root);
    const pim::PimProgram what = program();
    pim::PimController controller({}, what, memory, root, nullptr);
    controller.start(base::Femtoseconds{0});
    while (!controller.finished()) {
        queue.run_until(queue.next_time());
    }
    return controller.program_cycles().count();
}

TEST(PimMemory, ExecutesAProgramInAsManyCyclesAsTheControllerAlone) {
    TimeLine line("line");
    PimMemory memory("lpddr", line, {}, {});
    memory.run(program());
    sc_core::sc_start();
    EXPECT_FALSE(memory.busy());
    EXPECT_EQ(memory.program_cycles().count(), cycles_alone());
}

TEST(PimMemory, IsCommandedThroughItsRegistersAndInterruptsAtTheEnd) {
    TimeLine line("line");
    PimMemory memory("lpddr", line, {}, {});
    sc_core::sc_signal<bool> interrupt("irq");
    memory.interrupt.bind(interrupt);
    std::uint32_t state_running = 0, state_ended = 9;
    BlockingInitiator host("host", [&](BlockingInitiator& self) {
        std::uint64_t at = PimMemory::kProgram;
        for (const pim::PimCommand& command : program().commands) {
            for (const std::uint32_t word :
                 {static_cast<std::uint32_t>(command.op), static_cast<std::uint32_t>(command.count),
                  std::uint32_t{0}, std::uint32_t{0}}) {
                self.write(at, word);
                at += 4;
            }
        }
        EXPECT_EQ(self.write(PimMemory::kStart, 2), tlm::TLM_OK_RESPONSE);
        state_running = self.read(PimMemory::kState);
        sc_core::wait(interrupt.posedge_event());
        state_ended = self.read(PimMemory::kState);
    });
    const CheckedBinding binding(host.socket, memory.commands);
    sc_core::sc_start();
    EXPECT_EQ(state_running, 1U);
    EXPECT_EQ(state_ended, 0U);
    EXPECT_EQ(memory.program_cycles().count(), cycles_alone());
}

TEST(PimMemory, KeepsOrdinaryRequestsWaitingWhileItsBanksCompute) {
    TimeLine line("line");
    PimMemory memory("lpddr", line, {}, {});
    sc_core::sc_time unloaded, loaded;
    BlockingInitiator host("host", [&](BlockingInitiator& self) {
        const sc_core::sc_time before = sc_core::sc_time_stamp();
        EXPECT_EQ(self.read(64), 0U);
        unloaded = sc_core::sc_time_stamp() - before;
        memory.run(program());
        sc_core::wait(100, sc_core::SC_NS);
        const sc_core::sc_time then = sc_core::sc_time_stamp();
        EXPECT_EQ(self.read(64), 0U);
        loaded = sc_core::sc_time_stamp() - then;
    });
    const CheckedBinding binding(host.socket, memory.socket);
    sc_core::sc_start();
    EXPECT_GT(loaded, 4 * unloaded);
}

TEST(PimMemory, HasAnAluAtEveryBank) {
    TimeLine line("line");
    const PimMemory memory("lpddr", line, {}, {});
    const auto kinds = kinds_by_name();
    int alus = 0;
    for (const auto& [name, kind] : kinds) {
        alus += name.ends_with(".alu") ? 1 : 0;
        if (kind == "dram_bank") {
            EXPECT_TRUE(kinds.contains(name + ".alu")) << name;
        }
    }
    auto counts = kind_counts();
    EXPECT_EQ(alus, counts["dram_bank"]);
    EXPECT_TRUE(kinds.contains("lpddr.channel_0.bank_3.alu"));
}

TEST(PimMemory, RunsOneProgramAtATime) {
    TimeLine line("line");
    PimMemory memory("lpddr", line, {}, {});
    memory.run(program());
    EXPECT_THAT(error_of([&] { memory.run(program()); }),
                StartsWith("lpddr: is started while a program runs"));
}

TEST(PimMemory, RefusesAProgramThatItsBanksCannotRun) {
    TimeLine line("line");
    PimMemory memory("lpddr", line, {}, {});
    EXPECT_EQ(error_of([&] { memory.run({}); }), "lpddr: cannot run a program of no command");
    pim::PimProgram other_rows = program();
    other_rows.words_per_row = 0;
    EXPECT_THAT(error_of([&] { memory.run(other_rows); }),
                StartsWith("lpddr: cannot run a program for rows of 0 words: these have "));
    const std::int64_t words = program().words_per_row * memory::device::MemoryConfig{}.rows;
    pim::PimProgram at_the_end = program();
    at_the_end.commands[1].word = words - 299;
    EXPECT_THAT(error_of([&] { memory.run(at_the_end); }),
                StartsWith("lpddr: cannot run command 1: mac 300 at word "));
    EXPECT_FALSE(memory.busy());
    at_the_end.commands[1].word = words - 300;
    memory.run(at_the_end);
    EXPECT_TRUE(memory.busy());
}

TEST(PimMemory, RefusesToBeStartedThroughItsRegistersWhileAProgramRuns) {
    const Warnings warnings;
    TimeLine line("line");
    PimMemory memory("lpddr", line, {}, {});
    memory.run(program());
    BlockingInitiator host("host", [](BlockingInitiator& self) {
        for (std::uint64_t at = 0; at < 16; at += 4) {
            self.write(PimMemory::kProgram + at, at == 4 ? 1 : 0);
        }
        EXPECT_EQ(self.write(PimMemory::kStart, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    });
    const CheckedBinding binding(host.socket, memory.commands);
    sc_core::sc_start();
    EXPECT_FALSE(memory.busy());
    ASSERT_EQ(Warnings::texts().size(), 1U);
    EXPECT_THAT(Warnings::texts().front(), StartsWith("lpddr: a program runs in its banks"));
}

TEST(PimMemory, HasNoCyclesOfAProgramBeforeOneHasEnded) {
    TimeLine line("line");
    PimMemory memory("lpddr", line, {}, {});
    EXPECT_EQ(memory.standstill(), "");
    EXPECT_EQ(error_of([&] { memory.program_cycles(); }), "lpddr: no program has ended");
    memory.run(program());
    EXPECT_EQ(error_of([&] { memory.program_cycles(); }), "lpddr: no program has ended");
    EXPECT_THAT(memory.standstill(), StartsWith("pim(0) waits for "));
    sc_core::sc_start();
    EXPECT_EQ(memory.standstill(), "");
    memory.run(program());
    EXPECT_EQ(memory.program_cycles().count(), cycles_alone());  // of the first
}

TEST(PimMemory, RefusesCommandsThatAreNoneInItsName) {
    const Warnings warnings;
    TimeLine line("line");
    PimMemory memory("lpddr", line, {}, {});
    BlockingInitiator host("host", [](BlockingInitiator& self) {
        EXPECT_EQ(self.write(8, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        // Nothing has been written that could be started.
        EXPECT_EQ(self.write(PimMemory::kStart, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        constexpr std::uint64_t kEnd =
            PimMemory::kProgram + PimMemory::kMostCommands * PimMemory::kWordsPerCommand * 4;
        EXPECT_EQ(self.write(kEnd, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        std::uint32_t word = 0;
        tlm::tlm_generic_payload payload;
        BlockingInitiator::prepare(payload, true, 0, &word, sizeof word);
        payload.set_byte_enable_ptr(reinterpret_cast<unsigned char*>(&word));
        sc_core::sc_time delay;
        self.socket->b_transport(payload, delay);
        EXPECT_EQ(payload.get_response_status(), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    });
    const CheckedBinding binding(host.socket, memory.commands);
    sc_core::sc_start();
    ASSERT_EQ(Warnings::texts().size(), 4U);
    EXPECT_THAT(Warnings::texts(), testing::Each(StartsWith("lpddr: ")));
}

TEST(PimMemory, SaysWhichCommandIsNoneAndWhy) {
    const Warnings warnings;
    TimeLine line("line");
    PimMemory memory("lpddr", line, {}, {});
    BlockingInitiator host("host", [](BlockingInitiator& self) {
        const auto start = [&self](std::uint32_t op, std::uint32_t count, std::uint32_t high) {
            const std::uint32_t words[] = {0, 1, 0, 0, op, count, 0, high};  // a good one first
            for (std::size_t i = 0; i < std::size(words); ++i) {
                self.write(PimMemory::kProgram + i * 4, words[i]);
            }
            EXPECT_EQ(self.write(PimMemory::kStart, 2), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        };
        start(99, 1, 0);
        start(6, 0, 0);
        start(6, 1, 1U << 30);
        EXPECT_EQ(self.write(PimMemory::kStart, 3), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    });
    const CheckedBinding binding(host.socket, memory.commands);
    sc_core::sc_start();
    ASSERT_EQ(Warnings::texts().size(), 4U);
    EXPECT_THAT(Warnings::texts()[0],
                StartsWith("lpddr: command 1: operation 99 is none of 0..16"));
    EXPECT_THAT(Warnings::texts()[1], StartsWith("lpddr: command 1: count 0 at word 0: must be"));
    EXPECT_THAT(Warnings::texts()[2],
                StartsWith("lpddr: command 1: count 1 at word 4611686018427387904: must be"));
    EXPECT_THAT(Warnings::texts()[3],
                StartsWith("lpddr: 3 commands cannot be started: 2 have been written"));
}

}  // namespace
}  // namespace tilesim::arch::systemc::pim_memory
