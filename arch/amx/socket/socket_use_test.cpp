#include "arch/amx/socket/socket_use.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "arch/amx/program/program_text.hpp"
#include "arch/memory/controller/memory_system.hpp"

namespace tilesim::arch::amx::socket {
namespace {

AmxConfig use_sample() {
    AmxConfig config;
    config.cores = 2;
    return config;
}

// What a program, alone on a socket of two cores, does not exercise; its data lie in the L2.
std::vector<std::string> unused(const std::string& text, const AmxConfig& config = use_sample()) {
    constexpr std::int64_t kWarmed = 0x1000000;
    const std::vector<program::Program> programs{program::read_program(
        "config 0 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64\nldtilecfg 0\n" + text, "test")};
    base::EventQueue queue;
    base::stats::Group root("");
    memory::controller::MemorySystem memory(memory::device::MemoryConfig{},
                                            Uncore::memory_lookahead(config), queue, root);
    Socket socket(config, programs, {}, memory, queue);
    socket.warm(0, kWarmed, 4096, caches::Level::L2, false);
    socket.start();
    while (!socket.finished() && !queue.empty()) {
        queue.run_until(queue.next_time());
    }
    return not_exercised(config, programs, socket);
}

bool names(const std::vector<std::string>& keys, const char* key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

TEST(SocketUse, InstructionsThatAProgramDoesNotHaveAreNamed) {
    const auto loads = unused("tileloadd tmm0, [0x1000000], 64\n");
    EXPECT_TRUE(names(loads, "amx.tiles.dot_latency"));
    EXPECT_TRUE(names(loads, "amx.access.nontemporal_gap"));
    EXPECT_TRUE(names(loads, "amx.access.prefetch_port"));
    EXPECT_FALSE(names(unused("prefetcht0 [0x1000000]\n"), "amx.access.prefetch_port"));
    EXPECT_TRUE(names(loads, "amx.simulated_cores"));
    EXPECT_TRUE(names(loads, "amx.simulated_instructions"));
    EXPECT_FALSE(names(loads, "amx.access.tile_load_to_use"));
    EXPECT_FALSE(names(loads, "amx.tiles.load_config"));
    const auto others = unused("tileloaddt1 tmm0, [0x1000000], 64\ntdpbssd tmm1, tmm0, tmm0\n");
    EXPECT_FALSE(names(others, "amx.tiles.dot_latency"));
    EXPECT_FALSE(names(others, "amx.access.nontemporal_gap"));
    EXPECT_TRUE(names(others, "amx.access.tile_load_to_use"));
}

TEST(SocketUse, ALatencyOnPortFiveAloneIsNamedWhereNothingGoesThereAlone) {
    const std::string instructions = "vcvtneps2bf16 zmm1, zmm2\nvaddps zmm3, zmm4, zmm5\n";
    const auto keys = unused(instructions);
    EXPECT_TRUE(names(keys, "amx.instructions.vcvtneps2bf16.port5_latency")) << "port 0, too";
    EXPECT_FALSE(names(keys, "amx.instructions.vcvtneps2bf16.latency"));
    EXPECT_FALSE(names(keys, "amx.instructions.vaddps.port5_latency"));
    AmxConfig config = use_sample();
    config.vector.second_port = false;
    EXPECT_TRUE(names(unused(instructions, config), "amx.instructions.vaddps.port5_latency"));
    EXPECT_FALSE(names(unused("vpermd zmm1, zmm2, zmm3\n", config),
                       "amx.instructions.vpermd.port5_latency"));
}

TEST(SocketUse, WhatProductsOfFewRowsTakeIsNamedWhereAllHaveSixteen) {
    const std::string product = "tdpbssd tmm1, tmm2, tmm3\n";
    const std::string few = "config 1 16x64 5x64 5x64 16x64 16x64 16x64 16x64 16x64\nldtilecfg 1\n";
    EXPECT_TRUE(names(unused(product), "amx.tiles.dot_row_percent"));
    EXPECT_TRUE(names(unused(product), "amx.tiles.dot_least"));
    EXPECT_TRUE(names(unused(few), "amx.tiles.dot_row_percent")) << "no product";
    EXPECT_FALSE(names(unused(few + product), "amx.tiles.dot_row_percent"));
    EXPECT_TRUE(names(unused(few + product), "amx.tiles.dot_least")) << "they take five cycles";
    AmxConfig config = use_sample();
    config.tiles.dot_least = base::Cycles{5};
    EXPECT_FALSE(names(unused(few + product, config), "amx.tiles.dot_least"));
}

TEST(SocketUse, LevelsThatNobodyAskedAreNamed) {
    const auto near = unused("tileloadd tmm0, [0x1000000], 64\n");
    EXPECT_FALSE(names(near, "amx.caches.l2_latency"));
    EXPECT_TRUE(names(near, "amx.caches.l1_latency"));
    EXPECT_TRUE(names(near, "amx.uncore.port_width"));
    EXPECT_TRUE(names(near, "amx.uncore.to_memory"));
    EXPECT_TRUE(names(near, "amx.uncore.link_width"));
    const auto far = unused("tileloadd tmm0, [0x2000000], 64\n");
    EXPECT_FALSE(names(far, "amx.uncore.port_width"));
    EXPECT_FALSE(names(far, "amx.uncore.to_memory"));
    EXPECT_TRUE(names(far, "amx.caches.l2_latency"));
    // A prefetch into the L2 holds its fill buffer for as long, wherever the line is.
    for (const char* prefetch : {"prefetcht1 [0x1000000]\n", "prefetcht2 [0x2000000]\n"}) {
        EXPECT_FALSE(names(unused(prefetch), "amx.caches.l2_latency")) << prefetch;
    }
    EXPECT_TRUE(names(unused("prefetcht0 [0x2000000]\n"), "amx.caches.l2_latency"));
}

TEST(SocketUse, TablesOfPagesTakeRoomOfAnL2ThatIsShortOfIt) {
    AmxConfig config = use_sample();
    EXPECT_TRUE(names(unused("vmovups zmm0, [0x1000000]\n", config), "amx.pages.walk_loads"));
    config.caches.l2 = {base::Bytes{2048}, 2};
    const auto tight = unused("vmovups zmm0, [0x1000000]\n", config);
    EXPECT_TRUE(names(tight, "amx.pages.walk"));
    EXPECT_FALSE(names(tight, "amx.pages.walk_loads"));
}

TEST(SocketUse, TablesWithRoomAndQueuesThatNeverFilledAreNamed) {
    const auto few = unused("tileloadd tmm0, [0x1000000], 64\nscalar\n");
    for (const char* key :
         {"amx.caches.l1.ways", "amx.caches.l2.size", "amx.uncore.l3.random_percent",
          "amx.pages.first.entries", "amx.pages.second.ways", "amx.uncore.snoop_filter",
          "amx.uncore.clean_percent", "amx.caches.l2_outstanding", "amx.caches.l2_streamer",
          "amx.window.reorder_buffer", "amx.window.scheduler", "amx.window.memory_scheduler",
          "amx.window.load_queue", "amx.vector.scalar_ports"}) {
        EXPECT_TRUE(names(few, key)) << key;
    }
    // 64 KiB do not fit the L1, nor do as many scalar instructions go as could.
    const auto many = unused("loop i 64\ntileloadd tmm0, [0x1000000 + 1024*i], 64\n" + []() {
        std::string scalars;
        for (int i = 0; i < 40; ++i) {
            scalars += "scalar\n";
        }
        return scalars;
    }() + "end\n");
    EXPECT_FALSE(names(many, "amx.caches.l1.ways"));
    EXPECT_FALSE(names(many, "amx.vector.scalar_ports"));
    EXPECT_TRUE(names(many, "amx.caches.l2.size"));
}

}  // namespace
}  // namespace tilesim::arch::amx::socket
