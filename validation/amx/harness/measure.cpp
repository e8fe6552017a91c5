// Measures kernels in their text form on this machine's AMX and writes CSV.
//
//     tilesim_amx_measure [--cpu N[,N...]] [--repetitions N] [--small-pages] FILE.amx...
//
// Thread i of a kernel runs on the i-th processor of the list, those beyond it on the following
// ones; its time is the slowest thread's. Texts that are no kernels are refused before any runs;
// one that this machine cannot run is left out with the reason, and where that is all of them it
// exits 77. A file whose outermost loop count is COUNT is run at two counts and gives cycles an
// iteration; any other (what `tilesim lower` prints) gives cycles a run. Caches start as the file
// says. Where there is no AVX-512 it says so and exits 77; kernels with tiles are left out where
// there is no AMX.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
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
constexpr const char* kUsage =
    "tilesim_amx_measure [--cpu N[,N...]] [--repetitions N] [--small-pages] FILE.amx...";
// Of all repetitions together: enough for the clock in each, few enough for long kernels.
constexpr std::int64_t kInstructions = 45'000'000;
constexpr std::int64_t kMostIterations = 60'000;
constexpr std::int64_t kLeastIterations = 12;
constexpr std::int64_t kFewerBy = 6;

struct Result {
    double least = 0;
    double median = 0;
    double tsc = 0;
    double nanoseconds = 0;      // of the median
    std::vector<double> events;  // of the median
};

std::vector<int> processors_of(std::vector<int> named, std::size_t threads) {
    while (named.size() < threads) {
        named.push_back(named.back() + 1);
    }
    return named;
}

struct Settings {
    std::vector<int> processors{0};
    int repetitions = 15;
    bool large_pages = true;
};

Result run(const std::vector<arch::amx::program::Program>& programs, const Settings& settings) {
    for (const auto& program : programs) {
        const std::string reason = validation::amx::harness::why_no_tiles();
        if (!reason.empty() && validation::amx::harness::uses_tiles(program)) {
            throw arch::base::config::ConfigError(reason);
        }
    }
    const validation::amx::harness::ProgramMemory memory(programs, settings.large_pages);
    std::vector<validation::amx::harness::Code> codes;
    for (std::size_t i = 0; i < programs.size(); ++i) {
        codes.push_back(
            validation::amx::harness::Assembler(programs[i], memory.placement(i)).code());
    }
    std::vector<Sample> samples = validation::amx::harness::measure(
        codes, processors_of(settings.processors, programs.size()), settings.repetitions, programs);
    std::sort(samples.begin(), samples.end(),
              [](const Sample& a, const Sample& b) { return a.cycles < b.cycles; });
    const Sample& median = samples[samples.size() / 2];
    return {static_cast<double>(samples[0].cycles),
            static_cast<double>(median.cycles),
            static_cast<double>(median.tsc),
            static_cast<double>(median.nanoseconds),
            {median.events.begin(), median.events.end()}};
}

Result measured(const std::string& file, const Settings& settings) {
    const std::string text = arch::base::config::read_file(file);
    const auto with_count = [&](std::int64_t count) {
        return workloads::amx::tiles::read_kernel(text, file, count);
    };
    if (!workloads::amx::tiles::has_count(text)) {
        return run(with_count(1), settings);
    }
    const std::int64_t length =
        with_count(2).front().dynamic_instructions() - with_count(1).front().dynamic_instructions();
    const std::int64_t count =
        std::clamp(kInstructions / settings.repetitions / std::max<std::int64_t>(length, 1),
                   kLeastIterations, kMostIterations);
    const Result few = run(with_count(count / kFewerBy), settings);
    const Result many = run(with_count(count), settings);
    const auto iterations = static_cast<double>(count - count / kFewerBy);
    Result result{(many.least - few.least) / iterations,
                  (many.median - few.median) / iterations,
                  (many.tsc - few.tsc) / iterations,
                  (many.nanoseconds - few.nanoseconds) / iterations,
                  {}};
    for (std::size_t i = 0; i < many.events.size(); ++i) {
        const bool counted = many.events[i] >= 0;
        result.events.push_back(counted ? (many.events[i] - few.events[i]) / iterations : -1);
    }
    return result;
}

