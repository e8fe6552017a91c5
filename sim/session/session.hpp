// A session builds and runs a case: time line, statistics, memory, limits, probes, standstill,
// collection. There is no other place that runs a system.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "arch/base/probe.hpp"
#include "arch/memory/controller/command_log.hpp"
#include "sim/scenario.hpp"
#include "workloads/dataflow.hpp"
#include "workloads/result.hpp"

namespace tilesim::sim::session {

class Session final : public workloads::Runner {
  public:
    // `listener` hears the components' activities; it changes nothing. May be null.
    // `log` hears their memory's commands. May be null.
    // `told`: what the checks before the run find in the case has been said.
    explicit Session(arch::base::ProbeListener* listener = nullptr,
                     arch::memory::controller::CommandLog* log = nullptr, bool told = false)
        : listener_(listener), told_(told), log_(log) {}

    workloads::RunResult run_whole(const workloads::Case& a_case);
    // The same where `runner` runs its systems; candidates for a mapping run alone before. Throws
    // HostTimeOver where the time is over before there is one.
    workloads::RunResult run_whole(const workloads::Case& a_case, workloads::Runner& runner);
    // The case's physical program. Throws ConfigError where it has none.
    std::string lowered_text(const workloads::Case& a_case);

    workloads::RunEnd run(const workloads::Case& a_case, const workloads::Plan& plan,
                          workloads::RunResult& result) override;
    // Unheard and without SystemC.
    workloads::RunEnd run_alone(const workloads::Case& a_case, const workloads::Plan& plan,
                                workloads::RunResult& result);
    // Unheard, within what is left of the host's time.
    workloads::RunResult run(const workloads::Case& part) override;

  private:
    using HostClock = std::chrono::steady_clock;
    Session(arch::base::ProbeListener* listener, HostClock::time_point began)
        : listener_(listener), began_(began) {}

    arch::base::ProbeListener* listener_;
    bool modules_ = true;  // of SystemC, where it still elaborates
    bool part_ = false;    // of another case, which says what could not matter to it
    bool told_ = false;
    arch::memory::controller::CommandLog* log_ = nullptr;
    HostClock::time_point began_ = HostClock::now();
};

// As Session's of its case; an error is said where its key stands.
std::string lowered_text(const Scenario& scenario);

// Keys of the mapping and the workload that cannot matter, as far as that is known without a
// simulation: none of agents, and none where the mapping is still to be chosen.
std::vector<std::string> unfelt_keys(const Scenario& scenario);

// With provenance and host time; `told` as a Session's. Once per process when the scenario needs
// simulation (SystemC elaborates once).
workloads::RunResult run(const Scenario& scenario, arch::base::ProbeListener* listener = nullptr,
                         arch::memory::controller::CommandLog* log = nullptr, bool told = false);

}  // namespace tilesim::sim::session
