#include "workloads/npu/weight_stationary/weight_stationary_dataflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "workloads/default_mapping.hpp"
#include "workloads/npu/deciding_limits.hpp"
#include "workloads/npu/gemm_data.hpp"
#include "workloads/npu/mapping_name.hpp"
#include "workloads/npu/npu_machine.hpp"
#include "workloads/npu/product_dataflow.hpp"
#include "workloads/npu/weight_stationary/mapping_search.hpp"
#include "workloads/npu/weight_stationary/weight_stationary.hpp"
#include "workloads/npu/weight_stationary/weight_stationary_sequence.hpp"

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

    Choice choose(const Case& a_case, Runner& runner) const override {
        const auto why = [this, &a_case] {
            constexpr std::int64_t kSmallTile = 32;
            WeightStationaryMapping small = stated_keys(a_case);
            for (std::int64_t* open : {&small.m_ct, &small.k_ct, &small.n_ct}) {
                *open = *open > 0 ? *open : kSmallTile;
            }
            const auto problems = problems_of(a_case.problem.get<GemmProblem>(), small,
                                              a_case.device.get<NpuConfig>());
            return problems.empty() ? std::string{} : problems.front();
        };
        return best_expected(*this, a_case, runner, why);
    }

    std::vector<Refusal> refusals(const Case& a_case) const override {
        return complete(a_case.mapping)
                   ? refused(problems_of(a_case.problem.get<GemmProblem>(), given(a_case).keys,
                                         a_case.device.get<NpuConfig>()))
                   : std::vector<Refusal>{};
    }

    std::unique_ptr<Job> lower(const Case& a_case, RunResult& result) const override {
        const auto& gemm = a_case.problem.get<GemmProblem>();
        const auto& config = a_case.device.get<NpuConfig>();
        const Given& map = given(a_case);
        LoweredGemm lowered = weight_stationary::lower(gemm, map.keys, config);
        LoweredProduct product;
        product.macs = gemm.macs();
        product.bounds = bounds_of(gemm, map.keys, config, path_of(a_case.device));
        product.padding_waste = lowered.padding_waste(gemm);
        product.kernel_cycles = map.kernel_cycles;
        product.rounds.count = static_cast<double>(lowered.shape.passes);
        product.deciding_limits = deciding_limits(config, [&](const NpuConfig& device) {
            const ArrayShape shape = shape_of(gemm, map.keys, device);
            return std::pair{shape.m_tiles_a_task,
                             std::min(tasks_under_way(device), shape.tasks())};
        });
        product.summary = fmt::format(
            "# padded to {} x {} x {} (M x K x N); {} passes over A, {} C tiles a column of cores "
            "each\n",
            lowered.m, lowered.k, lowered.n, lowered.shape.passes, lowered.shape.m_tiles);
        product.contents = contents_of(a_case, matrices_of(lowered), sum_order(gemm, map.keys));
        product.program = std::move(lowered.program);
        return product_job(a_case, std::move(product), result);
    }

    std::vector<Candidate> candidates(const Case& a_case) const override {
        const auto& gemm = a_case.problem.get<GemmProblem>();
        const auto& config = a_case.device.get<NpuConfig>();
        const WeightStationaryMapping stated = stated_keys(a_case);
        std::vector<WeightStationaryMapping> mappings = mappings_of(gemm, stated, config);
        std::erase_if(mappings, [&](const WeightStationaryMapping& each) {
            return (states(a_case, "reduction") && each.reduction != stated.reduction) ||
                   (states(a_case, "c_buffers") && each.c_buffers != 1);
        });
        for (WeightStationaryMapping& each : mappings) {
            each.c_buffers = states(a_case, "c_buffers") ? stated.c_buffers : each.c_buffers;
        }
        return named(a_case, candidates_of(gemm, mappings, config, path_of(a_case.device)));
    }

    std::vector<Candidate> variants(const Case& a_case, const Mapping& mapping) const override {
        return as_stated(
            a_case,
            named(a_case, variants_of(a_case.problem.get<GemmProblem>(), given(mapping).keys,
                                      a_case.device.get<NpuConfig>(), path_of(a_case.device))));
    }

  private:
    std::vector<Candidate> named(const Case& a_case,
                                 const std::vector<TileCandidate>& tiles) const {
        std::vector<Candidate> list;
        for (const TileCandidate& tile : tiles) {
            const WeightStationaryMapping& map = tile.mapping;
            MappingName name(fmt::format("{} x {} x {}, {} C, {}", map.m_ct, map.k_ct, map.n_ct,
                                         map.c_buffers, map.adds() ? "memory_tile" : "cascade"));
            const WeightStationaryMapping usual;
            name.other("columns", map.columns, usual.columns);
            name.other("rows", map.rows, usual.rows);
            name.other("A buffers", map.a_buffers, usual.a_buffers);
            list.push_back(candidate_of(a_case, name.take(), map, tile.bounds, tile.expected_ns));
        }
        return list;
    }
};

}  // namespace

const Dataflow& weight_stationary_dataflow() {
    static const WeightStationary dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::npu::weight_stationary
