// Every number of the device reaches the block it belongs to: small programs whose cycles follow
// from them.
#include <gtest/gtest.h>

#include <algorithm>

#include "arch/memory/port/stub_memory_testing.hpp"
#include "arch/npu/array/array.hpp"
#include "arch/npu/bench_testing.hpp"

namespace tilesim::arch::npu::array {
namespace {

using namespace base::literals;
using base::Cycles;
using program::Direction;
using enum program::Bundle;

constexpr program::TileCoordinate kShimTile{0, 0};
constexpr program::TileCoordinate kMemoryTile{0, 1};
constexpr program::TileCoordinate kCore{0, 3};
constexpr program::ChannelId kSender{kMemoryTile, Direction::MM2S, 0};
constexpr program::ChannelId kReceiver{kCore, Direction::S2MM, 0};

constexpr std::int64_t kTransferWords = 97;
constexpr Cycles kMoved{kTransferWords};

// All different: a number that goes to another block shows.
NpuConfig device() {
    NpuConfig config;
    config.clock = base::Hertz{1'000'000'000};
    config.memory_dma.channels = 6;
    config.memory_dma.descriptor_latency = 31_cyc;
    config.memory_dma.grant_to_stream = 13_cyc;
    config.memory_dma.task_queue_depth = 3;
    config.memory_dma.boundary_bubble = 2_cyc;
    config.core_dma.descriptor_latency = 5_cyc;
    config.core_dma.boundary_bubble = 3_cyc;
    config.core_dma.grant_to_stream = 23_cyc;
    config.core_dma.task_queue_depth = 2;
    config.shim_dma.descriptor_latency = 7_cyc;
    config.shim.task_start = 211_cyc;
    // The FIFOs hold what is on its way: a receiver that starts again finds no gap.
    config.stream = {.hop_latency = 11_cyc, .sink_fifo = 37, .arbiter_fifo = 6};
    config.command_processor.write_cycles = 109_cyc;
    return config;
}

program::BufferDescriptor descriptor(std::int64_t id, std::int64_t words = kTransferWords) {
    program::BufferDescriptor result;
    result.id = id;
    result.length = words;
    return result;
}

// A route over the switches of column 0 from the memory tile up.
program::Route up(const char* name, std::int64_t channel, program::ChannelId to) {
    program::Route route;
    route.name = name;
    route.source = {kMemoryTile, Direction::MM2S, channel};
    route.destinations = {to};
    const program::SwitchPort north{North, channel};
    const program::SwitchPort south{South, channel};
    route.path = {{kMemoryTile, {Dma, channel}, north, {}}};
    for (std::int64_t row = 2; row < to.tile.row; ++row) {
        route.path.push_back({{0, row}, south, north, {}});
    }
    route.path.push_back({to.tile, south, {Dma, to.index}, {}});
    return route;
}

struct ArrayBench : TestBench {
    ArrayBench(program::Program run, const NpuConfig& on) : config(on), program(std::move(run)) {
        array.emplace(config, fabric::FabricConfig{}, program, memory, queue, root, nullptr);
        array->start(config.command_processor.dispatch);
    }
    Cycles end_of(const program::ChannelId& id) const { return array->channel(id).last_progress(); }
    std::int64_t done(const program::ChannelId& id) const {
        return array->channel(id).descriptors_done();
    }

    std::int64_t spent(const program::ChannelId& id, dma::ChannelState state) const {
        const std::string& path = array->channel(id).name();
        std::int64_t cycles = 0;
        for (const base::stats::Group* tile : root.children()[0]->children()) {
            for (const base::stats::Group* part : tile->children()) {
                cycles += part->path() == path
                              ? part->accounts()[0]->spent(static_cast<std::size_t>(state))
                              : 0;
            }
        }
        return cycles;
    }

    NpuConfig config;
    program::Program program;
    base::stats::Group root{""};
    memory::port::StubMemory memory{queue, 41_ns};
    std::optional<Array> array;
};

// A memory tile sends to a core two rows up: three switches.
program::Program send_up(std::int64_t repeat = 1) {
    program::Program program;
    program.routes = {up("up", 0, kReceiver)};
    program.dmas = {{kMemoryTile, {descriptor(0)}, {{Direction::MM2S, 0, {0, repeat}}}},
                    {kCore, {descriptor(1)}, {{Direction::S2MM, 0, {1, repeat}}}}};
    return program;
}

// The receiver takes both in one descriptor: only the sender goes from one to the next.
program::Program send_twice() {
    program::Program program = send_up(2);
    program.dmas[1].starts[0].task.repeat = 1;
    program.dmas[1].descriptors[0].length *= 2;
    return program;
}

TEST(ArrayTiming, ATransferTakesItsTaskStartAWordACycleAndALatencyASwitch) {
    const NpuConfig config = device();
    ArrayBench bench(send_up(), config);
    bench.run();
    const Cycles sent = config.memory_dma.descriptor_latency + kMoved;
    EXPECT_EQ(bench.end_of(kSender), sent);
    EXPECT_EQ(bench.end_of(kReceiver), sent + config.stream.hop_latency * 3);
    EXPECT_EQ(bench.array->last_progress(), bench.end_of(kReceiver));
}

TEST(ArrayTiming, AStreamOfTwoWordsACycleTakesHalfTheCyclesOverTheSameSwitches) {
    NpuConfig config = device();
    config.stream.width = base::BytesPerCycle{2 * kWordBytes};
    ArrayBench bench(send_up(), config);
    bench.run();
    const Cycles sent = config.memory_dma.descriptor_latency + Cycles{(kTransferWords + 1) / 2};
    // The last word arrives in the first half of its cycle.
    EXPECT_EQ(bench.now(), sent + config.stream.hop_latency * 3 - 1_cyc);
    EXPECT_EQ(bench.end_of(kSender), sent);
    EXPECT_EQ(bench.end_of(kReceiver), sent + config.stream.hop_latency * 3);
    bench.array->finish_statistics();
    EXPECT_EQ(bench.array->finish_cycle(), bench.end_of(kReceiver));
}

// What a descriptor takes beyond the cycles of its words: here the bubble before the second.
TEST(ArrayTiming, AStreamOfTwoWordsACycleIsWaitedForBeyondHalfTheCycles) {
    NpuConfig config = device();
    config.stream.width = base::BytesPerCycle{2 * kWordBytes};
    ArrayBench bench(send_twice(), config);
    bench.run();
    EXPECT_EQ(bench.spent(kSender, dma::ChannelState::Streaming), (kTransferWords + 1) / 2 * 2);
    EXPECT_EQ(bench.spent(kSender, dma::ChannelState::WaitingForStream),
              config.memory_dma.boundary_bubble.count());
}

// The header is a word of those who keep it.
TEST(ArrayTiming, AHeaderIsNoWordOfAReceiverThatDropsIt) {
    const NpuConfig config = device();
    for (const bool drops : {false, true}) {
        program::Program program = send_up();
        program.routes[0].packet_id = 5;
        program.routes[0].keep_header = true;
        if (drops) {
            program.routes[0].without_header = {kReceiver};
        }
        program.dmas[0].descriptors[0].packet = program::Packet{5, 0, 0};
        ArrayBench bench(program, config);
        bench.run();
        EXPECT_EQ(bench.end_of(kReceiver), config.memory_dma.descriptor_latency + kMoved +
                                               config.stream.hop_latency * 3 +
                                               (drops ? 1_cyc : 0_cyc));
    }
}

TEST(ArrayTiming, AReceiversBubbleDelaysWhatFollows) {
    const NpuConfig config = device();
    ArrayBench bench(send_up(2), config);
    bench.run();
    EXPECT_EQ(bench.end_of(kReceiver), config.memory_dma.descriptor_latency + kMoved * 2 +
                                           config.stream.hop_latency * 3 +
                                           config.core_dma.boundary_bubble);
}

TEST(ArrayTiming, ASendersBubbleDelaysWhatFollows) {
    const NpuConfig config = device();
    ArrayBench bench(send_twice(), config);
    bench.run();
    EXPECT_EQ(bench.end_of(kReceiver), config.memory_dma.descriptor_latency + kMoved * 2 +
                                           config.stream.hop_latency * 3 +
                                           config.memory_dma.boundary_bubble);
}

TEST(ArrayTiming, ALockTheSequenceGivesStartsTheStreamTheGrantToStreamLater) {
    const NpuConfig config = device();
    program::Program program = send_up();
    program.locks = {{"go", kMemoryTile, 0, 0}};
    program.dmas[0].descriptors[0].acquire = program::LockAction{0, -1};
    program.sequence = {program::SetLock{0, 1}};
    ArrayBench bench(program, config);
    bench.run();
    EXPECT_EQ(bench.end_of(kSender),
              config.command_processor.write_cycles + config.memory_dma.grant_to_stream + kMoved);
}

constexpr program::ChannelId kShimReader{kShimTile, Direction::MM2S, 0};

// A shim reads and sends to the memory tile above.
program::Program read_in(std::int64_t words) {
    program::Program program;
    program.external_buffers = {{"in", 0, 4 * words}};
    program::Route route;
    route.name = "in";
    route.source = kShimReader;
    route.destinations = {{kMemoryTile, Direction::S2MM, 0}};
    route.path = {{kShimTile, {South, 3}, {North, 0}, {}}, {kMemoryTile, {South, 0}, {Dma, 0}, {}}};
    program.routes = {route};
    program.dmas = {{kShimTile, {descriptor(0, words)}, {{Direction::MM2S, 0, {0, 1}}}}};
    return program;
}

TEST(ArrayTiming, AShimsTaskStartsLaterThanATiles) {
    const NpuConfig config = device();
    ArrayBench bench(read_in(kTransferWords), config);
    bench.run();
    ASSERT_FALSE(bench.memory.reads.empty());
    EXPECT_EQ(bench.memory.reads[0].arrival,
              218_ns + fabric::FabricConfig{}.request_latency);  // 7 + 211 cycles
}

// 32 words, which one burst brings and the FIFO of a receiver that never starts takes.
TEST(ArrayTiming, AnAnswerCrossesTheShimsPortAtItsWidth) {
    const auto end_with = [](std::int64_t bytes_a_cycle) {
        NpuConfig config = device();
        config.shim.port_width = base::BytesPerCycle{bytes_a_cycle};
        ArrayBench bench(read_in(32), config);
        bench.run();
        return bench.end_of(kShimReader);
    };
    EXPECT_EQ(end_with(2) - end_with(16), Cycles{4 * 32 / 2 - 4 * 32 / 16});
}

TEST(ArrayTiming, AQueueIsAsDeepAsItsKindOfTileHasIt) {
    const NpuConfig config = device();
    const auto dropped_of = [&config](std::int64_t pushes) {
        program::Program program = send_up();
        program.dmas[0].starts.assign(static_cast<std::size_t>(pushes),
                                      {Direction::MM2S, 0, {0, 1}});
        program.dmas[0].starts.push_back({Direction::MM2S, 1, {0, 1}});
        const ArrayBench bench(program, config);
        EXPECT_EQ(bench.array->most_queued(program::TileKind::Memory), 3);
        EXPECT_EQ(bench.array->most_queued(program::TileKind::Core), 0);
        return bench.array->channel(kSender).dropped_pushes();
    };
    EXPECT_EQ(dropped_of(1 + config.memory_dma.task_queue_depth), 0);
    EXPECT_EQ(dropped_of(1 + config.memory_dma.task_queue_depth + 1), 1);
}

// A wait for the channel, which is free when its second transfer has ended.
TEST(ArrayTiming, TheProcessorsWaitForAnIdleChannelEndsWithItsLastTask) {
    NpuConfig config = device();
    config.command_processor.sync_cycles = 3_cyc;
    program::Program program = send_up();
    program.sequence = {program::WaitIdle{kSender}, program::SetLock{0, 1}};
    program.locks = {{"after", kMemoryTile, 0, 0}};
    ArrayBench bench(program, config);
    bench.run();
    EXPECT_TRUE(bench.array->finished());
    EXPECT_EQ(bench.array->last_progress(), config.memory_dma.descriptor_latency + kMoved +
                                                config.command_processor.sync_cycles +
                                                config.command_processor.write_cycles);
}

// Four columns of a shim, a memory tile and four cores; two of the shims have a DMA.
TEST(ArrayTiming, ItsBlocksAreThoseOfTheDevice) {
    NpuConfig config = device();
    config.shim_columns = {1, 3};
    const ArrayBench bench({}, config);
    const std::vector<base::Block> blocks = bench.array->blocks();
    const auto of_class = [&blocks](std::string_view name) {
        return std::ranges::count(blocks, name, &base::Block::kind);
    };
    EXPECT_EQ(of_class("stream_switch"), 4 * 6);
    EXPECT_EQ(of_class("memory_tile"), 4);
    EXPECT_EQ(of_class("lock_unit"), 2 + 4 + 16);
    // Two each way in shims and cores, six in memory tiles.
    EXPECT_EQ(of_class("dma_channel"), 2 * 4 + 4 * 12 + 16 * 4);
    EXPECT_EQ(of_class("core"), 16 + 16);  // the tile, and what runs in it
    for (const char* path : {"npu", "npu.tile(0,0)", "npu.tile(3,1).locks", "npu.tile(1,0).mm2s1",
                             "npu.tile(3,5).core", "npu.tile(0,0).stream_switch"}) {
        EXPECT_EQ(std::ranges::count(blocks, path, &base::Block::path), 1) << path;
    }
}

TEST(ArrayTiming, AChannelThatIsOnlyWaitedForOrResetIsIdle) {
    const NpuConfig config = device();
    program::Program program;
    program.sequence = {program::ResetChannel{kReceiver}, program::WaitIdle{kSender}};
    ArrayBench bench(program, config);
    bench.run();
    EXPECT_TRUE(bench.array->finished());
}

// 1000 B and then 512 B, in bursts of 256 B.
TEST(ArrayTiming, ACopyReadsItsBytesInBursts) {
    NpuConfig config = device();
    config.shim.burst = base::Bytes{256};
    program::Program program;
    program.external_buffers = {{"in", 4096, 4096}};
    program.buffers = {{"buffer", kMemoryTile, 0, 1000}};
    program::CopyToTile copy;
    copy.offset = 64;
    copy.bytes = 1000;
    program::CopyToTile whole = copy;
    whole.bytes = 512;
    program.sequence = {copy, whole};
    ArrayBench bench(program, config);
    bench.run();
    ASSERT_EQ(bench.memory.reads.size(), 6U);
    EXPECT_EQ(bench.memory.reads[0].address, 4096 + 64);
    EXPECT_EQ(bench.memory.reads[0].bytes, 256);
    EXPECT_EQ(bench.memory.reads[3].address, 4096 + 64 + 3 * 256);
    EXPECT_EQ(bench.memory.reads[3].bytes, 1000 - 3 * 256);
    EXPECT_EQ(bench.memory.reads[5].address, 4096 + 64 + 256);
    EXPECT_EQ(bench.memory.reads[5].bytes, 256);
}

// What a core waits for: locks released by an arriving stream, by a leaving one, by the host.
TEST(ArrayTiming, ACoresWaitIsForWhoReleasesItsLock) {
    const NpuConfig config = device();
    const auto waits = [&config](std::int64_t lock) {
        program::Program program = send_up();
        program.routes.clear();
        program.locks = {{"in", kCore, 0, 0},
                         {"out", kCore, 1, 0},
                         {"host", kCore, 2, 0},
                         {"other", kCore, 3, 0}};
        program::BufferDescriptor into = descriptor(1);
        into.release = program::LockAction{0, 1};
        program::BufferDescriptor out = descriptor(2);
        out.release = program::LockAction{1, 1};
        program.dmas = {
            {kCore, {into, out}, {{Direction::S2MM, 0, {1, 1}}, {Direction::MM2S, 0, {2, 1}}}}};
        program.cores = {{kCore, {}, {{program::AcquireOp{{lock, -1}}}}}};
        program.sequence = {program::SetLock{2, 0}};
        ArrayBench bench(program, config);
        bench.run_until(1_cyc);
        return bench.array->cores()[0]->state();
    };
    EXPECT_EQ(waits(0), core::CoreState::WaitingForInput);
    EXPECT_EQ(waits(1), core::CoreState::WaitingForOutput);
    EXPECT_EQ(waits(2), core::CoreState::WaitingForHost);
    EXPECT_EQ(waits(3), core::CoreState::WaitingForLock);
}

// The core's channel never starts: its FIFO takes what the device gives it.
TEST(ArrayTiming, ASenderRunsAheadOfAStoppedReceiverByTheFifosOfItsStream) {
    const NpuConfig config = device();
    const auto sends = [&config](std::int64_t words) {
        program::Program program = send_up();
        program.dmas = {{kMemoryTile, {descriptor(0, words)}, {{Direction::MM2S, 0, {0, 1}}}}};
        ArrayBench bench(program, config);
        bench.run();
        return bench.done(kSender) == 1;
    };
    EXPECT_TRUE(sends(config.stream.sink_fifo));
    EXPECT_FALSE(sends(config.stream.sink_fifo + 1));
}

// A circuit passes no arbiter: what follows needs not wait until its end fits behind one.
TEST(ArrayTiming, ACircuitsNextWordsFollowThoseThatAStoppedReceiverHasNotTaken) {
    const NpuConfig config = device();
    program::Program program = send_up(2);
    program.dmas.pop_back();
    program.dmas[0].descriptors[0].length = config.stream.arbiter_fifo + 1;
    ArrayBench bench(program, config);
    bench.run();
    EXPECT_EQ(bench.done(kSender), 2);
}

// Two packets pass one arbiter of the memory tile's switch. The first is for a core whose channel
// never starts; the second gets past it when the first fits behind the arbiter.
TEST(ArrayTiming, APacketKeepsItsArbiterUntilItsLastWordFitsBehindIt) {
    const NpuConfig config = device();
    const auto second_arrives = [&config](std::int64_t words, std::int64_t other_arbiter) {
        program::Program program;
        program.routes = {up("stopped", 0, {{0, 2}, Direction::S2MM, 0}), up("up", 1, kReceiver)};
        for (program::Route& route : program.routes) {
            route.packet_id = 5;
            route.path[0].arbiter = 2;
        }
        program.routes[1].path[0].arbiter = other_arbiter;
        program::BufferDescriptor first = descriptor(0, words);
        program::BufferDescriptor second = descriptor(1);
        first.packet = second.packet = program::Packet{5, 0, 0};
        program.dmas = {{kMemoryTile,
                         {first, second},
                         {{Direction::MM2S, 0, {0, 1}}, {Direction::MM2S, 1, {1, 1}}}},
                        {kCore, {descriptor(1)}, {{Direction::S2MM, 0, {1, 1}}}}};
        ArrayBench bench(program, config);
        bench.run();
        return bench.done(kReceiver) == 1;
    };
    EXPECT_TRUE(second_arrives(config.stream.arbiter_fifo, 2));
    EXPECT_FALSE(second_arrives(config.stream.arbiter_fifo + 1, 2));
    EXPECT_TRUE(second_arrives(config.stream.arbiter_fifo + 1, 3));  // an arbiter of its own
}

}  // namespace
}  // namespace tilesim::arch::npu::array
