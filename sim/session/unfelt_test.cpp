// What a file says in vain its result names, with the reason; and that is true.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "arch/base/config.hpp"
#include "sim/result_json.hpp"
#include "sim/session/session.hpp"

namespace tilesim::sim::session {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

workloads::RunResult result_of(const std::string& text, const Overrides& overrides = {}) {
    return session::run(parse_scenario(text, "unfelt.yaml", overrides));
}

// What is measured of it: all but texts and what depends on the host.
nlohmann::ordered_json measured(const workloads::RunResult& result) {
    nlohmann::ordered_json json = to_json(result, false);
    for (const char* key :
         {"workload", "mapping", "notes", "not_exercised", "wall_s", "events", "provenance"}) {
        json.erase(key);
    }
    const nlohmann::ordered_json::json_pointer matrices("/details/layer_matrices");
    if (json.contains(matrices)) {
        for (auto& matrix : json.at(matrices)) {
            matrix.erase("mapping");
        }
    }
    return json;
}

struct Said {
    std::string scenario;
    std::string key;
    std::string value;   // not the default
    std::string reason;  // a part of it
    std::string heeded;  // a change of another key with which it is not in vain
};

const std::string kAmx =
    "{device: sapphire_rapids, workload: {gemm: {M: 64, K: 128, N: 96, a: int8, b: int8, "
    "c: int32}}, mapping: {amx: {threads: 2}}}";
const std::string kColumns =
    "{device: xdna, workload: {gemm: {M: 128, K: 64, N: 64, a: bf16, b: bf16, c: bf16}}, "
    "mapping: {output_stationary: {m_ct: 32, k_ct: 32, n_ct: 32, k_mt: 64, columns: 2, rows: 2}}}";
const std::string kOneTile =
    "{device: xdna, workload: {gemm: {M: 64, K: 64, N: 64, a: bf16, b: bf16, c: bf16}}, "
    "mapping: {output_stationary: {m_ct: 32, k_ct: 32, n_ct: 32, k_mt: 64, columns: 2, rows: 2}}}";
const std::string kVector =
    "{device: xdna2, workload: {gemv: {M: 256, K: 256, weights: bf16, input: bf16, "
    "accumulate: bf16}}, mapping: {gemv: {columns: 4, rows_per_call: 8}}}";
const std::string kOneColumn =
    "{device: xdna2, workload: {gemv: {M: 256, K: 256, weights: bf16, input: bf16, "
    "accumulate: bf16}}, mapping: {gemv: {columns: 1, rows_per_call: 8}}}";
const std::string kOneStep =
    "{device: xdna2, workload: {gemv: {M: 32, K: 256, weights: bf16, input: bf16, "
    "accumulate: bf16}}, mapping: {gemv: {columns: 4, rows_per_call: 8}}}";
const std::string kOneTurn =
    "{device: xdna2, workload: {gemv: {M: 32, K: 256, weights: bf16, input: bf16, "
    "accumulate: bf16}}, mapping: {gemv: {columns: 4, rows_per_call: 8, order: in_turn}}}";
const std::string kPanels =
    "{device: vck190, workload: {gemm: {M: 32, K: 50, N: 30, a: int16, b: int16, c: int16}}, "
    "mapping: {gotoblas: {m_c: 32, n_c: 32, k_c: 50}}}";
const std::string kBanks =
    "{device: lpddr5x_pim, workload: {gemv: {M: 2304, K: 768}}, mapping: {pimnast: {}}}";
const std::string kModel =
    "{device: lpddr5x_pim, workload: {model: opt_125m, prompt: 8, generate: 1}, "
    "mapping: {pimnast: {}}}";
const std::string kStream =
    "{device: ddr5_5600, workload: {memory_stream: {requests: 1000, range: 64 KiB}}}";

const Said kSaid[] = {
    {kAmx, "mapping.amx.threads_n", "2", "partition: mn", "mapping.amx.partition=mn"},
    {kAmx, "mapping.amx.prefetch_to", "l2", "prefetch_b, which are 0", "mapping.amx.prefetch_b=2"},
    {kAmx, "mapping.amx.density_percent", "70", "b_layout: sparse", "mapping.amx.b_layout=sparse"},
    {kAmx, "workload.gemm.b_layout", "row_major", "mapping.amx.b_layout says", ""},
    {kColumns, "mapping.output_stationary.cast_lanes", "16", "sums: f32",
     "mapping.output_stationary.sums=f32"},
    {kColumns, "mapping.output_stationary.cast_by", "element", "sums: f32", ""},
    {kColumns, "mapping.output_stationary.in_flight", "3", "2 output tiles", "workload.gemm.M=512"},
    {kOneTile, "mapping.output_stationary.shim_bds", "sequential", "written once",
     "workload.gemm.M=128"},
    {kVector, "mapping.gemv.panels", "3", "path: memory_tile", "mapping.gemv.path=memory_tile"},
    {kVector, "mapping.gemv.in_flight", "2", "1 reach to move", ""},
    {kOneColumn, "mapping.gemv.one_vector_stream", "on", "one column", "mapping.gemv.columns=2"},
    {kOneStep, "mapping.gemv.order", "in_turn", "is 1 step to move", "workload.gemv.M=256"},
    {kOneTurn, "mapping.gemv.reach", "1", "is 1 step to move", "workload.gemv.M=256"},
    {kPanels, "mapping.gotoblas.m_c", "64", "holds all 32", "workload.gemm.M=100"},
    {kPanels, "mapping.gotoblas.n_c", "40", "holds all 32", "workload.gemm.N=50"},
    {kPanels, "mapping.gotoblas.k_c", "60", "holds all 50", "workload.gemm.K=100"},
    {kPanels, "workload.gemm.b_layout", "row_major", "packed beforehand", ""},
    {kBanks, "mapping.pimnast.between", "5 us", "phases: 1", "mapping.pimnast.phases=2"},
    {kModel, "mapping.pimnast.between", "5 us", "phases: 1", "mapping.pimnast.phases=2"},
    {kModel, "workload.place.router", "banks", "no experts", ""},
    {kStream, "workload.memory_stream.stride", "8 KiB", "pattern: strided",
     "workload.memory_stream.pattern=strided"},
    {kStream, "workload.memory_stream.range", "128 KiB", "last request is at 63936",
     "workload.memory_stream.requests=4000"},
};

void PrintTo(const Said& said, std::ostream* out) {
    *out << said.key << "=" << said.value;
}

Overrides overrides_of(const std::string& setting) {
    const auto equals = setting.find('=');
    return {{setting.substr(0, equals), setting.substr(equals + 1)}};
}

class Unfelt : public testing::TestWithParam<Said> {
  protected:
    const Said& said() const { return GetParam(); }
    std::string note() const { return said().key + " changes nothing here: "; }
    workloads::RunResult run_with(Overrides overrides) const {
        overrides.emplace_back(said().key, said().value);
        return result_of(said().scenario, overrides);
    }
};

TEST_P(Unfelt, IsNamedWithItsReasonAndChangesNothing) {
    const workloads::RunResult plain = result_of(said().scenario);
    const workloads::RunResult with = run_with({});
    EXPECT_THAT(with.notes, Contains(testing::AllOf(StartsWith(note()), HasSubstr(said().reason))));
    EXPECT_THAT(with.not_exercised, Contains(said().key));
    EXPECT_THAT(plain.notes, Not(Contains(StartsWith(note()))));
    EXPECT_EQ(measured(with), measured(plain));
}

std::string name_of(const testing::TestParamInfo<Said>& said) {
    std::string name = said.param.key;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '.'; }, '_');
    return fmt::format("{}_{}", name, said.index);
}

