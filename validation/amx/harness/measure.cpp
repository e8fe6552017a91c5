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
#include <map>
#include <sstream>

#include "arch/amx/program/legality.hpp"
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

// One for each thread, none twice.
std::vector<int> processors_of(std::vector<int> named, std::size_t threads) {
    for (int next = named.back() + 1; named.size() < threads; ++next) {
        if (std::find(named.begin(), named.end(), next) == named.end()) {
            named.push_back(next);
        }
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
        if (const std::string reason = validation::amx::harness::why_not_here(program);
            !reason.empty()) {
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

std::int64_t longest(const std::vector<arch::amx::program::Program>& programs) {
    std::int64_t most = 0;
    for (const auto& program : programs) {
        most = std::max(most, program.dynamic_instructions());
    }
    return most;
}

Result measured(const std::string& file, const Settings& settings) {
    const std::string text = arch::base::config::read_file(file);
    const auto with_count = [&](std::int64_t count) {
        return workloads::amx::tiles::read_kernel(text, file, count);
    };
    if (!workloads::amx::tiles::has_count(text)) {
        return run(with_count(1), settings);
    }
    const std::int64_t length = longest(with_count(2)) - longest(with_count(1));
    const std::int64_t count =
        std::clamp(kInstructions / settings.repetitions / std::max<std::int64_t>(length, 1),
                   kLeastIterations, kMostIterations);
    const Result few = run(with_count(count / kFewerBy), settings);
    const Result many = run(with_count(count), settings);
    if (many.median <= few.median || many.tsc <= few.tsc) {
        throw arch::base::config::ConfigError(fmt::format(
            "{} passes took no longer than {}: others disturbed them; a quieter machine or more "
            "--repetitions tell",
            count, count / kFewerBy));
    }
    const auto iterations = static_cast<double>(count - count / kFewerBy);
    const double median = (many.median - few.median) / iterations;
    const double least = (many.least - few.least) / iterations;
    // Where the least of few passes was less disturbed than that of many, the median is the less.
    Result result{least > 0 ? std::min(least, median) : median,
                  median,
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
    for (auto each = processors.begin(); each != processors.end(); ++each) {
        if (std::find(processors.begin(), each, *each) != each) {
            throw arch::base::config::ConfigError(
                fmt::format("--cpu {}: {} stands twice; every thread needs a processor of its own",
                            text, *each));
        }
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

// Takes the options out of the arguments: files are left.
Settings read_settings(std::vector<std::string>& arguments) {
    Settings settings;
    std::vector<std::string> files;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& option = arguments[i];
        const bool has_value = i + 1 < arguments.size();
        if (!option.starts_with("--")) {
            files.push_back(option);
        } else if (option == "--small-pages") {
            settings.large_pages = false;
        } else if (option == "--cpu" && has_value) {
            settings.processors = read_processors(arguments[++i]);
        } else if (option == "--repetitions" && has_value) {
            ++i;
            settings.repetitions = read_number(
                arguments[i], 1,
                fmt::format("--repetitions {}: a number from 1 on must follow", arguments[i]));
        } else {
            throw arch::base::config::ConfigError(
                fmt::format("{}: --cpu N[,N...], --repetitions N, --small-pages or files must "
                            "stand here",
                            option));
        }
    }
    arguments = std::move(files);
    return settings;
}

void print_header() {
    fmt::print("kernel,unit,cyc_min,cyc_median,tsc,ghz");
    for (const auto& event : validation::amx::harness::kEvents) {
        fmt::print(",{}", event.name);
    }
    fmt::print(",reps,host\n");
}

std::string name_of(const std::string& file) {
    return file.substr(file.rfind('/') + 1);
}

// As CSV has a field that holds commas.
std::string quoted(const std::string& field) {
    return field.find(',') == std::string::npos ? field : '"' + field + '"';
}

void print_row(const std::string& file, const Result& result, int repetitions) {
    fmt::print("{},core_cycles,{:.3f},{:.3f},{:.3f},{}", quoted(name_of(file)), result.least,
               result.median, result.tsc, clock_of(result));
    for (const double event : result.events) {
        fmt::print(",{}", event < 0 ? "" : fmt::format("{:.3f}", event));
    }
    fmt::print(",{},{}\n", repetitions, quoted(validation::amx::harness::host_name()));
    std::fflush(stdout);  // hours of others may follow
}

// What is wrong with any of them is said before hours are spent on the others.
void check_files(const std::vector<std::string>& files) {
    std::vector<std::string> problems;
    std::map<std::string, std::string> paths;  // by what stands in the rows
    for (const std::string& file : files) {
        try {
            const std::string text = arch::base::config::read_file(file);
            const auto programs = workloads::amx::tiles::read_kernel(text, file, 1);
            if (workloads::amx::tiles::does_nothing(programs)) {
                problems.push_back(file + ": holds no instruction");
            }
            for (const auto& program : programs) {
                if (const auto fault = arch::amx::program::first_fault(program)) {
                    problems.push_back(fmt::format("{}:{}:1: {} {}", file, fault->line,
                                                   name_of(fault->fault.kind),
                                                   fault->fault.reason));
                }
            }
            const auto [other, fresh] = paths.try_emplace(name_of(file), file);
            if (!fresh && other->second != file) {
                problems.push_back(fmt::format("{}: has the name of {}, by which rows are told",
                                               file, other->second));
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
    if (arguments == std::vector<std::string>{"--help"} ||
        arguments == std::vector<std::string>{"-h"}) {
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
