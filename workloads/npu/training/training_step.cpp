#include "workloads/npu/training/training_step.hpp"

#include <algorithm>

#include "workloads/npu/training/offloaded_call.hpp"

namespace tilesim::workloads::npu::training {

using arch::host::MatrixLoop;
using arch::host::Work;
using Pass = TrainingProduct::Pass;

namespace {

// Work of an element-wise loop.
Work elementwise(double elements, double operations, double words_read, double words_written) {
    Work work;
    work.operations = elements * operations;
    work.bytes_read = elements * words_read * kElementBytes;
    work.bytes_written = elements * words_written * kElementBytes;
    return work;
}

Work serial(Work work) {
    work.parallel = false;
    return work;
}

// Counts operations as the loops are written; a value that is read, changed and written back counts
// as written, because a written line is fetched first anyway.
class Step {
  public:
    Step(const TransformerModel& model, TrainingShape shape)
        : model_(model),
          shape_(shape),
          residual_(static_cast<double>(shape.tokens() * model.hidden)),
          inner_(static_cast<double>(shape.tokens() * model.feed_forward)),
          logits_(static_cast<double>(shape.tokens() * model.vocabulary)) {}

    std::vector<TrainingOperator> operators() {
        forward();
        backward();
        update();
        return std::move(operators_);
    }

  private:
    void host(const char* name, TrainingPhase phase, const Work& work) {
        operators_.push_back({name, phase, std::nullopt, work});
    }
    void forward_host(const char* name, const Work& work) {
        host(name, TrainingPhase::Forward, work);
    }
    void backward_host(const char* name, const Work& work) {
        host(name, TrainingPhase::Backward, work);
    }

    // out (tokens x outputs) = in (tokens x inputs) * W^T: W lies in rows of inputs.
    void forward_product(const TransformerModel::Matrix& matrix, bool bias) {
        operators_.push_back({matrix.name,
                              TrainingPhase::Forward,
                              TrainingProduct{Pass::Forward, shape_.tokens(), matrix.columns,
                                              matrix.rows, false, true, false, bias},
                              {}});
    }
    // The gradient of the inputs, d W, and of the weights, d^T in. Gradients of weights add up.
    void backward_products(const TransformerModel::Matrix& matrix, bool bias) {
        operators_.push_back({matrix.name,
                              TrainingPhase::Backward,
                              TrainingProduct{Pass::InputGradient, shape_.tokens(), matrix.rows,
                                              matrix.columns, false, false, false, false},
                              {}});
        operators_.push_back({matrix.name,
                              TrainingPhase::Backward,
                              TrainingProduct{Pass::WeightGradient, matrix.rows, shape_.tokens(),
                                              matrix.columns, true, false, true, false},
                              {}});
        if (bias) {
            const auto elements = static_cast<double>(shape_.tokens() * matrix.rows);
            backward_host("bias_gradient", elementwise(elements, 1, 1, 0));
        }
    }

    // The pairs of tokens causal attention looks at, over all heads of the batch.
    double pairs() const {
        return static_cast<double>(shape_.batch * model_.heads) *
               static_cast<double>(shape_.sequence * (shape_.sequence + 1)) / 2;
    }

    // Scores, softmax over each row, weighted values.
    Work attention_forward() const {
        const auto head = static_cast<double>(model_.hidden / model_.heads);
        constexpr double kSoftmax = 5;  // scale, maximum, difference, sum, division
        Work work = elementwise(residual_, 0, 3, 1);
        work.operations = pairs() * (4 * head + kSoftmax);
        work.functions = pairs();
        work.bytes_written +=
            2 * 2 * pairs() * kElementBytes;  // both score matrices, upper halves too
        return work;
    }

    // Both products twice, and the softmax's derivative for every pair of pairs of a row.
    Work attention_backward() const {
        const auto head = static_cast<double>(model_.hidden / model_.heads);
        const auto t = static_cast<double>(shape_.sequence);
        const double pairs_of_pairs =
            static_cast<double>(shape_.batch * model_.heads) * t * (t + 1) * (2 * t + 1) / 6;
        constexpr double kSoftmax = 4;
        Work work = elementwise(residual_, 0, 4, 3);
        work.operations = pairs() * 10 * head + pairs_of_pairs * kSoftmax;
        work.bytes_read += 2 * pairs() * kElementBytes;
        work.bytes_written += 2 * 2 * pairs() * kElementBytes;
        return serial(work);
    }

    void normalise() { forward_host("layernorm", serial(elementwise(residual_, 8, 1, 1))); }
    void normalise_backward() {
        backward_host("layernorm", serial(elementwise(residual_, 18, 2, 1)));
    }
    void add_residual() { forward_host("residual", serial(elementwise(residual_, 1, 2, 1))); }
    void add_residual_backward() {
        backward_host("residual", serial(elementwise(residual_, 2, 1, 2)));
    }

