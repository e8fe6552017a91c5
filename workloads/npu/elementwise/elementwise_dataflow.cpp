#include "workloads/npu/elementwise/elementwise_dataflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/default_mapping.hpp"
#include "workloads/npu/elementwise/bounds.hpp"
#include "workloads/npu/elementwise/elementwise.hpp"
#include "workloads/npu/elementwise/elementwise_data.hpp"
#include "workloads/npu/elementwise/expected_time.hpp"
#include "workloads/npu/elementwise/mapping_problems.hpp"
#include "workloads/npu/elementwise/mapping_search.hpp"
#include "workloads/npu/mapping_name.hpp"
#include "workloads/npu/npu_machine.hpp"
#include "workloads/npu/product_dataflow.hpp"

namespace tilesim::workloads::npu::elementwise {

using arch::npu::NpuConfig;

namespace {

class ElementwiseKind final : public ProblemKind {
  public:
    std::string_view key() const override { return "elementwise"; }
    Problem read(ProblemSource& source) const override {
        ElementwiseProblem problem;
        auto node = source.node.child(key(), "C = operation(A, B), by elements or rows");
        read_keys(node, problem);
        return {*this, problem};
    }
    nlohmann::ordered_json describe(const Problem& problem) const override {
        const auto reader = [](auto& node, ElementwiseProblem& keys) { read_keys(node, keys); };
        return {{key(), keys_of(problem.get<ElementwiseProblem>(), reader)}};
    }
};

class Elementwise final : public ProductDataflow<ElementwiseMapping> {
  public:
    std::string_view name() const override { return "elementwise"; }
    std::string_view summary() const override { return "rows over the columns of an array"; }

    bool serves(const Problem& problem, const Device& device) const override {
        return problem.find<ElementwiseProblem>() != nullptr && tile_fed(device);
    }

    Choice choose(const Case& a_case, Runner& runner) const override {
        const auto why = [this, &a_case] {
            ElementwiseMapping smallest = stated_keys(a_case);
            smallest.buffers = a_case.mapping.empty() ? kFewestBuffers : smallest.buffers;
            const auto problems = problems_of(a_case.problem.get<ElementwiseProblem>(), smallest,
                                              a_case.device.get<NpuConfig>());
            return problems.empty() ? std::string{} : problems.front();
        };
        return best_expected(*this, a_case, runner, why);
    }

    std::vector<Refusal> refusals(const Case& a_case) const override {
        const std::string reason =
            arch::npu::core::KernelTiming(a_case.device.get<NpuConfig>().kernels)
                .check(kernel_of(a_case.problem.get<ElementwiseProblem>(), 1));
        if (!reason.empty()) {
            return {{"workload", reason}};
        }
        return complete(a_case.mapping)
                   ? refused(problems_of(a_case.problem.get<ElementwiseProblem>(),
                                         given(a_case).keys, a_case.device.get<NpuConfig>()))
                   : std::vector<Refusal>{};
    }

    std::unique_ptr<Job> lower(const Case& a_case, RunResult& result) const override {
        const auto& problem = a_case.problem.get<ElementwiseProblem>();
        const auto& config = a_case.device.get<NpuConfig>();
        const Given& map = given(a_case);
        auto lowered =
            std::make_shared<LoweredElementwise>(elementwise::lower(problem, map.keys, config));
        LoweredProduct product;
        const ElementwiseProblem called = as_called(problem, map.keys);
        product.bounds = bounds_of(called, map.keys, config, path_of(a_case.device));
        product.padding_waste = 1.0 - static_cast<double>(problem.m * problem.n) /
                                          static_cast<double>(lowered->padded_m * called.n);
        product.kernel_cycles = map.kernel_cycles;
        product.summary =
            fmt::format("# padded to {} rows of {}; {} cores, {} kernel calls each\n",
                        lowered->padded_m, called.n, map.keys.cores_of(config), lowered->calls);
        product.contents = {[problem, lowered, seed = a_case.run.seed](auto& store, auto&) {
                                fill_operands(problem, *lowered, seed, store);
                            },
                            [problem, lowered](auto& store, auto&) {
                                return check_result(problem, *lowered, store);
                            }};
        product.program = lowered->program;  // the operands stay known to `contents`
        return product_job(a_case, std::move(product), result);
    }

    std::vector<Candidate> candidates(const Case& a_case) const override {
        const auto& problem = a_case.problem.get<ElementwiseProblem>();
        const auto& config = a_case.device.get<NpuConfig>();
        std::vector<ElementwiseMapping> list = with_stated(a_case, mappings_of(problem, config));
        std::erase_if(list, [&](const ElementwiseMapping& map) {
            return !problems_of(problem, map, config).empty();
        });
        return named(a_case, list);
    }

    std::vector<Candidate> variants(const Case& a_case, const Mapping& mapping) const override {
        return as_stated(a_case, named(a_case, variants_of(a_case.problem.get<ElementwiseProblem>(),
                                                           given(mapping).keys,
                                                           a_case.device.get<NpuConfig>())));
    }

  private:
    static std::string name_of(const ElementwiseProblem& problem, const ElementwiseMapping& map,
                               const NpuConfig& config) {
        const std::string call = map.elements_per_call > 0
                                     ? fmt::format("{} elements", map.elements_per_call)
                                     : fmt::format("{} rows of {}", map.rows_per_call, problem.n);
        MappingName name(fmt::format("{} columns of {} cores, {} a call", map.columns_of(config),
                                     map.cores, call));
        name.other("buffers", map.buffers, ElementwiseMapping{}.buffers);
        return name.take();
    }

    std::vector<Candidate> named(const Case& a_case,
                                 const std::vector<ElementwiseMapping>& maps) const {
        const auto& problem = a_case.problem.get<ElementwiseProblem>();
        const auto& config = a_case.device.get<NpuConfig>();
        const MemoryPath path = path_of(a_case.device);
        std::vector<Candidate> list;
        for (const ElementwiseMapping& map : maps) {
            const ElementwiseProblem called = as_called(problem, map);
            list.push_back(candidate_of(a_case, name_of(problem, map, config), map,
                                        bounds_of(called, map, config, path),
                                        expected_ns(called, map, config, path)));
        }
        return list;
    }
};

}  // namespace

const ProblemKind& elementwise_kind() {
    static const ElementwiseKind kind;
    return kind;
}

const Dataflow& elementwise_dataflow() {
    static const Elementwise dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::npu::elementwise
