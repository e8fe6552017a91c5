#include "workloads/npu/output_stationary/output_stationary_dataflow.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "arch/base/limit.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/default_mapping.hpp"
#include "workloads/npu/deciding_limits.hpp"
#include "workloads/npu/gemm_data.hpp"
#include "workloads/npu/npu_machine.hpp"
#include "workloads/npu/output_stationary/bounds.hpp"
#include "workloads/npu/output_stationary/gemm_view.hpp"
#include "workloads/npu/output_stationary/mapping_problems.hpp"
#include "workloads/npu/output_stationary/mapping_search.hpp"
#include "workloads/npu/output_stationary/output_stationary.hpp"
#include "workloads/npu/output_stationary/output_stationary_kernels.hpp"
#include "workloads/npu/output_stationary/output_stationary_shape.hpp"
#include "workloads/npu/product_dataflow.hpp"

namespace tilesim::workloads::npu::output_stationary {

using arch::npu::NpuConfig;

namespace {

SearchContext context_of(const Case& a_case) {
    return {a_case.problem.get<GemmProblem>(), a_case.device.get<NpuConfig>(),
            path_of(a_case.device)};
}

// Rounds that are alike: a task's output tiles belong to one, and where descriptors are rewritten
// together those of all tasks that are.
EqualRounds rounds_of(const Case& a_case, const OutputStationaryMapping& map,
                      std::int64_t output_tiles) {
    const auto& config = a_case.device.get<NpuConfig>();
    const GemmView view = view_of(a_case.problem.get<GemmProblem>(), map);
    const Pace pace = pace_of(view, shape_of(view, config), config);
    const bool together = map.shim_bds == OutputStationaryMapping::ShimDescriptors::Sequential;
    const auto tiles = static_cast<double>(pace.tiles * (together ? pace.in_flight : 1));
    return {static_cast<double>(output_tiles) / tiles,
            least_period_ns(context_of(a_case), map) * tiles};
}

class OutputStationary final : public ProductDataflow<OutputStationaryMapping> {
  public:
    std::string_view name() const override { return "output_stationary"; }
    std::string_view summary() const override { return "C stays in the cores"; }

    bool serves(const Problem& problem, const Device& device) const override {
        return problem.find<GemmProblem>() != nullptr && tile_fed(device);
    }

    Choice choose(const Case& a_case, Runner& runner) const override {
        const auto why = [this, &a_case] {
            constexpr std::int64_t kSmallTile = 32;
            OutputStationaryMapping small = stated_keys(a_case);
            for (std::int64_t* open : {&small.m_ct, &small.k_ct, &small.n_ct}) {
                *open = *open > 0 ? *open : kSmallTile;
            }
            small.k_mt = small.k_mt > 0 ? small.k_mt : small.k_ct;
            const auto problems = problems_of(a_case.problem.get<GemmProblem>(), small,
                                              a_case.device.get<NpuConfig>());
            return problems.empty() ? std::string{} : problems.front();
        };
        return best_expected(*this, a_case, runner, why);
    }

    std::vector<Refusal> refusals(const Case& a_case) const override {
        const auto& gemm = a_case.problem.get<GemmProblem>();
        const auto& config = a_case.device.get<NpuConfig>();
        const arch::npu::core::KernelTiming timing(config.kernels);
        if (!complete(a_case.mapping) && timing.find_mode(gemm.a, gemm.b, gemm.c) == nullptr) {
            return {{"workload", timing.no_mode(gemm.a, gemm.b, gemm.c)}};
        }
        return complete(a_case.mapping) ? refused(problems_of(gemm, given(a_case).keys, config))
                                        : std::vector<Refusal>{};
    }

