#include "workloads/pim/transformer/attention_times.hpp"

#include <gtest/gtest.h>

namespace tilesim::workloads::pim::transformer {
namespace {

class AttentionTimesTest : public testing::Test {
  protected:
    AttentionTimesTest() {
        work_.model.heads = 2;
        work_.model.head_size = 8;
        work_.format.input = arch::base::DataType::Int8;
        soc_.compute = arch::base::OperationsPerSecond{1'000'000'000'000};
        soc_.bandwidth = arch::base::BytesPerSecond{500'000'000};  // 2 ns a byte
    }
    void add_three() {
        times_.add_in_banks(10, 100);
        times_.add_in_banks(20, 300);
        times_.add_in_banks(40, 400);
    }

    ModelWorkload work_;
    arch::pim::SocConfig soc_;
    AttentionTimes times_{work_, soc_};
};

TEST_F(AttentionTimesTest, OutOfTheBanksItIsTheRoofline) {
    const double bytes = 2 * 2 * 8 * 30;  // keys and values of 30 tokens
    EXPECT_DOUBLE_EQ(times_.ns(30), 2 * bytes);
    add_three();
    EXPECT_DOUBLE_EQ(times_.on_soc_ns(30), 2 * bytes);
}

TEST_F(AttentionTimesTest, BetweenSimulatedContextsItIsLinear) {
    add_three();
    EXPECT_DOUBLE_EQ(times_.ns(10), 100);
    EXPECT_DOUBLE_EQ(times_.ns(15), 200);
    EXPECT_DOUBLE_EQ(times_.ns(20), 300);
    EXPECT_DOUBLE_EQ(times_.ns(30), 350);
    EXPECT_DOUBLE_EQ(times_.ns(40), 400);
}

TEST_F(AttentionTimesTest, BeyondThemTheNearestLineGoesOn) {
    add_three();
    EXPECT_DOUBLE_EQ(times_.ns(9), 80);
    EXPECT_DOUBLE_EQ(times_.ns(44), 420);
}

// Tokens after 19, 20 and 21: a tenth of the first, 0.9 + 1 + 0.95 of the second.
TEST_F(AttentionTimesTest, EveryTokenIsSharedBetweenTheContextsBesideIt) {
    add_three();
    const auto shares = times_.shares(19, 3);
    EXPECT_DOUBLE_EQ(shares[0], 0.1);
    EXPECT_DOUBLE_EQ(shares[1], 2.85);
    EXPECT_DOUBLE_EQ(shares[2], 0.05);
    EXPECT_DOUBLE_EQ(shares[0] * 100 + shares[1] * 300 + shares[2] * 400,
                     times_.ns(19) + times_.ns(20) + times_.ns(21));
}

// A single token generated after a prompt of one: all contexts are the same.
TEST_F(AttentionTimesTest, OneContextHasOneTime) {
    for (int i = 0; i < 3; ++i) {
        times_.add_in_banks(7, 130);
    }
    EXPECT_DOUBLE_EQ(times_.ns(7), 130);
}

}  // namespace
}  // namespace tilesim::workloads::pim::transformer
