#include "sim/scenario_training.hpp"

#include <fmt/format.h>

#include <set>

#include "arch/npu/core/kernel_timing.hpp"
#include "sim/paths.hpp"

namespace tilesim::sim {

using arch::base::config::ConfigError;
using arch::base::config::Document;
using arch::base::config::Node;

namespace {

// GEMMs have extents up to this.
constexpr std::int64_t kMostTokens = 1 << 20;

void check_products(Node& root, const Scenario& scenario, const TrainingWorkload& training) {
    const arch::npu::NpuConfig& npu = *scenario.device.npu;
    const OffloadMapping offload = scenario.offload.value_or(OffloadMapping{});
    if (arch::npu::core::KernelTiming(npu.kernels)
            .find_mode(offload.operands, offload.operands, offload.result) == nullptr) {
        root.error("mapping", fmt::format("offload: '{}' has no {} x {} -> {} multiply",
                                          scenario.device.name, name_of(offload.operands),
                                          name_of(offload.operands), name_of(offload.result)));
        return;
    }
    const auto* map = std::get_if<workloads::OutputStationaryMapping>(&scenario.mapping);
    if (map == nullptr) {
        return;
    }
    std::set<std::string> said;  // most problems are the same for every product
    for (const auto& each : workloads::training_step(training.model, training.shape)) {
        if (!each.product) {
            continue;
        }
        for (const std::string& problem :
             workloads::problems_of(gemm_of(*each.product, offload), *map, npu)) {
            if (said.insert(problem).second) {
                root.error("mapping", problem);
            }
        }
    }
}

}  // namespace

workloads::TransformerModel load_model(Node& node, const std::string& name) {
    workloads::TransformerModel model;
    if (name.empty()) {
        return model;  // already reported
    }
    try {
        Document document = Document::load(model_file(name));
        model = workloads::read_transformer(document.root());
        document.finish();
    } catch (const ConfigError& error) {
        node.error("model", error.what());
    }
    return model;
}

bool is_training(const Node& node) {
    return node.has("batch") || node.has("sequence") || node.has("phase");
}

TrainingWorkload read_training(Node& node) {
    TrainingWorkload training;
    std::string name;
    node.required("model", name, "a shipped transformer, or the path of a model file");
    node.required("batch", training.shape.batch, {1, kMostTokens}, "sequences worked on at once");
    node.required("sequence", training.shape.sequence, {1, kMostTokens}, "tokens of each");
    using Phase = TrainingWorkload::Phase;
    node.optional(
        "phase", training.phase,
        {{"forward", Phase::Forward}, {"backward", Phase::Backward}, {"step", Phase::Step}},
        "forward with the loss, backward, or both and the update of the weights");
    training.model = load_model(node, name);
    const std::int64_t positions = training.model.positions;
    if (positions > 0 && training.shape.sequence > positions) {
        node.error("sequence", fmt::format("must be 1..{}, the positions '{}' knows; got {}",
                                           positions, name, training.shape.sequence));
    } else if (training.shape.tokens() > kMostTokens) {
        node.error("batch", fmt::format("batch x sequence must be at most {}, got {}", kMostTokens,
                                        training.shape.tokens()));
    }
    return training;
}

OffloadMapping read_offload(Node node) {
    OffloadMapping offload;
    using Reconfiguration = OffloadMapping::Reconfiguration;
    node.optional(
        "reconfiguration", offload.reconfiguration,
        {{"minimal", Reconfiguration::Minimal}, {"whole_array", Reconfiguration::WholeArray}},
        "what a new problem size costs");
    node.optional("b_layout", offload.b_column_major,
                  {{"column_major", true}, {"row_major", false}}, "how the array reads B");
    node.optional("operands", offload.operands, arch::npu::kDataTypes, "type of A and B");
    node.optional("result", offload.result, arch::npu::kDataTypes, "type of C");
    node.optional("parallel_copies", offload.parallel_copies,
                  "whether all cores copy, or one does");
    node.optional("parallel_operators", offload.parallel_operators,
                  "whether all cores share every operator, or only those llm.c shares out");
    node.done();
    return offload;
}

workloads::GemmProblem gemm_of(const workloads::TrainingProduct& product,
                               const OffloadMapping& offload) {
    return {product.m,
            product.k,
            product.n,
            offload.operands,
            offload.operands,
            offload.result,
            offload.b_column_major};
}

bool check_training(Node& root, const Scenario& scenario) {
    const auto* training = std::get_if<TrainingWorkload>(&scenario.workload);
    if (training == nullptr) {
        if (scenario.offload) {
            root.error("mapping", "offload: only a training step (model, batch, sequence) has it");
            return true;
        }
        return false;
    }
    if (!scenario.device.npu || !scenario.device.host) {
        root.error("device",
                   fmt::format("'{}' has no {}, which a training step needs", scenario.device.name,
                               !scenario.device.npu ? "NPU" : "`host` section"));
        return true;
    }
    if (scenario.run.functional) {
        root.error("run", "functional mode needs a gemm: a training step has no data of its own");
    }
    if (!std::holds_alternative<std::monostate>(scenario.mapping) &&
        !std::holds_alternative<workloads::OutputStationaryMapping>(scenario.mapping)) {
        root.error("mapping", "this workload needs output_stationary");
        return true;
    }
    check_products(root, scenario, *training);
    return true;
}

}  // namespace tilesim::sim
