// A model's parts add up: what each place of an operator takes, and what is named for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "arch/base/temporary_folder_testing.hpp"
#include "sim/session/session.hpp"

namespace tilesim::sim::session {
namespace {

using testing::StartsWith;

constexpr double kPeakTops = 33.2;  // of the system on chip of lpddr5x_pim

workloads::RunResult run_of(const std::string& text, const Overrides& overrides = {}) {
    return session::run(parse_scenario(text, "/folder/model.yaml", overrides));
}

workloads::RunResult model(const std::string& keys, const Overrides& overrides = {}) {
    return run_of("{device: lpddr5x_pim, workload: {model: opt_125m, " + keys + "}}", overrides);
}

// The operator of the list `key` in the details that has the name.
double time_of(const workloads::RunResult& result, const char* key, const std::string& name) {
    for (const auto& each : result.details.at(key)) {
        if (each.at("name") == name) {
            return each.at("time_ns").get<double>();
        }
    }
    ADD_FAILURE() << key << " has no " << name;
    return 0;
}

const std::string kOnSoc = "place: {qkv: soc, projection: soc, feed_forward: soc, head: soc}";

// The vocabulary is multiplied once for a prompt, and counted for each of its tokens it was 41
// TOPS.
TEST(Model, APromptIsNoFasterThanThePeakOfWhatItRunsOn) {
    const workloads::RunResult result = model("prompt: 1000, generate: 0");
    EXPECT_LT(result.tops, kPeakTops);
    EXPECT_GT(result.tops, 0.9 * kPeakTops);
}

// Whatever the banks do meanwhile: they were named for the millisecond of the one token.
TEST(Model, TheBottleneckIsWhereMostOfTheTimeGoes) {
    EXPECT_EQ(model("prompt: 1000, generate: 1").bottleneck, "SoC: compute");
    EXPECT_EQ(model("prompt: 1, generate: 20, " + kOnSoc).bottleneck, "SoC: bandwidth");
    EXPECT_EQ(model("prompt: 1, generate: 20, place: {head: banks}").bottleneck, "PIM: mac");
    EXPECT_THAT(
        model("prompt: 256, generate: 1, prompt_device: xdna2, place: {head: banks}").bottleneck,
        StartsWith("xdna2: "));
}

// Of both tokens and all twelve layers.
TEST(Model, PartsOfMatricesThatNobodyAddsAreNamed) {
    const std::string keys =
        "prompt: 1, generate: 2, place: {qkv: banks, projection: soc, feed_forward: soc, head: "
        "soc}";
    const workloads::RunResult result = model(keys);
    constexpr double kRows = 2304;
    const auto split = result.details.at("layer_matrices")[0]["mapping"]["pimnast"]["split_k"];
    EXPECT_GT(split, 1);
    const double of_each_ns = kRows * (split.get<double>() - 1) * 2 / 120;  // int16, GB/s
    EXPECT_NEAR(result.details.at("uncharged_ns").get<double>(), 2 * 12 * of_each_ns, 1e-3);
    EXPECT_THAT(result.notes, testing::Contains(testing::HasSubstr("which are not charged")));
    const workloads::RunResult charged = model(keys, {{"device.pim.split_reduction", "soc"}});
    EXPECT_EQ(charged.details.at("uncharged_ns"), 0);
    EXPECT_THAT(charged.notes, testing::Each(testing::Not(testing::HasSubstr("not charged"))));
}

TEST(Model, WhyThereIsNoEnergyIsSaidWhereCurrentsAreGiven) {
    EXPECT_TRUE(model("prompt: 1, generate: 1").energy.empty());
    const workloads::RunResult result =
        model("prompt: 1, generate: 1", {{"device.memory.power.core",
                                          "{voltage: 1.1 V, I0: 60 mA, I2N: 30 mA, I3N: 40 mA, "
                                          "I4R: 250 mA, I4W: 200 mA, I5B: 120 mA}"}});
    EXPECT_TRUE(result.energy.contains("none"));
}

class Experts : public testing::Test {
  protected:
    Experts() {
        std::ofstream(folder_.path() / "experts.yaml")
            << "{name: experts, layers: 3, hidden: 256, heads: 4, feed_forward: 1024, "
               "vocabulary: 512, experts: 4, experts_per_token: 2}\n";
    }
    workloads::RunResult run(const std::string& keys, const Overrides& overrides = {}) const {
        return run_of("{device: lpddr5x_pim, workload: {model: " +
                          (folder_.path() / "experts.yaml").string() + ", " + keys + "}}",
                      overrides);
    }

