#include "workloads/npu/gemv/gemv_dataflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "arch/base/limit.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "workloads/default_mapping.hpp"
#include "workloads/gemm.hpp"
#include "workloads/gemv.hpp"
#include "workloads/npu/deciding_limits.hpp"
#include "workloads/npu/gemv/bounds.hpp"
#include "workloads/npu/gemv/expected_time.hpp"
#include "workloads/npu/gemv/gemv.hpp"
#include "workloads/npu/gemv/gemv_data.hpp"
#include "workloads/npu/gemv/mapping_problems.hpp"
#include "workloads/npu/gemv/mapping_search.hpp"
#include "workloads/npu/mapping_name.hpp"
#include "workloads/npu/npu_machine.hpp"
#include "workloads/npu/product_dataflow.hpp"

namespace tilesim::workloads::npu::gemv {

using arch::npu::NpuConfig;

namespace {

// A GEMM of one row is the product of B's columns, which lie one after the other, with that row.
MatrixVector problem_of(const Problem& problem) {
    if (const auto* gemm = problem.find<GemmProblem>()) {
        return {gemm->n, gemm->k, gemm->b, gemm->a, gemm->c, 0};
    }
    const auto& gemv = problem.get<GemvProblem>();
    return {gemv.m, gemv.k, gemv.weights, gemv.input, gemv.accumulate, gemv.scale_block};
}

// Empty: there is one.
std::string why_no_kernel(const Problem& problem, const Device& device) {
    return arch::npu::core::KernelTiming(device.get<NpuConfig>().kernels)
        .check(matvec_kernel(problem_of(problem), 1, 1));
}

std::string name_of(const GemvMapping& map, const NpuConfig& config) {
    MappingName name(fmt::format("{} columns of {}, {} rows a call, {}, {}", map.columns_of(config),
                                 map.rows, map.rows_per_call,
                                 map.direct() ? "direct" : "memory_tile",
                                 map.order == GemvMapping::Order::Apart ? "apart" : "in turn"));
    const GemvMapping usual;
    name.add_if(map.one_vector_stream, "one vector stream");
    name.add_if(map.vector == GemvMapping::Vector::EachCall, "vector each call");
    name.other("rows a core", map.core_rows(), map.rows_per_call);
    name.other("reach", map.reach, usual.reach);
    name.other("in flight", map.in_flight, usual.in_flight);
    name.other("A buffers", map.a_buffers, usual.a_buffers);
    name.other("x buffers", map.x_buffers, usual.x_buffers);
    name.other("y buffers", map.y_buffers, usual.y_buffers);
    name.other("panels", map.panels, usual.panels);
    return name.take();
}

class Gemv final : public ProductDataflow<GemvMapping> {
  public:
    std::string_view name() const override { return "gemv"; }
    std::string_view summary() const override {
        return "rows of a matrix over columns and cores, times a vector";
    }

    bool serves(const Problem& problem, const Device& device) const override {
        const auto* gemm = problem.find<GemmProblem>();
        if (!tile_fed(device)) {
            return false;
        }
        // What no kernel multiplies is refused with the types there are, unless it is a GEMM, which
        // others run.
        return problem.find<GemvProblem>() != nullptr ||
               (gemm != nullptr && gemm->m == 1 && gemm->b_column_major &&
                why_no_kernel(problem, device).empty());
    }

    // Of a small product the start and the end, which no estimate knows well, are more, and a
    // simulation is soon over. Of larger ones only how many columns lie well in the banks of DRAM
    // is not known.
    Choice choose(const Case& a_case, Runner& runner) const override {
        constexpr double kSmallMacs = 1 << 22;
        constexpr double kLargeMacs = 1 << 26;
        constexpr std::size_t kTried = 6;
        const MatrixVector problem = problem_of(a_case.problem);
        const auto& config = a_case.device.get<NpuConfig>();
        if (!a_case.mapping.empty()) {  // it states some of its keys
            const auto why = [&] {
                return first_problem(problem, least_of(stated_keys(a_case)), config);
            };
            return best_expected(*this, a_case, runner, why);
        }
        if (problem.macs() <= kSmallMacs && !mappings_of(problem, config).empty()) {
            return best_expected(*this, a_case, runner);
        }
        std::vector<GemvMapping> promising =
            promising_mappings(problem, config, path_of(a_case.device));
        if (problem.macs() <= kLargeMacs) {
            promising.resize(std::min(promising.size(), kTried));
            Choice choice = fastest_of(named(a_case, promising), a_case, runner);
            choice.time_ns = 0;  // no other dataflow reads the matrix faster: none is tried
            return choice;
        }
        return {mapping_of(a_case, promising.front()),
                "no mapping given: a matrix-vector one, expected to be fastest, see `mapping`"};
    }

    std::vector<Refusal> refusals(const Case& a_case) const override {
        if (const std::string reason = why_no_kernel(a_case.problem, a_case.device);
            !reason.empty()) {
            return {{"workload", reason}};
        }
        return complete(a_case.mapping)
                   ? refused(problems_of(problem_of(a_case.problem), given(a_case).keys,
                                         a_case.device.get<NpuConfig>()))
                   : std::vector<Refusal>{};
    }

