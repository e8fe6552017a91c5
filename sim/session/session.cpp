#include "sim/session/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "arch/base/clock.hpp"
#include "arch/memory/controller/command_trace.hpp"
#include "arch/memory/controller/memory_use.hpp"
#include "sim/console.hpp"
#include "sim/digest.hpp"
#include "sim/session/agents.hpp"
#include "sim/session/counted_before.hpp"
#include "sim/session/limits.hpp"
#include "sim/session/parts.hpp"
#include "sim/session/platform.hpp"
#include "sim/session/round_sampler.hpp"
#include "sim/version.hpp"
#include "workloads/attribution.hpp"
#include "workloads/catalogue/catalogue.hpp"
#include "workloads/default_mapping.hpp"

namespace tilesim::sim::session {

using arch::base::config::ConfigError;
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
    const auto add_source = [&](const Case& a_case) {
        if (const std::string source = a_case.problem.kind().source_text(a_case.problem);
            !source.empty()) {
            provenance["design_sha1"] = sha1(source);
        }
    };
    if (scenario.agents.empty()) {
        add_source(scenario);
    }
    for (const AgentCase& agent : scenario.agents) {
        for (const auto& document : agent.a_case.device.documents) {
            device_text += document.text();
        }
        add_source(agent.a_case);
    }
    provenance["device_sha1"] = sha1(device_text);
    return provenance;
}

