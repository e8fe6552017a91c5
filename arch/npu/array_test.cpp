// Small hand-written programs on the whole array model.
#include "arch/npu/array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "arch/base/config.hpp"
#include "arch/npu/router.hpp"

namespace tilesim::arch::npu {
namespace {

constexpr TileCoordinate kShim{0, 0};
constexpr TileCoordinate kMemory{0, 1};
constexpr std::int64_t kWords = 16;

// DRAM "in" -> shim -> memory tile -> shim -> DRAM "out"; one buffer, guarded by two locks.
Program copy_program(std::int64_t free_buffers) {
    Program program;
    program.external_buffers = {{"in", 0, 4096}, {"out", 8192, 4096}};
    program.buffers = {{"buffer", kMemory, 0, kWords * 4}};
    program.locks = {{"free", kMemory, 0, free_buffers}, {"full", kMemory, 1, 0}};
    BufferDescriptor in;
    in.id = 0;
    in.length = kWords;
    in.acquire = LockAction{0, -1};
    in.release = LockAction{1, 1};
    BufferDescriptor out = in;
    out.id = 1;
    out.acquire = LockAction{1, -1};
    out.release = LockAction{0, 1};
    program.dmas = {{kMemory,
                     {in, out},
                     {{Direction::S2MM, 0, {0, 1, false}}, {Direction::MM2S, 0, {1, 1, false}}}}};
    Route up;
    up.name = "up";
    up.source = {kShim, Direction::MM2S, 0};
    up.destinations = {{kMemory, Direction::S2MM, 0}};
    Route down;
    down.name = "down";
    down.source = {kMemory, Direction::MM2S, 0};
    down.destinations = {{kShim, Direction::S2MM, 0}};
    program.routes = {up, down};
    BufferDescriptor read;
    read.id = 0;
    read.buffer = 0;
    read.length = kWords;
    BufferDescriptor write = read;
    write.id = 1;
    write.buffer = 1;
    program.sequence = {WriteDescriptor{kShim, read}, PushTask{up.source, {0, 1, false}},
                        WriteDescriptor{kShim, write}, PushTask{down.destinations[0], {1, 1, true}},
                        WaitToken{down.destinations[0]}};
    return program;
}

struct System {
    explicit System(Program p) : program(std::move(p)) {
        config.memory_dma.channels = 6;
        config.memory_dma.descriptors = 48;
        route(program, config);
        array.emplace(config, fabric::FabricConfig{}, program, memory, queue, root, &store);
    }
    void run() {
        array->start();
        while (!array->finished() && !queue.empty()) {
            queue.run_until(queue.next_time());
        }
        array->finish_statistics();
    }
    NpuConfig config;
    Program program;
    base::EventQueue queue;
    base::stats::Group root{""};
    memory::MemorySystem memory{memory::MemoryConfig{}, fabric::FabricConfig{}.request_latency,
                                queue, root};
    memory::BackingStore store;
    std::optional<Array> array;
};

TEST(Array, MovesBytesThroughAMemoryTile) {
    System system(copy_program(1));
    std::array<std::byte, kWords * 4> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(3 * i + 1);
    }
    system.store.write(0, bytes);
    system.run();
    ASSERT_TRUE(system.array->finished());
    std::array<std::byte, kWords * 4> copied{};
    system.store.read(8192, copied);
    EXPECT_EQ(bytes, copied);
}

// Two shims send a packet each; their headers name the descriptor of the other half of the buffer.
TEST(Array, OutOfOrderPacketsGoWhereTheirHeadersSay) {
    Program program = copy_program(1);
    program.buffers[0].bytes = 2 * kWords * 4;
    BufferDescriptor low;
    low.id = 2;
    low.length = kWords;
    low.release = LockAction{1, 1};
    BufferDescriptor high = low;
    high.id = 3;
    high.offset = kWords * 4;
    BufferDescriptor out;
    out.id = 1;
    out.length = 2 * kWords;
    out.acquire = LockAction{1, -2};
    program.dmas = {
        {kMemory,
         {low, high, out},
         {{Direction::S2MM, 0, {2, 2, false, true}}, {Direction::MM2S, 0, {1, 1, false}}}}};
    Route first = program.routes[0];
    first.packet_id = 1;
    first.keep_header = true;
    Route second = first;
    second.name = "second";
    second.source.tile = {1, 0};  // the same id: merged on their way
    program.routes = {first, second, program.routes[1]};
    BufferDescriptor send;
    send.length = kWords;
    send.packet = Packet{1, 0, 3};
    BufferDescriptor send_rest = send;
    send_rest.offset = kWords * 4;
    send_rest.packet = Packet{1, 0, 2};
    BufferDescriptor receive;
    receive.id = 1;
    receive.buffer = 1;
    receive.length = 2 * kWords;
    const ChannelId end{kShim, Direction::S2MM, 0};
    program.sequence = {WriteDescriptor{kShim, send},
                        PushTask{first.source, {0, 1, false}},
                        WriteDescriptor{second.source.tile, send_rest},
                        PushTask{second.source, {0, 1, false}},
                        WriteDescriptor{kShim, receive},
                        PushTask{end, {1, 1, true}},
                        WaitToken{end}};
    System system(program);
    std::array<std::byte, 2 * kWords * 4> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(i + 1);
    }
    system.store.write(0, bytes);
    system.run();
    ASSERT_TRUE(system.array->finished());
    std::array<std::byte, 2 * kWords * 4> moved{};
    system.store.read(8192, moved);
    std::rotate(bytes.begin(), bytes.begin() + kWords * 4, bytes.end());
    EXPECT_EQ(bytes, moved);
}

