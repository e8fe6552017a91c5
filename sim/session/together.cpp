#include "sim/session/together.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "arch/base/clock.hpp"
#include "arch/memory/controller/command_trace.hpp"
#include "arch/memory/controller/memory_use.hpp"
#include "arch/pim/pim_config.hpp"
#include "sim/session/contention.hpp"
#include "sim/session/fiber.hpp"
#include "sim/session/limits.hpp"
#include "sim/session/parts.hpp"
#include "sim/session/platform.hpp"
#include "sim/session/session.hpp"
#include "workloads/attribution.hpp"

namespace tilesim::sim::session {

using arch::base::Femtoseconds;
using arch::base::kNever;
using arch::memory::port::MemoryWindow;
using arch::systemc::Outcome;
using workloads::Bench;
using workloads::Case;
using workloads::Model;
using workloads::Plan;
using workloads::RunEnd;
using workloads::RunResult;

namespace {

// Longer than any agent's way to the memory.
constexpr Femtoseconds kLongestLookahead{1'000'000'000'000};

// Whoever listens hears whose component it is.
class NamedListener final : public arch::base::ProbeListener {
  public:
    NamedListener(std::string agent, arch::base::ProbeListener* to)
        : prefix_(std::move(agent) + "."), to_(to) {}
    arch::base::ProbeListener* get() { return to_ == nullptr ? nullptr : this; }
    void begin(std::string_view component, std::string_view activity, Femtoseconds now) override {
        to_->begin(prefix_ + std::string{component}, activity, now + origin);
    }
    void end(std::string_view component, std::string_view activity, Femtoseconds now) override {
        to_->end(prefix_ + std::string{component}, activity, now + origin);
    }
    Femtoseconds origin{0};

  private:
    std::string prefix_;
    arch::base::ProbeListener* to_;
};

// What they share.
struct Shared {
    Platform& platform;
    Contention& contention;
    const std::vector<AgentCase>& cases;
    arch::memory::controller::CommandLog* log;
    arch::memory::port::BankUse by_models;  // what they have done to banks beside the memory
};

// An agent: its job runs in a fiber, which stops where a system has been built and while it runs.
class Agent final : public workloads::Runner {
  public:
    Agent(std::size_t index, const AgentCase& a_case, Shared& shared,
          arch::base::ProbeListener* listener)
        : index_(index), case_(a_case), shared_(shared), listener_(a_case.name, listener) {
        outcome_.name = a_case.name;
        origin_ = a_case.start;
        begin_run();
    }

    bool runs_for_ever() const { return case_.until_all_done; }
    bool done() const { return done_; }
    bool running() const { return running_; }
    Femtoseconds start_time() const { return case_.start; }
    const Model* model() const { return built_ ? built_->model.get() : nullptr; }

    // Its first system is there: nothing of it moves yet.
    void build() { fiber_->resume(); }
    void start(Femtoseconds now) {
        origin_ = now;
        built_->window->set_origin(now);
        listener_.origin = now;
        resume();
    }
    // Looks whether it has come to an end, and goes on.
    void look(Femtoseconds now) {
        if (running_ && ended()) {
            stop(now, built_->model->finished() ? Outcome::Finished : Outcome::NothingPending);
        }
    }
    // What it runs has ended like this.
    void stop(Femtoseconds now, Outcome outcome) {
        how_ = outcome;
        running_ = false;
        origin_ = now;
        resume();
        if (!done_ && !running_) {
            start(now);  // another system of the same job, or another run
        }
    }

    RunEnd run(const Case& a_case, const Plan& plan, RunResult& result) override;
    RunResult run(const Case& part) override { return Session().run_whole(part, *this); }
    AgentOutcome& outcome() { return outcome_; }
    void close();
    std::vector<arch::base::Block> blocks() const {
        return blocks_of(*built_->model, *built_->root, case_.name + ".");
    }

  private:
    struct Built {
        std::unique_ptr<arch::base::EventQueue> queue;
        std::unique_ptr<arch::base::stats::Group> root;
        std::unique_ptr<MemoryWindow> window;
        std::unique_ptr<Model> model;
    };

    void begin_run() {
        fiber_ = std::make_unique<Fiber>([this](Fiber&) {
            RunResult result = Session().run_whole(case_.a_case, *this);
            const bool well = result.status == workloads::Status::Ok;
            if (well) {
                outcome_.mean_ns =
                    (outcome_.mean_ns * static_cast<double>(outcome_.runs) + result.time_ns) /
                    static_cast<double>(outcome_.runs + 1);
                ++outcome_.runs;
            }
            if (outcome_.runs <= 1 || !well) {
                outcome_.result = std::move(result);
            }
        });
    }
    void resume() {
        fiber_->resume();
        if (!fiber_->ended()) {
            return;
        }
        const bool failed = outcome_.result.status != workloads::Status::Ok;
        done_ = failed || (!case_.until_all_done && outcome_.runs >= case_.repeat);
        if (!done_) {
            begin_run();
            fiber_->resume();
        }
    }
    bool ended() {
        const Model& model = *built_->model;
        constexpr int kLooksPerLivelock = 1 << 14;
        if (model.finished() || (++looks_ % kLooksPerLivelock == 0 && model.livelocked())) {
            return true;
        }
        // What is lent channels waits for these, which its own queue does not know.
        return built_->queue->empty() && built_->window->idle() && !model.borrows_channels();
    }
    void count();