const Dataflow& dataflow_of(const Case& a_case) {
    const Dataflow* dataflow = workloads::catalogue::dataflow_of(a_case);
    if (dataflow == nullptr) {
        throw ConfigError(fmt::format("nothing runs this workload on '{}'", a_case.device.name));
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
    limits.simulated = std::min(limits.simulated, arch::base::kNever - plan.lead) + plan.lead;
    return limits;
}

// Whether that is the end; looks at the rounds of a sampled run.
class Watch final : public arch::systemc::Goal {
  public:
    Watch(Model& model, const arch::base::EventQueue& queue, RoundSampler* sampler)
        : model_(model), queue_(queue), sampler_(sampler) {}

    bool reached(std::int64_t unasked) override {
        stamps_ += unasked + 1;
        if (model_.finished()) {
            return true;
        }
        if (sampler_ != nullptr && stamps_ >= next_note_) {
            if (sampler_->note(queue_.now(), model_.rounds())) {
                // Often enough to tell when a part of a round ends to within a hundredth of it.
                between_notes_ = std::clamp<std::int64_t>((stamps_ - last_part_) / 100, 1, 200);
                last_part_ = stamps_;
                if (sampler_->enough()) {
                    return true;
                }
            }
            next_note_ = stamps_ + between_notes_;
        }
        return stamps_ % kStampsPerLook == 0 && model_.livelocked();
    }
    std::int64_t patience() const override {
        if (!model_.tells_end()) {
            return 1;
        }
        const std::int64_t look = kStampsPerLook - stamps_ % kStampsPerLook;
        return sampler_ != nullptr ? std::min(look, next_note_ - stamps_) : look;
    }

  private:
    // Between two looks for a livelock, a matter of structure and not of speed.
    static constexpr std::int64_t kStampsPerLook = 1 << 14;

    Model& model_;
    const arch::base::EventQueue& queue_;
    RoundSampler* sampler_;
    std::int64_t stamps_ = 0;
    std::int64_t next_note_ = 0, between_notes_ = 16;  // of the rounds done
    std::int64_t last_part_ = 0;
};

// Where the case asks for it and the plan allows it; the result says where it does not.
std::optional<RoundSampler> sampler_for(const Case& a_case, const Plan& plan,
                                        RoundSampler::Totals totals, RunResult& result) {
    if (!a_case.run.sampled || plan.aside) {
        return std::nullopt;
    }
    if (a_case.run.functional || !RoundSampler::pays(plan.rounds)) {
        result.notes.push_back(
            a_case.run.functional ? "run.sampled: functional mode moves every byte: simulated whole"
            : plan.rounds == 0
                ? "run.sampled: this workload has no rounds to go by: simulated whole"
                : fmt::format("run.sampled: {} rounds are too few to extrapolate: simulated whole",
                              plan.rounds));
        return std::nullopt;
    }
    return RoundSampler(plan.rounds, std::move(totals), plan.least_leaving, plan.least_period);
}

// What the rounds simulated say of the whole.
void extrapolate(const WholeRun& whole, const Plan& plan, arch::base::Femtoseconds reached,
                 double simulating_s, RunResult& result) {
    result.status = Status::Ok;
    const arch::base::Clock clock{plan.clock};
    result.cycles = clock.cycle_at(whole.time).count();
    result.time_ns = arch::base::ns_of(whole.time);
    const double times =
        static_cast<double>(whole.time.count()) / static_cast<double>(reached.count());
    const auto scaled = [](std::int64_t count, double by) {
        return std::llround(static_cast<double>(count) * by);
    };
    const arch::memory::port::MemoryTotals simulated = *result.memory;
    result.memory = whole.memory;
    result.memory->row_open = scaled(simulated.row_open, times);
    result.memory->any_row_open = scaled(simulated.any_row_open, times);
    for (auto& [component, states] : result.where) {
        for (auto& [state, cycles] : states) {
            cycles *= times;
        }
    }
    // What the banks do adds up to what the memory does.
    const auto share = [](std::int64_t all, std::int64_t part) {
        return part > 0 ? static_cast<double>(all) / static_cast<double>(part) : 1;
    };
    const double activates = share(whole.memory.activates, simulated.activates);
    const double reads = share(whole.memory.bytes_read, simulated.bytes_read);
    const double writes = share(whole.memory.bytes_written, simulated.bytes_written);
    for (auto& channel : result.banks->channels) {
        for (arch::memory::port::BankCounts& bank : channel) {
            bank.activates = scaled(bank.activates, activates);
            bank.reads = scaled(bank.reads, reads);
            bank.writes = scaled(bank.writes, writes);
        }
    }
    const double rounds = plan.rounds / whole.simulated;
    result.sampled = {plan.rounds,
                      whole.simulated,
                      whole.error_percent,
                      whole.memory_error_percent,
                      whole.activates_error_percent,
                      simulating_s * (rounds - 1)};
}

// A case with nothing left open, and its job.
struct Prepared {
    Case a_case;
    const Dataflow* dataflow;
    bool chosen = false;           // the mapping, or what it does not state
    std::optional<RunResult> run;  // by whoever chose it

    // Throws HostTimeOver where the mapping is not chosen until then.
    Prepared(const Case& given, std::chrono::steady_clock::time_point until,
             workloads::Runner& runner, workloads::RunResult& result)
        : a_case(given), dataflow(&dataflow_of(given)) {
        a_case.run.until = until;
        result.device = a_case.device.name;
        result.workload = a_case.problem.kind().describe(a_case.problem);
        if (!dataflow->complete(a_case.mapping)) {
            workloads::Choice choice = choice_by(runner);
            if (!choice.note.empty()) {
                result.notes.push_back(choice.note);
            }
            chosen = true;
            run = std::move(choice.run);
            if (!choice.mapping.empty()) {
                a_case.mapping = std::move(choice.mapping);
                dataflow = &dataflow_of(a_case);
            }
        }
        result.mapping = a_case.mapping.empty()
                             ? Json::object()
                             : a_case.mapping.dataflow().describe(a_case.mapping);
    }

  private:
    // Where simulations decide and no dataflow is named, others have their chance.
    workloads::Choice choice_by(workloads::Runner& runner) const {
        workloads::Choice choice = dataflow->choose(a_case, runner);
        if (a_case.mapping.empty() && choice.time_ns > 0) {
            for (const Dataflow* rival : workloads::catalogue::dataflows()) {
                if (rival != dataflow && rival->serves(a_case.problem, a_case.device)) {
                    if (auto faster = workloads::faster_of(*rival, choice, a_case, runner)) {
                        choice = std::move(*faster);
                    }
                }
            }
        }
        if (!choice.mapping.empty()) {
            const std::string reservation =
                choice.mapping.dataflow().reservation(a_case, choice.mapping);
            choice.note += reservation.empty() ? "" : "; " + reservation;
        }
        return choice;
    }
};

// Keys of the file that cannot matter to the case; in words where the file says something there.
void name_unfelt(const Prepared& prepared, RunResult& result) {
    for (const workloads::UnfeltKey& each : prepared.dataflow->unfelt(prepared.a_case)) {
        result.not_exercised.push_back(each.key);
        const bool chosen = prepared.chosen && each.key.starts_with("mapping.");
        if (each.stated && !chosen) {
            result.notes.push_back(
                fmt::format("{} changes nothing here: {}", each.key, each.reason));
        }
    }
}

RunResult over_before_it_began(const Case& a_case, const workloads::HostTimeOver& over) {
    RunResult result;
    result.device = a_case.device.name;
    result.workload =
        a_case.problem.empty() ? Json::object() : a_case.problem.kind().describe(a_case.problem);
    result.mapping = Json::object();
    result.status = Status::TimeLimit;
    result.notes.push_back(over.what());
    return result;
}

}  // namespace

