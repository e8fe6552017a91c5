#include "sim/system/limits.hpp"

#include <chrono>

namespace tilesim::sim::system {

namespace {

constexpr std::int64_t kFemtosecondsPerMillisecond = 1'000'000'000'000;

}  // namespace

arch::base::kernel::Limits limits_of(const RunOptions& run) {
    return {run.max_time,
            std::chrono::milliseconds{run.max_wall_time.count() / kFemtosecondsPerMillisecond}};
}

}  // namespace tilesim::sim::system