    std::vector<UnfeltKey> unfelt(const Case& a_case) const override {
        using Map = OutputStationaryMapping;
        const Map& map = given(a_case).keys;
        UnfeltKeys<Map> keys("mapping.output_stationary.", map);
        if (!map.sums_apart) {
            keys.add("cast_lanes", &Map::cast_lanes, "it is for sums: f32");
            keys.add("cast_by", &Map::cast_by_element, "it is for sums: f32");
        }
        const std::int64_t tiles = output_tiles(view_of(a_case.problem.get<GemmProblem>(), map),
                                                a_case.device.get<NpuConfig>());
        if (tiles == 1 || arch::base::spares(map.in_flight, tiles)) {
            keys.add("in_flight", &Map::in_flight,
                     fmt::format("a core has {} output tile{}", tiles, tiles == 1 ? "" : "s"));
        }
        if (tiles == 1) {
            keys.add("shim_bds", &Map::shim_bds,
                     "descriptors for one output tile are written once");
        }
        return keys.take();
    }

    std::unique_ptr<Job> lower(const Case& a_case, RunResult& result) const override {
        const auto& gemm = a_case.problem.get<GemmProblem>();
        const auto& config = a_case.device.get<NpuConfig>();
        const Given& map = given(a_case);
        LoweredGemm lowered = output_stationary::lower(gemm, map.keys, config);
        LoweredProduct product;
        product.macs = gemm.macs();
        product.bounds = bounds_of(gemm, map.keys, config, path_of(a_case.device));
        product.padding_waste = lowered.padding_waste(gemm);
        product.kernel_cycles = map.kernel_cycles;
        product.rounds = rounds_of(a_case, map.keys, lowered.output_tiles);
        product.deciding_limits =
            deciding_limits(config, [view = view_of(gemm, map.keys)](const NpuConfig& device) {
                return pace_of(view, shape_of(view, device), device);
            });
        product.summary = fmt::format(
            "# padded to {} x {} x {} (M x K x N); {} output tiles a core, {} kernel calls each\n"
            "# core memory {} of {} B, memory tile {} of {} B\n",
            lowered.m, lowered.k, lowered.n, lowered.output_tiles, lowered.calls_per_tile,
            lowered.core_bytes, config.core.memory.count(), lowered.memory_tile_bytes,
            config.memory_tile.memory.count());
        product.contents = contents_of(a_case, matrices_of(lowered), sum_order(gemm, map.keys));
        product.program = std::move(lowered.program);
        return product_job(a_case, std::move(product), result);
    }

    // Of what the search does not leave as it is given.
    std::vector<Candidate> candidates(const Case& a_case) const override {
        const OutputStationaryMapping stated = stated_keys(a_case);
        std::vector<TileCandidate> tiles = candidates_of(context_of(a_case), stated);
        std::erase_if(tiles, [&, buffers = states(a_case, "c_buffers"),
                              reach = states(a_case, "reach")](const TileCandidate& each) {
            return (buffers && each.mapping.c_buffers != stated.c_buffers) ||
                   (reach && each.mapping.reach != stated.reach);
        });
        return named(a_case, tiles);
    }

    std::vector<Candidate> variants(const Case& a_case, const Mapping& mapping) const override {
        return as_stated(a_case,
                         named(a_case, variants_of(context_of(a_case), given(mapping).keys)));
    }

    // Shorter blocks along K.
    std::vector<Candidate> reduced(const Case& a_case, const Mapping& mapping) const override {
        OutputStationaryMapping map = given(mapping).keys;
        const std::int64_t longest = map.k_mt;
        std::vector<TileCandidate> shorter;
        const SearchContext context = context_of(a_case);
        for (map.k_mt = map.k_ct; map.k_mt < longest; map.k_mt += map.k_ct) {
            const GemmBounds bounds = bounds_of(context.problem, map, context.config, context.path);
            shorter.push_back(
                {map, bounds, expected_ns(context, map, bounds), least_ns(context, map, bounds)});
        }
        return as_stated(a_case, named(a_case, shorter));
    }

  private:
    std::vector<Candidate> named(const Case& a_case,
                                 const std::vector<TileCandidate>& tiles) const {
        std::vector<Candidate> list;
        for (const TileCandidate& tile : tiles) {
            list.push_back(candidate_of(a_case, name_of_tile(tile.mapping), tile.mapping,
                                        tile.bounds, tile.expected_ns, tile.least_ns));
        }
        return list;
    }
};

}  // namespace

const Dataflow& output_stationary_dataflow() {
    static const OutputStationary dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::npu::output_stationary