    std::size_t index_;
    const AgentCase& case_;
    Shared& shared_;
    NamedListener listener_;
    AgentOutcome outcome_;
    std::unique_ptr<Built> built_;
    std::vector<std::unique_ptr<MemoryWindow>> closed_;  // answers to them are still to come
    std::int64_t latency_reads_ = 0;
    Femtoseconds latency_{0};
    Femtoseconds origin_{0};
    Outcome how_ = Outcome::Finished;
    bool running_ = false;
    bool done_ = false;
    int looks_ = 0;
    std::unique_ptr<Fiber> fiber_;  // last: it may hold what is above
};

RunEnd Agent::run(const Case& a_case, const Plan& plan, RunResult& result) {
    Session alone;
    if (plan.aside) {
        return alone.run_alone(a_case, plan, result);
    }
    arch::memory::controller::MemorySystem& memory = shared_.platform.memory();
    if (plan.lookahead < memory.lookahead()) {
        memory.limit_lookahead(plan.lookahead);
    }
    built_ = std::make_unique<Built>();
    Built& built = *built_;
    built.queue = std::make_unique<arch::base::EventQueue>();
    built.root = std::make_unique<arch::base::stats::Group>("");
    built.window = std::make_unique<MemoryWindow>(memory, case_.address, origin_);
    built.window->listen(&shared_.contention.of(index_));
    Bench bench{*built.queue, *built.root, memory, *built.window, origin_};
    built.model = plan.build(bench);
    if (listener_.get() != nullptr) {
        built.model->connect(listener_.get());
    }
    if (shared_.log != nullptr) {
        built.model->log_commands(*shared_.log);
    }
    fiber_->yield();
    shared_.platform.join(*built.queue, origin_);
    built.model->start();
    running_ = true;
    fiber_->yield();
    shared_.platform.leave(*built.queue);
    const RunEnd end = end_of(how_, *built.model);
    built.model->finish_statistics();
    if (plan.collect) {
        plan.collect(end);
    }
    note_end(end, *built.model, arch::base::Clock{plan.clock}, built.queue->now(), result);
    result.events += built.queue->executed();
    const auto& counts = built.window->counts();
    result.memory.emplace();
    result.memory->bytes_read = counts.bytes_read;
    result.memory->bytes_written = counts.bytes_written;
    result.memory->bytes_requested = counts.bytes_read + counts.bytes_written;
    result.banks = memory.bank_use();
    built.model->add_bank_use(*result.banks);
    built.model->add_bank_use(shared_.by_models);
    workloads::set_rates(result, plan.macs, plan.clock);
    workloads::add_not_exercised(result, built.model->not_exercised());
    workloads::add_not_exercised(
        result, arch::memory::controller::not_exercised(plan.memory, memory.totals(),
                                                        built.model->borrows_channels()));
    result.where = workloads::where_time_went(*built.root);
    result.busy = workloads::busy_shares(*built.root);
    count();
    return end;
}

// Keeps of a system what outlives it.
void Agent::count() {
    const auto& counts = built_->window->counts();
    latency_ += counts.read_latency;
    latency_reads_ += counts.reads;
    outcome_.bytes += counts.bytes_read + counts.bytes_written;
    built_->window->close();
    closed_.push_back(std::move(built_->window));
    std::erase_if(closed_, [](const auto& window) { return window->idle(); });
    built_.reset();
}

// Nothing more moves: those that run for ever are left where they are.
void Agent::close() {
    if (running_) {
        count();
    }
    if (latency_reads_ > 0) {
        outcome_.read_latency_ns =
            arch::base::ns_of(latency_) / static_cast<double>(latency_reads_);
    }
}

// Starts agents when it is time, sees who has ended, says when all have.
class Director final : public arch::base::EventHandler {
  public:
    Director(std::vector<std::unique_ptr<Agent>>& agents, Platform& platform)
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
            }
        }
    }
    bool some_run() const {
        return std::any_of(agents_.begin(), agents_.end(),
                           [](const auto& agent) { return agent->running(); });
    }

  private:
    std::vector<std::unique_ptr<Agent>>& agents_;
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
    Shared shared{platform, contention, cases, log, platform.memory().bank_use()};
    std::vector<std::unique_ptr<Agent>> agents;
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (only && *only != i) {
            continue;
        }
        agents.push_back(std::make_unique<Agent>(i, cases[i], shared, listener));
        indices.push_back(i);
        if (cases[i].a_case.device.has<arch::pim::PimConfig>()) {
            contention.set_guest(i);
        }
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
