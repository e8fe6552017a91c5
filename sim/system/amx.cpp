#include "sim/system/amx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "arch/amx/program/program_text.hpp"
#include "arch/amx/socket/socket.hpp"
#include "arch/amx/socket/socket_use.hpp"
#include "arch/memory/controller/memory_use.hpp"
#include "arch/amx/core/tile_machine.hpp"
#include "arch/base/check.hpp"
#include "sim/attribution.hpp"
#include "sim/system/limits.hpp"
#include "workloads/amx_data.hpp"

namespace tilesim::sim::system {

using arch::amx::core::CoreState;
using arch::amx::socket::Socket;
using arch::base::EventQueue;
using arch::systemc::Outcome;
using Json = nlohmann::ordered_json;
using workloads::AmxMapping;

namespace {

// What runs, whatever it came from.
struct Job {
    workloads::LoweredAmx lowered;
    AmxMapping mapping;
    double macs = 0;
    Json workload;
};

Json types_of(arch::npu::DataType a, arch::npu::DataType b, arch::npu::DataType c) {
    return {
        {"a", arch::npu::stream::name_of(a)}, {"b", arch::npu::stream::name_of(b)}, {"c", arch::npu::stream::name_of(c)}};
}

Json describe(const AmxMapping& map) {
    return {{"amx",
             {{"m_acc", map.m_acc},
              {"n_acc", map.n_acc},
              {"order", name_of(map.order)},
              {"b_layout", name_of(map.b_layout)},
              {"data_in", name_of(map.data_in)},
              {"threads", map.threads},
              {"partition", map.partition == AmxMapping::Partition::M   ? "m"
                            : map.partition == AmxMapping::Partition::N ? "n"
                                                                        : "k"}}}};
}

// Among the block shapes that use the tiles well, the one this problem runs fastest with.
AmxMapping choose_mapping(const Scenario& scenario) {
    constexpr double kMostMacs = 268435456.0;  // above, simulating several costs too much
    const auto* gemm = std::get_if<workloads::GemmProblem>(&scenario.workload);
    if (gemm == nullptr || gemm->macs() > kMostMacs) {
        return {};
    }
    AmxMapping best;
    std::int64_t least = INT64_MAX;
    for (const auto& [m, n] : {std::pair{2, 2}, {1, 4}, {3, 1}, {1, 1}}) {
        Scenario candidate = scenario;
        AmxMapping mapping;
        mapping.m_acc = m;
        mapping.n_acc = n;
        candidate.mapping = mapping;
        const std::int64_t cycles = amx_cycles(candidate);
        if (cycles < least) {
            least = cycles;
            best = mapping;
        }
    }
    return best;
}

Job job_of(const Scenario& scenario) {
    Job job;
    if (const auto* map = std::get_if<AmxMapping>(&scenario.mapping)) {
        job.mapping = *map;
    } else {
        job.mapping = choose_mapping(scenario);
    }
    const double repeat = static_cast<double>(job.mapping.repeat);
    if (const auto* gemm = std::get_if<workloads::GemmProblem>(&scenario.workload)) {
        job.lowered = workloads::lower(*gemm, job.mapping, scenario.run.seed);
        job.macs = gemm->macs() * repeat;
        job.workload["gemm"] = {{"M", gemm->m}, {"K", gemm->k}, {"N", gemm->n}};
        job.workload["gemm"].update(types_of(gemm->a, gemm->b, gemm->c));
    } else if (const auto* conv = std::get_if<workloads::ConvolutionProblem>(&scenario.workload)) {
        job.lowered = workloads::lower(*conv, job.mapping);
        job.macs = conv->macs() * repeat;
        job.workload["conv"] = {
            {"height", conv->height},   {"width", conv->width}, {"channels", conv->channels},
            {"filters", conv->filters}, {"kh", conv->kh},       {"kw", conv->kw},
            {"stride", conv->stride}};
        job.workload["conv"].update(types_of(conv->a, conv->b, conv->c));
    } else {
        const auto& program = std::get<AmxProgramWorkload>(scenario.workload);
        job.lowered.programs = {program.program};
        job.mapping.data_in = program.data_in;
        for (const arch::amx::program::Buffer& buffer : program.program.buffers) {
            job.lowered.warm.push_back({0, buffer.address, buffer.bytes});
        }
        job.workload["amx_program"] = {{"file", program.file}};
    }
    return job;
}

// Data and machines of a functional run; empty in timing mode.
class Functional {
  public:
    Functional(const Scenario& scenario, const Job& job) {
        if (!scenario.run.functional) {
            return;
        }
        const std::uint64_t seed = scenario.run.seed;
        if (const auto* gemm = std::get_if<workloads::GemmProblem>(&scenario.workload)) {
            data_.emplace(*gemm, job.mapping, job.lowered, seed);
        } else if (const auto* conv =
                       std::get_if<workloads::ConvolutionProblem>(&scenario.workload)) {
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
    std::optional<workloads::AmxData> data_;
    std::vector<std::unique_ptr<arch::amx::core::TileMachine>> machines_;
};

void warm(Socket& socket, const Job& job) {
    using arch::amx::caches::Level;
    if (job.mapping.data_in == AmxMapping::DataIn::Memory) {
        return;
    }
    const Level level = job.mapping.data_in == AmxMapping::DataIn::L3   ? Level::L3
                        : job.mapping.data_in == AmxMapping::DataIn::L2 ? Level::L2
                                                                        : Level::L1;
    for (const workloads::AmxRegion& region : job.lowered.warm) {
        socket.warm(static_cast<std::size_t>(region.thread), region.address, region.bytes, level,
                    false);
    }
}

// A fault is the program's, which is the user's: with its place in the text where there is one.
void throw_fault(const Scenario& scenario, const Socket& socket) {
    int line = 0;
    std::string fault = socket.fault(line);
    if (fault.empty()) {
        return;
    }
    if (const auto* program = std::get_if<AmxProgramWorkload>(&scenario.workload)) {
        fault = fmt::format("{}:{}:1: {}", program->file, line, fault);
    }
    throw arch::base::config::ConfigError(fault);
}

workloads::GemmBounds bounds_of(const Scenario& scenario, const Job& job, const Socket& socket) {
    const arch::amx::AmxConfig& config = *scenario.device.amx;
    const double cycle_ns = 1e9 / static_cast<double>(config.clock.count());
    double tmul = 0;
    double lines = 0;
    for (std::size_t i = 0; i < socket.cores(); ++i) {
        const arch::amx::core::CoreCounters& counters = socket.core(i).counters();
        tmul = std::max(tmul, static_cast<double>(counters.dot_rows));
        lines = std::max(lines, static_cast<double>(counters.tile_load_lines));
    }
    workloads::GemmBounds bounds;
    bounds.compute_ns = tmul * cycle_ns;
    bounds.stream_ns = lines / static_cast<double>(config.access.load_lines) * cycle_ns;
    const bool from_memory = job.mapping.data_in == AmxMapping::DataIn::Memory;
    for (const workloads::AmxRegion& region : job.lowered.reads) {
        // Threads may share what they read: the union is at least the largest share.
        const auto bytes = static_cast<double>(region.bytes);
        bounds.dram_bytes += from_memory && region.thread == 0 ? bytes : 0.0;
    }
    bounds.memory_ns = bounds.dram_bytes / scenario.device.memory.peak_bytes_per_second() * 1e9;
    return bounds;
}

void note_reads(RunResult& result, const Job& job) {
    if (job.mapping.threads == 1) {
        return;
    }
    std::vector<std::int64_t> bytes(static_cast<std::size_t>(job.mapping.threads), 0);
    for (const workloads::AmxRegion& region : job.lowered.reads) {
        bytes[static_cast<std::size_t>(region.thread)] += region.bytes;
    }
    const auto [least, most] = std::minmax_element(bytes.begin(), bytes.end());
    result.notes.push_back(fmt::format("each of {} threads reads {} to {} bytes of A and B",
                                       job.mapping.threads, *least, *most));
}

void collect(RunResult& result, const Scenario& scenario, const Job& job, const Socket& socket) {
    result.cycles = socket.finish_cycle();
    result.time_ns = static_cast<double>(socket.finish_time().count()) / kFemtosecondsPerNanosecond;
    set_rates(result, job.macs, scenario.device.amx->clock);
    result.bounds = bounds_of(scenario, job, socket);
    std::int64_t instructions = 0;
    for (std::size_t i = 0; i < socket.cores(); ++i) {
        instructions += socket.core(i).counters().instructions;
    }
    result.notes.push_back(fmt::format("{} instructions", instructions));
    note_reads(result, job);
}

}  // namespace

RunResult run_amx(const Scenario& scenario) {
    const Job job = job_of(scenario);
    const arch::amx::AmxConfig& config = *scenario.device.amx;
    RunResult result;
    result.workload = job.workload;
    result.mapping = std::holds_alternative<AmxProgramWorkload>(scenario.workload)
                         ? Json::object()
                         : describe(job.mapping);
    result.padding_waste = job.lowered.padding_waste;
    if (std::holds_alternative<std::monostate>(scenario.mapping) && !result.mapping.empty()) {
        result.notes.push_back("no mapping given: chosen by simulating a few, see `mapping`");
    }

    EventQueue queue;
    arch::base::stats::Group root("");
    arch::memory::controller::MemorySystem memory(scenario.device.memory,
                                      arch::amx::socket::Uncore::memory_lookahead(config), queue, root);
    Functional functional(scenario, job);
    Socket socket(config, job.lowered.programs, functional.observers(), memory, queue);
    warm(socket, job);
    socket.start();
    const Outcome outcome = arch::systemc::run(queue, limits_of(scenario.run),
                                                    [&socket] { return socket.finished(); });
    throw_fault(scenario, socket);
    SIM_CHECK(outcome != Outcome::NothingPending, "core 0 waits for {}",
              socket.core(0).waiting_for());
    memory.finish_statistics();
    socket.write_statistics(root);
    collect(result, scenario, job, socket);
    result.events = queue.executed();
    result.memory = memory.totals();
    result.banks = memory.bank_use();
    add_not_exercised(result, arch::amx::socket::not_exercised(config, job.lowered.programs, socket));
    add_not_exercised(result, arch::memory::controller::not_exercised(scenario.device.memory,
                                                                      memory.totals(), false));
    result.where = where_time_went(root);
    if (outcome != Outcome::Finished) {
        result.status = Status::TimeLimit;
        return result;
    }
    SIM_CHECK(result.time_ns >= result.bounds->tightest_ns(),
              "the simulation ({} ns) beats its own {} bound ({} ns)", result.time_ns,
              result.bounds->binding(), result.bounds->tightest_ns());
    name_bottlenecks(result, "core", "core: ");  // waiting states name what to change
    functional.check(result);
    return result;
}

std::int64_t amx_cycles(const Scenario& scenario) {
    const Job job = job_of(scenario);
    const arch::amx::AmxConfig& config = *scenario.device.amx;
    EventQueue queue;
    arch::base::stats::Group root("");
    arch::memory::controller::MemorySystem memory(scenario.device.memory,
                                      arch::amx::socket::Uncore::memory_lookahead(config), queue, root);
    Socket socket(config, job.lowered.programs, {}, memory, queue);
    warm(socket, job);
    socket.start();
    while (!socket.finished() && !queue.empty()) {
        queue.run_until(queue.next_time());
    }
    throw_fault(scenario, socket);
    return socket.finish_cycle();
}

std::string amx_text(const Scenario& scenario) {
    const Job job = job_of(scenario);
    std::string text;
    for (std::size_t i = 0; i < job.lowered.programs.size(); ++i) {
        text += fmt::format("# thread {}: {} instructions\n", i,
                            job.lowered.programs[i].dynamic_instructions()) +
                arch::amx::program::print(job.lowered.programs[i]);
    }
    return text;
}

}  // namespace tilesim::sim::system
