#include "workloads/memory/streams/streams.hpp"

#include <fmt/format.h>

#include <memory>

#include "arch/base/clock.hpp"
#include "arch/base/limit.hpp"
#include "arch/base/quantity.hpp"
#include "arch/memory/traffic/stream_driver.hpp"
#include "workloads/attribution.hpp"
#include "workloads/keys.hpp"
#include "workloads/paths.hpp"

namespace tilesim::workloads::memory::streams {

using arch::base::config::Node;
using arch::memory::traffic::StreamConfig;
using arch::memory::traffic::StreamDriver;
using Json = nlohmann::ordered_json;

namespace {

class StreamKind final : public ProblemKind {
  public:
    std::string_view key() const override { return "memory_stream"; }
    Problem read(ProblemSource& source) const override {
        return {*this, arch::memory::traffic::read_stream_config(
                           source.node.child(key(), "generated requests to the memory alone"))};
    }
    Json describe(const Problem& problem) const override {
        const auto read = [](const Node& node, StreamConfig& stream) {
            stream = arch::memory::traffic::read_stream_config(node, stream);
        };
        return {{key(), keys_of(problem.get<StreamConfig>(), read)}};
    }
};

class TraceKind final : public ProblemKind {
  public:
    std::string_view key() const override { return "memory_trace"; }
    Problem read(ProblemSource& source) const override {
        StreamConfig stream;
        source.node.required(key(), stream.trace, "CSV file of requests: op,address,bytes");
        if (!stream.trace.empty()) {
            stream.trace = beside(source.file, stream.trace);
            is_readable(source.node, key(), stream.trace);
        }
        return {*this, stream};
    }
    Json describe(const Problem& problem) const override {
        const std::string& file = problem.get<StreamConfig>().trace;
        return {{key(), file.substr(file.rfind('/') + 1)}};
    }
};

class StreamModel final : public Model {
  public:
    StreamModel(const StreamConfig& stream, Bench& bench, arch::base::Hertz clock)
        : driver_(stream, bench.port), clock_(clock) {}

    StreamDriver& driver() { return driver_; }

    void connect(arch::base::ProbeListener*) override {}
    void start() override { driver_.start(); }
    bool finished() const override { return driver_.finished(); }
    arch::base::DeadlockReport deadlock() const override {
        arch::base::DeadlockReport report;
        report.waits.push_back({.who = "memory_stream",
                                .what = "answers of the memory",
                                .on = "memory",
                                .held_by = {"memory"}});
        return report;
    }
    void finish_statistics() override {}
    arch::base::Cycles finish_cycle() const override {
        return clock_.cycle_at(driver_.result().time);
    }
    arch::base::Femtoseconds finish_time() const override { return driver_.result().time; }

  private:
    StreamDriver driver_;
    arch::base::Clock clock_;
};

class StreamJob final : public Job {
  public:
    explicit StreamJob(const Case& a_case) : case_(a_case) {}

    void run(Runner& runner, RunResult& result) override {
        StreamConfig stream = case_.problem.get<StreamConfig>();
        stream.seed = case_.run.seed;
        const auto& memory = case_.device.memory;
        StreamModel* model = nullptr;
        Plan plan{
            .memory = memory, .lookahead = StreamDriver::latency(memory), .clock = memory.clock};
        plan.build = [&](Bench& bench) {
            auto built = std::make_unique<StreamModel>(stream, bench, memory.clock);
            model = built.get();
            return built;
        };
        plan.collect = [&](RunEnd) { result.stream = model->driver().result(); };
        runner.run(case_, plan, result);
        const std::int64_t room = memory.capacity().count();
        if (result.memory && result.memory->end > room) {
            using namespace arch::base::config;
            result.notes.push_back(
                fmt::format("addresses go up to {:#x}, beyond the memory's {}: they wrap there",
                            result.memory->end - 1, format_quantity(room, kBytesDimension)));
        }
        add_not_exercised(result, case_.device.paths([](const std::string& path) {
            return !path.starts_with("memory.") && path != "name" && path != "kind" &&
                   path != "memory";
        }));
        name_bottlenecks(result, "dram_channel", "DRAM data bus: ");
    }

  private:
    const Case& case_;
};

class StreamDataflow final : public Dataflow {
  public:
    std::string_view name() const override { return ""; }
    bool serves(const Problem& problem, const Device&) const override {
        return problem.find<StreamConfig>() != nullptr;
    }
    Mapping read(Node&) const override { return {}; }
    Json describe(const Mapping&) const override { return Json::object(); }
    std::vector<UnfeltKey> unfelt(const Case& a_case) const override {
        using Pattern = StreamConfig::Pattern;
        const auto& stream = a_case.problem.get<StreamConfig>();
        UnfeltKeys<StreamConfig> keys("workload.memory_stream.", stream);
        if (!stream.trace.empty()) {
            return {};
        }
        if (stream.pattern != Pattern::Strided) {
            keys.add("stride", &StreamConfig::stride, "it is for pattern: strided");
        }
        // The places of random requests are spread over all of it.
        const std::int64_t step =
            stream.pattern == Pattern::Strided ? stream.stride.count() : stream.granule.count();
        const std::int64_t last = (stream.requests - 1) * step;
        if (stream.pattern != Pattern::Random &&
            arch::base::spares(stream.range.count(), last + 1)) {
            keys.add("range", &StreamConfig::range,
                     fmt::format("the last request is at {} of it", last));
        }
        return keys.take();
    }
    std::unique_ptr<Job> lower(const Case& a_case, RunResult&) const override {
        return std::make_unique<StreamJob>(a_case);
    }
};

}  // namespace

const ProblemKind& stream_kind() {
    static const StreamKind kind;
    return kind;
}

const ProblemKind& trace_kind() {
    static const TraceKind kind;
    return kind;
}

const Dataflow& stream_dataflow() {
    static const StreamDataflow dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::memory::streams
