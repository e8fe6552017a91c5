#include "workloads/pim/transformer/model_workload.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/base/config.hpp"
#include "arch/npu/core/kernel_timing.hpp"
#include "arch/npu/npu_config.hpp"
#include "workloads/paths.hpp"

namespace tilesim::workloads::pim::transformer {

using arch::base::config::ConfigError;
using arch::base::config::Node;
using Json = nlohmann::ordered_json;

namespace {

// The NPU that takes the prompt's matrices, and the widest type its products can have.
void read_prompt_device(ProblemSource& source, ModelWorkload& workload) {
    Node& node = source.node;
    std::string name;
    node.optional("prompt_device", name, "NPU for the prompt's matrices; left out: roofline");
    if (name.empty()) {
        return;
    }
    try {
        workload.prompt_device = source.load_device(named_in(source.file, name));
    } catch (const ConfigError& error) {
        node.error("prompt_device", error.what());
        return;
    }
    const auto* npu = workload.prompt_device->find<arch::npu::NpuConfig>();
    if (npu == nullptr) {
        node.error("prompt_device", fmt::format("'{}' is no NPU", name));
        return;
    }
    using arch::base::DataType;
    const arch::npu::core::KernelTiming timing(npu->kernels);
    for (const DataType result :
         {DataType::Int32, DataType::F32, DataType::Int16, DataType::Bf16}) {
        const bool has =
            timing.find_mode(workload.format.input, workload.format.weights, result) != nullptr;
        if (has && !workload.prompt_result) {
            workload.prompt_result = result;
        }
    }
    if (!workload.prompt_result) {
        node.error("prompt_device", fmt::format("'{}' does not multiply {} by {}", name,
                                                arch::base::name_of(workload.format.input),
                                                arch::base::name_of(workload.format.weights)));
    }
}

void check_places(Node& node, const ModelWorkload& workload) {
    const Places& places = workload.places;
    for (const Place place :
         {places.qkv, places.projection, places.router, places.up, places.down, places.head}) {
        if (place == Place::Npu && !workload.prompt_device && !node.describing()) {
            node.error("place", "npu needs a prompt_device");
            break;
        }
    }
}

class ModelKind final : public ProblemKind {
  public:
    std::string_view key() const override { return "model"; }
    std::string hint() const override {
        return ", which has no processing in memory; a training step on an NPU says batch and "
               "sequence";
    }

    Problem read(ProblemSource& source) const override {
        Node& node = source.node;
        ModelWorkload workload;
        std::string name;
        node.required("model", name, "a shipped transformer, or the path of a model file");
        const arch::base::config::Range tokens{0, 1 << 20};
        node.optional("prompt", workload.prompt, tokens, "tokens given, worked on at once");
        node.optional("generate", workload.generate, tokens, "tokens generated, one by one");
        node.optional("batch", workload.batch, {1, 4096}, "sequences side by side");
        read_gemv_format(node, workload.format);
        if (is_float(workload.format.weights) != is_float(workload.format.input)) {
            node.error("weights",
                       "the units at the banks multiply integers by integers or floats by floats");
        }
        read_prompt_device(source, workload);
        read_places(node, workload.places);
        check_places(node, workload);
        workload.model = load_transformer(node, name);
        const std::int64_t tokens_in_all = workload.prompt + workload.generate;
        if (tokens_in_all == 0) {
            node.error("generate", "with a prompt of 0 there is nothing to do: must be at least 1");
        }
        if (workload.model.positions > 0 && tokens_in_all > workload.model.positions) {
            node.error("model", fmt::format("'{}' knows {} positions; prompt and generate are {}",
                                            name, workload.model.positions, tokens_in_all));
        }
        return {*this, std::move(workload)};
    }

    Json describe(const Problem& problem) const override {
        const auto& workload = problem.get<ModelWorkload>();
        const Places& places = workload.places;
        return {{"model", workload.model.name},
                {"prompt", workload.prompt},
                {"generate", workload.generate},
                {"batch", workload.batch},
                {"place",
                 {{"qkv", name_of(places.qkv)},
                  {"attention", name_of(places.attention)},
                  {"projection", name_of(places.projection)},
                  {"router", name_of(places.router)},
                  {"up", name_of(places.up)},
                  {"down", name_of(places.down)},
                  {"head", name_of(places.head)}}}};
    }
};

}  // namespace

const char* name_of(Place place) {
    return place == Place::Banks ? "banks" : place == Place::Soc ? "soc" : "npu";
}

void read_places(Node& node, Places& places) {
    Node child = node.child("place", "where each operator runs while tokens are generated");
    const std::vector<std::pair<std::string_view, Place>> kPlaces{
        {"banks", Place::Banks}, {"soc", Place::Soc}, {"npu", Place::Npu}};
    const std::vector<std::pair<std::string_view, Place>> kOfAttention{{"banks", Place::Banks},
                                                                       {"soc", Place::Soc}};
    child.optional("qkv", places.qkv, kPlaces, "queries, keys and values");
    child.optional("attention", places.attention, kOfAttention, "over the cached keys and values");
    child.optional("projection", places.projection, kPlaces, "of the heads' outputs");
    child.optional("router", places.router, kPlaces, "of a mixture of experts");
    Place both = places.up;
    child.optional("feed_forward", both, kPlaces, "both its matrices");
    places.up = places.down = both;
    child.optional("up", places.up, kPlaces,
                   "its first matrix, with the gate; left out: feed_forward");
    child.optional("down", places.down, kPlaces, "its second matrix; left out: feed_forward");
    child.optional("head", places.head, kPlaces, "the vocabulary");
    child.done();
}

const ProblemKind& model_kind() {
    static const ModelKind kind;
    return kind;
}

}  // namespace tilesim::workloads::pim::transformer
