#include "workloads/amx/tiles/amx_dataflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "arch/amx/core/tile_machine.hpp"
#include "arch/amx/program/program_text.hpp"
#include "arch/amx/socket/socket.hpp"
#include "arch/amx/socket/socket_use.hpp"
#include "arch/base/check.hpp"
#include "workloads/amx/tiles/amx_data.hpp"
#include "workloads/amx/tiles/amx_tuning.hpp"
#include "workloads/attribution.hpp"
#include "workloads/keys.hpp"
#include "workloads/paths.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::AmxConfig;
using arch::amx::socket::Socket;
using arch::base::config::Node;
using Json = nlohmann::ordered_json;

namespace {

// What runs, whatever it came from.
struct Work {
    LoweredAmx lowered;
    AmxMapping mapping;
    double macs = 0;
};

// Data and machines of a functional run; empty in timing mode.
class Functional {
  public:
    Functional(const Case& a_case, const Work& job) {
        if (!a_case.run.functional) {
            return;
        }
        const std::uint64_t seed = a_case.run.seed;
        if (const auto* gemm = a_case.problem.find<GemmProblem>()) {
            data_.emplace(*gemm, job.mapping, job.lowered, seed);
        } else if (const auto* conv =
                       a_case.problem.find<ConvolutionProblem>()) {
            data_.emplace(*conv, job.mapping, job.lowered, seed);
        }
        if (data_) {
            data_->fill(store_);
        }
        for (const arch::amx::program::Program& program : job.lowered.programs) {
            machines_.push_back(std::make_unique<arch::amx::core::TileMachine>(program, store_));
        }
    }

    std::vector<arch::amx::core::InstructionObserver*> observers() const {
        std::vector<arch::amx::core::InstructionObserver*> result;
        for (const auto& machine : machines_) {
            result.push_back(machine.get());
        }
        return result;
    }

    void check(RunResult& result) const {
        if (data_) {
            result.functional = data_->check(store_);
            result.status = result.functional->match ? Status::Ok : Status::Mismatch;
        }
    }

  private:
    arch::memory::port::BackingStore store_;
    std::optional<AmxData> data_;
    std::vector<std::unique_ptr<arch::amx::core::TileMachine>> machines_;
};

void warm(Socket& socket, const Work& job) {
    using arch::amx::caches::Level;
    if (job.mapping.data_in == AmxMapping::DataIn::Memory) {
        return;
    }
    const Level level = job.mapping.data_in == AmxMapping::DataIn::L3   ? Level::L3
                        : job.mapping.data_in == AmxMapping::DataIn::L2 ? Level::L2
                                                                        : Level::L1;
    for (const AmxRegion& region : job.lowered.warm) {
        socket.warm(static_cast<std::size_t>(region.thread), region.address, region.bytes, level,
                    false);
    }
}

// A fault is the program's, which is the user's: with its place in the text where there is one.
void throw_fault(const Case& a_case, const Socket& socket) {
    int line = 0;
    std::string fault = socket.fault(line);
    if (fault.empty()) {
        return;
    }
    if (const auto* program = a_case.problem.find<AmxProgramWorkload>()) {
        fault = fmt::format("{}:{}:1: {}", program->file, line, fault);
    }
    throw arch::base::config::ConfigError(fault);
}

GemmBounds bounds_of(const Case& a_case, const Work& job, const Socket& socket) {
    const arch::amx::AmxConfig& config = a_case.device.get<arch::amx::AmxConfig>();
    const double cycle_ns = 1e9 / static_cast<double>(config.clock.count());
    double tmul = 0;
    double lines = 0;
    for (std::size_t i = 0; i < socket.cores(); ++i) {
        const arch::amx::core::CoreCounters& counters = socket.core(i).counters();
        tmul = std::max(tmul, static_cast<double>(counters.dot_rows));
        lines = std::max(lines, static_cast<double>(counters.tile_load_lines));
    }
    GemmBounds bounds;
    bounds.compute_ns = tmul * cycle_ns;
    bounds.stream_ns = lines / static_cast<double>(config.access.load_lines) * cycle_ns;
    const bool from_memory = job.mapping.data_in == AmxMapping::DataIn::Memory;
    for (const AmxRegion& region : job.lowered.reads) {
        // Threads may share what they read: the union is at least the largest share.
        const auto bytes = static_cast<double>(region.bytes);
        bounds.dram_bytes += from_memory && region.thread == 0 ? bytes : 0.0;
    }
    bounds.memory_ns = bounds.dram_bytes / a_case.device.memory.peak_bytes_per_second() * 1e9;
    return bounds;
}

void note_reads(RunResult& result, const Work& job) {
    if (job.mapping.threads == 1) {
        return;
    }
    std::vector<std::int64_t> bytes(static_cast<std::size_t>(job.mapping.threads), 0);
    for (const AmxRegion& region : job.lowered.reads) {
        bytes[static_cast<std::size_t>(region.thread)] += region.bytes;
    }
    const auto [least, most] = std::minmax_element(bytes.begin(), bytes.end());
    result.notes.push_back(fmt::format("each of {} threads reads {} to {} bytes of A and B",
                                       job.mapping.threads, *least, *most));
}

class SocketModel final : public Model {
  public:
    SocketModel(const Case& a_case, const Work& work, const Functional& functional, Bench& bench)
        : config_(a_case.device.get<AmxConfig>()),
          work_(work),
          root_(bench.root),
          observers_(functional.observers()),
          socket_(a_case.device.get<AmxConfig>(), work.lowered.programs, observers_, bench.memory,
                  bench.queue) {
        warm(socket_, work);
    }

