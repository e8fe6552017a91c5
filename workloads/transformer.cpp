#include "workloads/transformer.hpp"

#include "workloads/paths.hpp"

namespace tilesim::workloads {

std::vector<TransformerModel::Matrix> TransformerModel::layer_matrices() const {
    constexpr std::int64_t kQueryKeyValue = 3;
    return {{"qkv", kQueryKeyValue * hidden, hidden},
            {"projection", hidden, hidden},
            {"fc1", feed_forward, hidden},
            {"fc2", hidden, feed_forward}};
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
    if (model.heads > 0 && model.hidden % model.heads != 0) {
        node.error("heads", "must divide hidden");
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
        auto document = arch::base::config::Document::load(model_file(name));
        model = read_transformer(document.root());
        document.finish();
    } catch (const arch::base::config::ConfigError& error) {
        node.error("model", error.what());
    }
    return model;
}

}  // namespace tilesim::workloads
