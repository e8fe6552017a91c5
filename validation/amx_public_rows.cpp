// Rows of amx_public.csv: published measurements of Sapphire Rapids.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "arch/base/config.hpp"
#include "sim/compare/amx_kernel.hpp"
#include "validation/amx_public_kernels.hpp"
#include "validation/avx512_kernels.hpp"
#include "validation/rows.hpp"

namespace tilesim::validation {

namespace {

constexpr const char* kAny =
    "device: sapphire_rapids\nworkload: {gemm: {M: 16, K: 64, N: 16, a: int8, b: int8, c: "
    "int32}}\n";
constexpr double kAmxClock = 1.71;    // GHz: of the machine's runs that print one
constexpr double kVectorClock = 3.8;  // of one core reading
constexpr double kReadClock = 2.8;    // of all cores reading
constexpr double kStartClock = 2.5;   // when a run of that machine starts
constexpr double kBlockFlop = 2.0 * 256 * 256 * 256;

bool holds(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

double clock_of(const Record& row, double otherwise) {
    return row.at("clock_ghz").empty() ? otherwise : row.number("clock_ghz");
}

// Cores in step with a simulated one take no simulation of their own.
enum class Cores { SomeInStep, AllSimulated };

double cycles(const std::string& text, double ghz, Cores cores = Cores::SomeInStep) {
    std::vector<std::pair<std::string, std::string>> settings{
        {"device.amx.clock", fmt::format("{:.3f} GHz", ghz)}};
    if (cores == Cores::AllSimulated) {
        settings.emplace_back("device.amx.simulated_cores", "0");
    }
    const sim::Scenario machine = sim::parse_scenario(kAny, "reference row", settings);
    return sim::compare::run_amx_kernel(machine, text, "reference row").cycles;
}

double nanoseconds(const std::string& text, double ghz, Cores cores = Cores::SomeInStep) {
    return cycles(text, ghz, cores) / ghz;
}

PublicGemm gemm_of(const Record& row) {
    const auto number = [&row](const char* column) {
        return row.at(column).empty() ? 0 : row.integer(column);
    };
    PublicGemm gemm;
    gemm.m = number("M");
    gemm.k = number("K");
    gemm.n = number("N");
    gemm.a_row_lines = row.at("a_row_lines") == "packed" ? 0 : number("a_row_lines");
    gemm.threads = std::max(number("threads"), 1L);
    return gemm;
}

// U1 and U1b in the L2: the third run, or the one the row names.
double resident(const Record& row) {
    PublicGemm gemm = gemm_of(row);
    const std::string& state = row.at("state");
    const bool fresh = state.starts_with("run ");
    gemm.state = fresh ? PublicGemm::State::Fresh : PublicGemm::State::Resident;
    gemm.runs = fresh ? std::stol(state.substr(4)) : 3;
    const double ghz = clock_of(row, kAmxClock);
    const double took = cycles(public_gemm(gemm), ghz);
    const double flop = 2.0 * static_cast<double>(gemm.m) * static_cast<double>(gemm.k) *
                        static_cast<double>(gemm.n);
    if (row.at("quantity") == "cycles") {
        return took;
    }
    return row.at("quantity") == "rate_per_core" ? flop / took * ghz : flop / took;
}

// U2: bytes a nanosecond of a pass.
double read_bandwidth(const Record& row) {
    constexpr double kKib = 1024;
    const long kib = std::stol(row.at("kernel").substr(row.at("kernel").find("buffer") + 7));
    constexpr long kL2 = 3072;
    constexpr long kAll = 200'000;  // beyond all caches, a part stands for all
    if (kib > kAll) {
        constexpr long kPart = 2560;
        const double took =
            nanoseconds(public_read(2 * kPart, 1, 1, false, "flush a"), kVectorClock) -
            nanoseconds(public_read(kPart, 1, 1, false, "flush a"), kVectorClock);
        return static_cast<double>(kPart) * kKib / took;
    }
    const long few = kib > kL2 ? 1 : 3;
    const long more = kib > kL2 ? 1 : std::max(1L, kL2 / kib);
    const char* const state = kib > kL2 ? "touch a l3" : "touch a l2";
    const double took = nanoseconds(public_read(kib, few + more, 1, false, state), kVectorClock) -
                        nanoseconds(public_read(kib, few, 1, false, state), kVectorClock);
    return static_cast<double>(kib * more) * kKib / took;
}

double prefetched(const Record& row) {
    PublicGemm gemm = gemm_of(row);
    const std::string& state = row.at("state");
    const double ghz = clock_of(row, kAmxClock);
    gemm.accumulates = true;
    gemm.next = PublicGemm::Next::Behind;
    if (gemm.k > 256) {
        gemm.blocks = gemm.k / 256;
        gemm.k = 256;
        gemm.state = PublicGemm::State::Cleared;
        return cycles(public_gemm(gemm), ghz);
    }
    if (state.starts_with("caches cleared")) {
        gemm.state = PublicGemm::State::Cleared;
        return cycles(public_gemm(gemm), ghz);
    }
    if (state.starts_with("B in L2")) {
        gemm.next = PublicGemm::Next::Same;
        gemm.runs = 3;
        return cycles(public_gemm(gemm), ghz);
    }
    // Each block prefetched during the one before, beyond the first.
    gemm.state = PublicGemm::State::Fresh;
    gemm.blocks = 4;
    const double four = cycles(public_gemm(gemm), ghz);
    gemm.blocks = 5;
    return cycles(public_gemm(gemm), ghz) - four;
}

// Blocks of B, and of A, streamed by all cores: GFLOP/s of a core, or GB/s of all.
double streamed(const Record& row) {
    const std::string& kernel = row.at("kernel");
    PublicGemm gemm = gemm_of(row);
    gemm.k = 256;
    gemm.accumulates = true;
    gemm.next = PublicGemm::Next::Behind;
    gemm.products = !holds(kernel, "TDP removed");
    if (kernel.starts_with("U4")) {
        gemm.clears = true;
        gemm.a = holds(kernel, "A one 256x256 block") ? PublicGemm::A::One
                 : holds(kernel, "each core its own") ? PublicGemm::A::OwnBlocks
                 : holds(kernel, "matrix for all")    ? PublicGemm::A::Matrix
                                                      : PublicGemm::A::Blocks;
    }
    const double ghz = clock_of(row, kAmxClock);
    const bool again = row.at("state") == "again";
    gemm.state = again ? PublicGemm::State::Fresh : PublicGemm::State::Cleared;
    // Read by all before, a few MiB stay in the L3; B is more than it holds.
    gemm.in_l3 = again && gemm.a != PublicGemm::A::Own && gemm.a != PublicGemm::A::OwnBlocks;
    const auto time = [&](long blocks) {
        gemm.blocks = blocks;
        return nanoseconds(public_gemm(gemm), ghz);
    };
    const auto blocks = std::stol(kernel.substr(kernel.find(' ') + 1));  // "U3 160 B blocks"
    gemm.all_blocks = blocks;
    // Blocks behind those that find what the caches held before go on as the last ones simulated.
    constexpr long kThroughCaches = 40;
    constexpr long kFew = 16;
    const long simulated = std::min(blocks, again ? kFew : kThroughCaches);
    const long last = again ? kFew / 2 : kFew;
    const double most = time(simulated);
    const double each =
        simulated < blocks ? (most - time(simulated - last)) / static_cast<double>(last) : 0;
    const auto others = static_cast<double>(blocks - simulated);
    const double took = again ? each * static_cast<double>(blocks) : most + each * others;
    if (!gemm.products) {
        constexpr double kBlockBytes = 256.0 * 256 * 2;
        return static_cast<double>(blocks) * kBlockBytes * static_cast<double>(gemm.threads) / took;
    }
    return static_cast<double>(blocks) * kBlockFlop / took;
}

double shared_read(const Record& row) {
    constexpr double kMicro = 1000;
    const bool shared = holds(row.at("kernel"), "one buffer");
    const long pass = holds(row.at("state"), "pass 5") ? 5 : 1;
    const auto time = [&](long passes) {
        return nanoseconds(public_read(2048, passes, 56, shared, "flush a"), kReadClock,
                           Cores::AllSimulated);
    };
    return (time(pass) - (pass > 1 ? time(pass - 1) : 0)) / kMicro;
}

double turns(const Record& row) {
    constexpr double kMicro = 1000;
    const std::string& state = row.at("state");
    std::string readers = "00-0";  // whoever comes to a barrier last goes on before the others
    if (state.starts_with("thread 1, lines modified")) {
        readers = "1";
    } else if (state.starts_with("thread 3")) {
        readers = "123";
    } else if (state.starts_with("thread 1 again")) {
        readers = "1231";
    }
    const double with = nanoseconds(public_turns(readers), kStartClock);
    readers.back() = '-';  // the same without the reads: its barrier was not measured
    return (with - nanoseconds(public_turns(readers), kStartClock)) / kMicro;
}

double weights(const Record& row) {
    const std::string& kernel = row.at("kernel");
    constexpr double kClock = 3.07;
    if (const auto alone = vector_kernel(kernel)) {
        return cycles(*alone, kClock);
    }
    const Weights kind = holds(kernel, "dense")         ? Weights::Dense
                         : holds(kernel, "2 out")       ? Weights::CopyTwice
                         : holds(kernel, "4 out")       ? Weights::CopyFour
                         : holds(kernel, "ping-pong")   ? Weights::Int8PingPong
                         : holds(kernel, "interleaved") ? Weights::Int8Interleaved
                                                        : Weights::Int8;
    const bool far = holds(row.at("state"), "from DRAM");
    double took = 0;  // cycles
    if (far) {
        constexpr long kSteps = 2048;
        constexpr double kAll = 102'400;
        took = (cycles(public_weights(kind, 2 * kSteps, 1, true), kClock) -
                cycles(public_weights(kind, kSteps, 1, true), kClock)) /
               kSteps * kAll;
    } else {
        constexpr long kPasses = 10;
        took = (cycles(public_weights(kind, 16, 2 + kPasses, false), kClock) -
                cycles(public_weights(kind, 16, 2, false), kClock)) /
               kPasses;
    }
    constexpr double kMicro = 1000;
    return row.at("quantity") == "time" ? took / kClock / kMicro : took;
}

// How much of its peak a unit reaches in a loop out of the L1: four tile registers of 16 rows, of
// which a product and the store of one take 16 cycles each.
double tile_pipes(const Record& row) {
    const bool products = holds(row.at("kernel"), "TDP");
    std::string text =
        "buffer a 0x100000 4096\nbuffer c 0x110000 4096\ntouch a l1\ntouch c l1\n"
        "config 0 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64\nldtilecfg 0\n"
        "loop i COUNT\n";
    for (int i = 0; i < 4; ++i) {
        text += products ? fmt::format("tdpbuud tmm{}, tmm6, tmm7\n", i)
                         : fmt::format("tileloadd tmm{}, [a + {}], 64\ntilezero tmm{}\n", 4 + i,
                                       1024 * i, i);
    }
    for (int i = 0; i < 4; ++i) {
        text += fmt::format("tilestored [c + {}], 64, tmm{}\n", 1024 * i, i);
    }
    constexpr double kEach = 16;
    return 4 * kEach / cycles(text + "end\n", clock_of(row, kAmxClock));
}

// The products' rate by the cores' clock, which the source's other type gives.
double register_peak(const Record& row) {
    const std::map<std::string, double> clocks{
        {"gold6455b/1", 3.7}, {"gold6455b/64", 2.94}, {"w9_3495x/1", 2.78}, {"w9_3495x/56", 2.46}};
    const auto clock = clocks.find(row.at("machine") + "/" + row.at("threads"));
    std::string text =
        "config 0 16x64 16x64 16x64 16x64 16x64 16x64 16x64 16x64\nldtilecfg 0\n"
        "loop i COUNT\n";
    const bool bf16 = row.at("dtype") == "bf16";
    for (int i = 0; i < 4; ++i) {
        text += fmt::format("{} tmm{}, tmm4, tmm5\n", bf16 ? "tdpbf16ps" : "tdpbuud", i);
    }
    const double flop = 4 * 2.0 * 16 * 16 * (bf16 ? 32 : 64);
    constexpr double kTera = 1000;
    return flop / cycles(text + "end\n", clock->second) * clock->second * row.number("threads") /
           kTera;
}

double predicted(const Record& row) {
    const std::string& family = row.at("family");
    if (family == "l2_shapes" || family == "l2_runs" || family == "l2_56_cores") {
        return resident(row);
    }
    if (family == "few_rows") {
        return cycles(public_few_rows(3), kAmxClock);
    }
    using Predict = double (*)(const Record&);
    const std::map<std::string, Predict> predicts{{"read_bandwidth", read_bandwidth},
                                                  {"b_prefetch", prefetched},
                                                  {"stream_56", streamed},
                                                  {"ab_stream_56", streamed},
                                                  {"shared_read_56", shared_read},
                                                  {"cross_core_128k", turns},
                                                  {"weights", weights},
                                                  {"register_peak", register_peak},
                                                  {"tile_pipes", tile_pipes}};
    return predicts.at(family)(row);
}

// Rows of libraries and of unknown clocks, counters a result does not hold, and clocks themselves,
// which are given, are left out; docs/amx.md names them.
bool left_out(const Record& row) {
    const std::string& family = row.at("family");
    return family.starts_with("library") || family == "clock" || family == "one_accumulator" ||
           row.at("machine") == "aws_spr" || row.at("quantity").starts_with("l3_");
}

}  // namespace

std::vector<Task> amx_public_tasks(const std::string& folder) {
    std::vector<Task> tasks;
    for (const Record& row : read_csv(folder + "/rows.csv")) {
        if (left_out(row)) {
            continue;
        }
        std::string id =
            fmt::format("{}/{} {} {}x{}x{} {} {} threads {} {}", row.at("family"),
                        row.at("machine"), row.at("kernel"), row.at("M"), row.at("K"), row.at("N"),
                        row.at("a_row_lines"), row.at("threads"), row.at("state"), row.at("dtype"));
        std::replace(id.begin(), id.end(), ',', ';');
        const std::string& unit = row.at("unit");
        Task task;
        task.row = {id,
                    "sapphire_rapids",
                    unit.substr(0, unit.find(' ')),
                    row.number("value"),
                    0,
                    row.at("use"),
                    row.at("family")};
        task.parts = {[row] { return predicted(row); }};
        tasks.push_back(std::move(task));
    }
    return tasks;
}

}  // namespace tilesim::validation