    const Socket& socket() const { return socket_; }

    void connect(arch::base::ProbeListener* listener) override { socket_.connect(listener); }
    void start() override { socket_.start(); }
    bool finished() const override { return socket_.finished(); }
    arch::base::DeadlockReport deadlock() const override {
        arch::base::DeadlockReport report;
        report.waits.push_back({.who = "amx", .what = socket_.standstill(), .on = "memory"});
        report.last_progress = socket_.last_progress().count();
        report.last_progress_by = "amx";
        return report;
    }
    void finish_statistics() override { socket_.write_statistics(root_); }
    arch::base::Cycles finish_cycle() const override {
        return arch::base::Cycles{socket_.finish_cycle()};
    }
    arch::base::Femtoseconds finish_time() const override { return socket_.finish_time(); }
    std::vector<std::string> not_exercised() const override {
        return arch::amx::socket::not_exercised(config_, work_.lowered.programs, socket_);
    }

  private:
    const AmxConfig& config_;
    const Work& work_;
    arch::base::stats::Group& root_;
    std::vector<arch::amx::core::InstructionObserver*> observers_;
    Socket socket_;
};

class AmxJob final : public Job {
  public:
    AmxJob(const Case& a_case, Work work) : case_(a_case), work_(std::move(work)) {}

    void run(Runner& runner, RunResult& result) override {
        const auto& config = case_.device.get<AmxConfig>();
        Functional functional(case_, work_);
        SocketModel* model = nullptr;
        Plan plan{.memory = case_.device.memory,
                  .lookahead = arch::amx::socket::Uncore::memory_lookahead(config),
                  .clock = config.clock,
                  .macs = work_.macs};
        plan.build = [&](Bench& bench) {
            auto built = std::make_unique<SocketModel>(case_, work_, functional, bench);
            model = built.get();
            return built;
        };
        plan.collect = [&](RunEnd) {
            throw_fault(case_, model->socket());
            collect(model->socket(), result);
        };
        runner.run(case_, plan, result);
        if (result.status != Status::Ok) {
            return;
        }
        SIM_CHECK(result.time_ns >= result.bounds->tightest_ns(),
                  "the simulation ({} ns) beats its own {} bound ({} ns)", result.time_ns,
                  result.bounds->binding(), result.bounds->tightest_ns());
        name_bottlenecks(result, "core", "core: ");  // waiting states name what to change
        functional.check(result);
    }

    std::string text() const override {
        std::string text;
        for (std::size_t i = 0; i < work_.lowered.programs.size(); ++i) {
            const auto& program = work_.lowered.programs[i];
            text += fmt::format("# thread {}: {} instructions\n", i,
                                program.dynamic_instructions()) +
                    arch::amx::program::print(program);
        }
        return text;
    }

