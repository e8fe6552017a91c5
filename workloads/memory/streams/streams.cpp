#include "workloads/memory/streams/streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "arch/base/clock.hpp"
#include "arch/base/limit.hpp"
#include "arch/base/quantity.hpp"
#include "arch/memory/controller/command_path.hpp"
#include "arch/memory/port/memory_window.hpp"
#include "arch/memory/port/request_listener.hpp"
#include "arch/memory/traffic/stream_driver.hpp"
#include "workloads/keys.hpp"
#include "workloads/memory/streams/stream_attribution.hpp"
#include "workloads/paths.hpp"

namespace tilesim::workloads::memory::streams {

using arch::base::config::Node;
using arch::memory::controller::CommandListener;
using arch::memory::controller::CommandPath;
using arch::memory::device::MemoryConfig;
using arch::memory::port::MemoryRequest;
using arch::memory::port::RequestListener;
using arch::memory::port::WindowListener;
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

// Tells the path of requests in the memory's CK: an agent's time may begin between two of them.
class InTheMemorysTime final : public RequestListener {
  public:
    InTheMemorysTime(const arch::base::Clock& clock, arch::base::Femtoseconds origin)
        : clock_(clock), origin_(origin) {}
    void tell(CommandPath& path) { path_ = &path; }

    void on_first_request(std::int64_t arrival) override {
        path_->on_first_request(arrival_of(arrival));
    }
    void on_next_request(bool was_write, std::int64_t done, std::int64_t arrival) override {
        path_->on_next_request(was_write, done_of(done), arrival_of(arrival));
    }
    void on_last_answer(bool was_write, std::int64_t done) override {
        path_->on_last_answer(was_write, done_of(done));
    }

  private:
    std::int64_t arrival_of(std::int64_t own) const {
        return clock_.first_cycle_from(time_of(own)).count();
    }
    // Answers come at edges of the memory's, and are seen at the next of its own.
    std::int64_t done_of(std::int64_t own) const { return clock_.cycle_at(time_of(own)).count(); }
    arch::base::Femtoseconds time_of(std::int64_t own) const {
        return clock_.time_of(arch::base::Cycles{own}) + origin_;
    }

    const arch::base::Clock& clock_;
    arch::base::Femtoseconds origin_;
    CommandPath* path_ = nullptr;
};

class StreamModel final : public Model, private WindowListener {
  public:
    StreamModel(const StreamConfig& stream, Bench& bench, const MemoryConfig& memory)
        : driver_(stream, bench.port),
          generated_(stream.trace.empty()),
          outstanding_(stream.outstanding),
          memory_(memory),
          clock_(memory.clock),
          in_the_memorys_time_(clock_, bench.origin) {}

    StreamDriver& driver() { return driver_; }
    // Null where the memory's commands were not heard.
    std::optional<StreamFindings> findings() const {
        if (!path_) {
            return std::nullopt;
        }
        const auto done = driver_.result();
        const arch::base::Cycles answer = memory_.timing.read_latency + memory_.timing.burst;
        const std::int64_t cycles =
            StreamDriver::kLatency.count() * done.requests + answer.count() * done.reads;
        const double share = static_cast<double>(heard_) / static_cast<double>(driver_.requests());
        return StreamFindings{
            beside_others_ ? path_->to_last_answer() : path_->path(), path_->needs(),
            share * static_cast<double>(cycles) / static_cast<double>(outstanding_)};
    }

    void connect(arch::base::ProbeListener*) override {}
    CommandListener* hearing(CommandListener* next) override {
        // What a generated stream does it does all along.
        constexpr std::int64_t kHeard = 1 << 17;
        const std::int64_t all = driver_.requests();
        heard_ = generated_ ? std::min(kHeard, all) : all;
        driver_.listen(&path_.emplace(memory_, next), all - heard_);
        return &*path_;
    }
    HearingBesideOthers hearing_beside_others() override {
        CommandListener* const commands = hearing(nullptr);
        in_the_memorys_time_.tell(*path_);
        driver_.listen(&in_the_memorys_time_, driver_.requests() - heard_);
        beside_others_ = true;
        return {commands, this};
    }
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
    void on_request(const MemoryRequest& of_others) override {
        path_->on_other_request(clock_.first_cycle_from(of_others.arrival).count());
    }

    StreamDriver driver_;
    bool generated_;
    std::int64_t outstanding_;
    std::int64_t heard_ = 0;  // requests, the last ones
    const MemoryConfig& memory_;
    arch::base::Clock clock_;
    std::optional<CommandPath> path_;
    InTheMemorysTime in_the_memorys_time_;
    bool beside_others_ = false;
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
            auto built = std::make_unique<StreamModel>(stream, bench, memory);
            model = built.get();
            return built;
        };
        std::optional<StreamFindings> findings;
        plan.collect = [&](RunEnd) {
            result.stream = model->driver().result();
            findings = model->findings();
        };
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
        if (findings) {
            name_stream_bottlenecks(result, *findings);
        }
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
