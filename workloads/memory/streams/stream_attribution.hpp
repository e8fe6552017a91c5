// What bound a stream of requests to the memory alone, from what led to its end and what the
// memory's parts needed besides.
#pragma once

#include <vector>

#include "arch/memory/controller/command_path.hpp"
#include "workloads/result.hpp"

namespace tilesim::workloads::memory::streams {

struct StreamFindings {
    arch::memory::controller::MemoryPath path;
    std::vector<arch::memory::controller::ChannelNeeds> needs;
    double requests = 0;  // CK that they take after each other, so many under way, at least
};

// Fills in bottleneck, next_bottleneck and most_saved_percent.
void name_stream_bottlenecks(RunResult& result, const StreamFindings& findings);

}  // namespace tilesim::workloads::memory::streams