RunEnd Session::run(const Case& a_case, const Plan& plan, workloads::RunResult& result) {
    Platform platform(plan.memory, plan.lookahead, plan.in_banks, modules_);
    arch::memory::controller::MemorySystem& memory = platform.memory();
    CountedBefore before;
    workloads::Bench bench{.queue = platform.queue(),
                           .root = platform.root(),
                           .memory = memory,
                           .port = memory,
                           .begin_reported = [&] { before.note(memory, platform.queue().now()); }};
    const std::unique_ptr<Model> model = plan.build(bench);
    platform.add_blocks(blocks_of(*model, platform.root(), ""));
    arch::base::ProbeListener* listener = plan.aside ? nullptr : listener_;
    std::optional<arch::memory::controller::CommandTrace> commands;
    arch::memory::controller::CommandListener* heard_by = nullptr;
    if (listener != nullptr) {
        model->connect(listener);
        heard_by = &commands.emplace(plan.memory, *listener);
    }
    if (log_ != nullptr && !plan.aside) {
        log_->attach(plan.memory, heard_by);
        heard_by = log_;
        model->log_commands(*log_);
    }
    memory.listen(plan.aside ? nullptr : model->hearing(heard_by));
    std::optional<RoundSampler> sampler = sampler_for(
        a_case, plan, [&memory] { return memory.totals(); }, result);
    model->start();
    const auto began = HostClock::now();
    Watch watch(*model, platform.queue(), sampler ? &*sampler : nullptr);
    const Outcome outcome = platform.run(limits_for(a_case, plan, began - began_), watch);
    const std::chrono::duration<double> simulating = HostClock::now() - began;
    if (commands) {
        commands->finish();
    }
    const bool cut =
        sampler && sampler->enough() && outcome == Outcome::Finished && !model->finished();
    const RunEnd end = cut ? RunEnd::Finished : end_of(outcome, *model);
    if (sampler && !cut && end == RunEnd::Finished) {
        result.notes.push_back(
            "run.sampled: its rounds differ too much to extrapolate: simulated whole");
    }
    model->finish_statistics();
    if (plan.collect) {
        plan.collect(end);
    }
    memory.finish_statistics();
    result.events += platform.queues().executed();
    result.memory = memory.totals();
    result.banks = memory.bank_use();
    before.leave_out(result);
    model->add_bank_use(*result.banks);
    result.where = workloads::where_time_went(platform.root(), before.charged());
    result.busy = workloads::busy_shares(platform.root(), before.charged());
    arch::base::Femtoseconds until = platform.queue().now();
    if (cut) {
        const WholeRun whole = sampler->whole();
        extrapolate(whole, plan, until, simulating.count(), result);
        until = whole.time;
    } else {
        note_end(end, *model, arch::base::Clock{plan.clock}, until, result);
    }
    add_energy(plan.memory, arch::base::Clock{plan.memory.clock}.cycle_at(until - before.began()),
               result);
    workloads::set_rates(result, plan.macs, plan.clock);
    workloads::add_not_exercised(result, model->not_exercised());
    workloads::add_not_exercised(
        result, arch::memory::controller::not_exercised(plan.memory, memory.totals(),
                                                        model->borrows_channels()));
    return end;
}

