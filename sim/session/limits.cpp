#include "sim/session/limits.hpp"

#include <chrono>

namespace tilesim::sim::session {

namespace {

constexpr std::int64_t kFemtosecondsPerMillisecond = 1'000'000'000'000;

}  // namespace

arch::systemc::Limits limits_of(const workloads::RunOptions& run) {
    return {run.max_time,
            std::chrono::milliseconds{run.max_wall_time.count() / kFemtosecondsPerMillisecond},
            run.progress};
}

}  // namespace tilesim::sim::session
