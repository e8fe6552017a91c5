#include "workloads/npu/fused_cast/fused_cast_dataflow.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "workloads/npu/elementwise/expected_time.hpp"
#include "workloads/npu/fused_cast/fused_cast.hpp"
#include "workloads/npu/npu_machine.hpp"
#include "workloads/npu/output_stationary/mapping_search.hpp"
#include "workloads/npu/product_dataflow.hpp"
#include "workloads/npu/program_refusal.hpp"

namespace tilesim::workloads::npu::fused_cast {

using arch::npu::NpuConfig;

namespace {

class FusedCast final : public ProductDataflow<FusedCastMapping> {
  public:
    std::string_view name() const override { return "fused_cast"; }
    std::string_view summary() const override {
        return "C stays in the cores in f32, and a second launch casts it";
    }

    bool serves(const Problem& problem, const Device& device) const override {
        return problem.find<GemmProblem>() != nullptr && tile_fed(device);
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
        LoweredFusedCast lowered = lowered_on(a_case.device, gemm, map.keys);
        LoweredProduct product;
        product.macs = gemm.macs();
        product.bounds = bounds_of(gemm, map.keys, config, path_of(a_case.device));
        product.padding_waste = lowered.padding_waste;
        product.kernel_cycles = map.kernel_cycles;
        if (!lowered.writes.empty()) {
            result.notes.push_back(note_of_writes(lowered.writes));
        }
        product.contents = contents_of(a_case, lowered.matrices, SumOrder{gemm.k});
        product.program = std::move(lowered.program);
        return product_job(a_case, std::move(product), result);
    }

    // The product's tiles; the cast as the case has it. Only where the case names it: its sums are
    // others', and for time alone nobody would set an array up twice.
    std::vector<Candidate> candidates(const Case& a_case) const override {
        if (a_case.mapping.empty() || &a_case.mapping.dataflow() != this) {
            return {};
        }
        const GemmProblem product = product_of(a_case.problem.get<GemmProblem>());
        return named(a_case, output_stationary::candidates_of(context_of(a_case, product)));
    }

    std::vector<Candidate> variants(const Case& a_case, const Mapping& mapping) const override {
        const GemmProblem product = product_of(a_case.problem.get<GemmProblem>());
        return named(a_case, output_stationary::variants_of(context_of(a_case, product),
                                                            given(mapping).keys.product));
    }

  private:
    // Its programs are made ready to count what sets them up.
    static LoweredFusedCast lowered_on(const Device& device, const GemmProblem& gemm,
                                       const FusedCastMapping& map) {
        try {
            return fused_cast::lower(gemm, map, device.get<NpuConfig>());
        } catch (const arch::npu::check::ProgramRefused& error) {
            throw refusal_of_mapping(error, device);
        }
    }

    static output_stationary::SearchContext context_of(const Case& a_case,
                                                       const GemmProblem& product) {
        return {product, a_case.device.get<NpuConfig>(), path_of(a_case.device)};
    }

    std::vector<Candidate> named(const Case& a_case,
                                 const std::vector<output_stationary::TileCandidate>& tiles) const {
        const auto& gemm = a_case.problem.get<GemmProblem>();
        const auto& config = a_case.device.get<NpuConfig>();
        const MemoryPath path = path_of(a_case.device);
        FusedCastMapping map = given(a_case).keys;
        std::vector<Candidate> list;
        for (const output_stationary::TileCandidate& tile : tiles) {
            map.product = tile.mapping;
            const auto cast = elementwise::as_called(cast_of(gemm, map, config), map.cast);
            list.push_back(candidate_of(
                a_case, output_stationary::name_of_tile(map.product), map,
                bounds_of(gemm, map, config, path),
                tile.expected_ns + elementwise::expected_ns(cast, map.cast, config, path)));
        }
        return list;
    }
};

}  // namespace

const Dataflow& fused_cast_dataflow() {
    static const FusedCast dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::npu::fused_cast
