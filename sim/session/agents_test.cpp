#include "sim/session/agents.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/session/session.hpp"

namespace tilesim::sim::session {
namespace {

using testing::HasSubstr;

nlohmann::ordered_json run(const std::string& text, const Overrides& overrides = {}) {
    const workloads::RunResult result =
        session::run(parse_scenario(text, "agents.yaml", overrides));
    EXPECT_EQ(result.status, workloads::Status::Ok);
    return result.details["agents"];
}

std::string error_of(const std::string& text, const Overrides& overrides = {}) {
    try {
        parse_scenario(text, "agents.yaml", overrides);
    } catch (const arch::base::config::ConfigError& error) {
        return error.what();
    }
    return "no error";
}

const std::string kReads = "{pattern: random, requests: 4000, outstanding: 32}";

TEST(Agents, TheHostsTimeMayBeOverWhileOnesMappingIsChosen) {
    const auto result = session::run(parse_scenario(
        "memory: lpddr5x_7500\nagents:\n  npu: {device: xdna2, workload: {gemm: {M: 512, K: 512, "
        "N: 512, a: int8, b: int8, c: int32}}}\n  cpu: {stream: " +
            kReads + "}\nrun: {max_wall_time: 1 ms}\n",
        "agents.yaml", {}));
    EXPECT_EQ(result.status, workloads::Status::TimeLimit);
    EXPECT_THAT(result.notes, testing::Contains(HasSubstr("before the mapping was chosen")));
}

TEST(Agents, OneAloneIsNotSlowed) {
    const auto agents = run("memory: ddr5_5600\nagents:\n  a: {stream: " + kReads + "}\n");
    EXPECT_EQ(agents["a"]["alone_ns"], agents["a"]["together_ns"]);
    EXPECT_EQ(agents["a"]["slowdown"], 1.0);
    EXPECT_EQ(agents["a"]["bytes"], 4000 * 64);
}

// Four requests a bank keep the data bus busy: what is twice as much takes twice as long, but for
// the beginning and the end, where there are fewer.
TEST(Agents, EqualOnesShareTheMemoryEqually) {
    const std::string reads = "{pattern: random, requests: 4000, outstanding: 512}";
    const auto agents = run("memory: ddr5_5600\nagents:\n  a: {stream: " + reads +
                            "}\n  b: {stream: " + reads + "}\n");
    const double a = agents["a"]["slowdown"], b = agents["b"]["slowdown"];
    EXPECT_GT(a, 1.8);
    EXPECT_LT(a, 2.1);
    EXPECT_NEAR(a, b, 0.05 * a);
    const double for_other = agents["a"]["waited_ns"]["b"],
                 for_self = agents["a"]["waited_ns"]["a"];
    EXPECT_NEAR(for_other, for_self, 0.1 * for_self);
}

// Whoever reads in order finds rows closed that somebody else's reads took the bank from.
TEST(Agents, RowsAreLostToWhoeverElseOpensOthers) {
    const auto agents =
        run("memory: ddr5_5600\nagents:\n  a: {stream: {requests: 4000, outstanding: 32}}\n"
            "  b: {stream: " +
            kReads + "}\n");
    EXPECT_GT(agents["a"]["rows_lost"]["b"], 0);
}

// Equal streams ask for places of their own, so that they wait for each other no more than streams
// that differ; a seed changes them all.
TEST(Agents, RandomStreamsAreNotInStep) {
    const auto time = [](const char* seed) {
        const std::string both = "memory: lpddr5x_7500\nagents:\n  a: {stream: " + kReads +
                                 "}\n  b: {stream: " + kReads + "}\nrun: {seed: ";
        const auto result = session::run(parse_scenario(both + seed + "}\n", "agents.yaml", {}));
        return std::pair{static_cast<double>(result.details["agents"]["a"]["alone_ns"]),
                         static_cast<double>(result.details["agents"]["b"]["alone_ns"])};
    };
    const auto [a, b] = time("1");
    EXPECT_NE(a, b);
    EXPECT_NEAR(a, b, 0.05 * a);
    EXPECT_NE(time("2").first, a);
}

// Without refreshes, which would meet it at other moments than alone; rows that the other left open
// have to be closed.
TEST(Agents, OneThatStartsWhenTheOthersHaveEndedIsNotSlowed) {
    const auto agents = run("memory: ddr5_5600\nagents:\n  a: {stream: " + kReads +
                                "}\n  b: {stream: " + kReads + ", start: 50 us}\n",
                            {{"device.memory.refresh", "off"}});
    EXPECT_EQ(agents["a"]["slowdown"], 1.0);
    EXPECT_NEAR(static_cast<double>(agents["b"]["slowdown"]), 1.0, 0.01);
}

TEST(Agents, OneThatStartsWhenTheBudgetIsUsedUpHasNotRun) {
    const auto result = session::run(
        parse_scenario("memory: ddr5_5600\nagents:\n  a: {stream: " + kReads +
                           "}\n  b: {stream: " + kReads + ", start: 2 s}\nrun: {max_time: 1 s}\n",
                       "agents.yaml", {}));
    EXPECT_EQ(result.status, workloads::Status::TimeLimit);
    EXPECT_THAT(result.notes, testing::Contains("b: starts at 2 s, when the budget is used up"));
    EXPECT_EQ(result.details["agents"]["a"]["runs"], 1);
    EXPECT_EQ(result.details["agents"]["b"]["together_ns"], nullptr);
    EXPECT_THAT(result.bottleneck, testing::EndsWith("than alone"));  // nobody kept it waiting
}

// What a processor waits for last is on its way when it is known to have ended; banks that compute
// count from their own start.
TEST(Agents, AllHaveEndedWhenTheLastHas) {
    const std::string loop = "{host: {read: 64 KiB}";
    const std::string gemv =
        "{device: lpddr5x_pim, workload: {gemv: {M: 256, K: 256}}, mapping: {pimnast: {}}";
    for (const std::string& agent : {loop, gemv}) {
        for (const double start_us : {0.0, 5.0}) {
            const auto result = session::run(parse_scenario(
                fmt::format("memory: lpddr5x_pim\nagents:\n  a: {}, start: {} us}}\n", agent,
                            start_us),
                "agents.yaml", {}));
            ASSERT_EQ(result.status, workloads::Status::Ok);
            const double alone = result.details["agents"]["a"]["together_ns"];
            EXPECT_GT(result.time_ns, start_us * 1e3 + alone - 1e-6)
                << agent << start_us;  // rounded
            EXPECT_LE(result.time_ns, start_us * 1e3 + alone + 200) << agent << start_us;
        }
    }
}

std::string bottleneck_of(const nlohmann::ordered_json& agents, const char* name) {
    return agents[name]["bottleneck"];
}

// Alone and among others it is found on the way through the memory's commands.
TEST(Agents, AStreamNamesItsBottleneck) {
    const std::string many = "{requests: 20000, outstanding: 256}";
    const std::string one = "{pattern: random, requests: 1000, outstanding: 1}";
    const auto both = run("memory: ddr5_5600\nagents:\n  a: {stream: " + many +
                          "}\n  b: {stream: " + one + "}\n");
    EXPECT_EQ(bottleneck_of(both, "a"), "DRAM: data bus");
    EXPECT_EQ(bottleneck_of(both, "b"), "requests under way");
    const auto alone = run("memory: ddr5_5600\nagents:\n  b: {stream: " + one + "}\n");
    EXPECT_EQ(bottleneck_of(alone, "b"), "requests under way");
}

// Its time may begin between two edges of the memory's clock.
TEST(Agents, WhenAStreamStartsChangesNoneOfItsBottleneck) {
    for (const char* start : {"0 us", "3.0001 us"}) {
        const auto agents =
            run(fmt::format("memory: ddr5_5600\nagents:\n  a: {{stream: {{pattern: random, "
                            "requests: 4000, outstanding: 256}}, start: {}}}\n",
                            start),
                {{"device.memory.refresh", "off"}});
        EXPECT_EQ(bottleneck_of(agents, "a"), "DRAM: activates of all banks") << start;
    }
}

// A unit in the banks is lent channels, whose commands nobody hears.
TEST(Agents, BesideUnitsInTheBanksAStreamNamesNoBottleneck) {
    const auto agents = run(
        "memory: lpddr5x_pim\nagents:\n  cpu: {stream: " + kReads +
        "}\n  gemv: {device: lpddr5x_pim, workload: {gemv: {M: 256, K: 256}}, mapping: {pimnast: "
        "{}}}\n");
    EXPECT_EQ(bottleneck_of(agents, "cpu"), "");
}

TEST(Agents, RepeatAsOftenAsTheySay) {
    const auto agents = run("memory: ddr5_5600\nagents:\n  a: {stream: " + kReads +
                            ", repeat: 3}\n  b: {stream: {requests: 100}, repeat: "
                            "until_all_done}\n");
    EXPECT_EQ(agents["a"]["runs"], 3);
    EXPECT_GT(agents["b"]["runs"], 3);
    EXPECT_EQ(agents["a"]["bytes"], 3 * 4000 * 64);
}

TEST(Agents, AnArrayAndARequestStreamRunAsTheirDataflowsSay) {
    const auto agents = run(
        "memory: lpddr5x_7500\nagents:\n"
        "  npu: {device: xdna2, workload: {gemm: {M: 512, K: 432, N: 896, a: int8, b: int8, c: "
        "int16, b_layout: column_major}}, mapping: {output_stationary: {m_ct: 64, k_ct: 72, n_ct: "
        "112, k_mt: 216}}}\n"
        "  cpu: {stream: {pattern: random, requests: 1000, outstanding: 64}, repeat: "
        "until_all_done}\n");
    EXPECT_GE(agents["npu"]["slowdown"], 1.0);
    EXPECT_EQ(agents["npu"]["device"], "xdna2");
    EXPECT_GT(agents["cpu"]["runs"], 0);
}

TEST(Agents, ATimeOfTheLastOfSeveralRunsIsSaidToBeThat) {
    const auto result = session::run(parse_scenario(
        "memory: ddr5_4800\nagents:\n"
        "  amx: {device: sapphire_rapids, workload: {gemm: {M: 32, K: 64, N: 32, a: int8, b: int8, "
        "c: int32}}, mapping: {amx: {data_in: dram, runs: 2}}}\n"
        "  cpu: {stream: {requests: 100}}\n",
        "agents.yaml", {}));
    EXPECT_THAT(result.notes, testing::Contains(HasSubstr("times are of the last of 2 runs")));
}

// `traffic` is two agents on all of the memory: what the banks compute takes as long as without it,
// the requests wait for the channels that are lent.
TEST(Agents, TrafficBesideAGemvIsOneOfThem) {
    const std::string gemv =
        "device: lpddr5x_pim\nworkload: {gemv: {M: 4096, K: 4096}}\nmapping: {pimnast: {}}\n";
    const Overrides still{{"device.memory.refresh", "off"}};  // a refresh is for nobody
    const auto alone = session::run(parse_scenario(gemv, "gemv.yaml", still));
    const auto both = session::run(
        parse_scenario(gemv + "traffic: {pattern: random, requests: 9000, outstanding: 512}\n",
                       "gemv.yaml", still));
    ASSERT_EQ(both.status, workloads::Status::Ok);
    EXPECT_EQ(both.cycles, alone.cycles);
    ASSERT_TRUE(both.stream.has_value());
    EXPECT_EQ(both.stream->requests, 9000);
    const auto& agents = both.details["agents"];
    EXPECT_EQ(agents["gemv"]["slowdown"], 1.0);
    EXPECT_GT(agents["traffic"]["slowdown"], 1.0);
    // All channels are lent for the length of the GEMV; so many requests that some wait at each.
    const double waited = agents["traffic"]["waited_ns"]["gemv"];
    EXPECT_NEAR(waited, alone.time_ns, 0.05 * alone.time_ns);
    // Its last writes have left the queues: each request moved its 64 B.
    EXPECT_EQ(agents["traffic"]["bytes"], 9000 * 64);
}

// Some of them stand for the rest only where nobody waits for these: they take 120 and 240 us.
TEST(Agents, RequestsWaitForAllProductsInARowInTheBanks) {
    const auto waited_ns = [](int vectors) {
        const auto agents = run(fmt::format(
            "memory: lpddr5x_pim\nagents:\n"
            "  d: {{device: lpddr5x_pim, workload: {{gemm: {{M: {}, K: 1024, N: 1024, a: int8, b: "
            "int8, c: int16}}}}, mapping: {{pimnast: {{}}}}}}\n"
            "  b: {{stream: {{pattern: random, requests: 20000, outstanding: 16}}}}\n",
            vectors));
        return agents["b"]["waited_ns"]["d"].get<double>();
    };
    EXPECT_NEAR(waited_ns(128), 2 * waited_ns(64), 0.1 * waited_ns(128));
}

// Eight cores with 12 lines under way each ask for more than a channel of DDR5 gives; two for less.
TEST(Agents, AProcessorsLoopLoadsTheMemoryAsItsFillsAllow) {
    const auto agents =
        run("memory: ddr5_5600\nagents:\n  wide: {host: {read: 4 MiB, write: 1 MiB}}\n"
            "  narrow: {host: {read: 128 KiB, cores: 2, fills: 4}, repeat: until_all_done}\n");
    EXPECT_EQ(agents["wide"]["bytes"], (4 + 2) << 20);  // what is written is fetched first
    EXPECT_GT(agents["wide"]["slowdown"], 1.0);
    EXPECT_GT(agents["narrow"]["slowdown"], 1.0);
    EXPECT_GT(agents["wide"]["waited_ns"]["narrow"], 0);
}

TEST(Agents, RefuseWhatCannotBeTogether) {
    EXPECT_THAT(error_of("memory: ddr5_5600\nagents:\n  p: {device: lpddr5x_pim, workload: {gemv: "
                         "{M: 1024, K: 1024}}}\n"),
                HasSubstr("agents.yaml:3:15: agents.p.device: 'lpddr5x_pim' computes in its banks, "
                          "which those of 'ddr5_5600' cannot"));
    EXPECT_THAT(error_of("memory: lpddr5x_pim\nagents:\n  x: {device: sapphire_rapids, workload: "
                         "{gemm: {M: 64, K: 64, N: 64}}}\n"),
                HasSubstr("knows nothing of the modes"));
    EXPECT_THAT(error_of("memory: ddr5_5600\nagents:\n  a: {stream: {}, repeat: until_all_done}\n"),
                HasSubstr("needs an agent that ends of itself"));
    EXPECT_THAT(error_of("memory: ddr5_5600\nagents:\n  a: {stream: {}, repeat: often}\n"),
                HasSubstr("must be 1..1000000 or until_all_done, got 'often'"));
    EXPECT_THAT(error_of("memory: ddr5_5600\nagents:\n  a: {strean: {}}\n"), HasSubstr("strean"));
    EXPECT_EQ(error_of("memory: ddr5_5600\nagents:\n  a: {}\n"),
              "agents.yaml:3:3: agents.a: must hold exactly one of device (with its workload), "
              "stream, host");
}

TEST(Agents, AreAtLeastOneEachOfOneKindByAPlainName) {
    EXPECT_THAT(error_of("memory: ddr5_5600\nagents: {}\n"),
                HasSubstr("agents.yaml:2:1: agents: must name at least one"));
    EXPECT_THAT(error_of("memory: ddr5_5600\nagents: []\n"),
                HasSubstr("agents: must be a map, got a list"));
    EXPECT_THAT(error_of("memory: ddr5_5600\nagents:\n  a: {stream: {}, host: {read: 1 MiB}}\n"),
                HasSubstr("agents.a: must hold exactly one of device (with its workload), stream"));
    EXPECT_THAT(error_of("memory: ddr5_5600\nagents:\n  a: {stream: {}, device: xdna}\n"),
                HasSubstr("agents.a: must hold exactly one of"));
    for (const char* name : {"''", "a.b", "'a b'", "memory"}) {
        EXPECT_THAT(
            error_of(fmt::format("memory: ddr5_5600\nagents:\n  {}: {{stream: {{}}}}\n", name)),
            HasSubstr("agents.yaml:3:3: agents."))
            << name;
    }
}

TEST(Agents, ShareAMemoryAndNothingElse) {
    const std::string stream = "agents:\n  a: {stream: {requests: 10}}\n";
    EXPECT_THAT(error_of("memory: xdna\n" + stream),
                HasSubstr("agents.yaml:1:9: memory: 'xdna' is no memory"));
    EXPECT_THAT(error_of("memory: nothing\n" + stream),
                HasSubstr("agents.yaml:1:9: memory: unknown device 'nothing'"));
    EXPECT_EQ(error_of("memory: lpddr5x_pim\n" + stream), "no error");
    EXPECT_THAT(error_of("memory: lpddr5x_7500\nagents:\n  a: {device: ddr5_5600, workload: "
                         "{memory_stream: {}}}\n"),
                HasSubstr("'ddr5_5600' is a memory, and that of all agents is 'lpddr5x_7500'"));
}

TEST(Agents, AreNotAddedByAKeyThatIsSet) {
    const std::string text = "memory: ddr5_5600\nagents:\n  cpu: {stream: {requests: 10}}\n";
    for (const char* key : {"agents.cpuu.stream.requests", "agents.cpuu.device.npu.clock"}) {
        EXPECT_THAT(error_of(text, {{key, "4"}}),
                    HasSubstr(fmt::format("--set {}: agents.yaml has no agent 'cpuu'; it has cpu; "
                                          "did you mean 'cpu'?",
                                          key)));
    }
    EXPECT_THAT(error_of("device: ddr5_5600\nworkload: {memory_stream: {}}\n",
                         {{"agents.cpu.stream.requests", "4"}}),
                HasSubstr("has no agent 'cpu'"));
}

TEST(Agents, OneThatComesToNoEndIsDescribedToo) {
    const auto agents =
        run("memory: ddr5_5600\nagents:\n  a: {stream: {requests: 10}}\n"
            "  b: {host: {read: 16 MiB}, repeat: until_all_done}\n");
    EXPECT_EQ(agents["b"]["runs"], 0);
    EXPECT_EQ(agents["b"]["device"], "ddr5_5600");
    EXPECT_EQ(agents["b"]["workload"]["host_loop"]["read_bytes"], 16 << 20);
}

TEST(Agents, SayThatTheyAreNotSampled) {
    const auto result = session::run(parse_scenario(
        "memory: ddr5_5600\nagents:\n  a: {stream: {requests: 10}}\nrun: {sampled: on}\n",
        "agents.yaml", {}));
    EXPECT_THAT(result.notes, testing::Contains(HasSubstr("run.sampled: agents on one memory")));
}

TEST(Agents, WhatIsSetOfADeviceIsNamedAsItWasSet) {
    const std::string text =
        "memory: ddr5_5600\nagents:\n  a: {device: xdna2, workload: {gemm: {M: 64, K: 64, N: 64, "
        "a: int8, b: int8, c: int32}}}\n";
    EXPECT_EQ(error_of(text, {{"agents.a.device.npu.clok", "1 GHz"}}),
              "--set agents.a.device.npu.clok: unknown key; did you mean 'clock'?");
    EXPECT_EQ(error_of(text, {{"device.memory.clok", "1 GHz"}}),
              "--set device.memory.clok: unknown key; did you mean 'clock'?");
}

// 32 GiB.
TEST(Agents, RequestsStayWithinTheMemory) {
    const auto stream = [](const char* range) {
        return error_of(fmt::format(
            "memory: ddr5_5600\nagents:\n  a: {{stream: {{range: {}, requests: 1}}}}\n", range));
    };
    EXPECT_EQ(stream("32 GiB"), "no error");
    EXPECT_THAT(stream("33 GiB"), HasSubstr("agents.yaml:3:16: agents.a.stream.range: must be at "
                                            "most the memory's 32 GiB, got 33 GiB"));
    const std::string alone = "device: ddr5_5600\nworkload: {memory_stream: {requests: 1, range: ";
    EXPECT_EQ(error_of(alone + "32 GiB}}\n"), "no error");
    EXPECT_THAT(error_of(alone + "33 GiB}}\n"), HasSubstr("workload.memory_stream.range: must be"));
    EXPECT_THAT(error_of("device: lpddr5x_pim\nworkload: {gemv: {M: 64, K: 64}}\nmapping: "
                         "{pimnast: {}}\ntraffic: {requests: 1, range: 9 GiB}\n"),
                HasSubstr("traffic.range: must be at most the memory's 8 GiB"));
}

}  // namespace
}  // namespace tilesim::sim::session
