#include "sim/session/limits.hpp"

#include <fmt/format.h>

#include <chrono>

#include "sim/console.hpp"

namespace tilesim::sim::session {

namespace {

constexpr std::int64_t kFemtosecondsPerMillisecond = 1'000'000'000'000;

}  // namespace

arch::systemc::Limits limits_of(const workloads::RunOptions& run) {
    arch::systemc::Limits limits{
        run.max_time,
        std::chrono::milliseconds{run.max_wall_time.count() / kFemtosecondsPerMillisecond}};
    if (run.show_progress) {
        limits.progress = [](arch::base::Femtoseconds time) {
            show_progress(fmt::format("simulated {:.3f} ms", static_cast<double>(time.count()) /
                                                                 kFemtosecondsPerMillisecond));
        };
    }
    return limits;
}

}  // namespace tilesim::sim::session
