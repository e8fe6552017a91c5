#include "sim/nearest_mapping.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/scenario.hpp"

namespace tilesim::sim {
namespace {

using arch::base::config::ConfigError;

constexpr const char* kGemm = "gemm: {M: 512, K: 512, N: 512, a: int8, b: int8, c: int8}";

// What is said of it; empty: it can be.
std::string said(const std::string& workload, const std::string& mapping,
                 Advice advice = Advice::NearestMapping, const std::string& device = "xdna2") {
    try {
        parse_scenario(fmt::format("device: {}\nworkload: {{{}}}\nmapping: {{{}}}\n", device,
                                   workload, mapping),
                       "test", {}, advice);
        return "";
    } catch (const ConfigError& error) {
        return error.what();
    }
}

// What is said at the end of it.
std::string nearest(const std::string& mapping, const std::string& workload = kGemm,
                    const std::string& device = "xdna2") {
    const std::string text = said(workload, mapping, Advice::NearestMapping, device);
    constexpr std::string_view kBefore = "; the nearest that can be: ";
    const auto place = text.find(kBefore);
    return place == std::string::npos ? "" : text.substr(place + kBefore.size());
}

TEST(NearestMapping, NumbersAreChangedAsLittleAsItTakes) {
    EXPECT_EQ(nearest("output_stationary: {m_ct: 33, k_ct: 32, n_ct: 32}"), "m_ct: 32");
    EXPECT_EQ(nearest("output_stationary: {m_ct: 32, k_ct: 24, n_ct: 32, k_mt: 100}"), "k_mt: 96");
    EXPECT_EQ(nearest("output_stationary: {m_ct: 32, k_ct: 32, n_ct: 32, columns: 9}"),
              "columns: 8");
    EXPECT_EQ(nearest("weight_stationary: {m_ct: 16, k_ct: 127, n_ct: 64}"), "k_ct: 128");
    EXPECT_EQ(nearest("amx: {m_acc: 4, n_acc: 2}",
                      "gemm: {M: 64, K: 64, N: 64, a: int8, b: int8, c: int32}", "sapphire_rapids"),
              "n_acc: 1");
}

// Of elements_per_call 0 stands for whole rows.
TEST(NearestMapping, WhatStandsForAllBecomesTheMostThatCanBe) {
    EXPECT_EQ(nearest("elementwise: {columns: 4, rows_per_call: 1}",
                      "elementwise: {operation: add, elements: 1048576, a: bf16, c: bf16}"),
              "elements_per_call: 4096");
}

TEST(NearestMapping, KeysOfKeysAreNamedWithTheirs) {
    EXPECT_EQ(nearest("fused_cast: {output_stationary: {m_ct: 33, k_ct: 32, n_ct: 32}}",
                      "gemm: {M: 64, K: 64, N: 64, a: bf16, b: bf16, c: bf16}"),
              "output_stationary.m_ct: 32");
}

TEST(NearestMapping, SeveralWhereOneIsNotEnough) {
    EXPECT_EQ(nearest("output_stationary: {m_ct: 33, k_ct: 33, n_ct: 32, k_mt: 66}"),
              "m_ct: 32, k_ct: 32, k_mt: 64");
}

// Whoever takes the advice is not refused again.
TEST(NearestMapping, WhatIsAdvisedCanBe) {
    for (const char* given :
         {"m_ct: 256, k_ct: 256, n_ct: 256, k_mt: 256", "m_ct: 100, k_ct: 50, n_ct: 70",
          "m_ct: 64, k_ct: 64, n_ct: 64, k_mt: 64, in_flight: 40",
          "m_ct: 128, k_ct: 64, n_ct: 64, k_mt: 4096, a_buffers: 8",
          // More than small steps mend: from a mapping that `tune` would try.
          "m_ct: 200, k_ct: 128, n_ct: 200, k_mt: 1024, a_buffers: 8, c_buffers: 2",
          "m_ct: 128, k_ct: 256, n_ct: 16, k_mt: 64, b_buffers: 8, reach_tiles: 3"}) {
        const std::string changes = nearest(fmt::format("output_stationary: {{{}}}", given));
        ASSERT_NE(changes, "") << given;
        Overrides overrides;
        std::string rest = changes;
        while (!rest.empty()) {
            const auto colon = rest.find(": ");
            const auto comma = std::min(rest.find(", "), rest.size());
            overrides.emplace_back("mapping.output_stationary." + rest.substr(0, colon),
                                   rest.substr(colon + 2, comma - colon - 2));
            rest = comma == rest.size() ? "" : rest.substr(comma + 2);
        }
        EXPECT_NO_THROW(parse_scenario(
            fmt::format("device: xdna2\nworkload: {{{}}}\nmapping: {{output_stationary: {{{}}}}}\n",
                        kGemm, given),
            "test", overrides))
            << given << " with " << changes;
    }
}

// Three rows' results in bf16 are no whole words, four are no multiple of three rows a call.
TEST(NearestMapping, WhatOneRuleAsksForOthersDoNotRefuse) {
    const char* workload = "gemv: {M: 4096, K: 512, weights: bf16, input: bf16, accumulate: bf16}";
    EXPECT_EQ(nearest("gemv: {columns: 4, rows_per_call: 3, rows_per_core: 4}", workload),
              "rows_per_call: 4");
    EXPECT_EQ(nearest("gemv: {columns: 4, rows_per_call: 3, rows_per_core: 3}", workload),
              "rows_per_call: 4, rows_per_core: 4");
    // A descriptor's dimensions have 10 bits: 1023 words of A in a run.
    EXPECT_EQ(nearest("output_stationary: {m_ct: 32, k_ct: 32, n_ct: 32, k_mt: 4128}",
                      "gemm: {M: 512, K: 8256, N: 512, a: int8, b: int8, c: int16}"),
              "k_mt: 4064");
}

TEST(NearestMapping, NothingIsAdvisedWhereNoNumberHelps) {
    EXPECT_EQ(nearest("output_stationary: {m_ct: 32, k_ct: 32, n_ct: 32, sums: f32}"), "");
    const char* wrong = "output_stationary: {m_ct: 33, k_ct: 32, n_ct: 32}";
    EXPECT_THAT(said(kGemm, wrong, Advice::None), testing::Not(testing::HasSubstr("nearest")));
}

}  // namespace
}  // namespace tilesim::sim
