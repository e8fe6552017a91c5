#include "workloads/amx/tiles/mapping_problems.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tilesim::workloads::amx::tiles {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kCores = 56;

GemmProblem product(DataType a, DataType b, DataType c, std::int64_t m = 64) {
    return {m, 256, 64, a, b, c};
}
const GemmProblem kInt8 = product(DataType::Int8, DataType::Int8, DataType::Int32);
const GemmProblem kBf16 = product(DataType::Bf16, DataType::Bf16, DataType::F32);

// Of the mapping after `change`.
template <class Change>
std::vector<std::string> problems(const GemmProblem& gemm, Change change) {
    AmxMapping map;
    change(map);
    return problems_of(gemm, map, kCores);
}

TEST(AmxMappingProblems, TypesAreThoseTheTilesMultiply) {
    const auto of = [](DataType a, DataType b, DataType c) {
        return problems_of(product(a, b, c), AmxMapping{}, kCores);
    };
    EXPECT_THAT(of(DataType::Int8, DataType::Int8, DataType::Int32), IsEmpty());
    EXPECT_THAT(of(DataType::Int8, DataType::Int4, DataType::F32), IsEmpty());
    EXPECT_THAT(of(DataType::Bf16, DataType::Int8, DataType::F32), IsEmpty());
    EXPECT_THAT(of(DataType::F32, DataType::F32, DataType::F32), IsEmpty());
    EXPECT_THAT(of(DataType::Int8, DataType::Int4, DataType::Int32),
                ElementsAre(HasSubstr("not int8 x int4 to int32")));
    EXPECT_THAT(of(DataType::Int16, DataType::Int16, DataType::Int32),
                ElementsAre(HasSubstr("not int16 x int16 to int32")));
    EXPECT_THAT(of(DataType::F32, DataType::F32, DataType::Bf16),
                ElementsAre(HasSubstr("not f32 x f32 to bf16")));
}

// 3 x 3 accumulators, and one tile each of A and B at least; there are eight registers.
TEST(AmxMappingProblems, AccumulatorsAndOperandsFitTheTileRegisters) {
    EXPECT_THAT(problems(kInt8, [](AmxMapping& map) { map.m_acc = map.n_acc = 3; }),
                ElementsAre(HasSubstr("3 x 3 accumulators")));
    EXPECT_THAT(problems(kInt8, [](AmxMapping& map) { map.m_acc = map.n_acc = 2; }), IsEmpty());
}

TEST(AmxMappingProblems, ThreadsAreAtMostTheCores) {
    EXPECT_THAT(problems(kInt8, [](AmxMapping& map) { map.threads = 56; }), IsEmpty());
    EXPECT_THAT(problems(kInt8, [](AmxMapping& map) { map.threads = 57; }),
                ElementsAre("57 threads; the socket has 56 cores"));
    EXPECT_THAT(problems(kInt8,
                         [](AmxMapping& map) {
                             map.partition = AmxMapping::Partition::MN;
                             map.threads = 6;
                             map.threads_n = 7;
                         }),
                ElementsAre("threads_n: 7 shares of n are more than 6 threads"));
}

// A share of K is a k tile at least: 64 elements of int8, 32 of bf16. K is 256.
TEST(AmxMappingProblems, EveryShareOfKHasATile) {
    const auto of = [](const GemmProblem& gemm, std::int64_t threads) {
        return problems(gemm, [&](AmxMapping& map) {
            map.partition = AmxMapping::Partition::K;
            map.threads = threads;
        });
    };
    const auto said = ElementsAre("a partition of k needs a k tile for every thread");
    EXPECT_THAT(of(kInt8, 4), IsEmpty());
    EXPECT_THAT(of(kInt8, 5), said);
    EXPECT_THAT(of(kBf16, 8), IsEmpty());
    EXPECT_THAT(of(kBf16, 9), said);
}

TEST(AmxMappingProblems, PostOperationsNeedWholeSums) {
    const GemmProblem scaled = product(DataType::Int8, DataType::Int8, DataType::Int8);
    const auto with_kc = [](AmxMapping& map) { map.kc = 128; };
    EXPECT_THAT(problems(kInt8, with_kc), IsEmpty());
    EXPECT_THAT(problems(scaled, with_kc),
                ElementsAre("post-operations need all of K: no kc, no partition of k"));
}

TEST(AmxMappingProblems, PrefetchesNeedBlocksOfBThatLieTogether) {
    EXPECT_THAT(problems(kInt8,
                         [](AmxMapping& map) {
                             map.prefetch_next = true;
                             map.b_layout = AmxMapping::BLayout::Vnni;
                         }),
                ElementsAre("prefetch_next needs b_layout: packed or sparse, and outer: n"));
    EXPECT_THAT(problems(kInt8, [](AmxMapping& map) { map.prefetch_first = true; }),
                ElementsAre("prefetch_first needs prefetch_next: on"));
}

TEST(AmxMappingProblems, SparseWeightsAreInt8) {
    EXPECT_THAT(
        problems(kBf16, [](AmxMapping& map) { map.b_layout = AmxMapping::BLayout::Sparse; }),
        ElementsAre("sparse weights are int8"));
}

TEST(AmxMappingProblems, PaddingsAreWholeWords) {
    EXPECT_THAT(problems(kInt8, [](AmxMapping& map) { map.a_padding = 8; }), IsEmpty());
    EXPECT_THAT(problems(kInt8, [](AmxMapping& map) { map.c_padding = 6; }),
                ElementsAre("paddings must be multiples of 4 bytes"));
}

// A, B and C of 1 MiB x 1 MiB int8 are over 128 GiB.
TEST(AmxMappingProblems, OperandsFitTheAddressesOfTheCaches) {
    constexpr std::int64_t kMany = 1 << 20;
    EXPECT_THAT(problems_of({kMany, kMany, 64, DataType::Int8, DataType::Int8, DataType::Int32},
                            AmxMapping{}, kCores),
                ElementsAre(HasSubstr("at most 128 GiB")));
}

}  // namespace
}  // namespace tilesim::workloads::amx::tiles
