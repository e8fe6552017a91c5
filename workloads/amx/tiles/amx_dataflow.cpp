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
#include "workloads/amx/tiles/kernel_text.hpp"
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
        } else if (const auto* conv = a_case.problem.find<ConvolutionProblem>()) {
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

using arch::amx::program::Preparation;

Preparation::To level_of(AmxMapping::DataIn data_in) {
    switch (data_in) {
        case AmxMapping::DataIn::L3:
            return Preparation::To::L3;
        case AmxMapping::DataIn::L2:
            return Preparation::To::L2;
        case AmxMapping::DataIn::Memory:
            return Preparation::To::Memory;
        default:
            return Preparation::To::L1;
    }
}

// What the caches hold when a run starts stands in the programs: what is simulated, printed and
// measured is the same. Regions stand in front of the buffers they are parts of.
void state_caches(Work& work) {
    for (std::size_t t = 0; t < work.lowered.programs.size(); ++t) {
        arch::amx::program::Program& program = work.lowered.programs[t];
        program.runs = work.mapping.runs;
        std::vector<arch::amx::program::Buffer> regions;
        for (const AmxRegion& region : work.lowered.warm) {
            if (static_cast<std::size_t>(region.thread) == t && region.bytes > 0) {
                program.preparations.push_back({regions.size(), level_of(work.mapping.data_in)});
                regions.push_back(
                    {fmt::format("region{}", regions.size()), region.address, region.bytes});
            }
        }
        program.buffers.insert(program.buffers.begin(), regions.begin(), regions.end());
    }
}

// A thread's preparation, as far as `bytes` from `offset` on.
void prepare(Socket& socket, const Work& work, std::size_t thread, std::size_t step,
             std::int64_t offset, std::int64_t bytes) {
    const arch::amx::program::Program& program = work.lowered.programs[thread];
    if (step >= program.preparations.size()) {
        return;
    }
    const Preparation& each = program.preparations[step];
    const arch::amx::program::Buffer& buffer = program.buffers[each.buffer];
    bytes = std::min(bytes, buffer.bytes - offset);
    if (bytes > 0 && each.to == Preparation::To::Memory) {
        socket.flush(buffer.address + offset, bytes);
    } else if (bytes > 0) {
        socket.warm(thread, buffer.address + offset, bytes,
                    static_cast<arch::amx::caches::Level>(each.to), each.dirty);
    }
}

std::int64_t longest_of(const Work& work, std::size_t step) {
    std::int64_t longest = 0;
    for (const auto& program : work.lowered.programs) {
        if (step < program.preparations.size()) {
            longest = std::max(longest, program.buffers[program.preparations[step].buffer].bytes);
        }
    }
    return longest;
}

// All threads side by side, a page each in turn: what the L3 has no room for is a part of
// everybody's.
void prepare(Socket& socket, const Work& work) {
    constexpr std::int64_t kPage = 4096;
    const auto& programs = work.lowered.programs;
    std::size_t steps = 0;
    for (const auto& program : programs) {
        steps = std::max(steps, program.preparations.size());
    }
    for (std::size_t step = 0; step < steps; ++step) {
        const std::int64_t longest = longest_of(work, step);
        const std::int64_t piece = programs.size() > 1 ? kPage : longest;
        for (std::int64_t offset = 0; offset < longest; offset += piece) {
            for (std::size_t t = 0; t < programs.size(); ++t) {
                prepare(socket, work, t, step, offset, piece);
            }
        }
    }
}

// Cores with something to do.
std::int64_t working(const Work& work) {
    return std::max<std::int64_t>(
        1, std::count_if(work.lowered.programs.begin(), work.lowered.programs.end(),
                         [](const auto& program) { return !program.statements.empty(); }));
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

// Bytes that some thread reads: what several share is counted once.
double bytes_read(std::vector<AmxRegion> reads) {
    std::sort(reads.begin(), reads.end(),
              [](const AmxRegion& a, const AmxRegion& b) { return a.address < b.address; });
    std::int64_t bytes = 0;
    std::int64_t end = 0;
    for (const AmxRegion& read : reads) {
        const std::int64_t from = std::max(read.address, end);
        end = std::max(end, read.address + read.bytes);
        bytes += std::max<std::int64_t>(end - from, 0);
    }
    return static_cast<double>(bytes);
}

GemmBounds bounds_of(const Case& a_case, const AmxConfig& config, const Work& work,
                     const Socket& socket) {
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
    // A run before the one that counts has left in the caches what they hold.
    const bool cold = work.mapping.data_in == AmxMapping::DataIn::Memory && work.mapping.runs == 1;
    bounds.dram_bytes = cold ? bytes_read(work.lowered.reads) : 0;
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
    SocketModel(const AmxConfig& config, const Work& work, const Functional& functional,
                Bench& bench)
        : config_(config),
          work_(work),
          root_(bench.root),
          observers_(functional.observers()),
          socket_(config, work.lowered.programs, observers_, bench.port, bench.queue,
                  work.mapping.runs) {
        prepare(socket_, work);
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
    std::vector<arch::base::Block> blocks() const override { return socket_.blocks(); }
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
        const AmxConfig config = at_work(case_.device.get<AmxConfig>(), working(work_));
        Functional functional(case_, work_);
        SocketModel* model = nullptr;
        Plan plan{.memory = case_.device.memory,
                  .lookahead = arch::amx::socket::Uncore::memory_lookahead(config),
                  .clock = config.clock,
                  .macs = work_.macs};
        plan.build = [&](Bench& bench) {
            auto built = std::make_unique<SocketModel>(config, work_, functional, bench);
            model = built.get();
            return built;
        };
        plan.collect = [&](RunEnd) {
            throw_fault(case_, model->socket());
            collect(config, model->socket(), result);
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
            text +=
                fmt::format("# thread {}: {} instructions\n", i, program.dynamic_instructions()) +
                arch::amx::program::print(program);
        }
        return text;
    }

  private:
    void collect(const AmxConfig& config, const Socket& socket, RunResult& result) const {
        result.bounds = bounds_of(case_, config, work_, socket);
        std::int64_t instructions = 0;
        for (std::size_t i = 0; i < socket.cores(); ++i) {
            instructions += socket.core(i).counters().instructions;
        }
        result.notes.push_back(fmt::format("{} of {} cores, {} instructions", working(work_),
                                           config.cores, instructions));
        if (socket.simulated() < socket.cores()) {
            result.notes.push_back(fmt::format(
                "{} cores simulated: each stands for others with the same program, in step "
                "with it, whose lines L3 and DRAM see too; amx.simulated_cores: 0 simulates all",
                socket.simulated()));
        } else if (config.simulated_cores > 0 &&
                   static_cast<std::int64_t>(socket.cores()) > config.simulated_cores) {
            result.notes.push_back(fmt::format(
                "{} cores simulated, every one: they are not alike, or all execute no more "
                "instructions than amx.simulated_instructions, {}",
                socket.simulated(), config.simulated_instructions));
        }
        note_reads(result, work_);
    }

    const Case& case_;
    Work work_;
};

// Direct convolutions read A in place, pixel by pixel, and B tap by tap.
void check_convolution(const ConvolutionProblem& convolution, const AmxMapping& map,
                       std::vector<Refusal>& refusals) {
    using Map = AmxMapping;
    const bool joined = map.output_rows == Map::OutputRows::Joined;
    if (joined && convolution.stride != 1) {
        refusals.push_back(
            {"mapping", fmt::format("amx.output_rows: must be apart with a stride of {}: the "
                                    "positions of two rows are one column at stride 1 only",
                                    convolution.stride)});
    }
    if (joined && map.a_padding != 0) {
        refusals.push_back({"mapping", "amx.a_padding: must be 0 with output_rows: joined"});
    }
    if (map.b_layout != Map::BLayout::Packed) {
        refusals.push_back(
            {"mapping", fmt::format("amx.b_layout: must be packed for a convolution, not {}",
                                    name_of(map.b_layout))});
    }
    if (map.a_packed) {
        refusals.push_back(
            {"mapping", "amx.a_packed: must be off: a convolution's taps share A's pixels"});
    }
    if (map.partition == Map::Partition::K && map.threads > 1) {
        refusals.push_back(
            {"mapping", "amx.partition: must be m (output rows) or n for a convolution"});
    }
    if (map.prefetch_next && !joined) {
        refusals.push_back(
            {"mapping", "amx.prefetch_next: a convolution needs output_rows: joined for it"});
    }
    if (map.prefetch_first) {
        refusals.push_back({"mapping", "amx.prefetch_first: must be off for a convolution"});
    }
    if (map.kc != 0) {
        refusals.push_back(
            {"mapping", "amx.kc: must be 0 for a convolution: its taps are blocks along k"});
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
        workload.programs = read_kernel(text.str(), workload.file, 1);
        if (workload.programs.front().statements.empty()) {
            node.error("file", fmt::format("{}: holds no instruction", workload.file));
        }
        return {*this, std::move(workload)};
    }
    Json describe(const Problem& problem) const override {
        return {{key(), {{"file", problem.get<AmxProgramWorkload>().file}}}};
    }
};

// The GEMM, or that of a convolution's row and tap.
GemmProblem types_of(const Problem& problem) {
    if (const auto* gemm = problem.find<GemmProblem>()) {
        return *gemm;
    }
    return gemm_of(problem.get<ConvolutionProblem>());
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
        if (const auto* convolution = a_case.problem.find<ConvolutionProblem>()) {
            if (convolution->a != convolution->b) {
                refusals.push_back(
                    {"mapping",
                     fmt::format("a convolution's weights have its input's type, {}, not {}",
                                 name_of(convolution->a), name_of(convolution->b))});
            }
            check_convolution(*convolution, map, refusals);
        } else if (map.output_rows == AmxMapping::OutputRows::Joined) {
            refusals.push_back({"mapping", "amx.output_rows: only a convolution has output rows"});
        }
        for (std::string& problem :
             problems_of(types_of(a_case.problem), map, a_case.device.get<AmxConfig>().cores)) {
            refusals.push_back({"mapping", std::move(problem)});
        }
        return refusals;
    }

    static constexpr double kMostSteps = 40'000;  // above, simulating several takes too long

    // The whole socket, cut along m and n, operands in DRAM as every device finds them: among the
    // block shapes that use the tiles well, the one this problem runs fastest with.
    Choice choose(const Case& a_case, Runner& runner) const override {
        const auto* gemm = a_case.problem.find<GemmProblem>();
        const std::int64_t cores = a_case.device.get<AmxConfig>().cores;
        Choice best{{*this, AmxMapping{}}, "no mapping given: see `mapping`"};
        if (gemm == nullptr) {
            return choose_convolution(a_case, runner);
        }
        best.mapping = {*this, whole_socket(*gemm, cores)};
        if (steps_of(*gemm) > kMostSteps) {
            return best;
        }
        best.note = "no mapping given: chosen by simulating a few, see `mapping`";
        // Where a product is hardly more than its first loads, the order of these decides. Above,
        // to try twice as many takes more than a second.
        constexpr double kFewSteps = 12'000;
        using Order = AmxMapping::Order;
        std::vector<std::optional<Order>> orders{std::nullopt};
        if (steps_of(*gemm) <= kFewSteps) {
            orders.push_back(Order::KInnermost);
        }
        double least_ns = 0;
        using Layout = AmxMapping::BLayout;
        for (const auto& [m, n] : {std::pair{2, 2}, {1, 4}, {3, 1}, {1, 2}, {1, 1}}) {
            for (const Layout layout : {Layout::Packed, Layout::Vnni}) {
                for (const std::optional<Order> order : orders) {
                    AmxMapping mapping = whole_socket(*gemm, m, n, cores);
                    mapping.b_layout = layout;
                    mapping.order = order.value_or(mapping.order);
                    mapping.prefetch_next = mapping.prefetch_next && layout == Layout::Packed;
                    if (const auto time_ns = time_of({*this, mapping}, a_case, runner, least_ns)) {
                        least_ns = *time_ns;
                        best.mapping = {*this, mapping};
                    }
                }
            }
        }
        // Stores among the last products may be worth what their order of loads costs.
        AmxMapping stores = best.mapping.get<AmxMapping>();
        if (std::exchange(stores.order, Order::Interleaved) != Order::Interleaved) {
            if (const auto time_ns = time_of({*this, stores}, a_case, runner, least_ns)) {
                least_ns = *time_ns;
                best.mapping = {*this, stores};
            }
        }
        // Of few steps, when the first block of B is asked for decides, too.
        AmxMapping asked = best.mapping.get<AmxMapping>();
        asked.prefetch_first = asked.prefetch_next && orders.size() > 1;
        if (asked.prefetch_first) {
            if (const auto time_ns = time_of({*this, asked}, a_case, runner, least_ns)) {
                least_ns = *time_ns;
                best.mapping = {*this, asked};
            }
        }
        AmxMapping unasked = best.mapping.get<AmxMapping>();  // of A
        if (std::exchange(unasked.prefetch_a, 0) > 0) {
            unasked.prefetch_a_once = false;
            if (const auto time_ns = time_of({*this, unasked}, a_case, runner, least_ns)) {
                least_ns = *time_ns;
                best.mapping = {*this, unasked};
            }
        }
        constexpr double kFewestSteps = 6'000;  // simulated in some milliseconds
        if (steps_of(*gemm) <= kFewestSteps) {
            best.mapping = varied(best.mapping, a_case, runner, least_ns);
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
        state_caches(work);
        return std::make_unique<AmxJob>(a_case, std::move(work));
    }

    std::vector<Candidate> candidates(const Case& a_case) const override {
        return a_case.problem.find<GemmProblem>() == nullptr ? convolution_candidates(*this, a_case)
                                                             : candidates_of(*this, a_case);
    }

    std::vector<Candidate> variants(const Case& a_case, const Mapping& mapping) const override {
        return a_case.problem.find<GemmProblem>() == nullptr
                   ? std::vector<Candidate>{}
                   : variants_of(*this, a_case, mapping.get<AmxMapping>());
    }

  private:
    Choice choose_convolution(const Case& a_case, Runner& runner) const {
        const auto& convolution = a_case.problem.get<ConvolutionProblem>();
        const std::int64_t cores = a_case.device.get<AmxConfig>().cores;
        using Rows = AmxMapping::OutputRows;
        const AmxMapping expected = whole_socket(convolution, 2, 2, cores);
        Choice best{{*this, expected}, "no mapping given: see `mapping`"};
        if (steps_of(convolution) > kMostSteps) {
            return best;
        }
        best.note = "no mapping given: chosen by simulating a few, see `mapping`";
        double least_ns = 0;
        for (const auto& [m, n] : {std::pair{2, 2}, {1, 4}, {1, 2}, {1, 1}}) {
            for (const Rows rows : {Rows::Joined, Rows::Apart}) {
                AmxMapping mapping = whole_socket(convolution, m, n, cores);
                mapping.output_rows = rows;
                mapping.prefetch_next = mapping.prefetch_next && rows == Rows::Joined;
                mapping.threads = threads_of(convolution, mapping, cores);
                if (const auto time_ns = time_of({*this, mapping}, a_case, runner, least_ns)) {
                    least_ns = *time_ns;
                    best.mapping = {*this, mapping};
                }
            }
        }
        return best;
    }

    // The mapping with one key after the other as is fastest, as long as that helps: a product of
    // few steps is mostly its first loads and its last stores, of which no rule knows the best.
    Mapping varied(Mapping mapping, const Case& a_case, Runner& runner, double least_ns) const {
        constexpr double kWorthwhile = 0.99;
        for (double before_ns = least_ns / kWorthwhile; least_ns <= kWorthwhile * before_ns;) {
            before_ns = least_ns;
            for (const Candidate& each : neighbours_of(*this, a_case, mapping.get<AmxMapping>())) {
                if (const auto time_ns = time_of(each.mapping, a_case, runner, least_ns)) {
                    least_ns = *time_ns;
                    mapping = each.mapping;
                }
            }
        }
        return mapping;
    }

    // What the mapping takes; nothing: it cannot be, or it takes `least_ns` (0: none yet) or
    // longer.
    std::optional<double> time_of(Mapping mapping, const Case& a_case, Runner& runner,
                                  double least_ns) const {
        Case candidate = a_case;
        candidate.mapping = std::move(mapping);
        candidate.run.functional = false;
        if (!refusals(candidate).empty()) {
            return std::nullopt;
        }
        if (least_ns > 0) {
            candidate.run.max_time =
                std::min(candidate.run.max_time, arch::base::Femtoseconds{static_cast<std::int64_t>(
                                                     least_ns * kFemtosecondsPerNanosecond)});
        }
        const RunResult run = runner.run(candidate);
        return run.status == Status::Ok && (least_ns == 0 || run.time_ns < least_ns)
                   ? std::optional(run.time_ns)
                   : std::nullopt;
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
    std::vector<Refusal> refusals(const Case& a_case) const override {
        const auto& program = a_case.problem.get<AmxProgramWorkload>();
        const std::int64_t cores = a_case.device.get<AmxConfig>().cores;
        if (std::ssize(program.programs) <= cores) {
            return {};
        }
        return {{"workload.amx_program.file",
                 fmt::format("{}: {} threads; the socket has {} cores", program.file,
                             program.programs.size(), cores)}};
    }
    std::unique_ptr<Job> lower(const Case& a_case, RunResult& result) const override {
        const auto& program = a_case.problem.get<AmxProgramWorkload>();
        for (const std::size_t thread : without_barrier(program.programs)) {
            result.notes.push_back(fmt::format(
                "thread {} comes to no barrier: the others do not wait for it", thread));
        }
        Work work;
        work.lowered.programs = program.programs;
        work.mapping.data_in = program.data_in;
        work.mapping.threads = std::ssize(program.programs);
        for (auto& each : work.lowered.programs) {
            work.mapping.runs = std::max(work.mapping.runs, each.runs);
            state_buffers(each, level_of(program.data_in));
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