INSTANTIATE_TEST_SUITE_P(Keys, Unfelt, testing::ValuesIn(kSaid), name_of);

class Heeded : public Unfelt {};

TEST_P(Heeded, IsNotNamedAndChangesSomething) {
    const workloads::RunResult with = run_with(overrides_of(said().heeded));
    EXPECT_THAT(with.notes, Not(Contains(StartsWith(note()))));
    EXPECT_THAT(with.not_exercised, Not(Contains(said().key)));
    EXPECT_NE(measured(with), measured(result_of(said().scenario, overrides_of(said().heeded))));
}

std::vector<Said> heeded() {
    std::vector<Said> list;
    std::copy_if(std::begin(kSaid), std::end(kSaid), std::back_inserter(list),
                 [](const Said& said) { return !said.heeded.empty(); });
    return list;
}

INSTANTIATE_TEST_SUITE_P(Keys, Heeded, testing::ValuesIn(heeded()), name_of);

// A call that takes a share of the model's time follows the model's numbers.
TEST(UnfeltOfADevice, NumbersOfTheTimingModelAreWhereACallsCyclesAreStated) {
    const char* key = "npu.kernels.vector_macs";
    const auto of = [](const char* keys, const Overrides& overrides) {
        return result_of(
            fmt::format("{{device: xdna2, workload: {{gemv: {{M: 256, K: 256, weights: bf16, "
                        "input: bf16, accumulate: bf16}}}}, mapping: {{gemv: {{columns: 4, "
                        "rows_per_call: 8}}, {}}}}}",
                        keys),
            overrides);
    };
    const Overrides slower = {{"device.npu.kernels.vector_macs", "16"}};
    const auto share = of("kernel_permille: 2000", {});
    EXPECT_THAT(share.not_exercised, Not(Contains(key)));
    EXPECT_NE(share.cycles, of("kernel_permille: 2000", slower).cycles);
    const auto stated = of("kernel_cycles: 900", {});
    EXPECT_THAT(stated.not_exercised, Contains(key));
    EXPECT_EQ(stated.cycles, of("kernel_cycles: 900", slower).cycles);
}

