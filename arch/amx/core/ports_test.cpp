#include "arch/amx/core/ports.hpp"

#include <gtest/gtest.h>

#include <map>
#include <ostream>

#include "arch/amx/core/window_testing.hpp"

namespace tilesim::arch::amx::core {
namespace {

// Pairwise different primes.
AmxConfig sample() {
    AmxConfig config;
    config.tiles.dot_latency = base::Cycles{37};
    config.tiles.store_config = base::Cycles{23};
    config.vector.port5_closed = base::Cycles{11};
    config.vector.scalar_ports = 3;
    return config;
}

// Every instruction enters in cycle 0 and can start in cycle 1.
struct Bench : Window {
    explicit Bench(const std::string& text, const AmxConfig& given = sample(),
                   std::int64_t rows = 16)
        : Window(text, given) {
        while (!stream.finished()) {
            ids.push_back(enter(0, 1, rows));
        }
    }
    // Cycles up to and including `last`; notes when each was issued.
    void run(std::int64_t last) {
        for (std::int64_t now = 1; now <= last; ++now) {
            for (EntryId id = window.pop_due(now); id != kNoEntry;
                 id = window.at(id).next_in_slot) {
                ports.start(id);
            }
            ports.step(now);
            for (const EntryId id : ids) {
                if (window.at(id).issued) {
                    issued.try_emplace(id, now);
                }
            }
        }
    }
    // By order of the program.
    std::int64_t issued_at(std::size_t index) const { return issued.at(ids[index]); }
    const Entry& entry(std::size_t index) const { return window.at(ids[index]); }

