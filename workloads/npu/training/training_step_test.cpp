#include "workloads/npu/training/training_step.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace tilesim::workloads::npu::training {
namespace {

// Pairwise different, so that a confused extent shows.
TransformerModel small() {
    TransformerModel model;
    model.name = "small";
    model.layers = 2;
    model.hidden = 24;
    model.heads = 3;
    model.feed_forward = 56;
    model.vocabulary = 130;
    model.positions = 11;
    return model;
}

TransformerModel gpt2() {
    auto document = arch::base::config::Document::load(std::string{TILESIM_SOURCE_DIR} +
                                                       "/configs/models/gpt2_124m.yaml");
    return read_transformer(document.root());
}

using Size = TrainingProduct::Size;

std::map<Size, int> sizes_of(const std::vector<TrainingOperator>& step) {
    std::map<Size, int> sizes;
    for (const TrainingOperator& each : step) {
        if (each.product) {
            ++sizes[each.product->size()];
        }
    }
    return sizes;
}

TEST(TrainingStep, Gpt2HasTheTwelvePublishedSizes) {
    const auto sizes = sizes_of(training_step(gpt2(), {4, 64}));
    std::set<Size> found;
    for (const auto& [size, count] : sizes) {
        found.insert(size);
    }
    // npu-gemm.md section 1: five forward, two more of input gradients, five of weight gradients.
    const std::set<Size> published{{256, 768, 2304},  {256, 768, 768},   {256, 768, 3072},
                                   {256, 3072, 768},  {256, 768, 50304}, {256, 2304, 768},
                                   {256, 50304, 768}, {2304, 256, 768},  {768, 256, 768},
                                   {3072, 256, 768},  {768, 256, 3072},  {50304, 256, 768}};
    EXPECT_EQ(found, published);
    EXPECT_EQ(sizes.at({256, 768, 2304}), 12);  // one a layer
    EXPECT_EQ(sizes.at({256, 768, 768}), 24);   // forward and input gradient
    EXPECT_EQ(sizes.at({256, 768, 50304}), 1);  // the output matrix
    EXPECT_EQ(sizes.at({256, 768, 3072}), 24);  // fc1 forward, fc2's input gradient
}

TEST(TrainingStep, EveryProductHasTheWorkOfItsForwardOne) {
    const auto step = training_step(small(), {2, 5});
    std::map<std::string, std::map<TrainingProduct::Pass, double>> flop;
    for (const TrainingOperator& each : step) {
        if (each.product) {
            flop[each.name][each.product->pass] += each.product->flop();
        }
    }
    EXPECT_EQ(flop.size(), 5U);
    for (const auto& [name, passes] : flop) {
        ASSERT_EQ(passes.size(), 3U) << name;
        EXPECT_EQ(passes.at(TrainingProduct::Pass::Forward),
                  passes.at(TrainingProduct::Pass::InputGradient));
        EXPECT_EQ(passes.at(TrainingProduct::Pass::Forward),
                  passes.at(TrainingProduct::Pass::WeightGradient));
    }
    // 2 layers, 10 tokens, 24 -> 72.
    EXPECT_EQ(flop["qkv"][TrainingProduct::Pass::Forward], 2.0 * 2 * 10 * 24 * 72);
}

TEST(TrainingStep, WeightGradientsAloneReadBothOperandsAcrossAndAdd) {
    for (const TrainingOperator& each : training_step(small(), {2, 5})) {
        if (!each.product) {
            continue;
        }
        const TrainingProduct& product = *each.product;
        const bool weights = product.pass == TrainingProduct::Pass::WeightGradient;
        EXPECT_EQ(product.a_column_major, weights);
        EXPECT_EQ(product.b_column_major, product.pass == TrainingProduct::Pass::Forward);
        EXPECT_EQ(product.adds, weights);
    }
}

TEST(TrainingStep, ParametersAreCountedMatrixByMatrix) {
    // Embeddings, per layer four matrices with biases and two norms, a last norm.
    const std::int64_t layer = 72 * 25 + 24 * 25 + 56 * 25 + 24 * 57 + 2 * 2 * 24;
    EXPECT_EQ(parameters_of(small()), (130 + 11) * 24 + 2 * layer + 2 * 24);
    // llm.c prints 124475904 with its padded vocabulary.
    EXPECT_EQ(parameters_of(gpt2()), 124'475'904);
    // The same of its activations at 4 x 64 tokens, with as many logits as tokens of the padded
    // vocabulary.
    EXPECT_EQ(activations_of(gpt2(), {4, 64}), 73'347'840);
}

TEST(TrainingStep, AdamWReadsTheGradientAndChangesWeightAndMoments) {
    const auto step = training_step(small(), {2, 5});
    EXPECT_EQ(step.back().name, "adamw");
    // Four words in, three back.
    EXPECT_EQ(step.back().work.memory_bytes(),
              7.0 * 4 * static_cast<double>(parameters_of(small())));
}

TEST(TrainingStep, RunsForwardThenBackwardThenUpdate) {
    TrainingPhase last = TrainingPhase::Forward;
    for (const TrainingOperator& each : training_step(small(), {2, 5})) {
        EXPECT_GE(each.phase, last);
        last = each.phase;
    }
    EXPECT_EQ(last, TrainingPhase::Update);
}

TEST(TrainingStep, AttentionLooksAtThePairsOfTheCausalTriangle) {
    for (const TrainingOperator& each : training_step(small(), {2, 5})) {
        if (each.name == "attention" && each.phase == TrainingPhase::Forward) {
            const double pairs = 2 * 3 * (5 * 6 / 2);  // batch, heads, triangle
            EXPECT_EQ(each.work.functions, pairs);
            EXPECT_EQ(each.work.operations, pairs * (4 * 8 + 5));  // heads of 8
        }
    }
}

}  // namespace
}  // namespace tilesim::workloads::npu::training