// Five output tiles are under way by a queue of four. The command processor fills none in time.
TEST(UnfeltOfADevice, AQueueThatIsNeverFullMattersWhereItsDepthMakesTheProgram) {
    const char* key = "npu.shim_dma.task_queue_depth";
    const auto of = [](const char* depth) {
        return result_of(
            "{device: xdna2, workload: {gemm: {M: 1024, K: 1024, N: 1024, a: int8, b: int8, "
            "c: int16, b_layout: column_major}}, mapping: {output_stationary: {m_ct: 64, k_ct: 64, "
            "n_ct: 64, k_mt: 512, c_buffers: 2}}}",
            {{"device.npu.shim_dma.task_queue_depth", depth}});
    };
    EXPECT_THAT(of("4").not_exercised, Not(Contains(key)));
    EXPECT_NE(measured(of("4")), measured(of("3")));
    EXPECT_THAT(of("8").not_exercised, Contains(key));  // the descriptors allow five
    EXPECT_EQ(measured(of("8")), measured(of("7")));
}

TEST(UnfeltOfAChosenMapping, IsNotSaidInWords) {
    const auto result = result_of(
        "{device: sapphire_rapids, workload: {gemm: {M: 32, K: 64, N: 32, a: int8, b: int8, "
        "c: int32}}}");
    EXPECT_THAT(result.not_exercised, Contains("mapping.amx.density_percent"));
    EXPECT_THAT(result.notes, Not(Contains(StartsWith("mapping."))));
}

TEST(UnfeltOfAnAgent, HasItsPlaceInTheFile) {
    const std::string reads = "{requests: 500, stride: 8 KiB}";
    const auto agents =
        result_of("{memory: ddr5_5600, agents: {a: {stream: " + reads +
                  "}, b: {device: sapphire_rapids, workload: {gemm: {M: 32, K: 64, N: 32, a: int8, "
                  "b: int8, c: int32}}, mapping: {amx: {threads_n: 1}}}}}");
    EXPECT_THAT(agents.not_exercised,
                testing::IsSupersetOf({"agents.a.stream.stride", "agents.b.mapping.amx.threads_n",
                                       "agents.b.device.amx.tiles.dot_least"}));
    EXPECT_THAT(agents.notes, Contains(StartsWith("a: stream.stride changes nothing here")));
    const auto traffic = result_of(
        "{device: lpddr5x_pim, workload: {gemv: {M: 2304, K: 768}}, mapping: {pimnast: {}}, "
        "traffic: " +
        reads + "}");
    EXPECT_THAT(traffic.not_exercised, Contains("traffic.stride"));
    EXPECT_THAT(traffic.notes, Contains(StartsWith("traffic.stride changes nothing here")));
    EXPECT_THAT(traffic.not_exercised, Contains("mapping.pimnast.between"));
}

}  // namespace
}  // namespace tilesim::sim::session