  private:
    void collect(const Socket& socket, RunResult& result) const {
        result.bounds = bounds_of(case_, work_, socket);
        std::int64_t instructions = 0;
        for (std::size_t i = 0; i < socket.cores(); ++i) {
            instructions += socket.core(i).counters().instructions;
        }
        result.notes.push_back(fmt::format("{} instructions", instructions));
        note_reads(result, work_);
    }

    const Case& case_;
    Work work_;
};

// Direct convolutions read A in place, pixel by pixel, and B tap by tap.
void check_convolution(const AmxMapping& map, std::vector<Refusal>& refusals) {
    using Map = AmxMapping;
    if (map.b_layout != Map::BLayout::Packed) {
        refusals.push_back({"mapping",
                   fmt::format("amx.b_layout: must be packed for a convolution, not {}", name_of(map.b_layout))});
    }
    if (map.a_packed) {
        refusals.push_back({"mapping", "amx.a_packed: must be off: a convolution's taps share A's pixels"});
    }
    if (map.partition == Map::Partition::K && map.threads > 1) {
        refusals.push_back({"mapping", "amx.partition: must be m (output rows) or n for a convolution"});
    }
    if (map.kc != 0) {
        refusals.push_back({"mapping", "amx.kc: must be 0 for a convolution: its taps are blocks along k"});
    }
}

class ConvolutionKind final : public ProblemKind {
  public:
    std::string_view key() const override { return "conv"; }
    Problem read(ProblemSource& source) const override {
        ConvolutionProblem convolution;
        Node node = source.node.child(key(), "direct convolution");
        read_convolution(node, convolution);
        return {*this, convolution};
    }
    Json describe(const Problem& problem) const override {
        return {{key(), keys_of(problem.get<ConvolutionProblem>(), read_convolution)}};
    }
};

class AmxProgramKind final : public ProblemKind {
  public:
    std::string_view key() const override { return "amx_program"; }
    Problem read(ProblemSource& source) const override {
        AmxProgramWorkload workload;
        Node node = source.node.child(key(), "instructions for an AMX core");
        node.required("file", workload.file, "text form of the instructions");
        read_data_in(node, workload.data_in);
        node.done();
        if (node.describing()) {
            return {*this, std::move(workload)};
        }
        std::ifstream in(beside(source.file, workload.file));
        std::ostringstream text;
        text << in.rdbuf();
        if (!in) {
            node.error("file", fmt::format("{}: cannot be read", workload.file));
            return {*this, std::move(workload)};
        }
        workload.program = arch::amx::program::read_program(text.str(), workload.file);
        if (workload.program.statements.empty()) {
            node.error("file", fmt::format("{}: holds no instruction", workload.file));
        }
        return {*this, std::move(workload)};
    }
    Json describe(const Problem& problem) const override {
        return {{key(), {{"file", problem.get<AmxProgramWorkload>().file}}}};
    }
};

// A GEMM of the problem's types.
GemmProblem types_of(const Problem& problem) {
    if (const auto* gemm = problem.find<GemmProblem>()) {
        return *gemm;
    }
    const auto& convolution = problem.get<ConvolutionProblem>();
    GemmProblem gemm;
    gemm.a = convolution.a;
    gemm.b = convolution.b;
    gemm.c = convolution.c;
    return gemm;
}

class AmxDataflow final : public Dataflow {
  public:
    std::string_view name() const override { return "amx"; }
    std::string_view summary() const override { return "tile kernels on AMX cores"; }

    bool serves(const Problem& problem, const Device& device) const override {
        return device.has<AmxConfig>() && (problem.find<GemmProblem>() != nullptr ||
                                           problem.find<ConvolutionProblem>() != nullptr);
    }

    Mapping read(Node& mapping) const override {
        AmxMapping read;
        Node node = mapping.child(name(), summary());
        read_amx_mapping(node, read);
        return {*this, read};
    }

    Json describe(const Mapping& mapping) const override {
        return {{name(), keys_of(mapping.get<AmxMapping>(), read_amx_mapping)}};
    }

