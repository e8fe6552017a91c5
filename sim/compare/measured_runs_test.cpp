#include "sim/compare/measured_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "arch/base/config.hpp"
#include "arch/base/temporary_folder_testing.hpp"

namespace tilesim::sim::compare {
namespace {

using testing::HasSubstr;

class MeasuredRuns : public testing::Test {
  protected:
    MeasuredRuns() { std::ofstream(path("s.yaml")) << "device: xdna\n"; }

    std::string path(const std::string& name) const { return folder_.path() / name; }
    std::vector<MeasuredRun> read(const std::string& text, const std::string& scenario = "") const {
        std::ofstream(path("runs.csv")) << text;
        return read_measured_runs(path("runs.csv"), scenario);
    }
    std::string complaint(const std::string& text) const {
        try {
            read(text);
            return "";
        } catch (const arch::base::config::ConfigError& error) {
            return error.what();
        } catch (const arch::base::config::IoError& error) {
            return error.what();
        }
    }

    const arch::base::TemporaryFolder folder_;
};

TEST_F(MeasuredRuns, AreReadAsSpreadsheetsWriteThem) {
    const auto runs = read(
        "\xEF\xBB\xBF# of Monday\r\n\r\nscenario,run.seed,time_us\r\ns.yaml,1,2.5\r\n\r\n# "
        "warm\r\n\"s.yaml\", 2 ,3\r\n");
    ASSERT_EQ(runs.size(), 2u);
    EXPECT_EQ(runs[0].name, "runs.csv:4");
    EXPECT_EQ(runs[1].name, "runs.csv:7");
    EXPECT_EQ(runs[1].time_ns, 3000);
    EXPECT_EQ(runs[1].job.overrides, (explore::Settings{{"run.seed", "2"}}));
}

TEST_F(MeasuredRuns, TakeTheScenarioOfAllWhereTheirsIsEmpty) {
    const auto runs = read("scenario,time_ns\n,5\n", path("s.yaml"));
    EXPECT_EQ(runs[0].job.file, path("s.yaml"));
    EXPECT_THAT(complaint("scenario,time_ns\n,5\n"), HasSubstr("runs.csv:2:1: names no scenario"));
}

TEST_F(MeasuredRuns, AreRefusedWhereTheyStand) {
    EXPECT_THAT(complaint("scenario,run.seed,run.seed,time_ns\ns.yaml,1,2,5\n"),
                HasSubstr("runs.csv:1:1: column 'run.seed' stands twice"));
    EXPECT_THAT(complaint("scenario,time_ns\ns.yaml,5\nnone.yaml,5\n"),
                HasSubstr("runs.csv:3:1: scenario: "));
    EXPECT_THAT(complaint("scenario,time_ns\ns.yaml,5,6\n"),
                HasSubstr("runs.csv:2:1: has 3 fields, the header 2"));
    EXPECT_THAT(complaint("scenario,time_s\ns.yaml,1e308\n"),
                HasSubstr("runs.csv:2:1: time_s: must be a time above 0, 1 fs to 9223 s"));
    EXPECT_THAT(complaint("scenario,run.seed,time_ns\ns.yaml,\xFF,5\n"),
                HasSubstr("runs.csv:2:8: must be UTF-8 text, got the byte 0xff"));
    EXPECT_THAT(complaint("scenario,run.seed,time_ns\ns.yaml,\"1,5\n"),
                HasSubstr("runs.csv:2:8: this quote is never closed"));
    EXPECT_THAT(complaint("# nothing\n"), HasSubstr("runs.csv: holds no run"));
    EXPECT_THAT(complaint("scenario,time_ns\n"), HasSubstr("runs.csv: holds no run"));
}

}  // namespace
}  // namespace tilesim::sim::compare
