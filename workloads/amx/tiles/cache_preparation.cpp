#include "workloads/amx/tiles/cache_preparation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/amx/tiles/lowered_amx.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::program::Preparation;
using arch::amx::program::Program;
using arch::amx::socket::Socket;

namespace {

// A thread's preparation, as far as `bytes` from `offset` on.
void prepare_part(Socket& socket, std::span<const Program> programs, std::size_t thread,
                  std::size_t step, std::int64_t offset, std::int64_t bytes) {
    const Program& program = programs[thread];
    if (step >= program.preparations.size()) {
        return;
    }
    const Preparation& each = program.preparations[step];
    const arch::amx::program::Buffer& buffer = program.buffers[each.buffer];
    bytes = std::min(bytes, buffer.bytes - offset);
    if (bytes > 0 && each.to == Preparation::To::Memory) {
        socket.flush(buffer.address + offset, bytes);
    } else if (bytes > 0) {
        socket.warm(thread, buffer.address + offset, bytes,
                    static_cast<arch::amx::caches::Level>(each.to), each.dirty);
    }
}

std::int64_t longest_of(std::span<const Program> programs, std::size_t step) {
    std::int64_t longest = 0;
    for (const Program& program : programs) {
        if (step < program.preparations.size()) {
            longest = std::max(longest, program.buffers[program.preparations[step].buffer].bytes);
        }
    }
    return longest;
}

}  // namespace

Preparation::To level_of(AmxMapping::DataIn data_in) {
    switch (data_in) {
        case AmxMapping::DataIn::L3:
            return Preparation::To::L3;
        case AmxMapping::DataIn::L2:
            return Preparation::To::L2;
        case AmxMapping::DataIn::Memory:
            return Preparation::To::Memory;
        default:
            return Preparation::To::L1;
    }
}

void state_caches(LoweredAmx& lowered, const AmxMapping& mapping) {
    for (std::size_t t = 0; t < lowered.programs.size(); ++t) {
        Program& program = lowered.programs[t];
        program.runs = mapping.runs;
        std::vector<arch::amx::program::Buffer> regions;
        for (const AmxRegion& region : lowered.warm) {
            if (static_cast<std::size_t>(region.thread) == t && region.bytes > 0) {
                program.preparations.push_back({regions.size(), level_of(mapping.data_in)});
                regions.push_back(
                    {fmt::format("region{}", regions.size()), region.address, region.bytes});
            }
        }
        program.buffers.insert(program.buffers.begin(), regions.begin(), regions.end());
    }
}

void prepare_caches(Socket& socket, std::span<const Program> programs) {
    std::size_t steps = 0;
    for (const Program& program : programs) {
        steps = std::max(steps, program.preparations.size());
    }
    for (std::size_t step = 0; step < steps; ++step) {
        const std::int64_t longest = longest_of(programs, step);
        const std::int64_t piece = programs.size() > 1 ? kPage : longest;
        for (std::int64_t offset = 0; offset < longest; offset += piece) {
            for (std::size_t t = 0; t < programs.size(); ++t) {
                prepare_part(socket, programs, t, step, offset, piece);
            }
        }
    }
}

}  // namespace tilesim::workloads::amx::tiles
