// Measures kernels in their text form on this machine's AMX and writes CSV.
//
//     tilesim_amx_measure [--cpu N[,N...]] FILE.amx...
//
// Thread i of a kernel runs on the i-th processor of the list, those beyond it on the following
// ones; its time is the slowest thread's.
// A file whose outermost loop count is COUNT is run at two counts and gives cycles an iteration;
// any other (what `tilesim lower` prints) gives cycles a run. Where there is no AMX it says so and
// exits 77.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>

#include "arch/base/config.hpp"
#include "validation/amx/harness/assembler.hpp"
#include "validation/amx/harness/machine.hpp"
#include "workloads/amx/tiles/kernel_text.hpp"

namespace {

using namespace tilesim;
using validation::amx::harness::Sample;

constexpr int kSkip = 77;
constexpr int kBadInput = 2;
constexpr int kRepetitions = 15;
// Iterations of a kernel: enough instructions for the clock, few enough for long kernels.
constexpr std::int64_t kInstructions = 3'000'000;
constexpr std::int64_t kMostIterations = 60'000;
constexpr std::int64_t kLeastIterations = 12;
constexpr std::int64_t kFewerBy = 6;

struct Result {
    double least = 0;
    double median = 0;
    double tsc = 0;
    double nanoseconds = 0;  // of the median
    bool counted = false;
};

std::string read_file(const std::string& file) {
    std::ifstream in(file);
    std::ostringstream text;
    text << in.rdbuf();
    if (!in) {
        throw arch::base::config::IoError(fmt::format("{}: cannot be read", file));
    }
    return text.str();
}

std::vector<int> processors_of(std::vector<int> named, std::size_t threads) {
    while (named.size() < threads) {
        named.push_back(named.back() + 1);
    }
    return named;
}

Result run(const std::vector<arch::amx::program::Program>& programs,
           const std::vector<int>& processors) {
    const validation::amx::harness::ProgramMemory memory(programs);
    std::vector<validation::amx::harness::Code> codes;
    for (std::size_t i = 0; i < programs.size(); ++i) {
        codes.push_back(
            validation::amx::harness::Assembler(programs[i], memory.placement(i)).code());
    }
    std::vector<Sample> samples = validation::amx::harness::measure(
        codes, processors_of(processors, programs.size()), kRepetitions);
    std::sort(samples.begin(), samples.end(),
              [](const Sample& a, const Sample& b) { return a.cycles < b.cycles; });
    const Sample& median = samples[samples.size() / 2];
    return {static_cast<double>(samples[0].cycles), static_cast<double>(median.cycles),
            static_cast<double>(median.tsc), static_cast<double>(median.nanoseconds),
            median.counted};
}

Result measured(const std::string& file, const std::vector<int>& processors) {
    const std::string text = read_file(file);
    const auto with_count = [&](std::int64_t count) {
        return workloads::amx::tiles::read_kernel(text, file, count);
    };
    if (!workloads::amx::tiles::has_count(text)) {
        return run(with_count(1), processors);
    }
    const std::int64_t length =
        with_count(2).front().dynamic_instructions() - with_count(1).front().dynamic_instructions();
    const std::int64_t count = std::clamp(kInstructions / std::max<std::int64_t>(length, 1),
                                          kLeastIterations, kMostIterations);
    const Result few = run(with_count(count / kFewerBy), processors);
    const Result many = run(with_count(count), processors);
    const auto iterations = static_cast<double>(count - count / kFewerBy);
    return {(many.least - few.least) / iterations, (many.median - few.median) / iterations,
            (many.tsc - few.tsc) / iterations, (many.nanoseconds - few.nanoseconds) / iterations,
            many.counted};
}

std::vector<int> read_processors(const std::string& text) {
    std::vector<int> processors;
    std::istringstream in(text);
    for (std::string each; std::getline(in, each, ',');) {
        int number = -1;
        const auto [end, error] = std::from_chars(each.data(), each.data() + each.size(), number);
        if (error != std::errc{} || end != each.data() + each.size() || number < 0) {
            throw arch::base::config::ConfigError(
                fmt::format("--cpu {}: '{}' is no processor's number", text, each));
        }
        processors.push_back(number);
    }
    if (processors.empty()) {
        throw arch::base::config::ConfigError("--cpu: processor numbers must follow");
    }
    return processors;
}

// GHz of the core during the median; empty where its cycles could not be counted.
std::string clock_of(const Result& result) {
    return result.counted && result.nanoseconds > 0
               ? fmt::format("{:.3f}", result.median / result.nanoseconds)
               : "";
}

int command(const std::vector<std::string>& arguments) {
    std::vector<std::string> files = arguments;
    std::vector<int> processors{0};
    if (files.size() >= 2 && files[0] == "--cpu") {
        processors = read_processors(files[1]);
        files.erase(files.begin(), files.begin() + 2);
    }
    if (const std::string reason = validation::amx::harness::why_no_tiles(); !reason.empty()) {
        fmt::print(stderr, "SKIP: {}\n", reason);
        return kSkip;
    }
    fmt::print("kernel,unit,cyc_min,cyc_median,tsc,ghz,reps,host\n");
    for (const std::string& file : files) {
        try {
            const Result result = measured(file, processors);
            fmt::print("{},{},{:.3f},{:.3f},{:.3f},{},{},{}\n", file.substr(file.rfind('/') + 1),
                       result.counted ? "core_cycles" : "tsc_cycles", result.least, result.median,
                       result.tsc, clock_of(result), kRepetitions,
                       validation::amx::harness::host_name());
        } catch (const arch::base::config::ConfigError& error) {
            fmt::print(stderr, "{}: left out: {}\n", file, error.what());
        }
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return command({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return kBadInput;
    }
}