    Ports ports{config, window, stores};
    std::vector<EntryId> ids;
    std::map<EntryId, std::int64_t> issued;
};

std::string repeated(const std::string& line, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) {
        text += line + "\n";
    }
    return text;
}

TEST(Ports, ATdpTakesTmulACycleARowAndDeliversALatencyLater) {
    for (const char* opcode : {"tdpbssd", "tdpbsud", "tdpbusd", "tdpbuud", "tdpbf16ps"}) {
        const std::string dot{opcode};
        Bench bench(dot + " tmm0, tmm4, tmm6\n" + dot + " tmm1, tmm4, tmm6\n", sample(), 7);
        bench.run(20);
        EXPECT_EQ(bench.issued_at(0), 1);
        EXPECT_EQ(bench.issued_at(1), 1 + 7);
        EXPECT_EQ(bench.entry(0).result_at, 1 + 7 + 37);
        EXPECT_EQ(bench.entry(0).done_at, 1 + 1);  // it cannot fault: it retires early
        EXPECT_EQ(bench.ports.tmul_use(), TmulUse::Multiply);
        EXPECT_EQ(bench.ports.tmul_free(), 1 + 7 + 7);
    }
    AmxConfig late = sample();
    late.tiles.early_retire = false;
    Bench bench("tdpbssd tmm0, tmm4, tmm6\n", late, 7);
    bench.run(2);
    EXPECT_EQ(bench.entry(0).done_at, 1 + 7 + 37);
}

TEST(Ports, ATdpWaitsForItsAccumulatorAYoungerOneOvertakesIt) {
    Bench bench("tdpbssd tmm0, tmm4, tmm6\ntdpbssd tmm0, tmm4, tmm6\ntdpbssd tmm1, tmm4, tmm6\n",
                sample(), 5);
    bench.run(60);
    EXPECT_EQ(bench.issued_at(2), 1 + 5);
    EXPECT_EQ(bench.issued_at(1), 1 + 5 + 37);
}

TEST(Ports, StoringATdpsResultTakesTmulAndTheStoreLineALineACycle) {
    const std::string text =
        "tdpbssd tmm0, tmm4, tmm6\ntilestored [0x1000], 64, tmm0\ntdpbssd tmm0, tmm4, tmm6\n"
        "tilestored [0x2000], 64, tmm4\ntilestored [0x3000], 64, tmm5\n";
    Bench bench(text, sample(), 13);
    bench.run(120);
    const std::int64_t result = 1 + 13 + 37;
    EXPECT_EQ(bench.issued_at(1), result);
    EXPECT_EQ(bench.issued_at(2), result + 13);  // TMUL was the store's
    for (std::int64_t line = 0; line < 13; ++line) {
        EXPECT_EQ(bench.stores.data_at(bench.entry(1).store + line), result + line + 1);
    }
    EXPECT_EQ(bench.entry(1).done_at, result + 13);
    // Tiles no TDP wrote go by the store line alone.
    EXPECT_EQ(bench.issued_at(3), 1);
    EXPECT_EQ(bench.issued_at(4), 1 + 13);
    AmxConfig own_way = sample();
    own_way.tiles.store_reads_tmul = false;
    Bench apart(text, own_way, 13);
    apart.run(120);
    EXPECT_EQ(apart.issued_at(1), result);
    EXPECT_EQ(apart.issued_at(2), result);
}

TEST(Ports, AStoreOfAResultWaitsForTheStoreLine) {
    Bench bench(
        "tdpbssd tmm0, tmm4, tmm6\ntilestored [0x1000], 64, tmm0\n"
        "tilestored [0x2000], 64, tmm4\ntilestored [0x3000], 64, tmm5\n"
        "tilestored [0x4000], 64, tmm5\ntilestored [0x5000], 64, tmm5\n",
        sample(), 13);
    bench.run(120);
    // Four stores of 13 lines one after the other; the result is there in cycle 51.
    EXPECT_EQ(bench.issued_at(5), 1 + 3 * 13);
    EXPECT_EQ(bench.issued_at(1), 1 + 4 * 13);
}

TEST(Ports, SttilecfgDeliversItsLineLate) {
    Bench bench("sttilecfg [0x1000]\nvmovups [0x2000], zmm1\n");
    bench.run(5);
    EXPECT_EQ(bench.stores.data_at(0), 1 + 23 + 1);
    EXPECT_EQ(bench.issued_at(1), 1 + 1);
    EXPECT_EQ(bench.stores.data_at(1), 2 + 1);
}

struct Form {
    const char* text;
    std::int64_t latency;
    std::int64_t uops;
    bool on_port0;
    bool closes;  // of port 5 to it while a TDP is young
    friend std::ostream& operator<<(std::ostream& out, const Form& form) {
        return out << form.text;
    }
};
class VectorPorts : public testing::TestWithParam<Form> {};
// The tables of LLVM's and OSACA's models of the machine, 512-bit forms: latency, uops, ports.
INSTANTIATE_TEST_SUITE_P(Forms, VectorPorts,
                         testing::Values(Form{"vcvtdq2ps zmm1, zmm8", 4, 1, true, true},
                                         Form{"vcvtps2dq zmm1, zmm8", 4, 1, true, true},
                                         Form{"vaddps zmm1, zmm8, zmm9", 4, 1, true, true},
                                         Form{"vsubps zmm1, zmm8, zmm9", 4, 1, true, true},
                                         Form{"vmulps zmm1, zmm8, zmm9", 4, 1, true, true},
                                         Form{"vmaxps zmm1, zmm8, zmm9", 4, 1, true, true},
                                         Form{"vcvtneps2bf16 zmm1, zmm8", 7, 2, true, true},
                                         Form{"vpaddd zmm1, zmm8, zmm9", 1, 1, true, false},
                                         Form{"vpslld zmm1, zmm8, 16", 1, 1, true, false},
                                         Form{"vpmovzxwd zmm1, zmm8", 3, 1, false, false}));

TEST_P(VectorPorts, LatencyUopsAndPortsAreTheTables) {
    const Form form = GetParam();
    Bench bench(repeated(form.text, 4));
    bench.run(20);
    EXPECT_EQ(bench.entry(0).result_at, 1 + form.latency);
    EXPECT_EQ(bench.entry(0).done_at, 1 + form.latency);
    for (std::size_t i = 0; i < 4; ++i) {  // on one port or on two
        const auto turn = static_cast<std::int64_t>(form.on_port0 ? i / 2 : i);
        EXPECT_EQ(bench.issued_at(i), 1 + turn * form.uops) << i;
    }
    AmxConfig one = sample();
    one.vector.second_port = false;
    Bench alone(repeated(form.text, 2), one);
    alone.run(20);
    EXPECT_EQ(alone.issued_at(1), form.closes ? 1 + form.uops : bench.issued_at(1));
}

TEST_P(VectorPorts, PortFiveIsClosedToMathSoLongAfterATdpStarts) {
    const Form form = GetParam();
    // The TDP starts in cycle 1; one of each pair goes by port 5 where it may.
    Bench bench("tdpbssd tmm0, tmm4, tmm6\n" + repeated(form.text, 40));
    bench.run(100);
    std::int64_t together = 0;
    for (std::size_t i = 1; i < 40; ++i) {
        together = bench.issued_at(i) == bench.issued_at(i + 1) ? bench.issued_at(i) : together;
        if (together > 0) {
            break;
        }
    }
    // The first cycle in which both ports are free and open.
    const std::int64_t both = form.closes ? 1 + 11 : 1;
    EXPECT_EQ(together, form.on_port0 && form.uops == 1 ? both : 0);
    if (form.uops == 2) {  // port 0 in every odd cycle, port 5 in every even one
        EXPECT_EQ(bench.issued_at(6), 11);
        EXPECT_EQ(bench.issued_at(7), 12);
        EXPECT_EQ(bench.issued_at(8), 13);
    }
}

TEST(Ports, FusedMultiplyAddTakesFourCyclesFromItsAccumulator) {
    Bench bench("vfmadd231ps zmm1, zmm8, zmm9\nvfmadd231ps zmm1, zmm8, zmm9\n");
    bench.run(10);
    EXPECT_EQ(bench.issued_at(1), 1 + 4);
}

TEST(Ports, InterleavesTakePortFiveForTwoCyclesAndFour) {
    for (const std::string opcode : {"vpermt2b", "vpermt2w"}) {
        Bench bench(opcode + " zmm1, zmm8, zmm9, 0\n" + opcode + " zmm2, zmm8, zmm9, 0\n");
        bench.run(10);
        EXPECT_EQ(bench.entry(0).result_at, 1 + 4);
        EXPECT_EQ(bench.issued_at(1), 1 + 2);
    }
}

TEST(Ports, ASaturatingStoreTakesPortFiveForTwoCyclesAndFourMoreForItsData) {
    Bench bench(
        "vpmovsdb [0x1000], zmm1, 16\nvpmovsdb [0x2000], zmm1, 16\n"
        "vpmovzxwd zmm2, zmm8\n");
    bench.run(10);
    EXPECT_EQ(bench.stores.data_at(0), 1 + 4 + 1);
    EXPECT_EQ(bench.issued_at(1), 1 + 2);
    EXPECT_EQ(bench.issued_at(2), 3 + 2);  // stores are offered port 5 first
}

TEST(Ports, ScalarUopsTakePortsOfTheirOwn) {
    Bench bench(repeated("scalar", 7) + "vaddps zmm1, zmm8, zmm9\n");
    bench.run(5);
    for (std::size_t i = 0; i < 7; ++i) {
        EXPECT_EQ(bench.issued_at(i), 1 + static_cast<std::int64_t>(i) / 3);
        EXPECT_EQ(bench.entry(i).result_at, bench.issued_at(i) + 1);
    }
    EXPECT_EQ(bench.issued_at(7), 1);
}

TEST(Ports, NothingIsToDoUntilAPortIsFree) {
    Bench bench("tdpbssd tmm0, tmm4, tmm6\ntdpbssd tmm1, tmm4, tmm6\n", sample(), 7);
    EXPECT_EQ(bench.ports.next_event(0), caches::kUnknownCycle);
    bench.run(1);
    EXPECT_EQ(bench.ports.next_event(1), 1 + 7);
    Bench stores("tilestored [0x2000], 64, tmm4\ntilestored [0x3000], 64, tmm5\n", sample(), 7);
    stores.run(1);
    EXPECT_EQ(stores.ports.next_event(1), 1 + 7);
}

}  // namespace
}  // namespace tilesim::arch::amx::core
