#include "workloads/npu/output_stationary/output_stationary_dataflow.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/npu/npu_machine.hpp"
#include "workloads/npu/output_stationary/bounds.hpp"
#include "workloads/npu/output_stationary/gemm_data.hpp"
#include "workloads/npu/output_stationary/mapping_search.hpp"
#include "workloads/npu/output_stationary/output_stationary.hpp"
#include "workloads/npu/product_dataflow.hpp"

namespace tilesim::workloads::npu::output_stationary {

using arch::npu::NpuConfig;

namespace {

std::string name_of_tile(const OutputStationaryMapping& map) {
    return fmt::format("{} x {} x {}, k_mt {}{}", map.m_ct, map.k_ct, map.n_ct, map.k_mt,
                       map.c_buffers == 2 ? ", C double" : "");
}

class OutputStationary final : public ProductDataflow<OutputStationaryMapping> {
  public:
    std::string_view name() const override { return "output_stationary"; }
    std::string_view summary() const override { return "C stays in the cores"; }

    bool serves(const Problem& problem, const Device& device) const override {
        return problem.find<GemmProblem>() != nullptr && tile_fed(device);
    }

    Choice choose(const Case& a_case, Runner&) const override {
        const auto map = choose_mapping(a_case.problem.get<GemmProblem>(),
                                        a_case.device.get<NpuConfig>(), a_case.device.memory);
        return {mapping_of(a_case, map),
                "no mapping given: chosen by the bounds, see `mapping`"};
    }

    std::vector<Refusal> refusals(const Case& a_case) const override {
        const auto& gemm = a_case.problem.get<GemmProblem>();
        const auto& config = a_case.device.get<NpuConfig>();
        if (arch::npu::core::KernelTiming(config.kernels).find_mode(gemm.a, gemm.b, gemm.c) ==
            nullptr) {
            return {{"workload",
                     fmt::format("this device has no {} x {} -> {} multiply", name_of(gemm.a),
                                 name_of(gemm.b), name_of(gemm.c))}};
        }
        return a_case.mapping.empty()
                   ? std::vector<Refusal>{}
                   : refused(problems_of(gemm, given(a_case).keys, config));
    }

    std::unique_ptr<Job> lower(const Case& a_case, RunResult& result) const override {
        const auto& gemm = a_case.problem.get<GemmProblem>();
        const auto& config = a_case.device.get<NpuConfig>();
        const Given& map = given(a_case);
        auto lowered = std::make_shared<LoweredGemm>(
            output_stationary::lower(gemm, map.keys, config));
        LoweredProduct product;
        product.bounds = bounds_of(gemm, map.keys, *lowered, config, a_case.device.memory);
        product.padding_waste = lowered->padding_waste(gemm);
        product.kernel_cycles = map.kernel_cycles;
        product.summary = fmt::format(
            "# padded to {} x {} x {} (M x K x N); {} output tiles a core, {} kernel calls each\n"
            "# core memory {} of {} B, memory tile {} of {} B\n",
            lowered->m, lowered->k, lowered->n, lowered->output_tiles, lowered->calls_per_tile,
            lowered->core_bytes, config.core.memory.count(), lowered->memory_tile_bytes,
            config.memory_tile.memory.count());
        product.contents = {
            [&a_case, &gemm, lowered](auto& store, auto&) {
                fill_operands(gemm, *lowered, a_case.run.seed, store);
            },
            [&a_case, &gemm, &map, lowered](auto& store, auto&) {
                return check_product(gemm, *lowered, map.keys, a_case.run.seed, store);
            }};
        product.program = lowered->program;  // the operands stay known to `contents`
        return product_job(a_case, std::move(product), result);
    }

    CandidateList candidates(const Case& a_case) const override {
        const auto set = candidates_of(a_case.problem.get<GemmProblem>(),
                                       a_case.device.get<NpuConfig>(), a_case.device.memory);
        CandidateList list{set.legal, {}};
        for (const TileCandidate& candidate : set.candidates) {
            list.candidates.push_back(named(a_case, candidate.mapping));
        }
        return list;
    }

    // After a launch an array repeats one round, a tile of C on every core.
    Excerpt excerpt(const Case& a_case, const Mapping& mapping) const override {
        constexpr std::int64_t kRounds = 8;  // the first and the last are a quarter at most
        const auto& gemm = a_case.problem.get<GemmProblem>();
        const OutputStationaryMapping& map = given(mapping).keys;
        const auto& config = a_case.device.get<NpuConfig>();
        const std::int64_t rows = map.m_ct * map.rows_of(config);
        const std::int64_t columns = map.n_ct * map.columns_of(config);
        using arch::base::ceil_div;
        const std::int64_t taken = ceil_div(kRounds, ceil_div(gemm.n, columns));
        const std::int64_t all = ceil_div(gemm.m, rows);
        Excerpt excerpt;
        if (taken < all) {
            excerpt.settings = {{"workload.gemm.M", std::to_string(taken * rows)}};
            excerpt.fixed_ns = static_cast<double>(config.command_processor.dispatch.count()) /
                               kFemtosecondsPerNanosecond;
            excerpt.scale = static_cast<double>(all) / static_cast<double>(taken);
        }
        return excerpt;
    }

    // Shorter blocks along K.
    std::vector<Candidate> reduced(const Case& a_case, const Mapping& mapping) const override {
        OutputStationaryMapping map = given(mapping).keys;
        const std::int64_t longest = map.k_mt;
        std::vector<Candidate> shorter;
        for (map.k_mt = map.k_ct; map.k_mt < longest; map.k_mt += map.k_ct) {
            shorter.push_back(named(a_case, map));
        }
        return shorter;
    }

  private:
    Candidate named(const Case& a_case, const OutputStationaryMapping& map) const {
        return {name_of_tile(map), mapping_of(a_case, map),
                bounds_of(a_case.problem.get<GemmProblem>(), map, a_case.device.get<NpuConfig>(),
                          a_case.device.memory)};
    }
};

}  // namespace

const Dataflow& output_stationary_dataflow() {
    static const OutputStationary dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::npu::output_stationary
