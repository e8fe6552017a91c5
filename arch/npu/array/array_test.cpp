// Small hand-written programs on the whole array model.
#include "arch/npu/array/array.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "arch/memory/controller/memory_system.hpp"
#include "arch/npu/stream/router.hpp"

namespace tilesim::arch::npu::array {
namespace {

constexpr program::TileCoordinate kShim{0, 0};
constexpr program::TileCoordinate kMemory{0, 1};
constexpr std::int64_t kWords = 16;

// DRAM "in" -> shim -> memory tile -> shim -> DRAM "out"; one buffer, guarded by two locks.
program::Program copy_program(std::int64_t free_buffers, std::int64_t column = 0) {
    const program::TileCoordinate shim{column, kShim.row};
    const program::TileCoordinate memory{column, kMemory.row};
    program::Program program;
    program.external_buffers = {{"in", 0, 4096}, {"out", 8192, 4096}};
    program.buffers = {{"buffer", memory, 0, kWords * 4}};
    program.locks = {{"free", memory, 0, free_buffers}, {"full", memory, 1, 0}};
    program::BufferDescriptor in;
    in.id = 0;
    in.length = kWords;
    in.acquire = program::LockAction{0, -1};
    in.release = program::LockAction{1, 1};
    program::BufferDescriptor out = in;
    out.id = 1;
    out.acquire = program::LockAction{1, -1};
    out.release = program::LockAction{0, 1};
    program.dmas = {{memory,
                     {in, out},
                     {{program::Direction::S2MM, 0, {0, 1, false}},
                      {program::Direction::MM2S, 0, {1, 1, false}}}}};
    program::Route up;
    up.name = "up";
    up.source = {shim, program::Direction::MM2S, 0};
    up.destinations = {{memory, program::Direction::S2MM, 0}};
    program::Route down;
    down.name = "down";
    down.source = {memory, program::Direction::MM2S, 0};
    down.destinations = {{shim, program::Direction::S2MM, 0}};
    program.routes = {up, down};
    program::BufferDescriptor read;
    read.id = 0;
    read.buffer = 0;
    read.length = kWords;
    program::BufferDescriptor write = read;
    write.id = 1;
    write.buffer = 1;
    program.sequence = {program::WriteDescriptor{shim, read},
                        program::PushTask{up.source, {0, 1, false}},
                        program::WriteDescriptor{shim, write},
                        program::PushTask{down.destinations[0], {1, 1, true}},
                        program::WaitToken{down.destinations[0]}};
    return program;
}

struct System {
    explicit System(program::Program p) : program(std::move(p)) {
        config.memory_dma.channels = 6;
        config.memory_dma.descriptors = 48;
        stream::route(program, config);
        array.emplace(config, fabric::FabricConfig{}, program, memory, queue, root, &store);
    }
    void run() {
        array->start(config.command_processor.dispatch);
        while (!array->finished() && !queue.empty()) {
            queue.run_until(queue.next_time());
        }
        array->finish_statistics();
    }
    NpuConfig config;
    program::Program program;
    base::EventQueue queue;
    base::stats::Group root{""};
    memory::controller::MemorySystem memory{memory::device::MemoryConfig{},
                                            fabric::FabricConfig{}.request_latency, queue, root};
    memory::port::BackingStore store;
    std::optional<Array> array;
};

TEST(Array, MovesBytesThroughAMemoryTile) {
    program::Program program = copy_program(1);
    program.buffers.insert(program.buffers.begin(), {"other", kMemory, 1024, kWords * 4});
    for (program::BufferDescriptor& descriptor : program.dmas[0].descriptors) {
        descriptor.buffer = 1;
    }
    System system(program);
    std::array<std::byte, kWords * 4> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(3 * i + 1);
    }
    system.store.write(0, bytes);
    system.run();
    ASSERT_TRUE(system.array->finished());
    EXPECT_EQ(system.array->words_written(), kWords);
    std::array<std::byte, kWords * 4> copied{};
    system.store.read(8192, copied);
    EXPECT_EQ(bytes, copied);
}

TEST(Array, ItsCriticalPathIsWhatFollowedOneAnotherAndAddsUpToItsTime) {
    const auto run = [](std::int64_t latency_ns) {
        System system(copy_program(1));
        const fabric::FabricConfig slow{.request_latency =
                                            base::Femtoseconds{latency_ns * 1'000'000}};
        system.array.emplace(system.config, slow, system.program, system.memory, system.queue,
                             system.root, nullptr, "slow");
        system.run();
        return std::pair{system.array->critical_path(), system.array->finish_cycle()};
    };
    const auto [path, end] = run(100);
    EXPECT_EQ(path.total(), end.count());
    const NpuConfig config;
    const base::Clock clock{config.clock};
    EXPECT_EQ(path.spent(PathPart::Dispatch),
              clock.first_cycle_from(config.command_processor.dispatch).count());
    // The words had been read when the write was written down.
    EXPECT_GE(path.spent(PathPart::Stream) + path.spent(PathPart::ShimStreamOut), kWords);
    EXPECT_EQ(path.spent(PathPart::Reading), 0);
    const auto [far, later] = run(20'100);
    EXPECT_EQ(far.total(), later.count());
    const std::int64_t more = far.spent(PathPart::Reading) + far.spent(PathPart::WritingMemory) -
                              path.spent(PathPart::Reading) - path.spent(PathPart::WritingMemory);
    EXPECT_GE(more, (later - end).count());
    EXPECT_NEAR(static_cast<double>(more),
                2 * static_cast<double>(clock.cycle_at(base::Femtoseconds{20'000'000'000}).count()),
                static_cast<double>(path.spent(PathPart::Writing)));
}

TEST(Array, ItsCriticalPathBeginsWithItsLaunch) {
    constexpr base::Femtoseconds kBefore{1'234'567'890};
    struct Nothing final : base::EventHandler {
        void on_event(std::uint64_t, base::Femtoseconds) override {}
    } nothing;
    System system(copy_program(1));
    system.queue.at(kBefore, nothing);
    system.queue.run_until(kBefore);
    system.run();
    const base::Clock clock{system.config.clock};
    const base::Cycles begin = clock.first_cycle_from(kBefore);
    const base::Femtoseconds dispatch = system.config.command_processor.dispatch;
    EXPECT_EQ(system.array->critical_path().spent(PathPart::Dispatch),
              (clock.first_cycle_from(kBefore + dispatch) - begin).count());
    EXPECT_EQ(system.array->critical_path().total(),
              (system.array->finish_cycle() - begin).count());
}

// Two shims send a packet each; their headers name the descriptor of the other half of the buffer.
TEST(Array, OutOfOrderPacketsGoWhereTheirHeadersSay) {
    program::Program program = copy_program(1);
    program.buffers[0].bytes = 2 * kWords * 4;
    program::BufferDescriptor low;
    low.id = 2;
    low.length = kWords;
    low.release = program::LockAction{1, 1};
    program::BufferDescriptor high = low;
    high.id = 3;
    high.offset = kWords * 4;
    program::BufferDescriptor out;
    out.id = 1;
    out.length = 2 * kWords;
    out.acquire = program::LockAction{1, -2};
    program.dmas = {{kMemory,
                     {low, high, out},
                     {{program::Direction::S2MM, 0, {2, 2, false, true}},
                      {program::Direction::MM2S, 0, {1, 1, false}}}}};
    program::Route first = program.routes[0];
    first.packet_id = 1;
    first.keep_header = true;
    program::Route second = first;
    second.name = "second";
    second.source.tile = {1, 0};  // the same id: merged on their way
    program.routes = {first, second, program.routes[1]};
    program::BufferDescriptor send;
    send.length = kWords;
    send.packet = program::Packet{1, 0, 3};
    program::BufferDescriptor send_rest = send;
    send_rest.offset = kWords * 4;
    send_rest.packet = program::Packet{1, 0, 2};
    program::BufferDescriptor receive;
    receive.id = 1;
    receive.buffer = 1;
    receive.length = 2 * kWords;
    const program::ChannelId end{kShim, program::Direction::S2MM, 0};
    program.sequence = {program::WriteDescriptor{kShim, send},
                        program::PushTask{first.source, {0, 1, false}},
                        program::WriteDescriptor{second.source.tile, send_rest},
                        program::PushTask{second.source, {0, 1, false}},
                        program::WriteDescriptor{kShim, receive},
                        program::PushTask{end, {1, 1, true}},
                        program::WaitToken{end}};
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
    const base::DeadlockReport report = system.array->deadlock();
    EXPECT_TRUE(report.cycle);  // the two channels wait for each other's lock
    EXPECT_NE(report.text().find("npu.tile(0,1).s2mm0 waits for lock free (tile 0,1 id 0) >= 1, "
                                 "which is 0"),
              std::string::npos)
        << report.text();
    EXPECT_NE(report.graphviz().find("digraph"), std::string::npos);
}

// Two cores and streams between them both ways.
program::Program cores_on_streams(std::vector<program::CoreOp> south,
                                  std::vector<program::CoreOp> north) {
    constexpr program::TileCoordinate kSouth{0, 2}, kNorth{0, 3};
    program::Program program;
    program.cores = {{kSouth, {}, std::move(south)}, {kNorth, {}, std::move(north)}};
    const auto way = [](program::TileCoordinate from, program::TileCoordinate to) {
        program::Route route;
        route.name = from.row < to.row ? "up" : "down";
        route.source = {from, program::Direction::MM2S, 0, program::PortKind::Core};
        route.destinations = {{to, program::Direction::S2MM, 0, program::PortKind::Core}};
        return route;
    };
    program.routes = {way(kSouth, kNorth), way(kNorth, kSouth)};
    return program;
}

TEST(Array, CoresAnswerOverTheirOwnStreams) {
    System system(
        cores_on_streams({{program::PutStreamOp{0, 5, {}}}, {program::GetStreamOp{0, 3, {}}}},
                         {{program::GetStreamOp{0, 5, {}}}, {program::PutStreamOp{0, 3, {}}}}));
    system.run();
    while (!system.queue.empty()) {
        system.queue.run_until(system.queue.next_time());
    }
    EXPECT_TRUE(system.array->deadlock().waits.empty());
    EXPECT_EQ(system.array->find_channel(system.program.routes[0].source), nullptr);  // no DMA's
}

TEST(Array, CoresPassWordsOverTheirCascade) {
    program::Program program =
        cores_on_streams({{program::PutCascadeOp{5, {}}}}, {{program::GetCascadeOp{5, {}}}});
    program.routes.clear();
    program.cascades = {{"up", program.cores[0].tile, program.cores[1].tile}};
    System system(program);
    system.run();
    while (!system.queue.empty()) {
        system.queue.run_until(system.queue.next_time());
    }
    for (const auto& core : system.array->cores()) {
        EXPECT_TRUE(core->done());
    }
}

TEST(Array, CoresThatBothGetFirstWaitForEachOther) {
    System system(
        cores_on_streams({{program::GetStreamOp{0, 3, {}}}, {program::PutStreamOp{0, 5, {}}}},
                         {{program::GetStreamOp{0, 5, {}}}, {program::PutStreamOp{0, 3, {}}}}));
    system.run();
    while (!system.queue.empty()) {
        system.queue.run_until(system.queue.next_time());
    }
    const base::DeadlockReport report = system.array->deadlock();
    EXPECT_TRUE(report.cycle);
    for (const char* wait : {"npu.tile(0,2).core waits for 3 words on its stream input 0",
                             "npu.tile(0,3).core waits for 5 words on its stream input 0"}) {
        EXPECT_NE(report.text().find(wait), std::string::npos) << report.text();
    }
    System full(cores_on_streams({{program::PutStreamOp{0, 64, {}}}}, {}));
    full.run();
    while (!full.queue.empty()) {
        full.queue.run_until(full.queue.next_time());
    }
    EXPECT_NE(full.array->deadlock().text().find(
                  "npu.tile(0,2).core waits for its stream output 0 to take 64 words"),
              std::string::npos)
        << full.array->deadlock().text();
}

TEST(Array, PushesToAFullQueueAreDroppedAndNamed) {
    program::Program program = copy_program(0);  // nothing moves, so the queue fills
    for (int i = 0; i < 6; ++i) {  // with the first: one runs, four queue, two are lost
        program.sequence.insert(
            program.sequence.begin() + 2,
            program::PushTask{{kShim, program::Direction::MM2S, 0}, {0, 1, false}});
    }
    System system(program);
    system.run();
    const base::DeadlockReport report = system.array->deadlock();
    ASSERT_EQ(report.dropped_pushes.size(), 1U);
    EXPECT_NE(report.text().find("npu.tile(0,0).mm2s0 dropped 2 pushes, the last of descriptor 0"),
              std::string::npos)
        << report.text();
}

// The sequence ends with its last push, the channels later.
TEST(Array, ShimChannelsAreBusyUntilTheirTasksEnd) {
    System stuck(copy_program(0));
    stuck.run();
    EXPECT_EQ(stuck.array->busy_shim_channels(),
              (std::vector<std::string>{"npu.tile(0,0).s2mm0", "npu.tile(0,0).mm2s0"}));
    System done(copy_program(1));
    done.run();
    EXPECT_TRUE(done.array->busy_shim_channels().empty());
}

TEST(Array, WordsWrittenAreThoseTheShimsHaveTaken) {
    program::Program program = copy_program(1);
    program.sequence.resize(2);  // into the array only
    System system(program);
    system.run();
    EXPECT_TRUE(system.array->finished());
    EXPECT_EQ(system.array->words_written(), 0);
}

// Two cores run a kernel as often as the parameter of each says, one of them twice.
TEST(Array, ParametersAndResetsGoToTheirCore) {
    program::LoopOp loop;
    loop.parameter = 0;
    loop.body = {{program::CallOp{0, {}, {}}}};
    const std::vector<program::CoreOp> script{{program::AcquireOp{{0, -1}}}, {loop}};
    program::Program program = cores_on_streams(script, script);
    program.routes.clear();
    program::Kernel work;
    work.cycles = 5;
    program.kernels = {work};
    const program::TileCoordinate south = program.cores[0].tile;
    const program::TileCoordinate north = program.cores[1].tile;
    program.locks = {{"go", south, 0, 0}, {"go_north", north, 0, 0}};
    program.cores[1].script[0] = {program::AcquireOp{{1, -1}}};
    program.sequence = {program::WriteParameter{south, 0, 3},
                        program::WriteParameter{north, 0, 7},
                        program::SetLock{0, 1},
                        program::SetLock{1, 1},
                        program::ResetCore{south},
                        program::SetLock{0, 1},
                        program::SetLock{1, 1}};
    System system(program);
    system.run();
    while (!system.queue.empty()) {
        system.queue.run_until(system.queue.next_time());
    }
    EXPECT_EQ(system.array->cores()[0]->calls(), 2 * 3);
    EXPECT_EQ(system.array->cores()[1]->calls(), 7);
    EXPECT_EQ(system.array->working_calls(), 2 * 3 + 7);
}

// A core runs a kernel for ever; somebody waits for ever, or nobody does.
TEST(Array, IsInALivelockWhenOnlyCoresThatGiveNothingMove) {
    const auto livelocked = [](bool waits, bool gives) {
        program::LoopOp loop;
        loop.count = -1;
        loop.body = {{program::CallOp{0, {}, {}}}};
        if (gives) {
            loop.body.push_back({program::PutStreamOp{0, 1, {}}});
        }
        program::Program program =
            cores_on_streams({{loop}}, {{program::GetStreamOp{0, 1 << 20, {}}}});
        program::Kernel work;
        work.cycles = 5;
        program.kernels = {work};
        if (waits) {
            program.locks = {{"never", {0, 2}, 0, 0}};
            program.sequence = {program::AcquireLock{{0, -1}}};
        }
        System system(program);
        system.array->start(system.config.command_processor.dispatch);
        system.queue.run_until(2 * system.config.command_processor.dispatch);
        EXPECT_EQ(system.array->finished(), !waits);
        return system.array->livelocked();
    };
    EXPECT_TRUE(livelocked(true, false));
    EXPECT_FALSE(livelocked(true, true));
    EXPECT_FALSE(livelocked(false, false));  // it has finished
}

struct Listener final : base::ProbeListener {
    void begin(std::string_view component, std::string_view, base::Femtoseconds) override {
        components.emplace(component);
    }
    void end(std::string_view, std::string_view, base::Femtoseconds) override {}
    std::multiset<std::string> components;
};

TEST(Array, ItsPartsTellAListenerWhatTheyDo) {
    program::Program program = copy_program(1);
    program.cores = {{{0, 2}, {}, {}}};
    System system(program);
    Listener listener;
    system.array->connect(&listener);
    system.run();
    for (const char* part : {"fabric.port(0).reads", "npu.command_processor", "npu.tile(0,0).mm2s0",
                             "npu.tile(0,1).s2mm0", "npu.tile(0,1).lock0.taken",
                             "npu.tile(0,1).lock1.given", "npu.tile(0,2).core"}) {
        EXPECT_TRUE(listener.components.contains(part)) << part;
    }
}

TEST(Array, AShimHasThePortOfItsColumn) {
    System system(copy_program(1, 2));
    Listener listener;
    system.array->connect(&listener);
    system.run();
    EXPECT_TRUE(system.array->finished());
    EXPECT_EQ(listener.components.count("fabric.port(2).reads"), 1U);
    EXPECT_EQ(listener.components.count("fabric.port(0).reads"), 0U);
}

// It leaves the memory tile's switch by two ports, which share an arbiter.
TEST(Array, APacketHoldsAnArbiterOnceWhereverItLeaves) {
    program::Program program = copy_program(1);
    program.buffers.push_back({"aside", kMemory, 1024, kWords * 4});
    program::BufferDescriptor aside;
    aside.id = 24;  // of those for odd channels
    aside.buffer = 1;
    aside.length = kWords;
    program.dmas[0].descriptors.push_back(aside);
    program.dmas[0].starts.push_back({program::Direction::S2MM, 1, {24, 1, false}});
    program.routes[0].packet_id = 1;
    program.routes[0].destinations.push_back({kMemory, program::Direction::S2MM, 1});
    std::get<program::WriteDescriptor>(program.sequence[0]).descriptor.packet = program::Packet{1};
    System system(program);
    system.run();
    EXPECT_TRUE(system.array->finished());
    EXPECT_EQ(system.array->words_written(), kWords);
}

// The sequence ends with its last push, the shim's channels later.
TEST(Array, HasFinishedWhenItsShimsHave) {
    program::Program program = copy_program(1);
    program.sequence.pop_back();
    System system(program);
    system.run();
    EXPECT_TRUE(system.array->finished());
    EXPECT_EQ(system.array->words_written(), kWords);
}

TEST(Array, TellsOfALockOnceACycle) {
    struct Nobody final : tile::LockClient {
        void on_lock_granted(base::Cycles) override {}
    };
    System system(copy_program(3));
    Listener listener;
    system.array->connect(&listener);
    Nobody client;
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(system.array->acquire_lock({0, -1}, client));
    }
    EXPECT_EQ(listener.components.count("npu.tile(0,1).lock0.taken"), 1U);
    system.run();  // in which the memory tile takes it, later
    EXPECT_EQ(listener.components.count("npu.tile(0,1).lock0.taken"), 2U);
}

// A channel of the memory tile waits for a lock when the run ends, and is reset after that.
TEST(Array, TellsItsEndOnce) {
    program::Program program = copy_program(1);
    program.dmas[0].starts.push_back({program::Direction::S2MM, 1, {2, 1, false}});
    program::BufferDescriptor idle;
    idle.id = 2;
    idle.length = kWords;
    idle.acquire = program::LockAction{2, -1};
    program.locks.push_back({"never", kMemory, 2, 0});
    program.dmas[0].descriptors.push_back(idle);
    System system(program);
    int told = 0;
    system.array->on_finished = [&] { ++told; };
    system.run();
    EXPECT_EQ(told, 1);
    system.array->reset_channel({{kMemory, program::Direction::S2MM, 1}});
    EXPECT_TRUE(system.array->channel({kMemory, program::Direction::S2MM, 1}).idle());
    EXPECT_EQ(told, 1);
}

TEST(Array, EveryComponentsStatesAddUpToTheRun) {
    program::Program program = copy_program(1);
    program.sequence.pop_back();
    System system(program);
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

}  // namespace
}  // namespace tilesim::arch::npu::array
