#include "workloads/memory/host_loop/host_loop.hpp"

#include <memory>

#include "arch/base/clock.hpp"
#include "arch/host/memory_loop.hpp"
#include "workloads/attribution.hpp"

namespace tilesim::workloads::memory::host_loop {

using arch::base::config::Node;
using arch::host::MemoryLoop;
using arch::host::MemoryLoopConfig;
using Json = nlohmann::ordered_json;

namespace {

class LoopKind final : public ProblemKind {
  public:
    std::string_view key() const override { return "host_loop"; }
    Problem read(ProblemSource& source) const override {
        return {*this, arch::host::read_memory_loop(
                           source.node.child(key(), "a loop of the processor over the memory"))};
    }
    Json describe(const Problem& problem) const override {
        const auto& loop = problem.get<MemoryLoopConfig>();
        return {{key(),
                 {{"read_bytes", loop.read.count()},
                  {"write_bytes", loop.write.count()},
                  {"operations", loop.operations},
                  {"cores", loop.cores}}}};
    }
};

class LoopModel final : public Model {
  public:
    LoopModel(const MemoryLoopConfig& loop, Bench& bench, arch::base::Hertz clock)
        : loop_(loop, bench.port, bench.root), clock_(clock) {}

    void connect(arch::base::ProbeListener*) override {}
    void start() override { loop_.start(); }
    bool finished() const override { return loop_.finished(); }
    arch::base::DeadlockReport deadlock() const override {
        arch::base::DeadlockReport report;
        report.waits.push_back({.who = "host",
                                .what = "answers of the memory",
                                .on = "memory",
                                .held_by = {"memory"}});
        return report;
    }
    void finish_statistics() override {}
    arch::base::Cycles finish_cycle() const override { return clock_.cycle_at(finish_time()); }
    arch::base::Femtoseconds finish_time() const override { return loop_.finish_time(); }

  private:
    MemoryLoop loop_;
    arch::base::Clock clock_;
};

class LoopJob final : public Job {
  public:
    explicit LoopJob(const Case& a_case) : case_(a_case) {}

    void run(Runner& runner, RunResult& result) override {
        const auto& loop = case_.problem.get<MemoryLoopConfig>();
        const auto& memory = case_.device.memory;
        Plan plan{.memory = memory, .lookahead = loop.way, .clock = memory.clock};
        plan.build = [&](Bench& bench) {
            return std::make_unique<LoopModel>(loop, bench, memory.clock);
        };
        runner.run(case_, plan, result);
        name_bottlenecks(result, "host_core", "processor: ");
    }

  private:
    const Case& case_;
};

class LoopDataflow final : public Dataflow {
  public:
    std::string_view name() const override { return ""; }
    bool serves(const Problem& problem, const Device&) const override {
        return problem.find<MemoryLoopConfig>() != nullptr;
    }
    Mapping read(Node&) const override { return {}; }
    Json describe(const Mapping&) const override { return Json::object(); }
    std::unique_ptr<Job> lower(const Case& a_case, RunResult&) const override {
        return std::make_unique<LoopJob>(a_case);
    }
};

}  // namespace

const ProblemKind& loop_kind() {
    static const LoopKind kind;
    return kind;
}

const Dataflow& loop_dataflow() {
    static const LoopDataflow dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::memory::host_loop
