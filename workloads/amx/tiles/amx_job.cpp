#include "workloads/amx/tiles/amx_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arch/amx/core/tile_machine.hpp"
#include "arch/amx/program/program_text.hpp"
#include "arch/amx/socket/socket.hpp"
#include "arch/amx/socket/socket_use.hpp"
#include "arch/base/check.hpp"
#include "workloads/amx/tiles/amx_data.hpp"
#include "workloads/amx/tiles/amx_problem_kinds.hpp"
#include "workloads/amx/tiles/bounds.hpp"
#include "workloads/amx/tiles/cache_preparation.hpp"
#include "workloads/amx/tiles/core_attribution.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::AmxConfig;
using arch::amx::socket::Socket;

namespace {

// Data and machines of a functional run; empty in timing mode.
class Functional {
  public:
    Functional(const Case& a_case, const AmxWork& work) {
        if (!a_case.run.functional) {
            return;
        }
        const std::uint64_t seed = a_case.run.seed;
        if (const auto* gemm = a_case.problem.find<GemmProblem>()) {
            data_.emplace(*gemm, work.mapping, work.lowered, seed);
        } else if (const auto* conv = a_case.problem.find<ConvolutionProblem>()) {
            data_.emplace(*conv, work.mapping, work.lowered, seed);
        }
        if (data_) {
            data_->fill(store_);
        }
        for (const arch::amx::program::Program& program : work.lowered.programs) {
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

// Cores with something to do.
std::int64_t working(const AmxWork& work) {
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
        fault = fmt::format("{}:{}:1: {}", program->path, line, fault);
    }
    throw arch::base::config::ConfigError(fault);
}

void note_reads(RunResult& result, const AmxWork& work) {
    if (work.mapping.threads == 1 || work.lowered.reads.empty()) {
        return;  // one thread, or instructions of which nobody knows what they multiply
    }
    std::vector<std::int64_t> bytes(static_cast<std::size_t>(work.mapping.threads), 0);
    for (const AmxRegion& region : work.lowered.reads) {
        bytes[static_cast<std::size_t>(region.thread)] += region.bytes;
    }
    const auto [least, most] = std::minmax_element(bytes.begin(), bytes.end());
    result.notes.push_back(fmt::format("each of {} threads reads {} to {} bytes of A and B",
                                       work.mapping.threads, *least, *most));
}

class SocketModel final : public Model {
  public:
    SocketModel(const AmxConfig& config, const AmxWork& work, const Functional& functional,
                Bench& bench)
        : config_(config),
          work_(work),
          root_(bench.root),
          observers_(functional.observers()),
          socket_(config, work.lowered.programs, observers_, bench.port, bench.queue,
                  work.mapping.runs) {
        prepare_caches(socket_, work.lowered.programs);
        socket_.on_last_run(bench.begin_reported);
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
    const AmxWork& work_;
    arch::base::stats::Group& root_;
    std::vector<arch::amx::core::InstructionObserver*> observers_;
    Socket socket_;
};

// Of a core, in the mean.
std::vector<Cause> overlapped_of(const Socket& socket) {
    std::vector<Cause> overlapped;
    for (std::size_t s = 0; s < arch::amx::core::kCoreStates.kStates; ++s) {
        const auto state = static_cast<arch::amx::core::CoreState>(s);
        double cycles = 0;
        for (std::size_t i = 0; i < socket.cores(); ++i) {
            cycles += static_cast<double>(socket.core(i).overlapped(state));
        }
        overlapped.emplace_back(cycles / static_cast<double>(socket.cores()),
                                arch::amx::core::kCoreStates[state].name);
    }
    return overlapped;
}

class AmxJob final : public Job {
  public:
    AmxJob(const Case& a_case, AmxWork work) : case_(a_case), work_(std::move(work)) {}

    void run(Runner& runner, RunResult& result) override {
        const AmxConfig config = at_work(case_.device.get<AmxConfig>(), working(work_));
        Functional functional(case_, work_);
        SocketModel* model = nullptr;
        std::vector<Cause> overlapped;
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
            overlapped = overlapped_of(model->socket());
            collect(config, model->socket(), result);
        };
        runner.run(case_, plan, result);
        if (work_.mapping.runs > 1 && runner.beside_others()) {
            result.notes.push_back(fmt::format(
                "times are of the last of {} runs; GB/s, waits and rows of all that went before, "
                "too",
                work_.mapping.runs));
        }
        if (result.status != Status::Ok) {
            return;
        }
        SIM_CHECK(result.time_ns >= result.bounds->tightest_ns(),
                  "the simulation ({} ns) beats its own {} bound ({} ns)", result.time_ns,
                  result.bounds->binding(), result.bounds->tightest_ns());
        name_core_bottlenecks(result, overlapped);
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
        result.bounds = bounds_of(case_.device.memory, config, work_, socket);
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
    AmxWork work_;
};

}  // namespace

std::unique_ptr<Job> amx_job(const Case& a_case, AmxWork work) {
    return std::make_unique<AmxJob>(a_case, std::move(work));
}

}  // namespace tilesim::workloads::amx::tiles
