#include "workloads/npu/weight_stationary/weight_stationary_dataflow.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "workloads/npu/npu_machine.hpp"
#include "workloads/npu/product_dataflow.hpp"
#include "workloads/npu/weight_stationary/gemm_data.hpp"
#include "workloads/npu/weight_stationary/mapping_search.hpp"
#include "workloads/npu/weight_stationary/weight_stationary.hpp"


namespace tilesim::workloads::npu::weight_stationary {

using arch::npu::NpuConfig;

namespace {

class WeightStationary final : public ProductDataflow<WeightStationaryMapping> {
  public:
    std::string_view name() const override { return "weight_stationary"; }
    std::string_view summary() const override { return "B stays in the cores"; }

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
        return a_case.mapping.empty()
                   ? std::vector<Refusal>{}
                   : refused(problems_of(a_case.problem.get<GemmProblem>(), given(a_case).keys,
                                         a_case.device.get<NpuConfig>()));
    }

    std::unique_ptr<Job> lower(const Case& a_case, RunResult& result) const override {
        const auto& gemm = a_case.problem.get<GemmProblem>();
        const auto& config = a_case.device.get<NpuConfig>();
        const Given& map = given(a_case);
        auto lowered =
            std::make_shared<LoweredGemm>(weight_stationary::lower(gemm, map.keys, config));
        LoweredProduct product;
        product.bounds = bounds_of(gemm, map.keys, config, a_case.device.memory);
        product.padding_waste = lowered->padding_waste(gemm);
        product.kernel_cycles = map.kernel_cycles;
        product.summary = fmt::format(
            "# padded to {} x {} x {} (M x K x N); {} passes over A, {} C tiles a column of cores "
            "each\n",
            lowered->m, lowered->k, lowered->n, lowered->shape.passes, lowered->shape.m_tiles);
        product.contents = {[&a_case, &gemm, lowered](auto& store, auto&) {
                                fill_operands(gemm, *lowered, a_case.run.seed, store);
                            },
                            [&a_case, &gemm, &map, lowered](auto& store, auto&) {
                                return check_product(gemm, *lowered, map.keys, a_case.run.seed,
                                                     store);
                            }};
        product.program = lowered->program;  // the operands stay known to `contents`
        return product_job(a_case, std::move(product), result);
    }

    CandidateList candidates(const Case& a_case) const override {
        const auto set = candidates_of(a_case.problem.get<GemmProblem>(),
                                       a_case.device.get<NpuConfig>(), a_case.device.memory);
        CandidateList list{set.legal, {}};
        for (const TileCandidate& candidate : set.candidates) {
            const WeightStationaryMapping& map = candidate.mapping;
            list.candidates.push_back(
                {fmt::format("{} x {} x {}, {} C, {}", map.m_ct, map.k_ct, map.n_ct, map.c_buffers,
                             map.adds() ? "memory_tile" : "cascade"),
                 mapping_of(a_case, map),
                 candidate.bounds});
        }
        return list;
    }

    // After a launch an array repeats one pass over A.
    Excerpt excerpt(const Case& a_case, const Mapping& mapping) const override {
        constexpr std::int64_t kPasses = 4;
        const WeightStationaryMapping& map = given(mapping).keys;
        const auto& config = a_case.device.get<NpuConfig>();
        const ArrayShape shape = shape_of(a_case.problem.get<GemmProblem>(), map, config);
        Excerpt excerpt;
        if (kPasses < shape.passes) {
            excerpt.settings = {
                {"workload.gemm.N", std::to_string(kPasses * shape.columns * map.n_ct)}};
            excerpt.fixed_ns = static_cast<double>(config.command_processor.dispatch.count()) /
                               kFemtosecondsPerNanosecond;
            excerpt.scale = static_cast<double>(shape.passes) / static_cast<double>(kPasses);
        }
        return excerpt;
    }
};

}  // namespace

const Dataflow& weight_stationary_dataflow() {
    static const WeightStationary dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::npu::weight_stationary
