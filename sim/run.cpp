#include "sim/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/uuid/detail/sha1.hpp>
#include <chrono>
#include <functional>

#include "arch/base/check.hpp"
#include "arch/base/kernel/kernel_module.hpp"
#include "arch/memory/stream_driver.hpp"
#include "arch/npu/array.hpp"
#include "arch/npu/kernel_timing.hpp"
#include "arch/npu/program_verifier.hpp"
#include "arch/npu/router.hpp"
#include "sim/attribution.hpp"
#include "sim/version.hpp"

namespace tilesim::sim {

using arch::base::EventQueue;
using arch::base::kernel::Outcome;
using Json = nlohmann::ordered_json;

namespace {

constexpr double kFemtosecondsPerNanosecond = 1e6;
constexpr std::int64_t kFemtosecondsPerMillisecond = 1'000'000'000'000;
constexpr double kHertzPerGigahertz = 1e9;

std::string sha1(const std::string& text) {
    boost::uuids::detail::sha1 hash;
    hash.process_bytes(text.data(), text.size());
    unsigned int digest[5] = {};
    hash.get_digest(digest);
    std::string hex;
    for (const unsigned int word : digest) {
        hex += fmt::format("{:08x}", word);
    }
    return hex;
}

Json provenance_of(const Scenario& scenario) {
    std::string device_text;
    for (const auto& document : scenario.device.documents) {
        device_text += document.text();
    }
    return {{"version", kVersion},
            {"scenario_sha1", sha1(scenario.document->text())},
            {"device_sha1", sha1(device_text)},
            {"overridden", scenario.overridden}};
}

Json describe(const workloads::GemmProblem& gemm) {
    return {{"gemm",
             {{"M", gemm.m},
              {"K", gemm.k},
              {"N", gemm.n},
              {"a", arch::npu::name_of(gemm.a)},
              {"b", arch::npu::name_of(gemm.b)},
              {"c", arch::npu::name_of(gemm.c)},
              {"b_layout", gemm.b_column_major ? "column_major" : "row_major"}}}};
}

Json describe(const workloads::OutputStationaryMapping& map) {
    const bool overlapped =
        map.shim_bds == workloads::OutputStationaryMapping::ShimDescriptors::Overlapped;
    return {{"output_stationary",
             {{"m_ct", map.m_ct},
              {"k_ct", map.k_ct},
              {"n_ct", map.n_ct},
              {"k_mt", map.k_mt},
              {"c_buffers", map.c_buffers},
              {"shim_bds", overlapped ? "overlapped" : "sequential"}}}};
}

arch::base::kernel::Limits limits_of(const RunOptions& run) {
    return {run.max_time,
            std::chrono::milliseconds{run.max_wall_time.count() / kFemtosecondsPerMillisecond}};
}

void set_rates(RunResult& result, double macs, arch::base::Hertz clock) {
    result.clock_ghz = static_cast<double>(clock.count()) / kHertzPerGigahertz;
    result.macs_per_cycle = result.cycles > 0 ? macs / static_cast<double>(result.cycles) : 0;
    // 2 operations a multiply-accumulate; operations per ns are 1e-3 TOPS.
    result.tops = result.time_ns > 0 ? 2 * macs / result.time_ns * 1e-3 : 0;
}

RunResult run_gemm(const Scenario& scenario, const workloads::GemmProblem& gemm) {
    RunResult result;
    const arch::npu::NpuConfig& config = *scenario.device.npu;
    const auto mapping = mapping_of(scenario, gemm, result.notes);
    const workloads::LoweredGemm lowered = lower_gemm(scenario, gemm, mapping);
    if (scenario.kernel_cycles) {
        result.notes.push_back(
            fmt::format("every multiply call takes {} cycles, as the scenario "
                        "says, instead of the timing model's",
                        *scenario.kernel_cycles));
    }
    result.workload = describe(gemm);
    result.mapping = describe(mapping);
    result.padding_waste = lowered.padding_waste(gemm);

    EventQueue queue;
    arch::base::stats::Group root("");
    arch::memory::BackingStore store;
    arch::memory::BackingStore* bytes = scenario.run.functional ? &store : nullptr;
    if (bytes != nullptr) {
        workloads::fill_operands(gemm, lowered, scenario.run.seed, store);
    }
    arch::memory::MemorySystem memory(scenario.device.memory, queue, root);
    arch::npu::Array array(config, scenario.device.fabric, lowered.program, memory, queue, root,
                           bytes);
    array.start();
    const Outcome outcome = arch::base::kernel::run(queue, limits_of(scenario.run),
                                                    [&array] { return array.finished(); });
    array.finish_statistics();
    memory.finish_statistics();
    result.cycles = array.finish_cycle().count();
    result.time_ns = static_cast<double>(array.finish_time().count()) / kFemtosecondsPerNanosecond;
    result.events = queue.executed();
    result.memory = memory.totals();
    set_rates(result, gemm.macs(), config.clock);
    result.where = where_time_went(root);
    if (outcome == Outcome::NothingPending) {
        result.status = Status::Deadlock;
        result.deadlock = array.deadlock();
        return result;
    }
    if (outcome != Outcome::Finished) {
        result.status = Status::TimeLimit;
        return result;
    }
    result.bounds = workloads::bounds_of(gemm, mapping, lowered, config, scenario.device.memory);
    SIM_CHECK(scenario.kernel_cycles || result.time_ns >= result.bounds->tightest_ns(),
              "the simulation ({} ns) beats its own {} bound ({} ns)", result.time_ns,
              result.bounds->binding(), result.bounds->tightest_ns());
    name_bottlenecks(result);
    if (bytes != nullptr) {
        result.functional =
            workloads::check_product(gemm, lowered, mapping, scenario.run.seed, store);
        result.status = result.functional->match ? Status::Ok : Status::Mismatch;
    }
    return result;
}

// One core alone needs no event: its time is the kernel model's.
RunResult run_core(const Scenario& scenario, const CoreKernelWorkload& workload) {
    RunResult result;
    const arch::npu::Kernel& kernel = workload.kernel;
    const arch::npu::NpuConfig& config = *scenario.device.npu;
    const arch::npu::KernelCycles cycles = arch::npu::KernelTiming(config.kernels).cycles(kernel);
    result.workload = {{"core_kernel",
                        {{"m", kernel.m},
                         {"k", kernel.k},
                         {"n", kernel.n},
                         {"a", arch::npu::name_of(kernel.a)},
                         {"b", arch::npu::name_of(kernel.b)},
                         {"c", arch::npu::name_of(kernel.c)}}}};
    result.mapping = Json::object();
    result.cycles = cycles.total().count();
    result.time_ns =
        static_cast<double>(arch::base::Clock{config.clock}.time_of(cycles.total()).count()) /
        kFemtosecondsPerNanosecond;
    set_rates(result, static_cast<double>(kernel.m * kernel.k * kernel.n), config.clock);
    const auto share = [](arch::base::Cycles part) { return static_cast<double>(part.count()); };
    result.where = {{"core",
                     {{"issue", share(cycles.issue)},
                      {"loop_extra", share(cycles.loop_extra)},
                      {"c_load", share(cycles.c_load)},
                      {"c_store", share(cycles.c_store)},
                      {"fill_drain", share(cycles.fill_drain)}}}};
    name_bottlenecks(result);
    return result;
}

RunResult run_stream(const Scenario& scenario, const arch::memory::StreamConfig& stream) {
    RunResult result;
    EventQueue queue;
    arch::base::stats::Group root("");
    arch::memory::MemorySystem memory(scenario.device.memory, queue, root);
    arch::memory::StreamDriver driver(stream, memory, queue);
    driver.start();
    const Outcome outcome = arch::base::kernel::run(queue, limits_of(scenario.run),
                                                    [&driver] { return driver.finished(); });
    memory.finish_statistics();
    result.status = outcome == Outcome::Finished ? Status::Ok : Status::TimeLimit;
    result.stream = driver.result();
    if (stream.trace.empty()) {
        result.workload = {{"memory_stream", {{"requests", stream.requests}}}};
    } else {
        result.workload = {{"memory_trace", stream.trace.substr(stream.trace.rfind('/') + 1)}};
    }
    result.mapping = Json::object();
    result.time_ns = static_cast<double>(result.stream->time.count()) / kFemtosecondsPerNanosecond;
    result.cycles =
        arch::base::Clock{scenario.device.memory.clock}.cycle_at(result.stream->time).count();
    set_rates(result, 0, scenario.device.memory.clock);
    result.events = queue.executed();
    result.memory = memory.totals();
    result.where = where_time_went(root);
    name_bottlenecks(result);
    return result;
}

}  // namespace

const char* name_of(Status status) {
    switch (status) {
        case Status::Ok:
            return "ok";
        case Status::Mismatch:
            return "mismatch";
        case Status::Deadlock:
            return "deadlock";
        case Status::TimeLimit:
            return "time_limit";
    }
    return "";
}

workloads::OutputStationaryMapping mapping_of(const Scenario& scenario,
                                              const workloads::GemmProblem& gemm,
                                              std::vector<std::string>& notes) {
    if (scenario.mapping) {
        return *scenario.mapping;
    }
    const auto mapping =
        workloads::choose_mapping(gemm, *scenario.device.npu, scenario.device.memory);
    notes.push_back("no mapping given: chosen by the bounds, see `mapping`");
    return mapping;
}

workloads::LoweredGemm lower_gemm(const Scenario& scenario, const workloads::GemmProblem& gemm,
                                  const workloads::OutputStationaryMapping& mapping) {
    workloads::LoweredGemm lowered = workloads::lower(gemm, mapping, *scenario.device.npu);
    for (arch::npu::Kernel& kernel : lowered.program.kernels) {
        if (scenario.kernel_cycles && kernel.kind == arch::npu::KernelKind::Multiply) {
            kernel.cycles = scenario.kernel_cycles;
        }
    }
    const auto problems = arch::npu::verify(lowered.program, *scenario.device.npu);
    if (!problems.empty()) {
        throw arch::base::config::ConfigError(
            fmt::format("the lowered program cannot run: {}", problems[0]));
    }
    arch::npu::route(lowered.program, *scenario.device.npu);
    return lowered;
}

RunResult run(const Scenario& scenario) {
    const auto began = std::chrono::steady_clock::now();
    RunResult result;
    if (const auto* gemm = std::get_if<workloads::GemmProblem>(&scenario.workload)) {
        result = run_gemm(scenario, *gemm);
    } else if (const auto* core = std::get_if<CoreKernelWorkload>(&scenario.workload)) {
        result = run_core(scenario, *core);
    } else {
        result = run_stream(scenario, std::get<arch::memory::StreamConfig>(scenario.workload));
    }
    result.device = scenario.device.name;
    result.provenance = provenance_of(scenario);
    result.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return result;
}

}  // namespace tilesim::sim