    std::vector<Refusal> refusals(const Case& a_case) const override {
        const AmxMapping map =
            a_case.mapping.empty() ? AmxMapping{} : a_case.mapping.get<AmxMapping>();
        std::vector<Refusal> refusals;
        if (a_case.problem.find<ConvolutionProblem>() != nullptr && !a_case.mapping.empty()) {
            check_convolution(map, refusals);
        }
        for (std::string& problem : problems_of(types_of(a_case.problem), map,
                                                a_case.device.get<AmxConfig>().cores)) {
            refusals.push_back({"mapping", std::move(problem)});
        }
        return refusals;
    }

    // Among the block shapes that use the tiles well, the one this problem runs fastest with.
    Choice choose(const Case& a_case, Runner& runner) const override {
        constexpr double kMostMacs = 268435456.0;  // above, simulating several costs too much
        const auto* gemm = a_case.problem.find<GemmProblem>();
        Choice best{{*this, AmxMapping{}},
                    "no mapping given: chosen by simulating a few, see `mapping`"};
        double least = 0;
        for (const auto& [m, n] : {std::pair{2, 2}, {1, 4}, {3, 1}, {1, 1}}) {
            if (gemm == nullptr || gemm->macs() > kMostMacs) {
                break;
            }
            AmxMapping mapping;
            mapping.m_acc = m;
            mapping.n_acc = n;
            Case candidate = a_case;
            candidate.mapping = {*this, mapping};
            candidate.run.functional = false;
            const RunResult run = runner.run(candidate);
            if (run.status == Status::Ok && (least == 0 || run.time_ns < least)) {
                least = run.time_ns;
                best.mapping = candidate.mapping;
            }
        }
        return best;
    }

    std::unique_ptr<Job> lower(const Case& a_case, RunResult& result) const override {
        Work work;
        work.mapping = a_case.mapping.get<AmxMapping>();
        const auto repeat = static_cast<double>(work.mapping.repeat);
        if (const auto* gemm = a_case.problem.find<GemmProblem>()) {
            work.lowered = tiles::lower(*gemm, work.mapping, a_case.run.seed);
            work.macs = gemm->macs() * repeat;
        } else {
            const auto& convolution = a_case.problem.get<ConvolutionProblem>();
            work.lowered = tiles::lower(convolution, work.mapping);
            work.macs = convolution.macs() * repeat;
        }
        result.padding_waste = work.lowered.padding_waste;
        return std::make_unique<AmxJob>(a_case, std::move(work));
    }

    CandidateList candidates(const Case& a_case) const override {
        if (a_case.problem.find<GemmProblem>() == nullptr) {
            return {};
        }
        const bool own = !a_case.mapping.empty();
        return candidates_of(*this, a_case, own ? a_case.mapping.get<AmxMapping>() : AmxMapping{});
    }
};

class AmxProgramDataflow final : public Dataflow {
  public:
    std::string_view name() const override { return ""; }
    bool serves(const Problem& problem, const Device& device) const override {
        return problem.find<AmxProgramWorkload>() != nullptr && device.has<AmxConfig>();
    }
    Mapping read(Node&) const override { return {}; }
    Json describe(const Mapping&) const override { return Json::object(); }
    std::unique_ptr<Job> lower(const Case& a_case, RunResult&) const override {
        const auto& program = a_case.problem.get<AmxProgramWorkload>();
        Work work;
        work.lowered.programs = {program.program};
        work.mapping.data_in = program.data_in;
        for (const arch::amx::program::Buffer& buffer : program.program.buffers) {
            work.lowered.warm.push_back({0, buffer.address, buffer.bytes});
        }
        return std::make_unique<AmxJob>(a_case, std::move(work));
    }
};

}  // namespace

const ProblemKind& convolution_kind() {
    static const ConvolutionKind kind;
    return kind;
}

const ProblemKind& amx_program_kind() {
    static const AmxProgramKind kind;
    return kind;
}

const Dataflow& amx_dataflow() {
    static const AmxDataflow dataflow;
    return dataflow;
}

const Dataflow& amx_program_dataflow() {
    static const AmxProgramDataflow dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::amx::tiles