RunEnd Session::run_alone(const Case& a_case, const Plan& plan, workloads::RunResult& result) {
    Session session(nullptr, began_);
    session.modules_ = false;
    return session.run(a_case, plan, result);
}

workloads::RunResult Session::run(const Case& part) {
    Session session(nullptr, began_);
    session.modules_ = false;
    session.part_ = true;
    return session.run_whole(part);
}

workloads::RunResult Session::run_whole(const Case& a_case) {
    try {
        return run_whole(a_case, *this);
    } catch (const workloads::HostTimeOver& over) {
        return over_before_it_began(a_case, over);
    }
}

workloads::RunResult Session::run_whole(const Case& a_case, workloads::Runner& runner) {
    workloads::RunResult result;
    Session alone(nullptr, began_);
    alone.modules_ = false;
    const auto until = began_ + limits_of(a_case.run).wall;
    Prepared prepared(a_case, until, alone, result);
    if (!part_) {
        name_unfelt(prepared, result);
    }
    // Alone and with nobody listening it would run as it did.
    if (prepared.run && &runner == this && listener_ == nullptr && log_ == nullptr) {
        RunResult& run = *prepared.run;
        run.notes.insert(run.notes.begin(), result.notes.begin(), result.notes.end());
        run.not_exercised.insert(run.not_exercised.begin(), result.not_exercised.begin(),
                                 result.not_exercised.end());
        return std::move(run);
    }
    const std::unique_ptr<Job> job = prepared.dataflow->lower(prepared.a_case, result);
    for (const std::string& finding : told_ ? std::vector<std::string>{} : result.findings) {
        complain("before the run: " + finding);
    }
    job->run(runner, result);
    if (a_case.run.functional && !result.functional && !part_) {
        result.notes.push_back(
            "run.functional: nothing was compared: this workload has no data, or "
            "says of none what it must be");
    }
    return result;
}

std::string Session::lowered_text(const Case& a_case) {
    workloads::RunResult result;
    const Prepared prepared(a_case, HostClock::time_point::max(), *this, result);
    std::string text = prepared.dataflow->lower(prepared.a_case, result)->text();
    if (text.empty()) {
        throw ConfigError(
            "this workload has no program to print; `tilesim run` says where its time goes");
    }
    return text;
}

std::string lowered_text(const Scenario& scenario) {
    try {
        return Session().lowered_text(scenario);
    } catch (const ConfigError& error) {  // told by who does not know the file
        throw ConfigError(scenario.document->located(error.what()));
    }
}

std::vector<std::string> unfelt_keys(const Scenario& scenario) {
    if (!scenario.agents.empty()) {
        return {};
    }
    const Dataflow& dataflow = dataflow_of(scenario);
    if (!dataflow.name().empty() && !dataflow.complete(scenario.mapping)) {
        return {};
    }
    std::vector<std::string> keys;
    for (workloads::UnfeltKey& each : dataflow.unfelt(scenario)) {
        keys.push_back(std::move(each.key));
    }
    return keys;
}

workloads::RunResult run(const Scenario& scenario, arch::base::ProbeListener* listener,
                         arch::memory::controller::CommandLog* log, bool told) {
    const auto began = std::chrono::steady_clock::now();
    workloads::RunResult result;
    try {
        result = !scenario.agents.empty() ? run_agents(scenario, listener, log)
                 : scenario.traffic       ? run_beside_traffic(scenario, listener, log)
                                          : Session(listener, log, told).run_whole(scenario);
    } catch (const workloads::HostTimeOver& over) {  // of an agent
        result = over_before_it_began(scenario, over);
    } catch (const ConfigError& error) {  // told by who does not know the file
        throw ConfigError(scenario.document->located(error.what()));
    }
    result.provenance = provenance_of(scenario);
    result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return result;
}

}  // namespace tilesim::sim::session