    TransformerModel::Matrix head() const { return {"head", model_.vocabulary, model_.hidden}; }

    void forward() {
        const auto matrices = model_.layer_matrices();
        forward_host("embedding", serial(elementwise(residual_, 1, 2, 1)));
        for (std::int64_t layer = 0; layer < model_.layers; ++layer) {
            normalise();
            forward_product(matrices[0], true);
            forward_host("attention", attention_forward());
            forward_product(matrices[1], true);
            add_residual();
            normalise();
            forward_product(matrices[2], true);
            Work gelu = elementwise(inner_, 9, 1, 1);
            gelu.functions = inner_;
            forward_host("gelu", serial(gelu));
            forward_product(matrices[3], true);
            add_residual();
        }
        normalise();
        forward_product(head(), false);
        Work softmax = elementwise(logits_, 4, 1, 1);
        softmax.functions = logits_;
        forward_host("softmax", softmax);
    }

    void backward() {
        const auto matrices = model_.layer_matrices();
        // The gradients of weights and of activations begin as zeros.
        const auto gradients =
            static_cast<double>(parameters_of(model_) + activations_of(model_, shape_));
        backward_host("zero_gradients", serial(elementwise(gradients, 0, 0, 1)));
        backward_host("loss", serial(elementwise(logits_, 3, 1, 1)));
        backward_products(head(), false);
        normalise_backward();
        for (std::int64_t layer = 0; layer < model_.layers; ++layer) {
            add_residual_backward();
            backward_products(matrices[3], true);
            Work gelu = elementwise(inner_, 20, 2, 1);
            gelu.functions = 2 * inner_;
            backward_host("gelu", serial(gelu));
            backward_products(matrices[2], true);
            normalise_backward();
            add_residual_backward();
            backward_products(matrices[1], true);
            backward_host("attention", attention_backward());
            backward_products(matrices[0], true);
            normalise_backward();
        }
        backward_host("embedding", serial(elementwise(residual_, 2, 1, 2)));
    }

    // AdamW: weight, gradient and two moments of every parameter.
    void update() {
        const auto weights = static_cast<double>(parameters_of(model_));
        constexpr double kOperations = 15;
        host("adamw", TrainingPhase::Update, serial(elementwise(weights, kOperations, 1, 3)));
    }

    const TransformerModel& model_;
    TrainingShape shape_;
    double residual_, inner_, logits_;  // elements
    std::vector<TrainingOperator> operators_;
};

}  // namespace

const char* name_of(TrainingPhase phase) {
    switch (phase) {
        case TrainingPhase::Forward:
            return "forward";
        case TrainingPhase::Backward:
            return "backward";
        case TrainingPhase::Update:
            return "update";
    }
    return "";
}

const char* name_of(Pass pass) {
    switch (pass) {
        case Pass::Forward:
            return "forward";
        case Pass::InputGradient:
            return "input_gradient";
        case Pass::WeightGradient:
            return "weight_gradient";
    }
    return "";
}

MatrixLoop TrainingProduct::loop() const {
    switch (pass) {
        case Pass::Forward:
            return MatrixLoop::RowBlocks;
        case Pass::InputGradient:
            return MatrixLoop::Rows;
        case Pass::WeightGradient:
            break;
    }
    return MatrixLoop::OutputRows;
}

std::int64_t parameters_of(const TransformerModel& model) {
    std::int64_t layer = 0;
    for (const TransformerModel::Matrix& matrix : model.layer_matrices()) {
        layer += matrix.rows * (matrix.columns + 1);  // with a bias
    }
    const std::int64_t norm = 2 * model.hidden;
    return (model.vocabulary + model.positions) * model.hidden + model.layers * (layer + 2 * norm) +
           norm;
}

std::int64_t activations_of(const TransformerModel& model, TrainingShape shape) {
    constexpr std::int64_t kWide = 10;  // QKV three, two norms, attention, two outputs, two sums
    constexpr std::int64_t kStatistics = 2;  // of a norm
    const std::int64_t scores = 2 * model.heads * shape.sequence;
    const std::int64_t layer =
        kWide * model.hidden + 2 * model.feed_forward + scores + 2 * kStatistics;
    // The embedded tokens, the last norm, logits, probabilities and the loss.
    const std::int64_t ends = 2 * model.hidden + kStatistics + 2 * model.vocabulary + 1;
    return shape.tokens() * (model.layers * layer + ends);
}

std::vector<TrainingOperator> training_step(const TransformerModel& model, TrainingShape shape) {
    return Step(model, shape).operators();
}

}  // namespace tilesim::workloads::npu::training
