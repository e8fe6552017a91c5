// A kernel's text: one program, or one for each thread as `tilesim lower` prints them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "arch/amx/program/instruction.hpp"

namespace tilesim::workloads::amx::tiles {

// A comment that starts with "# thread I" begins the program of another thread, in order. `count`
// stands for COUNT. Throws ConfigError with `file` and line where the text is no program, all that
// is wrong in it at once, or where one thread would come to a barrier more often than another.
std::vector<arch::amx::program::Program> read_kernel(const std::string& text,
                                                     const std::string& file, std::int64_t count);

// Threads with work that come to no barrier where others do: these do not wait for them.
std::vector<std::size_t> without_barrier(const std::vector<arch::amx::program::Program>& programs);

// Two buffers of one thread that share bytes, in words; nothing where none do. A line of them that
// one leaves in a cache the other may flush from it.
std::optional<std::string> overlap(const std::vector<arch::amx::program::Program>& programs);

// Said of so many instructions that simulating each of them takes minutes; nothing of fewer.
std::optional<std::string> long_run(const std::vector<arch::amx::program::Program>& programs);

// A program that says nothing of the caches has all its buffers at one level.
void state_buffers(arch::amx::program::Program& program, arch::amx::program::Preparation::To level);

bool has_count(const std::string& text);

// No thread executes an instruction: none is there, or all in loops of no turns.
bool does_nothing(const std::vector<arch::amx::program::Program>& programs);

// No thread says what the caches hold when it is timed.
bool states_no_caches(const std::vector<arch::amx::program::Program>& programs);

}  // namespace tilesim::workloads::amx::tiles
