#include "sim/session/session.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>

#include "arch/base/clock.hpp"
#include "arch/memory/controller/command_trace.hpp"
#include "arch/memory/controller/memory_use.hpp"
#include "arch/systemc/kernel_module.hpp"
#include "sim/console.hpp"
#include "sim/digest.hpp"
#include "sim/session/limits.hpp"
#include "sim/version.hpp"
#include "workloads/attribution.hpp"
#include "workloads/catalogue/catalogue.hpp"

namespace tilesim::sim::session {

using arch::systemc::Outcome;
using Json = nlohmann::ordered_json;
using workloads::Case;
using workloads::Dataflow;
using workloads::Job;
using workloads::Model;
using workloads::Plan;
using workloads::RunEnd;
using workloads::RunResult;
using workloads::Status;

namespace {

Json provenance_of(const Scenario& scenario) {
    std::string device_text;
    for (const auto& document : scenario.device.documents) {
        device_text += document.text();
    }
    Json provenance = {{"version", kVersion},
                       {"scenario_sha1", sha1(scenario.document->text())},
                       {"device_sha1", sha1(device_text)},
                       {"overridden", scenario.overridden}};
    if (const std::string source = scenario.problem.kind().source_text(scenario.problem);
        !source.empty()) {
        provenance["design_sha1"] = sha1(source);
    }
    return provenance;
}

const Dataflow& dataflow_of(const Case& a_case) {
    const Dataflow* dataflow = workloads::catalogue::dataflow_of(a_case);
    if (dataflow == nullptr) {
        throw arch::base::config::ConfigError(
            fmt::format("nothing runs this workload on '{}'", a_case.device.name));
    }
    return *dataflow;
}

arch::systemc::Limits limits_for(const Case& a_case, const Plan& plan,
                                 std::chrono::steady_clock::duration gone) {
    auto limits = limits_of(a_case.run);
    limits.wall -= std::chrono::duration_cast<std::chrono::milliseconds>(gone);
    if (plan.quiet_time != arch::base::kNever &&
        a_case.run.max_time == workloads::RunOptions::kMostTime) {
        limits.simulated = plan.quiet_time;
    }
    return limits;
}

RunEnd end_of(Outcome outcome, const Model& model) {
    switch (outcome) {
        case Outcome::Finished:
            return model.finished() ? RunEnd::Finished : RunEnd::Standstill;
        case Outcome::NothingPending:
            return model.may_rest() ? RunEnd::Rested : RunEnd::Standstill;
        case Outcome::SimulatedTimeLimit:
        case Outcome::WallTimeLimit:
            break;
    }
    return model.done_so_far() ? RunEnd::Stopped : RunEnd::TimeLimit;
}

// A run that did not end well is reported as far as it came, to `reached`.
void note_end(RunEnd end, const Model& model, arch::base::Clock clock,
              arch::base::Femtoseconds reached, workloads::RunResult& result) {
    const bool well = end == RunEnd::Finished || end == RunEnd::Rested || end == RunEnd::Stopped;
    const arch::base::Cycles cycles = well ? model.finish_cycle() : clock.cycle_at(reached);
    const arch::base::Femtoseconds time = well ? model.finish_time() : clock.time_of(cycles);
    result.cycles = cycles.count();
    result.time_ns = static_cast<double>(time.count()) / workloads::kFemtosecondsPerNanosecond;
    if (well) {
        result.status = workloads::Status::Ok;
    } else if (end == RunEnd::Standstill) {
        result.status = workloads::Status::Deadlock;
        result.deadlock = model.deadlock();
    } else {
        result.status = workloads::Status::TimeLimit;
        result.notes.push_back("stopped by its budget, not dead: " + model.deadlock().progress());
    }
}

// A case with nothing left open, and its job.
struct Prepared {
    Case a_case;
    const Dataflow& dataflow;

    Prepared(const Case& given, workloads::Runner& runner, workloads::RunResult& result)
        : a_case(given), dataflow(dataflow_of(given)) {
        result.device = a_case.device.name;
        result.workload = a_case.problem.kind().describe(a_case.problem);
        if (!dataflow.complete(a_case.mapping)) {
            workloads::Choice choice = dataflow.choose(a_case, runner);
            if (!choice.note.empty()) {
                result.notes.push_back(choice.note);
            }
            if (!choice.mapping.empty()) {
                a_case.mapping = std::move(choice.mapping);
            }
        }
        result.mapping = a_case.mapping.empty()
                             ? Json::object()
                             : a_case.mapping.dataflow().describe(a_case.mapping);
    }
};

}  // namespace

RunEnd Session::run(const Case& a_case, const Plan& plan, workloads::RunResult& result) {
    arch::base::EventQueue queue;
    arch::base::stats::Group root("");
    arch::memory::controller::MemorySystem memory(plan.memory, plan.lookahead, queue, root);
    workloads::Bench bench{queue, root, memory};
    const std::unique_ptr<Model> model = plan.build(bench);
    arch::base::ProbeListener* listener = plan.aside ? nullptr : listener_;
    std::optional<arch::memory::controller::CommandTrace> commands;
    if (listener != nullptr) {
        model->connect(listener);
        memory.listen(&commands.emplace(plan.memory, *listener));
    }
    model->start();
    // Time stamps between two looks for a livelock, a matter of structure and not of speed.
    constexpr int kStampsPerLook = 1 << 14;
    int stamps = 0;
    const Outcome outcome = arch::systemc::run(queue, limits_for(a_case, plan, HostClock::now() - began_), [&] {
        return model->finished() || (++stamps % kStampsPerLook == 0 && model->livelocked());
    });
    if (commands) {
        commands->finish();
    }
    const RunEnd end = end_of(outcome, *model);
    model->finish_statistics();
    if (plan.collect) {
        plan.collect(end);
    }
    memory.finish_statistics();
    note_end(end, *model, arch::base::Clock{plan.clock}, queue.now(), result);
    result.events += queue.executed();
    result.memory = memory.totals();
    result.banks = memory.bank_use();
    model->add_bank_use(*result.banks);
    workloads::set_rates(result, plan.macs, plan.clock);
    workloads::add_not_exercised(result, model->not_exercised());
    workloads::add_not_exercised(
        result, arch::memory::controller::not_exercised(plan.memory, memory.totals(),
                                                        model->borrows_channels()));
    result.where = workloads::where_time_went(root);
    result.busy = workloads::busy_shares(root);
    return end;
}

workloads::RunResult Session::run(const Case& part) {
    return Session(nullptr, began_).run_whole(part);
}

workloads::RunResult Session::run_whole(const Case& a_case) {
    workloads::RunResult result;
    const Prepared prepared(a_case, *this, result);
    const std::unique_ptr<Job> job = prepared.dataflow.lower(prepared.a_case, result);
    for (const std::string& finding : result.findings) {
        complain("before the run: " + finding);
    }
    job->run(*this, result);
    return result;
}

std::string Session::lowered_text(const Case& a_case) {
    workloads::RunResult result;
    const Prepared prepared(a_case, *this, result);
    std::string text = prepared.dataflow.lower(prepared.a_case, result)->text();
    if (text.empty()) {
        throw arch::base::config::ConfigError("this workload has no program to print");
    }
    return text;
}

workloads::RunResult run(const Scenario& scenario, arch::base::ProbeListener* listener) {
    const auto began = std::chrono::steady_clock::now();
    workloads::RunResult result = Session(listener).run_whole(scenario);
    result.provenance = provenance_of(scenario);
    result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return result;
}

}  // namespace tilesim::sim::session