  private:
    arch::base::TemporaryFolder folder_;
};

// Of 64 tokens that choose two each, every expert has 32.
TEST_F(Experts, OnAnNpuEachMultipliesTheTokensThatChoseIt) {
    const workloads::RunResult result = run("prompt: 64, generate: 0, prompt_device: xdna2");
    const workloads::RunResult one = run_of(
        "{device: xdna2, workload: {gemm: {M: 32, K: 256, N: 1024, a: int8, b: int8, c: int32}}}");
    EXPECT_DOUBLE_EQ(time_of(result, "prompt_operators", "fc1"), 4 * one.time_ns);
}

// Two tokens that choose two of four meet at one in the mean: three passes, however many share one.
TEST_F(Experts, InTheBanksTokensShareAPassOnlyWhereTheyChoseTheSame) {
    const auto fc1 = [&](const char* alus) {
        return time_of(
            run("batch: 2", {{"device.pim.alus", alus}, {"device.memory.refresh", "off"}}),
            "operators", "fc1");
    };
    const double pass = fc1("1") / 4;
    EXPECT_NEAR(fc1("8") / pass, 3, 0.01);
}

// A layer's change of modes takes the place of those around each matrix.
TEST(Model, AroundALayerModesChangeOnceWhateverIsInTheBanks) {
    const auto token = [](const char* around, const std::string& keys) {
        const workloads::RunResult result =
            model("prompt: 8, batch: 2, " + keys, {{"device.pim.modes.around", around},
                                                   {"device.pim.alus", "2"},
                                                   {"device.memory.refresh", "off"}});
        return result.details.at("per_token_ns").get<double>();
    };
    const double one =
        token("layer", "place: {attention: soc}") - token("none", "place: {attention: soc}");
    EXPECT_GT(one, 0);
    EXPECT_NEAR(token("layer", "place: {attention: banks}"),
                token("none", "place: {attention: banks}") + one, 1e-6 * one);
    EXPECT_EQ(token("layer", kOnSoc), token("none", kOnSoc));
}

// It was the published tile, three times as slow for the vocabulary.
TEST(Model, WithoutAMappingAMatrixHasThePlacementThatItHasAlone) {
    const Overrides off{{"device.memory.refresh", "off"}};
    const workloads::RunResult whole = model("prompt: 0, place: {head: banks}", off);
    EXPECT_THAT(whole.notes,
                testing::Contains(testing::HasSubstr("no mapping given: every matrix")));
    const workloads::RunResult head =
        run_of("{device: lpddr5x_pim, workload: {gemv: {M: 50272, K: 768}}}", off);
    EXPECT_DOUBLE_EQ(time_of(whole, "operators", "head"), head.time_ns);
    EXPECT_EQ(whole.details.at("layer_matrices").back().at("mapping"), head.mapping);
}

// The cache stays where it is placed for the last token: 1025 tokens took more than 2000.
TEST(Model, AttentionInTheBanksTakesLongerTheMoreTokensThereAre) {
    double before = 0;
    for (const char* prompt : {"1000", "1024", "1025", "2000"}) {
        const double now = time_of(
            model(std::string{"prompt: "} + prompt + ", generate: 40, place: {attention: banks}"),
            "operators", "attention");
        EXPECT_GE(now, before) << prompt;
        EXPECT_LT(now, before == 0 ? now + 1 : 1.3 * before) << prompt;
        before = now;
    }
}

// Hours are more femtoseconds than 64 bits hold: they were -8646911284551 cycles.
TEST(Model, HoursAreCountedToo) {
    const workloads::RunResult hours = model("prompt: 1048576, generate: 0, batch: 4096");
    EXPECT_GT(hours.time_ns, 1e13);
    EXPECT_NEAR(static_cast<double>(hours.cycles) / (hours.time_ns * 0.9375), 1, 1e-9);
    EXPECT_NEAR(hours.macs_per_cycle * 2 * 0.9375e-3 / hours.tops, 1, 1e-9);
}

}  // namespace
}  // namespace tilesim::sim::session
