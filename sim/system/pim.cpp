#include "sim/system/pim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "arch/base/check.hpp"
#include "arch/base/clock.hpp"
#include "arch/memory/controller/memory_use.hpp"
#include "arch/memory/traffic/stream_driver.hpp"
#include "arch/pim/pim_unit.hpp"
#include "arch/pim/pim_use.hpp"
#include "sim/attribution.hpp"
#include "sim/system/limits.hpp"
#include "workloads/gemv_data.hpp"
#include "workloads/pim_placement.hpp"

namespace tilesim::sim::system {

using arch::base::EventQueue;
using arch::systemc::Outcome;
using Json = nlohmann::ordered_json;
using workloads::PimMapping;
using workloads::PimPlacement;

namespace {

constexpr double kNanosecondsPerSecond = 1e9;

PimMapping mapping_of(const Scenario& scenario) {
    const auto* given = std::get_if<PimMapping>(&scenario.mapping);
    return given != nullptr ? *given : PimMapping{};
}

Json describe(const workloads::GemvProblem& gemv) {
    return {{"gemv",
             {{"M", gemv.m},
              {"K", gemv.k},
              {"weights", arch::base::name_of(gemv.weights)},
              {"input", arch::base::name_of(gemv.input)},
              {"accumulate", arch::base::name_of(gemv.accumulate)},
              {"scale_block", gemv.scale_block}}}};
}

Json describe(const PimPlacement& p) {
    Json keys = Json::object();
    const bool column_major = p.mapping.placement == PimMapping::Placement::ColumnMajor;
    if (!column_major) {
        keys["input_registers"] = p.mapping.input_registers;
        keys["cr_degree"] = p.mapping.cr_degree == 0 ? Json("max") : Json(p.mapping.cr_degree);
        keys["split_k"] = p.mapping.split_k;
    }
    if (p.mapping.phases > 1) {
        keys["phases"] = p.mapping.phases;
        keys["between"] = fmt::format("{} ns", p.mapping.between.count() / 1'000'000);
    }
    return {{column_major ? "column_major" : "pimnast", keys}};
}

Json details_of(const PimPlacement& p, const arch::pim::PimConfig& pim) {
    return {{"tile", fmt::format("{}x{}", p.m, p.k)}, {"cr_degree", p.degree},
            {"row_blocks_per_bank", p.row_blocks},    {"banks", p.banks},
            {"registers_used", p.registers_used()},   {"registers", pim.registers},
            {"page_needed_bytes", p.page_needed}};
}

struct PlainRead {
    double gb_per_s = 0;
    arch::memory::port::MemoryTotals totals;
};

// What the DRAM model gives to reading the matrix in order, as the system on chip would.
PlainRead plain_read(const Scenario& scenario, const workloads::GemvProblem& gemv) {
    constexpr std::int64_t kMostRequests = 8192;  // the rest would go on at the same pace
    constexpr std::int64_t kRequestBytes = 256;
    arch::memory::traffic::StreamConfig stream;
    stream.granule = arch::base::Bytes{kRequestBytes};
    stream.requests = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(gemv.bytes()) / kRequestBytes, 1, kMostRequests);
    stream.outstanding = 1024;
    stream.range = scenario.device.memory.capacity();
    EventQueue queue;
    arch::base::stats::Group root("");
    arch::memory::controller::MemorySystem memory(scenario.device.memory,
                                      arch::memory::traffic::StreamDriver::latency(scenario.device.memory),
                                      queue, root);
    arch::memory::traffic::StreamDriver driver(stream, memory);
    driver.start();
    while (!driver.finished() && !queue.empty()) {
        queue.run_until(queue.next_time());
    }
    const auto result = driver.result();
    return {static_cast<double>(result.bytes) * kFemtosecondsPerNanosecond /
                static_cast<double>(result.time.count()),
            memory.totals()};
}

}  // namespace

PimPlacement placement_of(const Scenario& scenario, const workloads::GemvProblem& gemv) {
    return workloads::place(gemv, mapping_of(scenario), scenario.device.memory,
                            *scenario.device.pim);
}

