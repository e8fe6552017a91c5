#include "workloads/npu/fused_cast/fused_cast.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "workloads/npu/elementwise/bounds.hpp"
#include "workloads/npu/elementwise/elementwise.hpp"
#include "workloads/npu/elementwise/mapping_problems.hpp"
#include "workloads/npu/output_stationary/bounds.hpp"
#include "workloads/npu/output_stationary/gemm_view.hpp"
#include "workloads/npu/output_stationary/mapping_problems.hpp"
#include "workloads/npu/output_stationary/output_stationary.hpp"
#include "workloads/npu/run_time_sequence.hpp"

namespace tilesim::workloads::npu::fused_cast {

using namespace arch::npu;

namespace {

// Arguments of the whole; the product calls its C the third, too.
constexpr std::int64_t kSums = 2, kResult = 3;

// Adds the result behind the product's arguments, and lets the cast read and write these.
void share_arguments(program::Program& product, program::Program& cast) {
    // The cast works on whole calls, which may reach beyond the product.
    const std::int64_t sums =
        std::max(product.external_buffers[kSums].bytes, cast.external_buffers[0].bytes);
    const std::vector<Argument> arguments{{"A", product.external_buffers[0].bytes},
                                          {"B", product.external_buffers[1].bytes},
                                          {"sums", sums},
                                          {"C", cast.external_buffers[1].bytes}};
    product.external_buffers.clear();
    place_arguments(product, arguments);
    cast.external_buffers = product.external_buffers;
    for (program::SequenceOp& operation : cast.sequence) {
        if (auto* write = std::get_if<program::WriteDescriptor>(&operation)) {
            write->descriptor.buffer += kSums;
        }
    }
}

}  // namespace

void read_keys(arch::base::config::Node& node, FusedCastMapping& map) {
    node.optional("set_up", map.set_up, kSetUps,
                  "whether each launch writes its configuration in the run-time sequence, or the "
                  "firmware loads the second");
    auto product = node.child("output_stationary", "the launch that multiplies");
    output_stationary::read_keys(product, map.product);
    if (output_stationary::leaves_open(product, map.product) && !node.describing()) {
        product.error("", "m_ct, k_ct and n_ct must be given, which nothing chooses here");
    }
    auto cast = node.child("elementwise", "the launch that casts");
    elementwise::read_keys(cast, map.cast);
    node.done();
}

GemmProblem product_of(const GemmProblem& problem) {
    GemmProblem product = problem;
    product.c = DataType::F32;
    return product;
}

elementwise::ElementwiseProblem cast_of(const GemmProblem& problem, const FusedCastMapping& map,
                                        const NpuConfig& config) {
    const output_stationary::PaddedGemm size = output_stationary::padded(
        output_stationary::view_of(product_of(problem), map.product), config);
    elementwise::ElementwiseProblem cast;
    cast.operation = program::VectorOperation::Cast;
    cast.m = size.m;
    cast.n = size.n;
    cast.a = DataType::F32;
    cast.c = problem.c;
    return cast;
}

std::vector<std::string> problems_of(const GemmProblem& problem, const FusedCastMapping& map,
                                     const NpuConfig& config) {
    if (problem.c != DataType::Bf16) {
        return {
            fmt::format("sums in f32 are cast to a C of bf16, not of {}; the nearest that can: "
                        "mapping.output_stationary",
                        name_of(problem.c))};
    }
    if (map.product.sums_apart) {
        return {"output_stationary: the product's C are the f32 sums: sums has to be in_c"};
    }
    std::vector<std::string> problems =
        output_stationary::problems_of(product_of(problem), map.product, config);
    for (std::string& each : problems) {
        each.insert(0, "output_stationary: ");
    }
    if (!problems.empty()) {
        return problems;  // it has no size for the cast
    }
    problems = elementwise::problems_of(cast_of(problem, map, config), map.cast, config);
    for (std::string& each : problems) {
        each.insert(0, "elementwise: ");
    }
    return problems;
}

GemmBounds bounds_of(const GemmProblem& problem, const FusedCastMapping& map,
                     const NpuConfig& config, const MemoryPath& path) {
    GemmBounds bounds =
        output_stationary::bounds_of(product_of(problem), map.product, config, path);
    const GemmBounds cast = elementwise::bounds_of(
        elementwise::as_called(cast_of(problem, map, config), map.cast), map.cast, config, path);
    bounds.compute_ns += cast.compute_ns;
    bounds.stream_ns += cast.stream_ns;
    bounds.memory_ns += cast.memory_ns;
    bounds.dram_bytes += cast.dram_bytes;
    return bounds;
}

LoweredFusedCast lower(const GemmProblem& problem, const FusedCastMapping& map,
                       const NpuConfig& config) {
    const auto problems = problems_of(problem, map, config);
    if (!problems.empty()) {
        throw arch::base::config::ConfigError(
            fmt::format("mapping.fused_cast: {}", fmt::join(problems, "; ")));
    }
    const GemmProblem product_problem = product_of(problem);
    auto product = output_stationary::lower(product_problem, map.product, config);
    auto cast = elementwise::lower(cast_of(problem, map, config), map.cast, config).program;
    LoweredFusedCast lowered;
    lowered.padding_waste = product.padding_waste(product_problem);
    share_arguments(product.program, cast);
    lowered.matrices = matrices_of(product);
    lowered.matrices.c = product.program.external_buffers[kResult].address;
    lowered.program = std::move(product.program);
    if (map.set_up == SetUp::Written) {
        lowered.writes = {write_configuration(lowered.program, config),
                          write_configuration(cast, config)};
    }
    lowered.program.then.push_back(std::move(cast));
    return lowered;
}

}  // namespace tilesim::workloads::npu::fused_cast