int read_number(const std::string& text, int least, const std::string& wanted) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < least) {
        throw arch::base::config::ConfigError(wanted);
    }
    return number;
}

std::vector<int> read_processors(const std::string& text) {
    std::vector<int> processors;
    std::istringstream in(text);
    for (std::string each; std::getline(in, each, ',');) {
        processors.push_back(read_number(
            each, 0, fmt::format("--cpu {}: '{}' is no processor's number", text, each)));
    }
    if (processors.empty()) {
        throw arch::base::config::ConfigError("--cpu: processor numbers must follow");
    }
    return processors;
}

// GHz of the core during the median.
std::string clock_of(const Result& result) {
    return result.nanoseconds > 0 ? fmt::format("{:.3f}", result.median / result.nanoseconds) : "";
}

Settings read_settings(std::vector<std::string>& arguments) {
    Settings settings;
    while (!arguments.empty() && arguments[0].starts_with("--")) {
        if (arguments[0] == "--small-pages") {
            settings.large_pages = false;
        } else if (arguments[0] == "--cpu" && arguments.size() >= 2) {
            settings.processors = read_processors(arguments[1]);
            arguments.erase(arguments.begin());
        } else if (arguments[0] == "--repetitions" && arguments.size() >= 2) {
            settings.repetitions = read_number(
                arguments[1], 1,
                fmt::format("--repetitions {}: a number from 1 on must follow", arguments[1]));
            arguments.erase(arguments.begin());
        } else {
            throw arch::base::config::ConfigError(
                fmt::format("{}: --cpu N[,N...], --repetitions N, --small-pages or files must "
                            "stand here",
                            arguments[0]));
        }
        arguments.erase(arguments.begin());
    }
    return settings;
}

void print_header() {
    fmt::print("kernel,unit,cyc_min,cyc_median,tsc,ghz");
    for (const auto& event : validation::amx::harness::kEvents) {
        fmt::print(",{}", event.name);
    }
    fmt::print(",reps,host\n");
}

void print_row(const std::string& file, const Result& result, int repetitions) {
    fmt::print("{},core_cycles,{:.3f},{:.3f},{:.3f},{}", file.substr(file.rfind('/') + 1),
               result.least, result.median, result.tsc, clock_of(result));
    for (const double event : result.events) {
        fmt::print(",{}", event < 0 ? "" : fmt::format("{:.3f}", event));
    }
    fmt::print(",{},{}\n", repetitions, validation::amx::harness::host_name());
}

// What is wrong with any of them is said before hours are spent on the others.
void check_files(const std::vector<std::string>& files) {
    std::vector<std::string> problems;
    for (const std::string& file : files) {
        try {
            const std::string text = arch::base::config::read_file(file);
            const auto programs = workloads::amx::tiles::read_kernel(text, file, 1);
            const bool empty = std::all_of(
                programs.begin(), programs.end(),
                [](const auto& program) { return program.dynamic_instructions() == 0; });
            if (empty) {
                problems.push_back(file + ": holds no instruction");
            }
        } catch (const arch::base::config::ConfigError& error) {
            problems.emplace_back(error.what());
        } catch (const arch::base::config::IoError& error) {
            problems.emplace_back(error.what());
        }
    }
    if (!problems.empty()) {
        throw arch::base::config::ConfigError(fmt::format("{}", fmt::join(problems, "\n")));
    }
}

int command(const std::vector<std::string>& arguments) {
    std::vector<std::string> files = arguments;
    if (arguments == std::vector<std::string>{"--help"}) {
        fmt::print("Usage: {}\n", kUsage);
        return 0;
    }
    const Settings settings = read_settings(files);
    if (files.empty()) {
        throw arch::base::config::ConfigError(fmt::format("no kernel is named: {}", kUsage));
    }
    check_files(files);
    if (const std::string reason = validation::amx::harness::why_no_avx512(); !reason.empty()) {
        fmt::print(stderr, "SKIP: {}\n", reason);
        return kSkip;
    }
    print_header();
    bool any = false;
    for (const std::string& file : files) {
        try {
            print_row(file, measured(file, settings), settings.repetitions);
            any = true;
        } catch (const arch::base::config::ConfigError& error) {
            fmt::print(stderr, "{}: left out: {}\n", file, error.what());
        }
    }
    return any ? 0 : kSkip;
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