double soc_gemv_ns(const arch::pim::SocConfig& soc, const workloads::GemvProblem& gemv) {
    const double compute = 2 * gemv.macs() / static_cast<double>(soc.compute.count());
    const double memory = gemv.bytes() / static_cast<double>(soc.bandwidth.count());
    return std::max(compute, memory) * kNanosecondsPerSecond;
}

// The system on chip reads every part's results and adds them.
double reduction_ns(const arch::pim::SocConfig& soc, const workloads::GemvProblem& gemv,
                    const PimPlacement& p) {
    if (p.mapping.split_k == 1) {
        return 0;
    }
    const double bytes = static_cast<double>(p.mapping.split_k * gemv.m) *
                         static_cast<double>(arch::base::bits_of(gemv.accumulate)) /
                         arch::base::kBitsPerByte;
    return bytes / static_cast<double>(soc.bandwidth.count()) * kNanosecondsPerSecond;
}

PimRun simulate_gemv(const Scenario& scenario, const workloads::GemvProblem& gemv,
                     const PimPlacement& placement, workloads::FunctionalGemv* functional) {
    const arch::pim::PimConfig& pim = *scenario.device.pim;
    const arch::memory::device::MemoryConfig& dram = scenario.device.memory;
    const arch::pim::PimProgram program = workloads::lower(gemv, placement, dram, pim);
    constexpr arch::base::Cycles kCommandLatency{100};
    const arch::base::Clock clock{dram.clock};
    const arch::base::Femtoseconds latency = clock.time_of(kCommandLatency);
    EventQueue queue;
    arch::base::stats::Group root("");
    arch::memory::controller::MemorySystem memory(dram, latency - arch::base::Femtoseconds{1}, queue, root);
    std::vector<std::unique_ptr<arch::pim::PimUnit>> units;
    for (std::size_t i = 0; i < static_cast<std::size_t>(dram.channels); ++i) {
        units.push_back(
            std::make_unique<arch::pim::PimUnit>(dram.timing, pim, program, i, root, functional));
        memory.lend(i, *units.back(), latency);
    }
    std::optional<arch::memory::traffic::StreamDriver> traffic;
    if (scenario.traffic) {
        traffic.emplace(*scenario.traffic, memory);
        traffic->start();
    }
    PimRun run;
    run.outcome = arch::systemc::run(queue, limits_of(scenario.run), [&] {
        return std::all_of(units.begin(), units.end(),
                           [](const auto& unit) { return unit->left().has_value(); }) &&
               (!traffic || traffic->finished());
    });
    run.events = queue.executed();
    run.where = where_time_went(root);
    run.banks = memory.bank_use();
    run.not_exercised = arch::pim::not_exercised(pim, program);
    run.memory = memory.totals();
    for (std::size_t i = 0; i < units.size(); ++i) {
        for (arch::memory::port::BankCounts& bank : run.banks.channels[i]) {
            bank += units[i]->bank_counts();
        }
    }
    if (run.outcome != Outcome::Finished) {
        return run;
    }
    if (traffic) {
        run.traffic = traffic->result();
    }
    std::int64_t end = 0;
    for (const auto& unit : units) {
        end = std::max(end, *unit->left());
    }
    run.cycles = end - kCommandLatency.count();
    run.reduction_ns = reduction_ns(scenario.device.soc, gemv, placement);
    run.time_ns = static_cast<double>(clock.time_of(arch::base::Cycles{run.cycles}).count()) /
                      kFemtosecondsPerNanosecond +
                  run.reduction_ns;
    return run;
}

