// One training step of a decoder-only transformer: every operator in order, with the shapes of its
// matrix products and the work of everything else.
//
// The operators are those of the public trainer llm.c (train_gpt2.c): layer normalisation before
// attention and feed-forward, causal attention, GELU, tied embedding and output matrix, AdamW;
// values in f32. `serial` below are the loops it runs on one core.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "arch/host/matrix_loops.hpp"
#include "arch/host/roofline.hpp"
#include "workloads/transformer.hpp"

namespace tilesim::workloads::npu::training {

enum class TrainingPhase { Forward, Backward, Update };
const char* name_of(TrainingPhase phase);

struct TrainingShape {
    std::int64_t batch = 0;
    std::int64_t sequence = 0;
    std::int64_t tokens() const { return batch * sequence; }
};

// C (m x n) = A (m x k) * B (k x n).
struct TrainingProduct {
    enum class Pass { Forward, InputGradient, WeightGradient } pass = Pass::Forward;
    std::int64_t m = 0, k = 0, n = 0;
    bool a_column_major = false;  // as the trainer stores it
    bool b_column_major = false;
    bool adds = false;  // to what C holds
    bool bias = false;  // a row is added to every row of C

    using Size = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
    Size size() const { return {m, k, n}; }
    double flop() const {
        return 2 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
    }
    arch::host::MatrixLoop loop() const;  // the trainer's, on the processor
};
const char* name_of(TrainingProduct::Pass pass);

struct TrainingOperator {
    std::string name;
    TrainingPhase phase = TrainingPhase::Forward;
    std::optional<TrainingProduct> product;  // otherwise `work`
    arch::host::Work work;
};

// Weights of the model, the output matrix shared with the embedding.
std::int64_t parameters_of(const TransformerModel& model);
// Values the forward pass keeps for the backward pass.
std::int64_t activations_of(const TransformerModel& model, TrainingShape shape);

// All operators of a step in the order in which they run.
std::vector<TrainingOperator> training_step(const TransformerModel& model, TrainingShape shape);

}  // namespace tilesim::workloads::npu::training
