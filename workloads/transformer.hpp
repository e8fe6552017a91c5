// A decoder-only transformer as the matrix products of its layers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/base/config.hpp"

namespace tilesim::workloads {

struct TransformerModel {
    std::string name;
    std::int64_t layers = 0;
    std::int64_t hidden = 0;
    std::int64_t heads = 0;
    std::int64_t feed_forward = 0;
    std::int64_t vocabulary = 0;
    std::int64_t positions = 0;  // learned position embeddings; 0: not stated

    // A weight matrix of a layer: rows (outputs) x columns (inputs).
    struct Matrix {
        std::string name;
        std::int64_t rows = 0;
        std::int64_t columns = 0;
    };
    // In the order a token passes them: QKV, projection, first and second feed-forward.
    std::vector<Matrix> layer_matrices() const;
};

TransformerModel read_transformer(arch::base::config::Node node);
// The transformer `name` stands for; an empty one, with an error at the key `model` of `node`, when
// there is none.
TransformerModel load_transformer(arch::base::config::Node& node, const std::string& name);

}  // namespace tilesim::workloads
