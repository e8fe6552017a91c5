// An agent of several on one memory, from its start to its end.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/base/probe.hpp"
#include "arch/memory/controller/command_log.hpp"
#include "arch/memory/port/memory_window.hpp"
#include "sim/session/contention.hpp"
#include "sim/session/fiber.hpp"
#include "sim/session/parts.hpp"
#include "sim/session/platform.hpp"
#include "sim/session/session.hpp"
#include "sim/session/together.hpp"

namespace tilesim::sim::session {

// Whoever listens hears whose component it is.
class NamedListener final : public arch::base::ProbeListener {
  public:
    NamedListener(std::string agent, arch::base::ProbeListener* to)
        : prefix_(std::move(agent) + "."), to_(to) {}
    arch::base::ProbeListener* get() { return to_ == nullptr ? nullptr : this; }
    void begin(std::string_view component, std::string_view activity,
               arch::base::Femtoseconds now) override {
        to_->begin(prefix_ + std::string{component}, activity, now + origin);
    }
    void end(std::string_view component, std::string_view activity,
             arch::base::Femtoseconds now) override {
        to_->end(prefix_ + std::string{component}, activity, now + origin);
    }
    arch::base::Femtoseconds origin{0};

  private:
    std::string prefix_;
    arch::base::ProbeListener* to_;
};

// What the agents share.
struct SharedPlatform {
    Platform& platform;
    Contention& contention;
    const std::vector<AgentCase>& cases;
    arch::memory::controller::CommandLog* log;
    arch::memory::port::BankUse by_models;  // what they have done to banks beside the memory
};

// Takes a queue out of those that a platform executes.
struct LeavePlatform {
    Platform* platform = nullptr;
    void operator()(arch::base::EventQueue* queue) const { platform->leave(*queue); }
};

// An agent: its job runs in a fiber, which stops where a system has been built and while it runs.
class RunningAgent final : public workloads::Runner {
  public:
    RunningAgent(std::size_t index, const AgentCase& a_case, SharedPlatform& shared,
                 arch::base::ProbeListener* listener);

    bool runs_for_ever() const { return case_.until_all_done; }
    bool done() const { return done_; }
    bool running() const { return running_; }
    arch::base::Femtoseconds start_time() const { return case_.start; }
    // When its last run that came to its end had; what it ends by may be known earlier.
    arch::base::Femtoseconds ended_at() const { return ended_at_; }
    const workloads::Model* model() const { return built_ ? built_->model.get() : nullptr; }

    // Its first system is there: nothing of it moves yet.
    void build() { fiber_->resume(); }
    void start(arch::base::Femtoseconds now);
    // Looks whether it has come to an end, and goes on.
    void look(arch::base::Femtoseconds now);
    // What it runs has ended like this.
    void stop(arch::base::Femtoseconds now, arch::systemc::Outcome outcome);
    // The budget is used up before its start.
    void miss();

    workloads::RunEnd run(const workloads::Case& a_case, const workloads::Plan& plan,
                          workloads::RunResult& result) override;
    workloads::RunResult run(const workloads::Case& part) override {
        return Session().run_whole(part, *this);
    }
    bool beside_others() const override { return shared_.cases.size() > 1; }
    AgentOutcome& outcome() { return outcome_; }
    void close();
    std::vector<arch::base::Block> blocks() const {
        return blocks_of(*built_->model, *built_->root, case_.name + ".");
    }

  private:
    struct Built {
        std::unique_ptr<arch::base::EventQueue> queue;
        std::unique_ptr<arch::base::stats::Group> root;
        std::unique_ptr<arch::memory::port::MemoryWindow> window;
        std::unique_ptr<workloads::Model> model;
        std::unique_ptr<arch::base::EventQueue, LeavePlatform> executed;  // leaves before it goes
    };

    void begin_run();
    void resume();
    bool ended();
    void count();

    std::size_t index_;
    const AgentCase& case_;
    SharedPlatform& shared_;
    NamedListener listener_;
    AgentOutcome outcome_;
    std::unique_ptr<Built> built_;
    std::vector<std::unique_ptr<arch::memory::port::MemoryWindow>>
        closed_;  // answers to them are still to come
    std::int64_t latency_reads_ = 0;
    arch::base::Femtoseconds latency_{0};
    arch::base::Femtoseconds origin_{0};
    arch::base::Femtoseconds ended_at_{0};
    arch::systemc::Outcome how_ = arch::systemc::Outcome::Finished;
    bool running_ = false;
    bool done_ = false;
    int looks_ = 0;
    std::unique_ptr<Fiber> fiber_;  // last: it may hold what is above
};

}  // namespace tilesim::sim::session
