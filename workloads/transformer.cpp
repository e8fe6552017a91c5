#include "workloads/transformer.hpp"

#include <cmath>

#include "workloads/paths.hpp"

namespace tilesim::workloads {

std::vector<TransformerModel::Matrix> TransformerModel::layer_matrices() const {
    const std::int64_t width = heads * size_of_head();
    std::vector<Matrix> matrices{{"qkv", width + 2 * key_heads() * size_of_head(), hidden},
                                 {"projection", hidden, width}};
    if (experts > 1) {
        matrices.push_back({"router", experts, hidden});
    }
    matrices.push_back({gated ? "gate_up" : "fc1", (gated ? 2 : 1) * feed_forward, hidden, experts,
                        experts_per_token});
    matrices.push_back({gated ? "down" : "fc2", hidden, feed_forward, experts, experts_per_token});
    return matrices;
}

double matrices_read(double copies, double uses, double tokens) {
    return copies * (1 - std::pow(1 - uses / copies, tokens));
}

std::int64_t tokens_of_each(double copies, double uses, std::int64_t tokens) {
    const auto all = static_cast<double>(tokens);
    return std::llround(uses * all / matrices_read(copies, uses, all));
}

TransformerModel read_transformer(arch::base::config::Node node) {
    TransformerModel model;
    const arch::base::config::Range size{1, 1 << 24};
    node.required("name", model.name, "the model's name");
    node.required("layers", model.layers, size, "transformer blocks");
    node.required("hidden", model.hidden, size, "width of the residual stream");
    node.required("heads", model.heads, size, "attention heads");
    node.required("feed_forward", model.feed_forward, size, "inner width of the feed-forward part");
    node.required("vocabulary", model.vocabulary, size, "tokens");
    node.optional("positions", model.positions, {0, size.most}, "learned position embeddings");
    node.optional("kv_heads", model.kv_heads, {0, size.most},
                  "heads of keys and values, shared by groups of heads; 0: as many as heads");
    node.optional("head_size", model.head_size, {0, size.most}, "of a head; 0: hidden / heads");
    node.optional("gated", model.gated, "whether the feed-forward part multiplies two branches");
    node.optional("experts", model.experts, size, "feed-forward parts a router chooses from");
    node.optional("experts_per_token", model.experts_per_token, size, "that a token passes");
    if (model.heads > 0 && model.head_size == 0 && model.hidden % model.heads != 0) {
        node.error("heads", "must divide hidden");
    }
    if (model.heads > 0 && model.kv_heads > 0 && model.heads % model.kv_heads != 0) {
        node.error("kv_heads", "must divide heads");
    }
    if (model.experts_per_token > model.experts) {
        node.error("experts_per_token", "must not exceed experts");
    }
    node.done();
    return model;
}

TransformerModel load_transformer(arch::base::config::Node& node, const std::string& name) {
    TransformerModel model;
    if (name.empty()) {
        return model;  // already reported
    }
    try {
        auto document = arch::base::config::Document::load(model_file(named_in(node.file(), name)));
        model = read_transformer(document.root());
        document.finish();
    } catch (const arch::base::config::ConfigError& error) {
        node.error("model", error.what());
    }
    return model;
}

}  // namespace tilesim::workloads
