#include "sim/session/together.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "arch/base/clock.hpp"
#include "arch/memory/controller/command_trace.hpp"
#include "arch/pim/pim_config.hpp"
#include "sim/session/contention.hpp"
#include "sim/session/limits.hpp"
#include "sim/session/platform.hpp"
#include "sim/session/running_agent.hpp"
#include "workloads/attribution.hpp"

namespace tilesim::sim::session {

using arch::base::Femtoseconds;
using arch::systemc::Outcome;

namespace {

// Longer than any agent's way to the memory.
constexpr Femtoseconds kLongestLookahead{1'000'000'000'000};

// Starts agents when it is time, sees who has ended, says when all have.
class Director final : public arch::base::EventHandler {
  public:
    Director(std::vector<std::unique_ptr<RunningAgent>>& agents, Platform& platform)
        : agents_(agents), platform_(platform) {
        for (std::size_t i = 0; i < agents.size(); ++i) {
            platform.queue().at(agents[i]->start_time(), *this, i);
        }
    }

    void on_event(std::uint64_t agent, Femtoseconds) override { due_.push_back(agent); }

    // Asked before every time stamp.
    bool all_done() {
        const Femtoseconds now = platform_.queues().now();
        for (const std::uint64_t agent : std::exchange(due_, {})) {
            agents_[agent]->start(agents_[agent]->start_time());
        }
        bool done = true;
        for (const auto& agent : agents_) {
            agent->look(now);
            done = done && (agent->done() || agent->runs_for_ever());
        }
        if (done && !done_at_) {
            done_at_ = now;
            for (const auto& agent : agents_) {
                if (!agent->runs_for_ever()) {
                    done_at_ = std::max(*done_at_, agent->ended_at());
                }
            }
        }
        return done;
    }
    // When the last that ends of itself had; nothing where one has not.
    std::optional<Femtoseconds> done_at() const { return done_at_; }
    // Nothing moves any more, or the budget is used up.
    void stop(Outcome outcome) {
        for (const auto& agent : agents_) {
            if (agent->running()) {
                agent->stop(platform_.queues().now(), outcome);
            } else if (outcome != Outcome::NothingPending && !agent->done()) {
                agent->miss();
            }
        }
    }
    bool some_run() const {
        return std::any_of(agents_.begin(), agents_.end(),
                           [](const auto& agent) { return agent->running(); });
    }

  private:
    std::vector<std::unique_ptr<RunningAgent>>& agents_;
    Platform& platform_;
    std::vector<std::uint64_t> due_;
    std::optional<Femtoseconds> done_at_;
};

double nanoseconds(Femtoseconds time) {
    return static_cast<double>(time.count()) / workloads::kFemtosecondsPerNanosecond;
}

// Until all have ended; then until the memory has done what they asked for.
void run_to_the_end(Director& director, Platform& platform, const arch::systemc::Limits& limits) {
    while (true) {
        const Outcome outcome = platform.run(limits, [&] { return director.all_done(); });
        if (outcome == Outcome::Finished) {
            break;
        }
        director.stop(outcome);
        if (outcome != Outcome::NothingPending || !director.some_run()) {
            return;
        }
    }
    if (!director.some_run()) {  // what they have written leaves the queues
        platform.run(limits, [&] { return platform.memory().idle(); });
    }
}

}  // namespace

TogetherOutcome run_together(const std::vector<AgentCase>& cases,
                             const arch::memory::device::MemoryConfig& config,
                             const workloads::RunOptions& options, std::optional<std::size_t> only,
                             arch::base::ProbeListener* listener,
                             arch::memory::controller::CommandLog* log) {
    const bool banks_compute = std::any_of(cases.begin(), cases.end(), [](const AgentCase& agent) {
        return agent.a_case.device.has<arch::pim::PimConfig>();
    });
    Platform platform(config, kLongestLookahead,
                      banks_compute ? std::vector<std::string>{"alu"} : std::vector<std::string>{},
                      !only);
    std::optional<arch::memory::controller::CommandTrace> commands;
    if (listener != nullptr) {
        commands.emplace(config, *listener);
    }
    arch::memory::controller::CommandListener* next = commands ? &*commands : nullptr;
    if (log != nullptr) {
        log->attach(config, next);
        next = log;
    }
    Contention contention(platform.memory(), cases.size(), next);
    platform.memory().listen(&contention);
    SharedPlatform shared{platform, contention, cases, log, platform.memory().bank_use()};
    std::vector<std::unique_ptr<RunningAgent>> agents;
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (!only || *only == i) {
            indices.push_back(i);
            if (cases[i].a_case.device.has<arch::pim::PimConfig>()) {
                contention.set_guest(i);
            }
        }
    }
    for (const std::size_t i : indices) {
        agents.push_back(std::make_unique<RunningAgent>(i, cases[i], shared, listener));
        agents.back()->build();
        platform.add_blocks(agents.back()->blocks());
    }
    Director director(agents, platform);
    run_to_the_end(director, platform, limits_of(options));
    if (commands) {
        commands->finish();
    }
    TogetherOutcome outcome;
    outcome.time_ns = nanoseconds(director.done_at().value_or(platform.queues().now()));
    outcome.memory_done = platform.memory().busy_until();
    platform.memory().finish_statistics();
    outcome.memory = platform.memory().totals();
    outcome.banks = platform.memory().bank_use();
    for (std::size_t channel = 0; channel < outcome.banks.channels.size(); ++channel) {
        for (std::size_t bank = 0; bank < outcome.banks.channels[channel].size(); ++bank) {
            outcome.banks.channels[channel][bank] += shared.by_models.channels[channel][bank];
        }
    }
    outcome.banks.guest_row_open = shared.by_models.guest_row_open;
    outcome.banks.guest_any_row_open = shared.by_models.guest_any_row_open;
    outcome.where = workloads::where_time_went(platform.root());
    outcome.busy = workloads::busy_shares(platform.root());
    outcome.events = platform.queues().executed();
    const arch::base::Clock clock{config.clock};
    for (std::size_t a = 0; a < agents.size(); ++a) {
        agents[a]->close();
        AgentOutcome& own = agents[a]->outcome();
        for (std::size_t other = 0; other < cases.size(); ++other) {
            const std::int64_t waited = contention.waited(indices[a], other);
            own.waited_ns.push_back(nanoseconds(clock.time_of(arch::base::Cycles{waited})) /
                                    static_cast<double>(config.channels));
            own.rows_lost.push_back(contention.rows_lost(indices[a], other));
        }
        outcome.events += own.result.events;
        if (own.result.status != workloads::Status::Ok) {
            outcome.status = own.result.status;
            outcome.deadlock = own.result.deadlock;
        }
        outcome.agents.push_back(std::move(own));
    }
    return outcome;
}

}  // namespace tilesim::sim::session
