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
    std::int64_t kv_heads = 0;   // of keys and values, shared by groups of heads; 0: `heads`
    std::int64_t head_size = 0;  // 0: hidden / heads
    bool gated = false;          // the feed-forward part multiplies two branches
    std::int64_t experts = 1;    // feed-forward parts, of which a router chooses
    std::int64_t experts_per_token = 1;

    std::int64_t key_heads() const { return kv_heads > 0 ? kv_heads : heads; }
    std::int64_t size_of_head() const { return head_size > 0 ? head_size : hidden / heads; }

    // A weight matrix of a layer: rows (outputs) x columns (inputs).
    struct Matrix {
        std::string name;
        std::int64_t rows = 0;
        std::int64_t columns = 0;
        std::int64_t copies = 1;  // in a layer: experts
        std::int64_t uses = 1;    // of them, by a token
    };
    // In the order a token passes them: QKV, projection, the router where there are experts, first
    // (two branches together where gated) and second feed-forward.
    std::vector<Matrix> layer_matrices() const;
};

// How many of `copies` matrices `tokens` tokens read, each choosing `uses` of them evenly, and how
// many of the tokens are at each of these on average.
double matrices_read(double copies, double uses, double tokens);
std::int64_t tokens_of_each(double copies, double uses, std::int64_t tokens);

TransformerModel read_transformer(arch::base::config::Node node);
// The transformer `name` stands for; an empty one, with an error at the key `model` of `node`, when
// there is none.
TransformerModel load_transformer(arch::base::config::Node& node, const std::string& name);

}  // namespace tilesim::workloads