RunResult run_gemv(const Scenario& scenario, const workloads::GemvProblem& gemv) {
    RunResult result;
    const arch::pim::PimConfig& pim = *scenario.device.pim;
    const PimPlacement placement = placement_of(scenario, gemv);
    result.workload = describe(gemv);
    result.mapping = describe(placement);
    result.details = details_of(placement, pim);
    result.notes = placement.notes;
    result.padding_waste = 1.0 - gemv.macs() / (static_cast<double>(placement.padded_m) *
                                                static_cast<double>(placement.part_k) *
                                                static_cast<double>(placement.mapping.split_k));
    std::unique_ptr<workloads::FunctionalGemv> functional;
    if (scenario.run.functional) {
        functional = workloads::functional_gemv(gemv, placement, scenario.device.memory, pim,
                                                scenario.run.seed);
    }
    const PimRun run = simulate_gemv(scenario, gemv, placement, functional.get());
    result.events = run.events;
    result.where = run.where;
    result.banks = run.banks;
    result.status = run.outcome == Outcome::Finished ? Status::Ok : Status::TimeLimit;
    if (run.outcome != Outcome::Finished) {
        return result;
    }
    result.cycles = run.cycles;
    result.time_ns = run.time_ns;
    set_rates(result, gemv.macs(), scenario.device.memory.clock);
    const double soc = soc_gemv_ns(scenario.device.soc, gemv);
    result.speedup_over_soc = soc / result.time_ns;
    result.details["soc_ns"] = soc;
    result.details["reduction_on_soc_ns"] = run.reduction_ns;
    result.stream = run.traffic;
    if (run.traffic) {
        result.details["traffic_gb_per_s"] = static_cast<double>(run.traffic->bytes) *
                                             kFemtosecondsPerNanosecond /
                                             static_cast<double>(run.traffic->time.count());
    }
    const PlainRead plain = plain_read(scenario, gemv);
    result.details["plain_read_gb_per_s"] = plain.gb_per_s;
    arch::memory::port::MemoryTotals requests = run.memory;
    requests += plain.totals;
    add_not_exercised(result, run.not_exercised);
    add_not_exercised(result, arch::memory::controller::not_exercised(scenario.device.memory,
                                                                      requests, true));
    name_bottlenecks(result);
    if (functional) {
        result.functional = functional->check();
        result.status = result.functional->match ? Status::Ok : Status::Mismatch;
    }
    return result;
}

workloads::GemvProblem vector_of(const workloads::GemmProblem& gemm) {
    return {gemm.n, gemm.k, gemm.b, gemm.a, gemm.c};
}

RunResult run_gemm_in_memory(const Scenario& scenario, const workloads::GemmProblem& gemm) {
    const workloads::GemvProblem gemv = vector_of(gemm);
    RunResult result = run_gemv(scenario, gemv);
    const auto rows = static_cast<double>(gemm.m);
    result.workload = {{"gemm",
                        {{"M", gemm.m},
                         {"K", gemm.k},
                         {"N", gemm.n},
                         {"a", arch::base::name_of(gemm.a)},
                         {"b", arch::base::name_of(gemm.b)},
                         {"c", arch::base::name_of(gemm.c)}}}};
    result.cycles *= gemm.m;
    result.time_ns *= rows;
    for (auto& [component, states] : result.where) {
        for (auto& [state, cycles] : states) {
            cycles *= rows;
        }
    }
    for (auto& channel : result.banks->channels) {
        for (arch::memory::port::BankCounts& bank : channel) {
            bank.activates *= gemm.m;
            bank.reads *= gemm.m;
            bank.writes *= gemm.m;
        }
    }
    set_rates(result, gemm.macs(), scenario.device.memory.clock);
    const double soc =
        std::max(2 * gemm.macs() / static_cast<double>(scenario.device.soc.compute.count()),
                 gemv.bytes() / static_cast<double>(scenario.device.soc.bandwidth.count()));
    result.details["soc_ns"] = soc * kNanosecondsPerSecond;
    result.details["vectors"] = gemm.m;
    result.speedup_over_soc = soc * kNanosecondsPerSecond / result.time_ns;
    return result;
}

std::string lowered_gemv_text(const Scenario& scenario, const workloads::GemvProblem& gemv) {
    constexpr std::size_t kCommandsShown = 64;
    const PimPlacement p = placement_of(scenario, gemv);
    const arch::pim::PimProgram program =
        workloads::lower(gemv, p, scenario.device.memory, *scenario.device.pim);
    return fmt::format(
               "# tile {} x {} (m x k), column-row order of degree {}, {} row blocks a bank\n"
               "# registers: {} of {} ({} input, {} x {} output); page of {} bytes needed\n"
               "# {} commands a channel, all banks at once; the first {}:\n",
               p.m, p.k, p.degree, p.row_blocks, p.registers_used(), scenario.device.pim->registers,
               p.mapping.input_registers, p.degree * p.accumulator_sets, p.output_registers,
               p.page_needed, program.commands.size(),
               std::min(kCommandsShown, program.commands.size())) +
           program.print(kCommandsShown);
}

}  // namespace tilesim::sim::system
