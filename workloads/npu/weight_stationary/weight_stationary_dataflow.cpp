#include "workloads/npu/weight_stationary/weight_stationary_dataflow.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "workloads/keys.hpp"
#include "workloads/npu/array_job.hpp"
#include "workloads/npu/npu_machine.hpp"
#include "workloads/npu/weight_stationary/gemm_data.hpp"
#include "workloads/npu/weight_stationary/mapping_search.hpp"
#include "workloads/npu/weight_stationary/weight_stationary.hpp"

namespace tilesim::workloads::npu::weight_stationary {

using arch::base::config::Node;
using arch::npu::NpuConfig;
using Json = nlohmann::ordered_json;

namespace {

struct WithKernelCycles {
    WeightStationaryMapping mapping;
    KernelCycles kernel_cycles;
};

class WeightStationary final : public Dataflow {
  public:
    std::string_view name() const override { return "weight_stationary"; }
    std::string_view summary() const override { return "B stays in the cores"; }

    bool serves(const Problem& problem, const Device& device) const override {
        return problem.find<GemmProblem>() != nullptr && tile_fed(device);
    }

    Mapping read(Node& mapping) const override {
        WithKernelCycles read;
        Node node = mapping.child(name(), summary());
        read_keys(node, read.mapping);
        read.kernel_cycles = read_kernel_cycles(mapping);
        return {*this, read};
    }

    Json describe(const Mapping& mapping) const override {
        const auto& given = mapping.get<WithKernelCycles>();
        Json json{{name(), keys_of(given.mapping, read_keys)}};
        describe_kernel_cycles(given.kernel_cycles, json);
        return json;
    }

    Choice choose(const Case& a_case, Runner&) const override {
        const auto map = choose_mapping(a_case.problem.get<GemmProblem>(),
                                        a_case.device.get<NpuConfig>(), a_case.device.memory);
        return {{*this, WithKernelCycles{map, std::nullopt}},
                "no mapping given: chosen by the bounds, see `mapping`"};
    }

    std::vector<Refusal> refusals(const Case& a_case) const override {
        std::vector<Refusal> refusals;
        if (!a_case.mapping.empty()) {
            for (std::string& problem :
                 problems_of(a_case.problem.get<GemmProblem>(), given(a_case).mapping,
                             a_case.device.get<NpuConfig>())) {
                refusals.push_back({"mapping", std::move(problem)});
            }
        }
        return refusals;
    }

    std::unique_ptr<Job> lower(const Case& a_case, RunResult& result) const override {
        const auto& gemm = a_case.problem.get<GemmProblem>();
        const auto& config = a_case.device.get<NpuConfig>();
        const WithKernelCycles& map = given(a_case);
        auto lowered =
            std::make_shared<LoweredGemm>(weight_stationary::lower(gemm, map.mapping, config));
        LoweredProduct product;
        product.bounds = bounds_of(gemm, map.mapping, config, a_case.device.memory);
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
                                return check_product(gemm, *lowered, map.mapping, a_case.run.seed,
                                                     store);
                            }};
        product.program = std::move(lowered->program);
        // The contents need the matrices' places.
        lowered->program.external_buffers = product.program.external_buffers;
        return product_job(a_case, std::move(product), result);
    }

    CandidateList candidates(const Case& a_case) const override {
        const auto set = candidates_of(a_case.problem.get<GemmProblem>(),
                                       a_case.device.get<NpuConfig>(), a_case.device.memory);
        const bool own = !a_case.mapping.empty() && &a_case.mapping.dataflow() == this;
        const KernelCycles cycles = own ? given(a_case).kernel_cycles : std::nullopt;
        CandidateList list{set.legal, {}};
        for (const TileCandidate& candidate : set.candidates) {
            const WeightStationaryMapping& map = candidate.mapping;
            list.candidates.push_back(
                {fmt::format("{} x {} x {}, {} C, {}", map.m_ct, map.k_ct, map.n_ct, map.c_buffers,
                             map.adds() ? "memory_tile" : "cascade"),
                 {*this, WithKernelCycles{map, cycles}},
                 candidate.bounds});
        }
        return list;
    }

    // After a launch an array repeats one pass over A.
    Excerpt excerpt(const Case& a_case, const Mapping& mapping) const override {
        constexpr std::int64_t kPasses = 4;
        const WeightStationaryMapping& map = mapping.get<WithKernelCycles>().mapping;
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

  private:
    static const WithKernelCycles& given(const Case& a_case) {
        return a_case.mapping.get<WithKernelCycles>();
    }
};

}  // namespace

const Dataflow& weight_stationary_dataflow() {
    static const WeightStationary dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::npu::weight_stationary
