// What is known of a program before it runs.
#include "arch/npu/check/program_graph.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <variant>

#include "arch/npu/check/marked_graph.hpp"
#include "arch/npu/check/transfer_checks.hpp"
#include "arch/npu/stream/router.hpp"

namespace tilesim::arch::npu::check {
namespace {

constexpr program::TileCoordinate kGraphCore{0, 2};
constexpr std::int64_t kWords = 300;
constexpr std::int64_t kWork = 700;

// A core that works on blocks: `buffers` of them arrive and leave.
program::Program stage(std::int64_t buffers, std::int64_t loops) {
    program::Program p;
    p.locks = {{"in_free", kGraphCore, 0, buffers},
               {"in_full", kGraphCore, 1, 0},
               {"out_free", kGraphCore, 2, buffers},
               {"out_full", kGraphCore, 3, 0}};
    for (std::int64_t i = 0; i < 2; ++i) {
        p.buffers.push_back({"b" + std::to_string(i), kGraphCore, 4096 * (i + 1), kWords * 4});
    }
    program::TileDma dma;
    dma.tile = kGraphCore;
    program::BufferDescriptor bd;
    bd.length = kWords;
    bd.acquire = program::LockAction{0, -1};
    bd.release = program::LockAction{1, 1};
    bd.next = 0;
    dma.descriptors.push_back(bd);
    bd.id = 1;
    bd.buffer = 1;
    bd.acquire = program::LockAction{3, -1};
    bd.release = program::LockAction{2, 1};
    bd.next = 1;
    dma.descriptors.push_back(bd);
    dma.starts = {{program::Direction::S2MM, 0, {0, 1, false}},
                  {program::Direction::MM2S, 0, {1, 1, false}}};
    p.dmas = {dma};
    program::Kernel work;
    work.name = "work";
    work.cycles = kWork;
    p.kernels = {work};
    program::LoopOp loop;
    loop.count = loops;
    loop.body = {{program::AcquireOp{{1, -1}}},
                 {program::AcquireOp{{2, -1}}},
                 {program::CallOp{0, {}, {}}},
                 {program::ReleaseOp{{0, 1}}},
                 {program::ReleaseOp{{3, 1}}}};
    p.cores = {{kGraphCore, {}, {{loop}}}};
    return p;
}

// Of the core's operations at least: the call and its kernel, and the lock operations between.
constexpr std::int64_t kCall = 10 + kWork;
constexpr std::int64_t kLock = 4;

TEST(ProgramGraph, TheTighterOfWorkAndTransferBoundsTheDoubleBufferedPeriod) {
    const auto analysis = analyse(stage(2, -1), NpuConfig{});
    EXPECT_TRUE(analysis.deadlocks.empty());
    ASSERT_TRUE(analysis.period.has_value());
    EXPECT_NEAR(analysis.period->cycles, kCall + 4 * kLock, 1e-6);
}

TEST(ProgramGraph, WithOneBufferWorkAndTransferTakeTurns) {
    const auto analysis = analyse(stage(1, -1), NpuConfig{});
    ASSERT_TRUE(analysis.period.has_value());
    // From the output's free lock to its release again: the call, two releases, and the transfer.
    EXPECT_NEAR(analysis.period->cycles, kCall + 3 * kLock + kWords, 1e-6);
}

TEST(ProgramGraph, AnOuterLoopCountsItsInnerRounds) {
    program::Program p = stage(2, 5);
    program::LoopOp outer;
    outer.count = -1;
    outer.body = {
        {program::AcquireOp{{4, -1}}}, p.cores[0].script[0], {program::ReleaseOp{{5, 1}}}};
    p.cores[0].script = {{outer}};
    p.locks.push_back({"more", kGraphCore, 4, 3});
    p.locks.push_back({"over", kGraphCore, 5, 0});
    const auto analysis = analyse(p, NpuConfig{});
    ASSERT_TRUE(analysis.period.has_value());
    // A block every fifth of: the inner rounds and two more lock operations.
    EXPECT_NEAR(analysis.period->cycles, kCall + 4 * kLock + 2.0 * kLock / 5, 1e-6);
}

TEST(ProgramGraph, ACycleWithoutATokenIsACertainDeadlock) {
    program::Program p = stage(1, -1);
    p.locks[2].initial = 0;  // nothing is free, and only what leaves frees it
    const auto analysis = analyse(p, NpuConfig{});
    ASSERT_EQ(analysis.deadlocks.size(), 1U);
    EXPECT_NE(analysis.deadlocks[0].find("tile(0,2).core acquires out_free"), std::string::npos)
        << analysis.deadlocks[0];
    EXPECT_NE(analysis.deadlocks[0].find("tile(0,2).mm2s0"), std::string::npos);
}

TEST(ProgramGraph, ALockNobodyReleasesStarvesWhoWaitsForIt) {
    program::Program p = stage(1, -1);
    p.cores.clear();
    const auto analysis = analyse(p, NpuConfig{});
    ASSERT_EQ(analysis.deadlocks.size(), 1U);
    EXPECT_EQ(analysis.deadlocks[0],
              "tile(0,2).mm2s0 waits for lock out_full >= 1, which starts at 0 and which nobody "
              "releases");
}

TEST(ProgramGraph, LocksTheSequenceSetsSayNothing) {
    program::Program p = stage(1, -1);
    p.locks[2].initial = 0;
    p.sequence = {program::SetLock{2, 1}};
    EXPECT_TRUE(analyse(p, NpuConfig{}).deadlocks.empty());
}

TEST(MarkedGraph, TheRatioIsTimeOverTokensOfTheTightestCycle) {
    MarkedGraph graph;
    const auto frame = graph.add_frame();
    const auto a = graph.add_node(frame, "a");
    const auto b = graph.add_node(frame, "b");
    graph.add_edge(a, b, 7, 0, true);
    graph.add_edge(b, a, 4, 2, false);
    graph.add_edge(a, a, 5, 1, false);
    graph.solve_rates();
    EXPECT_TRUE(graph.stuck_cycle().empty());
    ASSERT_TRUE(graph.period(frame).has_value());
    EXPECT_NEAR(graph.period(frame)->cycles, 5.5, 1e-9);
    graph.add_edge(b, a, 1, 0, false);
    EXPECT_FALSE(graph.period(frame).has_value());
}

// The second frame has three rounds for one of the first. Where it should have two as well, what
// goes between them bounds nothing in the long run.
TEST(MarkedGraph, FramesThatAreRelatedShareTheirTightestCycle) {
    const auto periods = [](bool between, bool contradicted) {
        MarkedGraph graph;
        const auto slow = graph.add_frame();
        const auto quick = graph.add_frame();
        const auto a = graph.add_node(slow, "a");
        const auto b = graph.add_node(quick, "b");
        graph.relate(slow, 3, quick, 1);
        if (contradicted) {
            graph.relate(slow, 2, quick, 1);
        }
        graph.add_edge(a, a, 30, 1, false);
        graph.add_edge(b, b, 7, 1, false);
        if (between) {
            graph.add_edge(a, b, 47, 0, false);
            graph.add_edge(b, a, 53, 1, false);  // a token of three a round of `slow`
        }
        graph.solve_rates();
        return std::pair{graph.period(slow).value().cycles, graph.period(quick).value().cycles};
    };
    constexpr double kRounding = 1e-6;
    EXPECT_NEAR(periods(false, false).first, 30, kRounding);
    EXPECT_NEAR(periods(false, false).second, 10, kRounding);
    EXPECT_NEAR(periods(true, false).first, 300, kRounding);
    EXPECT_NEAR(periods(true, false).second, 100, kRounding);
    EXPECT_NEAR(periods(true, true).first, 30, kRounding);
}

// --- transfers ---

program::Program copy() {
    program::Program p;
    p.external_buffers = {{"in", 0, 4096}, {"out", 8192, 4096}};
    p.buffers = {{"b", {0, 1}, 0, 4096}};
    program::BufferDescriptor bd;
    bd.length = 1000;
    program::TileDma dma{{0, 1},
                         {bd, bd},
                         {{program::Direction::S2MM, 0, {0, 1, false}},
                          {program::Direction::MM2S, 0, {1, 1, false}}}};
    dma.descriptors[1].id = 1;
    p.dmas = {dma};
    const program::ChannelId read{{0, 0}, program::Direction::MM2S, 0};
    const program::ChannelId write{{0, 0}, program::Direction::S2MM, 0};
    p.routes = {{"up", read, {{{0, 1}, program::Direction::S2MM, 0}}, std::nullopt, false, {}},
                {"down", {{0, 1}, program::Direction::MM2S, 0}, {write}, std::nullopt, false, {}}};
    program::BufferDescriptor half = bd;
    half.length = 500;  // in two pieces: fine
    program::BufferDescriptor whole = bd;
    whole.id = 1;
    whole.buffer = 1;
    p.sequence = {program::WriteDescriptor{{0, 0}, half}, program::PushTask{read, {0, 2, false}},
                  program::WriteDescriptor{{0, 0}, whole}, program::PushTask{write, {1, 1, true}},
                  program::WaitToken{write}};
    return p;
}

TransferFindings findings(program::Program p) {
    NpuConfig config;
    config.memory_dma.channels = 6;
    stream::route(p, config);
    return check_transfers(p, config);
}

TEST(TransferChecks, DifferentPiecesOfTheSameTotalAreFine) {
    EXPECT_TRUE(findings(copy()).errors.empty());
    EXPECT_TRUE(findings(copy()).warnings.empty());
}

TEST(TransferChecks, NameBothEndsWhereTotalsDiffer) {
    program::Program p = copy();
    std::get<program::PushTask>(p.sequence[1]).task.repeat = 1;
    EXPECT_EQ(findings(p).errors[0], "tile 0,1 s2mm0 expects 1000 words, tile 0,0 mm2s0 sends 500");
    p = copy();
    p.dmas[0].descriptors[1].length = 1005;  // five more fit in the stream
    EXPECT_EQ(findings(p).warnings[0],
              "tile 0,0 s2mm0 expects 1000 words, tile 0,1 mm2s0 sends 1005");
    p = copy();
    p.dmas[0].descriptors[1].length = 999;
    EXPECT_EQ(findings(p).errors[0], "tile 0,0 s2mm0 expects 1000 words, tile 0,1 mm2s0 sends 999");
    p = copy();
    std::get<program::PushTask>(p.sequence[1]).task.repeat = 3;
    EXPECT_EQ(findings(p).errors[0],
              "tile 0,1 s2mm0 expects 1000 words, tile 0,0 mm2s0 sends 1500");
}

// A task that is written register by register has no place but what starts it.
TEST(TransferChecks, WhatIsWrongHasThePlaceOfTheWaitOrOfTheStart) {
    program::Program p = copy();
    p.file = "d.mlir";
    std::int32_t line = 10;
    for (program::SequenceOp& op : p.sequence) {
        std::visit([&line](auto& each) { each.where = {line++, 3}; }, op);
    }
    EXPECT_TRUE(findings(p).errors.empty());
    auto& task = std::get<program::PushTask>(p.sequence[3]).task;
    task.token = false;
    EXPECT_EQ(findings(p).errors[0].substr(0, 13), "d.mlir:14:3: ");
    task = {7, 1, true};
    EXPECT_EQ(findings(p).errors[0],
              "d.mlir:13:3: tile 0,0 s2mm0: a task leads to descriptor 7, which nobody has "
              "written");
}

TEST(TransferChecks, TokensDescriptorsAndQueues) {
    program::Program p = copy();
    std::get<program::PushTask>(p.sequence[3]).task.token = false;
    EXPECT_EQ(findings(p).errors[0],
              "the sequence waits for 1 tokens of tile 0,0 s2mm0, whose tasks send 0");
    p = copy();
    p.sequence.erase(p.sequence.begin());
    EXPECT_EQ(findings(p).errors[0],
              "tile 0,0 mm2s0: a task leads to descriptor 0, which nobody has written");
    p = copy();
    std::get<program::PushTask>(p.sequence[1]).task.repeat = 1;
    p.dmas[0].descriptors[0].length = 1000;
    std::get<program::WriteDescriptor>(p.sequence[0]).descriptor.length = 100;
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(findings(p).warnings.empty() || i < 5);
        p.sequence.insert(p.sequence.begin() + 2, p.sequence[1]);
    }
    EXPECT_NE(findings(p).warnings[0].find("tile 0,0 mm2s0: more than 5 tasks"), std::string::npos);
}

// The header names the receiver's descriptor, whatever its chain says.
TEST(TransferChecks, APacketOutOfOrderIsAsLongAsItsDescriptor) {
    program::Program p = copy();
    p.dmas[0].starts[0].task.out_of_order = true;
    p.routes[0].packet_id = 9;
    p.routes[0].keep_header = true;
    auto& sent = std::get<program::WriteDescriptor>(p.sequence[0]).descriptor;
    sent.packet = program::Packet{9, 0, p.dmas[0].descriptors[0].id};
    p.dmas[0].descriptors[0].length = 499;
    EXPECT_EQ(findings(p).warnings[0],
              "tile 0,0 mm2s0 sends tile 0,1 s2mm0 a packet of 500 words for descriptor 0, which "
              "takes 499");
    p.dmas[0].descriptors[0].length = 500;
    EXPECT_TRUE(findings(p).warnings.empty());
}

// One core's words for another, and for a memory tile.
program::Program put_and_get(std::vector<program::CoreOp> put, std::vector<program::CoreOp> got) {
    program::Program p;
    p.cores = {{{0, 2}, {}, std::move(put)}, {{0, 3}, {}, std::move(got)}};
    p.routes = {{"way",
                 {{0, 2}, program::Direction::MM2S, 0, program::PortKind::Core},
                 {{{0, 3}, program::Direction::S2MM, 0, program::PortKind::Core}},
                 std::nullopt,
                 false,
                 {}}};
    return p;
}

std::vector<program::CoreOp> loop_of(std::int64_t count, std::vector<program::CoreOp> body) {
    program::LoopOp loop;
    loop.count = count;
    loop.body = std::move(body);
    return {{loop}};
}

TEST(TransferChecks, WhatACorePutsOnItsStreamIsWhatTheOtherEndTakes) {
    const program::CoreOp put{program::PutStreamOp{0, 5, {}}};
    const auto got = [](std::int64_t words) {
        return std::vector<program::CoreOp>{{program::GetStreamOp{0, words, {}}}};
    };
    const auto found = findings(put_and_get(loop_of(7, {put}), got(35)));
    EXPECT_TRUE(found.errors.empty());
    EXPECT_TRUE(found.warnings.empty());
    EXPECT_EQ(findings(put_and_get(loop_of(7, {put}), got(36))).errors[0],
              "tile 0,3 core_in0 expects 36 words, tile 0,2 core_out0 sends 35");
    // How often a loop without end runs, nobody knows.
    for (const std::int64_t runs : {std::int64_t{-1}, INT64_MAX}) {
        EXPECT_TRUE(findings(put_and_get(loop_of(runs, {put}), got(36))).errors.empty()) << runs;
    }
    program::Program p = put_and_get({put}, {});
    p.buffers = {{"b", {0, 1}, 0, 4096}};
    program::BufferDescriptor bd;
    bd.length = 6;
    p.dmas = {{{0, 1}, {bd}, {{program::Direction::S2MM, 0, {0, 1, false}}}}};
    p.routes[0].destinations = {{{0, 1}, program::Direction::S2MM, 0}};
    EXPECT_EQ(findings(p).errors[0], "tile 0,1 s2mm0 expects 6 words, tile 0,2 core_out0 sends 5");
}

TEST(ProgramGraph, CoresThatWaitForEachOthersStreamsAreACertainDeadlock) {
    const auto deadlocks = [](bool first) {
        const program::CoreOp put{program::PutStreamOp{0, 64, {}}};
        const program::CoreOp get{program::GetStreamOp{0, 64, {}}};
        program::Program p =
            put_and_get(loop_of(3, {get, put}),
                        loop_of(3, first ? std::vector{put, get} : std::vector{get, put}));
        p.routes.push_back(p.routes[0]);
        p.routes[1].name = "back";
        p.routes[1].source.tile = {0, 3};
        p.routes[1].destinations[0].tile = {0, 2};
        NpuConfig config;
        stream::route(p, config);
        return analyse(p, config).deadlocks.size();
    };
    EXPECT_EQ(deadlocks(true), 0);
    EXPECT_EQ(deadlocks(false), 1);
}

}  // namespace
}  // namespace tilesim::arch::npu::check
