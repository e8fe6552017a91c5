#include "workloads/npu/training/training_workload.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "arch/base/config.hpp"

namespace tilesim::workloads::npu::training {

using arch::base::config::Node;
using Json = nlohmann::ordered_json;

namespace {

// GEMMs have extents up to this.
constexpr std::int64_t kMostTokens = 1 << 20;

bool wanted(TrainingPhase phase, TrainingWorkload::Phase workload) {
    using Phase = TrainingWorkload::Phase;
    return workload == Phase::Step ||
           phase == (workload == Phase::Forward ? TrainingPhase::Forward : TrainingPhase::Backward);
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
    training.model = load_transformer(node, name);
    if (training.model.experts > 1) {
        node.error("model", fmt::format("a training step has no router and no experts, of which "
                                        "'{}' has {}",
                                        name, training.model.experts));
    }
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

class TrainingKind final : public ProblemKind {
  public:
    std::string_view key() const override { return "model"; }
    std::string hint() const override {
        return "; a training step needs an NPU with a `host` section";
    }
    bool found(const Node& node) const override {
        return node.has("model") && (node.has("sequence") || node.has("phase"));
    }
    Problem read(ProblemSource& source) const override {
        return {*this, read_training(source.node)};
    }
    Json describe(const Problem& problem) const override {
        const auto& training = problem.get<TrainingWorkload>();
        return {{"model", training.model.name},
                {"batch", training.shape.batch},
                {"sequence", training.shape.sequence},
                {"phase", name_of(training.phase)}};
    }
};

}  // namespace

const char* name_of(TrainingWorkload::Phase phase) {
    using Phase = TrainingWorkload::Phase;
    return phase == Phase::Forward ? "forward" : phase == Phase::Backward ? "backward" : "step";
}

std::vector<TrainingOperator> operators_of(const TrainingWorkload& training) {
    std::vector<TrainingOperator> operators;
    for (TrainingOperator& each : training_step(training.model, training.shape)) {
        if (wanted(each.phase, training.phase)) {
            operators.push_back(std::move(each));
        }
    }
    return operators;
}

const ProblemKind& training_kind() {
    static const TrainingKind kind;
    return kind;
}

}  // namespace tilesim::workloads::npu::training