TEST(Array, AWrongInitialValueIsAStandstillThatNamesTheLock) {
    System system(copy_program(0));
    system.run();
    EXPECT_FALSE(system.array->finished());
    const DeadlockReport report = system.array->deadlock();
    EXPECT_TRUE(report.cycle);  // the two channels wait for each other's lock
    EXPECT_NE(report.text().find("npu.tile(0,1).s2mm0 waits for lock free (tile 0,1 id 0) >= 1, "
                                 "which is 0"),
              std::string::npos)
        << report.text();
    EXPECT_NE(report.graphviz().find("digraph"), std::string::npos);
}

TEST(Array, PushesToAFullQueueAreDroppedAndNamed) {
    Program program = copy_program(0);  // nothing moves, so the queue fills
    for (int i = 0; i < 6; ++i) {       // with the first: one runs, four queue, two are lost
        program.sequence.insert(program.sequence.begin() + 2,
                                PushTask{{kShim, Direction::MM2S, 0}, {0, 1, false}});
    }
    System system(program);
    system.run();
    const DeadlockReport report = system.array->deadlock();
    ASSERT_EQ(report.dropped_pushes.size(), 1U);
    EXPECT_NE(report.text().find("npu.tile(0,0).mm2s0 dropped 2 pushes, the last of descriptor 0"),
              std::string::npos)
        << report.text();
}

TEST(Array, EveryComponentsStatesAddUpToTheRun) {
    System system(copy_program(1));
    system.run();
    const std::function<void(const base::stats::Group&)> check =
        [&](const base::stats::Group& group) {
            for (const base::stats::StateAccount* account : group.accounts()) {
                if (group.path().starts_with("npu")) {
                    EXPECT_EQ(account->total(), system.array->finish_cycle().count())
                        << group.path();
                }
            }
            for (const base::stats::Group* child : group.children()) {
                check(*child);
            }
        };
    check(system.root);
}

TEST(Router, RefusesWhatThePortsCannotCarry) {
    Program program = copy_program(1);
    Route again = program.routes[0];
    again.name = "again";
    again.source.index = 1;
    program.routes.push_back(again);  // a second circuit into the same S2MM channel
    NpuConfig config;
    EXPECT_THROW(route(program, config), base::config::ConfigError);
}

}  // namespace
}  // namespace tilesim::arch::npu
