// Measures kernels in their text form on this machine's AMX and writes CSV.
//
//     tilesim_amx_measure [--cpu N] FILE.amx...
//
// A file whose outermost loop count is COUNT is run at two counts and gives cycles an iteration;
// any other (what `tilesim lower` prints) gives cycles a run. Where there is no AMX it says so and
// exits 77.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>

#include "arch/amx/program_text.hpp"
#include "arch/base/config.hpp"
#include "validation/amx/harness/assembler.hpp"
#include "validation/amx/harness/machine.hpp"

namespace {

using namespace tilesim;
using validation::amx::Sample;

constexpr int kSkip = 77;
constexpr int kBadInput = 2;
constexpr int kRepetitions = 15;
// Iterations of a kernel: enough instructions for the clock, few enough for long kernels.
constexpr std::int64_t kInstructions = 3'000'000;
constexpr std::int64_t kMostIterations = 60'000;
constexpr std::int64_t kLeastIterations = 12;
constexpr std::int64_t kFewerBy = 6;
constexpr std::string_view kCount = "COUNT";

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

Result run(const std::string& text, const std::string& file) {
    const arch::amx::Program program = arch::amx::read_program(text, file);
    const validation::amx::ProgramMemory memory(program);
    const validation::amx::Assembler assembler(program, memory.configs());
    std::vector<Sample> samples = validation::amx::measure(assembler.code(), kRepetitions);
    std::sort(samples.begin(), samples.end(),
              [](const Sample& a, const Sample& b) { return a.cycles < b.cycles; });
    const Sample& median = samples[samples.size() / 2];
    return {static_cast<double>(samples[0].cycles), static_cast<double>(median.cycles),
            static_cast<double>(median.tsc), static_cast<double>(median.nanoseconds),
            median.counted};
}

Result measured(const std::string& file) {
    const std::string text = read_file(file);
    const std::size_t at = text.find(kCount);
    if (at == std::string::npos) {
        return run(text, file);
    }
    const auto with_count = [&](std::int64_t count) {
        std::string program = text;
        return program.replace(at, kCount.size(), std::to_string(count));
    };
    const std::int64_t length =
        arch::amx::read_program(with_count(2), file).dynamic_instructions() -
        arch::amx::read_program(with_count(1), file).dynamic_instructions();
    const std::int64_t count =
        std::clamp(kInstructions / length, kLeastIterations, kMostIterations);
    const Result few = run(with_count(count / kFewerBy), file);
    const Result many = run(with_count(count), file);
    const auto iterations = static_cast<double>(count - count / kFewerBy);
    return {(many.least - few.least) / iterations, (many.median - few.median) / iterations,
            (many.tsc - few.tsc) / iterations, (many.nanoseconds - few.nanoseconds) / iterations,
            many.counted};
}

// GHz of the core during the median; empty where its cycles could not be counted.
std::string clock_of(const Result& result) {
    return result.counted && result.nanoseconds > 0
               ? fmt::format("{:.3f}", result.median / result.nanoseconds)
               : "";
}

int command(const std::vector<std::string>& arguments) {
    std::vector<std::string> files = arguments;
    int processor = 0;
    if (files.size() >= 2 && files[0] == "--cpu") {
        processor = std::stoi(files[1]);
        files.erase(files.begin(), files.begin() + 2);
    }
    if (const std::string reason = validation::amx::why_no_tiles(); !reason.empty()) {
        fmt::print(stderr, "SKIP: {}\n", reason);
        return kSkip;
    }
    validation::amx::pin(processor);
    fmt::print("kernel,unit,cyc_min,cyc_median,tsc,ghz,reps,host\n");
    for (const std::string& file : files) {
        try {
            const Result result = measured(file);
            fmt::print("{},{},{:.3f},{:.3f},{:.3f},{},{},{}\n", file.substr(file.rfind('/') + 1),
                       result.counted ? "core_cycles" : "tsc_cycles", result.least, result.median,
                       result.tsc, clock_of(result), kRepetitions, validation::amx::host_name());
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