    std::vector<UnfeltKey> unfelt(const Case& a_case) const override {
        const GemvMapping& map = given(a_case).keys;
        const GemvShape shape =
            shape_of(problem_of(a_case.problem), map, a_case.device.get<NpuConfig>());
        const std::int64_t tasks = shape.tasks();
        UnfeltKeys<GemvMapping> keys("mapping.gemv.", map);
        if (map.direct()) {
            keys.add("panels", &GemvMapping::panels, "they are for path: memory_tile");
        }
        if (shape.columns == 1) {
            keys.add("one_vector_stream", &GemvMapping::one_vector_stream, "there is one column");
        }
        if (tasks == 1 || arch::base::spares(map.in_flight, tasks)) {
            keys.add("in_flight", &GemvMapping::in_flight,
                     fmt::format("a shim has {} reach{} to move", tasks, tasks == 1 ? "" : "es"));
        }
        const std::string steps =
            fmt::format("there {} {} step{} to move", shape.steps == 1 ? "is" : "are", shape.steps,
                        shape.steps == 1 ? "" : "s");
        if (shape.steps == 1 || arch::base::spares(map.reach, shape.steps)) {
            keys.add("reach", &GemvMapping::reach, steps);
        }
        if (shape.steps == 1) {
            keys.add("order", &GemvMapping::order, steps);
        }
        return keys.take();
    }

    std::unique_ptr<Job> lower(const Case& a_case, RunResult& result) const override {
        const auto& config = a_case.device.get<NpuConfig>();
        const Given& map = given(a_case);
        const MatrixVector problem = problem_of(a_case.problem);
        auto lowered = std::make_shared<LoweredGemv>(gemv::lower(problem, map.keys, config));
        const GemvShape& shape = lowered->shape;
        LoweredProduct product;
        product.macs = problem.macs();
        product.bounds = bounds_of(problem, map.keys, config, path_of(a_case.device));
        product.padding_waste = 1.0 - problem.macs() / (static_cast<double>(shape.padded_m()) *
                                                        static_cast<double>(shape.k));
        product.kernel_cycles = map.kernel_cycles;
        product.deciding_limits = deciding_limits(config, [&](const NpuConfig& device) {
            const GemvShape other = shape_of(problem, map.keys, device);
            return std::pair{other.reach, std::min(other.slots, other.tasks())};
        });
        product.summary = fmt::format(
            "# padded to {} x {}; {} cores, {} steps of {} rows a core, {} kernel calls each\n"
            "# core memory {} of {} B\n",
            shape.padded_m(), shape.k, shape.cores(), shape.steps, shape.core_rows, shape.calls(),
            lowered->core_bytes, config.core.memory.count());
        product.contents = {[problem, lowered, seed = a_case.run.seed](auto& store, auto&) {
                                fill_operands(problem, *lowered, seed, store);
                            },
                            [problem, lowered](auto& store, auto&) {
                                return check_product(problem, *lowered, store);
                            }};
        product.program = lowered->program;  // the operands stay known to `contents`
        return product_job(a_case, std::move(product), result);
    }

    std::vector<Candidate> candidates(const Case& a_case) const override {
        const MatrixVector problem = problem_of(a_case.problem);
        const auto& config = a_case.device.get<NpuConfig>();
        std::vector<GemvMapping> list = with_stated(a_case, mappings_of(problem, config));
        std::erase_if(list, [&](const GemvMapping& map) {
            return !problems_of(problem, map, config).empty();
        });
        return named(a_case, list);
    }

    std::vector<Candidate> variants(const Case& a_case, const Mapping& mapping) const override {
        return as_stated(a_case,
                         named(a_case, variants_of(problem_of(a_case.problem), given(mapping).keys,
                                                   a_case.device.get<NpuConfig>())));
    }

  private:
    // Empty: there is none.
    static std::string first_problem(const MatrixVector& problem, const GemvMapping& map,
                                     const NpuConfig& config) {
        const auto problems = problems_of(problem, map, config);
        return problems.empty() ? std::string{} : problems.front();
    }

    std::vector<Candidate> named(const Case& a_case, const std::vector<GemvMapping>& maps) const {
        const auto& config = a_case.device.get<NpuConfig>();
        const MatrixVector problem = problem_of(a_case.problem);
        const MemoryPath path = path_of(a_case.device);
        std::vector<Candidate> list;
        for (const GemvMapping& map : maps) {
            list.push_back(candidate_of(a_case, name_of(map, config), map,
                                        bounds_of(problem, map, config, path),
                                        expected_ns(problem, map, config, path)));
        }
        return list;
    }
};

}  // namespace

const Dataflow& gemv_dataflow() {
    static const Gemv dataflow;
    return dataflow;
}

}  // namespace tilesim::workloads::npu::gemv
