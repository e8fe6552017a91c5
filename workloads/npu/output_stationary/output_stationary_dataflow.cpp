#include "workloads/npu/output_stationary/output_stationary_dataflow.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/keys.hpp"
#include "workloads/npu/array_job.hpp"
#include "workloads/npu/npu_machine.hpp"
#include "workloads/npu/output_stationary/bounds.hpp"
#include "workloads/npu/output_stationary/gemm_data.hpp"
#include "workloads/npu/output_stationary/mapping_search.hpp"
#include "workloads/npu/output_stationary/output_stationary.hpp"

namespace tilesim::workloads::npu::output_stationary {

using arch::base::config::Node;
using arch::npu::NpuConfig;
using Json = nlohmann::ordered_json;

namespace {

struct WithKernelCycles {
    OutputStationaryMapping mapping;
    KernelCycles kernel_cycles;
};

std::string name_of_tile(const OutputStationaryMapping& map) {
    return fmt::format("{} x {} x {}, k_mt {}{}", map.m_ct, map.k_ct, map.n_ct, map.k_mt,
                       map.c_buffers == 2 ? ", C double" : "");
}

class OutputStationary final : public Dataflow {
  public:
    std::string_view name() const override { return "output_stationary"; }
    std::string_view summary() const override { return "C stays in the cores"; }

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
        const auto& gemm = a_case.problem.get<GemmProblem>();
        const auto& config = a_case.device.get<NpuConfig>();
        if (arch::npu::core::KernelTiming(config.kernels).find_mode(gemm.a, gemm.b, gemm.c) ==
            nullptr) {
            return {{"workload",
                     fmt::format("this device has no {} x {} -> {} multiply", name_of(gemm.a),
                                 name_of(gemm.b), name_of(gemm.c))}};
        }
        std::vector<Refusal> refusals;
        if (!a_case.mapping.empty()) {
            for (std::string& problem : problems_of(gemm, given(a_case).mapping, config)) {
                refusals.push_back({"mapping", std::move(problem)});
            }
        }
        return refusals;
    }

    std::unique_ptr<Job> lower(const Case& a_case, RunResult& result) const override {
        const auto& gemm = a_case.problem.get<GemmProblem>();
        const auto& config = a_case.device.get<NpuConfig>();
        const WithKernelCycles& map = given(a_case);
        auto lowered = std::make_shared<LoweredGemm>(
            output_stationary::lower(gemm, map.mapping, config));
        LoweredProduct product;
        product.bounds = bounds_of(gemm, map.mapping, *lowered, config, a_case.device.memory);
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
                return check_product(gemm, *lowered, map.mapping, a_case.run.seed, store);
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
        const OutputStationaryMapping& map = mapping.get<WithKernelCycles>().mapping;
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
        OutputStationaryMapping map = mapping.get<WithKernelCycles>().mapping;
        const std::int64_t longest = map.k_mt;
        std::vector<Candidate> shorter;
        for (map.k_mt = map.k_ct; map.k_mt < longest; map.k_mt += map.k_ct) {
            shorter.push_back(named(a_case, map));
        }
        return shorter;
    }

  private:
    static const WithKernelCycles& given(const Case& a_case) {
        return a_case.mapping.get<WithKernelCycles>();
    }

    // With the scenario's kernel cycles, where it gives them.
    Candidate named(const Case& a_case, const OutputStationaryMapping& map) const {
        const bool own = !a_case.mapping.empty() && &a_case.mapping.dataflow() == this;
        return {name_of_tile(map),
                {*this, WithKernelCycles{map, own ? given(a_case).kernel_cycles : std::nullopt}},
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
