// A dataflow: how problems run on a machine. All that is known of one is in its folder; everybody
// else knows this interface.
//
// Adding one is a folder and a line in catalogue/catalogue.cpp: its keys are then read, printed,
// described, swept and put into the schema, `tune` searches its candidates, `lower` prints its
// program, and every command runs it.
#pragma once

#include <algorithm>
#include <any>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/memory/traffic/stream_source.hpp"
#include "workloads/bounds.hpp"
#include "workloads/device.hpp"
#include "workloads/problem.hpp"
#include "workloads/result.hpp"
#include "workloads/run.hpp"
#include "workloads/unfelt.hpp"

namespace tilesim::workloads {

class Dataflow;

// A dataflow's own mapping struct; only its dataflow looks inside. Empty: none was given.
class Mapping {
  public:
    Mapping() = default;
    template <class Value>
    Mapping(const Dataflow& dataflow, Value value)
        : dataflow_(&dataflow), value_(std::move(value)) {}

    bool empty() const { return dataflow_ == nullptr; }
    const Dataflow& dataflow() const { return *dataflow_; }
    template <class Value>
    const Value& get() const {
        return *std::any_cast<Value>(&value_);
    }

  private:
    const Dataflow* dataflow_ = nullptr;
    std::any value_;
};

struct RunOptions {
    bool functional = false;
    bool sampled = false;  // a few rounds are simulated, the rest extrapolated
    // Hears the simulated time twice a second of the host's, and may throw; not a key of the file.
    std::function<void(arch::base::Femtoseconds)> progress = {};
    std::uint64_t seed = 1;
    static constexpr arch::base::Femtoseconds kMostTime{10'000'000'000'000'000};
    arch::base::Femtoseconds max_time = kMostTime;  // simulated
    arch::base::Femtoseconds max_wall_time{3'600'000'000'000'000'000};
    // The host's time at which the run has to be over; not a key of the file.
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();

    // For what a run does before it simulates: throws HostTimeOver where `until` is past.
    void check_host_time() const;
};

// Ends a run whose budget of the host's time was over before there was anything to simulate.
class HostTimeOver final : public std::exception {
  public:
    const char* what() const noexcept override {
        return "run.max_wall_time was over before the mapping was chosen";
    }
};

// What is to be run.
struct Case {
    Device device;
    Problem problem;
    Mapping mapping;
    // Ordinary requests to the memory beside a GEMV in its banks.
    std::optional<arch::memory::traffic::StreamConfig> traffic;
    RunOptions run;
};

// A case made ready: run once, or printed.
class Job {
  public:
    virtual ~Job() = default;
    // Runs it by means of `runner` and fills in the result, whose problem and mapping are there.
    virtual void run(Runner& runner, RunResult& result) = 0;
    // The physical program for `tilesim lower`; empty: there is none to print.
    virtual std::string text() const { return ""; }
};

// What a case cannot mean: the key at fault, and why.
struct Refusal {
    std::string key;  // "mapping", "workload", "device", "run"
    std::string reason;
};

// A mapping for a case that gives none, and what the result says of it.
struct Choice {
    Mapping mapping;
    std::string note;
    double time_ns = 0;  // as simulated or counted for the choice; 0: neither was
    // Of the case with this mapping and nothing else changed, where the choice has simulated it.
    std::optional<RunResult> run = {};
};

// A mapping `tune` may try.
struct Candidate {
    std::string name;  // as a row of a table calls it
    Mapping mapping;
    GemmBounds bounds;  // none of its simulations is faster
    // What it may take, where the dataflow knows more than its bounds: orders, excludes nothing.
    double expected_ns = 0;
    // What no simulation beats, where the dataflow knows more than its bounds: a launch, work that
    // nothing overlaps.
    double least_ns = 0;

    double bound_ns() const { return std::max(least_ns, bounds.tightest_ns()); }
};

class Dataflow {
  public:
    virtual ~Dataflow() = default;
    // The key below `mapping`; empty for what has no mapping.
    virtual std::string_view name() const = 0;
    virtual std::string_view summary() const { return ""; }
    // Whether it is for such problems on such devices; the catalogue's first that is, runs a case
    // without a mapping.
    virtual bool serves(const Problem& problem, const Device& device) const = 0;
    // Whether `mapping` holds it; the dataflows are asked in their order.
    virtual bool found(const arch::base::config::Node& mapping) const {
        return !name().empty() && mapping.has(name());
    }
    // Whether it can run under such a mapping: its own, unless it says otherwise, or none.
    virtual bool takes(const Mapping& mapping) const {
        return mapping.empty() || &mapping.dataflow() == this;
    }
    // Whether another dataflow's keys may stand beside its own, being part of it.
    virtual bool holds(const Dataflow&) const { return false; }
    // Whether ordinary requests may go on beside it.
    virtual bool takes_traffic() const { return false; }
    // Reads its keys below `mapping`.
    virtual Mapping read(arch::base::config::Node& mapping) const = 0;
    // As results print it: {"output_stationary": {"m_ct": ...}}.
    virtual nlohmann::ordered_json describe(const Mapping& mapping) const = 0;
    // Whether the mapping leaves nothing open that `choose` would fill in.
    virtual bool complete(const Mapping& mapping) const { return !mapping.empty(); }
    // A mapping for a case whose own is not complete. Throws ConfigError where none fits.
    virtual Choice choose(const Case&, Runner&) const { return {}; }
    // What whoever names the mapping the best of the case has to say beside it: what its time
    // leaves out, and whether another would be the best with that; empty: nothing.
    virtual std::string reservation(const Case&, const Mapping&) const { return ""; }
    // Why the case cannot run.
    virtual std::vector<Refusal> refusals(const Case&) const { return {}; }
    // Keys of a complete case's workload and mapping that cannot matter to it: changing one of them
    // by a tenth, or to another name, changes nothing, or makes a case that is refused.
    virtual std::vector<UnfeltKey> unfelt(const Case&) const { return {}; }
    // Ready to run. `result` gets what is known before the run. Throws ConfigError.
    virtual std::unique_ptr<Job> lower(const Case& a_case, RunResult& result) const = 0;

    // Whether `tune` searches it beside the one the scenario names.
    virtual bool alike(const Dataflow& named) const { return &named == this; }
    // For `tune`: all mappings that fit, of the shapes and sizes it enumerates; none: there is
    // nothing to search.
    virtual std::vector<Candidate> candidates(const Case&) const { return {}; }
    // The mapping with one of its other keys changed, those that fit.
    virtual std::vector<Candidate> variants(const Case&, const Mapping&) const { return {}; }
    // The mapping with less of what costs room: from these the smallest that saturates is chosen.
    virtual std::vector<Candidate> reduced(const Case&, const Mapping&) const { return {}; }
};

}  // namespace tilesim::workloads
