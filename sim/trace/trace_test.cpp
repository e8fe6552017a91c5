// A traced run: the same result, and a trace whose times are the statistics' times.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "sim/result_json.hpp"
#include "sim/scenario.hpp"
#include "sim/session/session.hpp"
#include "sim/trace/activity_log.hpp"

namespace tilesim::sim::trace {
namespace {

const std::string kScenario =
    std::string{TILESIM_SOURCE_DIR} + "/configs/scenarios/xdna_functional.yaml";

// The result as text, but for the events the simulator executed: a listener to the fabric's lanes
// has some of its own, which end a request's wait in the trace.
std::string text_of(const workloads::RunResult& result) {
    auto json = to_json(result, false);
    json.erase("events");
    return json.dump();
}

// SystemC elaborates once a process: the plain run happens in a child.
std::string plain_result() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe(ends), 0);
    if (::fork() == 0) {
        const std::string text = text_of(session::run(load_scenario(kScenario, {})));
        const ssize_t written = ::write(ends[1], text.data(), text.size());
        ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    ::close(ends[1]);
    std::string text;
    char block[4096];
    for (ssize_t got = 0; (got = ::read(ends[0], block, sizeof block)) > 0;) {
        text.append(block, static_cast<std::size_t>(got));
    }
    ::wait(nullptr);
    return text;
}

TEST(Trace, ChangesNothingAndAgreesWithTheStatistics) {
    const std::string plain = plain_result();
    ActivityLog log({}, 10'000'000);
    const workloads::RunResult result = session::run(load_scenario(kScenario, {}), &log);
    EXPECT_EQ(text_of(result), plain);

    const arch::base::Femtoseconds end{static_cast<std::int64_t>(result.time_ns * 1e6)};
    log.finish(end);
    std::map<std::string, double> traced;  // femtoseconds of the cores, by state
    std::map<std::string, std::map<std::string, double>> times;  // of every component
    std::map<std::uint32_t, arch::base::Femtoseconds> last;
    int cores = 0;
    for (const std::string& component : log.components()) {
        cores += component.ends_with(".core") ? 1 : 0;
    }
    for (const Activity& activity : log.activities()) {
        EXPECT_LE(activity.end, end);
        EXPECT_GE(activity.begin, last[activity.component]);  // one thing at a time
        last[activity.component] = activity.end;
        times[log.components()[activity.component]][log.names()[activity.name]] +=
            static_cast<double>((activity.end - activity.begin).count());
        if (log.components()[activity.component].ends_with(".core")) {
            traced[log.names()[activity.name]] +=
                static_cast<double>((activity.end - activity.begin).count());
        }
    }
    ASSERT_EQ(cores, 16);
    EXPECT_GT(times["memory.channel(0).bus"]["read"], 0);
    EXPECT_GT(times["memory.channel(0).bus"]["write"], 0);
    EXPECT_GT(times["fabric.port(0).reads"]["under_way"], 0);
    EXPECT_GT(times["npu.command_processor"]["waiting_for_token"], 0);
    // Each burst of 64 bytes takes the bus as long as the statistics say.
    double bus = 0;
    for (const auto& [component, states] : times) {
        bus += component.ends_with(".bus") ? states.at("read") + states.at("write") : 0;
    }
    const auto& memory = load_scenario(kScenario, {}).device.memory;
    const double burst_fs = static_cast<double>(memory.timing.burst.count()) * 1e15 /
                            static_cast<double>(memory.clock.count());
    const double bursts = static_cast<double>(result.memory->bursts);
    EXPECT_NEAR(bus / burst_fs, bursts, 0.01 * bursts);
    for (const auto& [component, states] : result.where) {
        for (const auto& [state, cycles] : states) {
            if (component == "core" && state != "done") {
                const double mean = traced[state] / cores / 1e6 * result.clock_ghz;
                EXPECT_NEAR(mean, cycles, 1e-6 * static_cast<double>(result.cycles)) << state;
            }
        }
    }
}

}  // namespace
}  // namespace tilesim::sim::trace
