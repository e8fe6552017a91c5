#include "sim/session/running_agent.hpp"

#include <fmt/format.h>

#include "arch/base/clock.hpp"
#include "arch/base/quantity.hpp"
#include "arch/memory/controller/memory_use.hpp"
#include "sim/session/limits.hpp"
#include "workloads/attribution.hpp"

namespace tilesim::sim::session {

using arch::base::Femtoseconds;
using arch::memory::port::MemoryWindow;
using arch::systemc::Outcome;
using workloads::Bench;
using workloads::Case;
using workloads::Model;
using workloads::Plan;
using workloads::RunEnd;
using workloads::RunResult;

RunningAgent::RunningAgent(std::size_t index, const AgentCase& a_case, SharedPlatform& shared,
                           arch::base::ProbeListener* listener)
    : index_(index), case_(a_case), shared_(shared), listener_(a_case.name, listener) {
    outcome_.name = a_case.name;
    // What is known of one that does not come to its end.
    outcome_.result.device = a_case.a_case.device.name;
    outcome_.result.workload = a_case.a_case.problem.kind().describe(a_case.a_case.problem);
    origin_ = a_case.start;
    begin_run();
}

void RunningAgent::start(Femtoseconds now) {
    origin_ = now;
    built_->window->set_origin(now);
    listener_.origin = now;
    resume();
}

void RunningAgent::look(Femtoseconds now) {
    if (running_ && ended()) {
        stop(now, built_->model->finished() ? Outcome::Finished : Outcome::NothingPending);
    }
}

void RunningAgent::stop(Femtoseconds now, Outcome outcome) {
    how_ = outcome;
    running_ = false;
    origin_ = now;
    resume();
    if (!done_ && !running_) {
        start(now);  // another system of the same job, or another run
    }
}

void RunningAgent::miss() {
    done_ = true;
    outcome_.result.status = workloads::Status::TimeLimit;
    outcome_.result.notes.push_back(
        fmt::format("starts at {}, when the budget is used up",
                    arch::base::config::format_quantity(case_.start.count(),
                                                        arch::base::config::kTimeDimension)));
}

void RunningAgent::begin_run() {
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

void RunningAgent::resume() {
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

bool RunningAgent::ended() {
    const Model& model = *built_->model;
    constexpr int kLooksPerLivelock = 1 << 14;
    if (model.finished() || (++looks_ % kLooksPerLivelock == 0 && model.livelocked())) {
        return true;
    }
    // What is lent channels waits for these, which its own queue does not know.
    return built_->queue->empty() && built_->window->idle() && !model.borrows_channels();
}

RunEnd RunningAgent::run(const Case& a_case, const Plan& plan, RunResult& result) {
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
    if (!shared_.contention.has_guest()) {  // whose commands would be missing
        shared_.contention.tell(index_, built.model->hearing_beside_others());
    }
    if (listener_.get() != nullptr) {
        built.model->connect(listener_.get());
    }
    if (shared_.log != nullptr) {
        built.model->log_commands(*shared_.log);
    }
    fiber_->yield();
    const Femtoseconds begun = origin_;
    shared_.platform.join(*built.queue, begun);
    built.executed = {built.queue.get(), LeavePlatform{&shared_.platform}};
    built.model->start();
    running_ = true;
    fiber_->yield();
    built.executed.reset();
    const RunEnd end = end_of(how_, *built.model);
    if (end == RunEnd::Finished) {
        ended_at_ = begun + built.model->finish_time();
    }
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
void RunningAgent::count() {
    const auto& counts = built_->window->counts();
    latency_ += counts.read_latency;
    latency_reads_ += counts.reads;
    outcome_.bytes += counts.bytes_read + counts.bytes_written;
    shared_.contention.forget(index_);
    built_->window->close();
    closed_.push_back(std::move(built_->window));
    std::erase_if(closed_, [](const auto& window) { return window->idle(); });
    built_.reset();
}

// Nothing more moves: those that run for ever are left where they are.
void RunningAgent::close() {
    if (running_) {
        count();
    }
    if (latency_reads_ > 0) {
        outcome_.read_latency_ns =
            arch::base::ns_of(latency_) / static_cast<double>(latency_reads_);
    }
}

}  // namespace tilesim::sim::session
