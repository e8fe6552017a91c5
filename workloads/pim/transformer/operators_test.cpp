#include "workloads/pim/transformer/operators.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tilesim::workloads::pim::transformer {
namespace {

// Pairwise different, so that a confused extent shows.
ModelWorkload workload() {
    ModelWorkload work;
    work.model.layers = 3;
    work.model.hidden = 40;
    work.model.heads = 6;
    work.model.kv_heads = 2;
    work.model.head_size = 7;
    work.model.feed_forward = 90;
    work.model.vocabulary = 130;
    work.model.experts = 8;
    work.model.experts_per_token = 2;
    work.format.weights = work.format.input = arch::base::DataType::Int8;
    work.batch = 5;
    return work;
}

TEST(Operators, EachMatrixGoesWhereTheWorkloadHasItAndTheHeadIsLast) {
    ModelWorkload work = workload();
    work.places.qkv = Place::Npu;
    work.places.projection = Place::Soc;
    work.places.router = Place::Banks;
    work.places.up = Place::Soc;
    work.places.down = Place::Npu;
    work.places.head = Place::Banks;
    const std::vector<Operator> list = operators_of(work);
    ASSERT_EQ(list.size(), 6U);
    const std::vector<Place> places{Place::Npu, Place::Soc, Place::Banks,
                                    Place::Soc, Place::Npu, Place::Banks};
    for (std::size_t i = 0; i < list.size(); ++i) {
        EXPECT_EQ(list[i].place, places[i]) << list[i].name;
        EXPECT_EQ(list[i].of_layer, i + 1 < list.size()) << list[i].name;
    }
    EXPECT_EQ(list[0].gemv.m, (6 + 2 * 2) * 7);  // queries, and the keys and values they share
    EXPECT_EQ(list[0].gemv.k, 40);
    EXPECT_EQ(list[3].copies, 8);
    EXPECT_EQ(list[3].uses, 2);
    EXPECT_EQ(list[5].name, "head");
    EXPECT_EQ(list[5].gemv.m, 130);
    EXPECT_EQ(list[5].gemv.k, 40);
}

TEST(Operators, ExpertsAreReadOnceHoweverManyTokensChooseThem) {
    const Operator experts{"up", Place::Soc, 2, 8};
    EXPECT_EQ(copies_read(experts, 1), 2);
    EXPECT_EQ(copies_read(experts, 2), 8 * (1 - 0.75 * 0.75));
    const Operator matrix{"qkv", Place::Soc, 1, 1};
    EXPECT_EQ(copies_read(matrix, 1), 1);
    EXPECT_EQ(copies_read(matrix, 64), 1);
}

TEST(Operators, AnExpertHasTheTokensThatChoseIt) {
    EXPECT_EQ(tokens_of_each({"up", Place::Soc, 2, 8}, 1), 1);
    EXPECT_EQ(tokens_of_each({"up", Place::Soc, 2, 8}, 512), 128);
    EXPECT_EQ(tokens_of_each({"qkv", Place::Soc, 1, 1}, 5), 5);
}

// Two of three tokens at one of two experts, each with probability 3 / 8, share a pass, and all
// three, with 1 / 8, take two.
TEST(Operators, TokensThatChoseTheSameMatrixShareAPass) {
    const Operator experts{"up", Place::Banks, 1, 2};
    EXPECT_DOUBLE_EQ(passes_of(experts, 3, 1), 3);
    EXPECT_DOUBLE_EQ(passes_of(experts, 3, 2), 2 * (3.0 / 8 + 3.0 / 8 + 2.0 / 8));
    EXPECT_DOUBLE_EQ(passes_of(experts, 3, 64), copies_read(experts, 3));
    const Operator matrix{"qkv", Place::Banks, 1, 1};
    EXPECT_EQ(passes_of(matrix, 9, 4), 3);
    EXPECT_EQ(passes_of(matrix, 8, 4), 2);
}

TEST(Operators, TheRooflineOfAStepReadsAMatrixOnceAndMultipliesItForEachToken) {
    Operator op{"qkv"};
    op.gemv = gemv_of(workload(), 64, 48);  // 3072 products, 3072 B
    arch::pim::SocConfig soc;
    soc.compute = arch::base::OperationsPerSecond{2'000'000'000};
    soc.bandwidth = arch::base::BytesPerSecond{250'000'000};
    EXPECT_DOUBLE_EQ(soc_ns(soc, work_of(op, 1)), 3072 * 4.0);  // 4 ns a byte
    EXPECT_DOUBLE_EQ(soc_ns(soc, work_of(op, 4)), 3072 * 4.0);  // 1 ns a product
    EXPECT_DOUBLE_EQ(soc_ns(soc, work_of(op, 5)), 3072 * 5.0);
    EXPECT_STREQ(soc_cause(soc, work_of(op, 3)), kSocBandwidth);
    EXPECT_STREQ(soc_cause(soc, work_of(op, 5)), kSocCompute);
}

// Scores and outputs: two products of heads x head size x context; keys and values of the heads
// that have their own.
TEST(Operators, AttentionMultipliesForEachHeadAndReadsKeysThatHeadsShareOnce) {
    ModelWorkload work = workload();
    EXPECT_EQ(attention_of(work, 17).macs, 2 * 6 * 7 * 17 * 5);
    EXPECT_EQ(attention_of(work, 17).bytes, 2 * 2 * 7 * 17 * 5);
    work.prompt = 17;
    work.generate = 3;  // after 17, 18 and 19
    EXPECT_EQ(attention_of_generated(work).macs, attention_of(work, 54).macs);
    work.format.input = arch::base::DataType::Bf16;
    EXPECT_EQ(attention_of(work, 17).bytes, 2 * 2 * 7 * 17 * 5 * 2);
}

}  // namespace
}  // namespace tilesim::workloads::pim::transformer
