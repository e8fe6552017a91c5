// `tilesim calibrate` on runs made with numbers that are known.
#include "sim/compare/calibration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "arch/base/config.hpp"
#include "arch/base/temporary_folder_testing.hpp"
#include "sim/device_files_testing.hpp"
#include "workloads/catalogue/catalogue.hpp"

namespace tilesim::sim::compare {
namespace {

constexpr const char* kDeviceScenario =
    "device: ddr5_5600\n"
    "workload: {memory_stream: {requests: 400, outstanding: 4, pattern: random}}\n";

// Times the device would show with these settings, for streams of several kinds.
std::string measured(const std::string& folder, const explore::Settings& truth) {
    std::ofstream(folder + "/s.yaml") << kDeviceScenario;
    const std::string file = folder + "/runs.csv";
    std::ofstream csv(file);
    csv << "scenario,workload.memory_stream.outstanding,workload.memory_stream.pattern,time_ns\n";
    for (const char* outstanding : {"1", "4", "64"}) {
        for (const char* pattern : {"random", "sequential"}) {
            explore::Job job{kDeviceScenario, "s.yaml", truth};
            job.overrides.emplace_back("workload.memory_stream.outstanding", outstanding);
            job.overrides.emplace_back("workload.memory_stream.pattern", pattern);
            const auto run = explore::simulate_all({job}, 1)[0];
            csv << "s.yaml," << outstanding << "," << pattern << "," << run.result["time_ns"]
                << "\n";
        }
    }
    return file;
}

// The search ends where the runs are met to a hundredth; a latency of 60 cycles is known to 3 then.
TEST(Calibration, FindsTheNumbersTheRunsWereMadeWith) {
    const arch::base::TemporaryFolder folder;
    const std::string file =
        measured(folder.path(), {{"device.memory.timing.read_latency", "60 cycle"}});
    const auto fitted =
        calibrate("ddr5_5600", parameters_of("ddr5_5600", {"memory.timing.read_latency"}),
                  read_measured_runs(file, ""), 2);
    EXPECT_NEAR(static_cast<double>(fitted.parameters[0].value), 60, 3);
    EXPECT_LT(fitted.mean_error(&CalibratedRun::left_out_percent), 1);
    const std::string out = std::string{folder.path()} + "/mine.yaml";
    write_device(fitted, file, out);
    const auto device = workloads::catalogue::load_device(out, {});
    EXPECT_NEAR(static_cast<double>(device.memory.timing.read_latency.count()), 60, 3);
}

// The file made is used from wherever it lies, and its memory is found.
TEST(Calibration, TheDeviceWrittenFindsItsMemory) {
    namespace fs = std::filesystem;
    const arch::base::TemporaryFolder folder;
    write_device_with_memory_beside(folder.path());
    fs::create_directory(folder.path() / "out");
    Calibration fitted;
    fitted.device = folder.path() / "npu.yaml";
    const std::string out = folder.path() / "out/mine.yaml";
    fitted.parameters = parameters_of(fitted.device, {"fabric.request_latency"});
    write_device(fitted, "runs.csv", out);
    EXPECT_EQ(workloads::catalogue::load_device(out, {}).name, "xdna");
    // Both files go together.
    fitted.parameters = parameters_of(fitted.device, {"memory.timing.read_latency"});
    write_device(fitted, "runs.csv", out);
    fs::rename(folder.path() / "out", folder.path() / "moved");
    EXPECT_EQ(workloads::catalogue::load_device(folder.path() / "moved/mine.yaml", {}).name,
              "xdna");
}

// Six runs, every other one 2 % longer and the others 2 % shorter than the device's: by chance
// alone the logarithm of a number that changed all times alike would be known to 2 % times the root
// of 6 / 5, over the root of 6 and its sensitivity. One that some runs feel more is known better:
// without refreshes, which a run meets or just does not.
TEST(Calibration, SaysHowWellANumberIsKnown) {
    const arch::base::TemporaryFolder folder;
    const explore::Settings no_refresh = {{"device.memory.refresh", "off"}};
    auto runs = read_measured_runs(measured(folder.path(), no_refresh), "");
    for (MeasuredRun& run : runs) {
        run.job.overrides.push_back(no_refresh[0]);
    }
    const auto fitted = [&] {
        const auto parameters = parameters_of("ddr5_5600", {"memory.timing.read_latency"});
        return calibrate("ddr5_5600", parameters, runs, 2).parameters[0];
    };
    // Errors that simulations do not tell: a tenth of a percent over six runs.
    const FittedParameter met = fitted();
    EXPECT_LT(met.known_percent, 0.1 / met.sensitivity / std::sqrt(6));
    EXPECT_GT(met.known_percent, 0.1 / met.sensitivity / std::sqrt(6) / 2);
    double scale = 1.02;
    for (MeasuredRun& run : runs) {
        run.time_ns *= scale;
        scale = 2 - scale;
    }
    const FittedParameter latency = fitted();
    const double felt_alike = 2 * std::sqrt(1.0 / 5) / latency.sensitivity;
    EXPECT_LT(latency.known_percent, felt_alike);
    EXPECT_GT(latency.known_percent, felt_alike / 2);
}

// A number of which ten percent change times by less than one is known to some tenths of a percent
// at best, however well the runs are met: simulations tell no tenth of a percent.
TEST(Calibration, WhatIsHardlyFeltIsHardlyKnown) {
    const arch::base::TemporaryFolder folder;
    const auto runs = read_measured_runs(measured(folder.path(), {}), "");
    const FittedParameter hardly =
        calibrate("ddr5_5600", parameters_of("ddr5_5600", {"memory.timing.tRFC"}), runs, 2)
            .parameters[0];
    ASSERT_LT(hardly.sensitivity, 0.1);
    EXPECT_GT(hardly.known_percent, 0.1 / 0.1 / std::sqrt(6) / 2);
}

// Of a refresh interval times say how many refreshes a run has: steps end where a little more or
// less is worse, and errors are smaller elsewhere. How well it is known covers the number the runs
// have.
TEST(Calibration, WhatIsFeltInJumpsIsLookedForFurtherAwayAndKnownNoBetterThanThey) {
    const arch::base::TemporaryFolder folder;
    constexpr double kTruth = 9000;
    const auto runs = read_measured_runs(
        measured(folder.path(), {{"device.memory.timing.tREFI", "9000 cycle"}}), "");
    const Calibration calibrated =
        calibrate("ddr5_5600", parameters_of("ddr5_5600", {"memory.timing.tREFI"}), runs, 2);
    EXPECT_LT(calibrated.mean_error(&CalibratedRun::after_percent),
              0.6 * calibrated.mean_error(&CalibratedRun::before_percent));
    const FittedParameter& fitted = calibrated.parameters[0];
    const double off = std::abs(std::log(static_cast<double>(fitted.value) / kTruth));
    EXPECT_GT(std::log(1 + fitted.known_percent / 100), off / 2);
}

// A row's cycle is no shorter than tRAS and tRP together: a longer tRP is refused. Its effect is
// measured the other way then, and refused is what the runs really ask for.
TEST(Calibration, SaysThatARefusedValueWasItsOwn) {
    const arch::base::TemporaryFolder folder;
    const auto complaint = [&folder](explore::Settings truth, const char* key) -> std::string {
        const auto no_refresh = truth.emplace_back("device.memory.refresh", "off");
        auto runs = read_measured_runs(measured(folder.path(), truth), "");
        for (MeasuredRun& run : runs) {
            run.job.overrides.push_back(no_refresh);
        }
        try {
            calibrate("ddr5_5600", parameters_of("ddr5_5600", {key}), runs, 2);
            return "";
        } catch (const arch::base::config::ConfigError& error) {
            return error.what();
        }
    };
    EXPECT_EQ(complaint({}, "memory.timing.tRP"), "");
    const explore::Settings longer = {{"device.memory.timing.tRP", "60 cycle"},
                                      {"device.memory.timing.tRC", "150 cycle"}};
    const std::string refused = complaint(longer, "memory.timing.tRP");
    EXPECT_THAT(refused, testing::StartsWith("runs.csv:2: the fit tried memory.timing.tRP="));
    EXPECT_THAT(refused, testing::HasSubstr(" cycle (a range keeps it from there: --fit "
                                            "KEY=LEAST..MOST): invalid: "));
    EXPECT_THAT(refused, testing::HasSubstr("must be at least tRAS + tRP, "));
    EXPECT_EQ(complaint(longer, "memory.timing.tRP=20 cycle..40 cycle"), "");
}

TEST(Calibration, RefusesWhatTheRunsCannotTell) {
    const arch::base::TemporaryFolder folder;
    const auto runs = read_measured_runs(measured(folder.path(), {}), "");
    const auto fit = [&](const std::vector<std::string>& keys) {
        calibrate("ddr5_5600", parameters_of("ddr5_5600", keys), runs, 2);
    };
    // Nothing is written.
    EXPECT_THROW(fit({"memory.timing.tWR"}), arch::base::config::ConfigError);
    EXPECT_THROW(parameters_of("ddr5_5600", {"memory.timing.tRCDD"}),
                 arch::base::config::ConfigError);
    EXPECT_THROW(parameters_of("ddr5_5600", {"memory.timing.tRCD", "memory.timing.tRCD"}),
                 arch::base::config::ConfigError);
    EXPECT_THROW(parameters_of("ddr5_5600", {"memory.timing.tRCD=1 ns..2 ns"}),
                 arch::base::config::ConfigError);
    // An empty range is none, not the usual one.
    EXPECT_THROW(parameters_of("ddr5_5600", {"memory.timing.tRCD="}),
                 arch::base::config::ConfigError);
}

// Both were overridden without a word.
TEST(Calibration, RefusesRunsThatSayTheDeviceOrWhatIsFittedOtherwise) {
    const arch::base::TemporaryFolder folder;
    auto runs = read_measured_runs(measured(folder.path(), {}), "");
    const auto complaint = [&]() -> std::string {
        try {
            calibrate("ddr5_5600", parameters_of("ddr5_5600", {"memory.timing.read_latency"}), runs,
                      2);
            return "";
        } catch (const arch::base::config::ConfigError& error) {
            return error.what();
        }
    };
    runs[1].job.overrides = {{"device", "ddr5_5600"}};
    EXPECT_EQ(complaint(), "");
    runs[1].job.overrides = {{"device", "ddr5_4800"}};
    EXPECT_EQ(complaint(),
              "runs.csv:3: device: must be ddr5_5600, which is calibrated, got 'ddr5_4800'");
    runs[1].job.overrides = {{"device.memory.timing.read_latency", "50 cycle"}};
    EXPECT_EQ(complaint(),
              "runs.csv:3: device.memory.timing.read_latency: is what is fitted: leave out the "
              "column, or name others (--fit)");
}

TEST(Calibration, AKeyWrittenAsSetsIsFound) {
    try {
        parameters_of("ddr5_5600", {"device.memory.timing.tRCD"});
        FAIL();
    } catch (const arch::base::config::ConfigError& error) {
        EXPECT_STREQ(error.what(),
                     "--fit device.memory.timing.tRCD: 'ddr5_5600' has no such key; did you mean "
                     "'memory.timing.tRCD'?");
    }
}

}  // namespace
}  // namespace tilesim::sim::compare
