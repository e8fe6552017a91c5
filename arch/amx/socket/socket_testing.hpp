// A socket and its memory, and programs for its cores: for tests of the socket as a whole.
#pragma once

#include <string>
#include <vector>

#include "arch/amx/program/program_text.hpp"
#include "arch/amx/socket/socket.hpp"
#include "arch/memory/controller/memory_system.hpp"

namespace tilesim::arch::amx::socket {

inline constexpr const char* kTiles64 =
    "config 0 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64\nldtilecfg 0\n";
inline constexpr std::int64_t kData = 0x1000000;

// A socket and its memory.
struct Machine {
    Machine(const AmxConfig& config, const std::vector<std::string>& texts, std::int64_t runs = 1)
        : programs(read(texts)),
          memory(memory::device::MemoryConfig{}, Uncore::memory_lookahead(config), queue, root),
          socket(config, programs, {}, memory, queue, runs) {}
    static std::vector<program::Program> read(const std::vector<std::string>& texts) {
        std::vector<program::Program> programs;
        for (const std::string& text : texts) {
            programs.push_back(program::read_program(kTiles64 + text, "test"));
        }
        return programs;
    }
    // False: events go on after a millisecond.
    bool run() {
        socket.start();
        const base::Femtoseconds most{1'000'000'000'000};
        while (!queue.empty() && queue.now() < most) {
            queue.run_until(queue.next_time());
        }
        return queue.empty();
    }
    base::EventQueue queue;
    base::stats::Group root{""};
    std::vector<program::Program> programs;
    memory::controller::MemorySystem memory;
    Socket socket;
};

// `tiles` packed tiles from kData on, one after the other.
inline std::string loads(std::int64_t tiles) {
    return "loop g " + std::to_string(tiles) +
           "\n  tileloadd tmm0, [0x1000000 + 1024*g], 64\nend\n";
}

}  // namespace tilesim::arch::amx::socket
