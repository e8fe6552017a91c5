#include "sim/page/page.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "arch/base/config.hpp"
#include "arch/base/temporary_folder_testing.hpp"
#include "sim/page/page_data.hpp"
#include "sim/page/web_files.hpp"

namespace tilesim::sim::page {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const std::string kProgram = std::string{TILESIM_BINARY_DIR} + "/tilesim";
const std::string kConfigs = std::string{TILESIM_SOURCE_DIR} + "/configs";

std::string read(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

class Page : public testing::Test {
  protected:
    int call(const std::string& arguments) const {
        const std::string command =
            "cd " + folder_.string() + " && " + kProgram + " " + arguments + " > out 2>&1";
        const int status = std::system(command.c_str());
        return WEXITSTATUS(status);
    }
    const arch::base::TemporaryFolder temporary_;
    const fs::path folder_ = temporary_.path();
};

// The page's own scripts draw them: a mark for each of the fifteen points.
TEST_F(Page, FiguresAreItsPlotsAsFiles) {
    if (std::system("node --version > /dev/null 2>&1") != 0) {
        GTEST_SKIP() << "no Node.js";
    }
    ASSERT_EQ(call("sweep " + kConfigs + "/sweeps/xdna_outstanding_bursts.yaml --quiet"), 0);
    const int code = call("report results.db --figures plots");
    if (web_file("library.js").empty()) {
        EXPECT_EQ(code, 2) << read(folder_ / "out");
        return;
    }
    ASSERT_EQ(code, 0) << read(folder_ / "out");
    for (const char* name : {"roofline", "where", "pareto", "parallel", "axes", "map", "array"}) {
        const std::string figure = read(folder_ / "plots" / (std::string{name} + ".svg"));
        EXPECT_TRUE(figure.starts_with("<svg ")) << name;
        EXPECT_TRUE(figure.ends_with("</svg>")) << name;
        EXPECT_EQ(figure.find("NaN"), figure.npos) << name;
    }
    const std::string axes = read(folder_ / "plots" / "axes.svg");
    EXPECT_NE(axes.find("throughput [TOPS]"), axes.npos);
    EXPECT_FALSE(fs::exists(folder_ / "report.html"));
    EXPECT_EQ(call("report results.db --figures /proc/none"), 5);
    EXPECT_EQ(std::system(("cd " + folder_.string() + " && PATH=/nowhere " + kProgram +
                           " report results.db --figures plots > out 2>&1")
                              .c_str()) /
                  256,
              2);
    EXPECT_NE(read(folder_ / "out").find("Node.js"), std::string::npos);
}

// A section of its own for agents, for products in the banks, for AMX cores, and for nobody else.
TEST_F(Page, FiguresOfAMachineAreThoseItHas) {
    if (std::system("node --version > /dev/null 2>&1") != 0 || web_file("library.js").empty()) {
        GTEST_SKIP() << "no Node.js, or no plot library";
    }
    const struct {
        const char* scenario;
        const char* figure;
    } cases[] = {{"agents_pim_and_npu", "agents.svg"},
                 {"pim_opt_6.7b", "operators.svg"},
                 {"amx_gemm_int8", "levels.svg"}};
    for (const auto& [scenario, figure] : cases) {
        ASSERT_EQ(call("run " + kConfigs + "/scenarios/" + scenario + ".yaml --format json"), 0);
        fs::rename(folder_ / "out", folder_ / "run.json");
        const std::string plots = std::string{"plots_"} + scenario;
        ASSERT_EQ(call("report run.json --figures " + plots), 0) << read(folder_ / "out");
        for (const auto& [other, own] : cases) {
            EXPECT_EQ(fs::exists(folder_ / plots / own), std::string{own} == figure)
                << scenario << " " << own;
        }
    }
}

TEST_F(Page, OfASweepHoldsEveryPointAndLoadsNothing) {
    ASSERT_EQ(call("sweep " + kConfigs + "/sweeps/xdna_outstanding_bursts.yaml --quiet"), 0);
    ASSERT_EQ(call("report results.db -o page.html"), 0) << read(folder_ / "out");
    const std::string page = read(folder_ / "page.html");
    std::smatch found;
    const std::size_t begin = page.find("id=\"data\">") + 10;
    const Json data = Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
    EXPECT_EQ(data["points"].size(), 15U);
    EXPECT_EQ(data["axes"].size(), 2U);
    EXPECT_GT(data["points"][0]["tops"].get<double>(), 0);
    EXPECT_GT(data["points"][0]["where"]["core"]["multiply"].get<double>(), 0);
    EXPECT_EQ(data["points"][0]["busy"].empty(), false);
    EXPECT_EQ(data["points"][0]["banks"]["reads"].size(), 4U) << "channels";
    EXPECT_EQ(data["points"][0]["banks"]["reads"][0].size(), 32U) << "banks";
    EXPECT_EQ(page.find("{{"), page.npos) << "a name that was not filled in";
    EXPECT_FALSE(std::regex_search(page, found, std::regex("(src|href)=\"https?:")));
    ASSERT_EQ(call("report results.db --md"), 0);
    EXPECT_NE(read(folder_ / "out").find("15 of 15 points ended well"), std::string::npos);
    EXPECT_NE(read(folder_ / "out").find("## DRAM banks of point "), std::string::npos);
}

// Requests multiply nothing: time orders them, and a throughput of 0 is no column. What could not
// be run stands behind them, with its reason.
TEST_F(Page, OfRequestsToAMemoryIsOrderedByTime) {
    std::ofstream(folder_ / "sweep.yaml")
        << "scenario: {device: ddr5_5600, workload: {memory_stream: {requests: 1000}}}\n"
           "axes:\n  - {key: workload.memory_stream.pattern, values: [diagonal, random, "
           "sequential]}\n";
    ASSERT_EQ(call("sweep sweep.yaml --quiet"), 0) << read(folder_ / "out");
    ASSERT_EQ(call("report results.db --md"), 0);
    const std::string text = read(folder_ / "out");
    EXPECT_EQ(text.find("tops"), text.npos) << text;
    const std::size_t sequential = text.find("| 3 | ok | sequential |");
    const std::size_t random = text.find("| 2 | ok | random |");
    const std::size_t diagonal = text.find("| 1 | invalid | diagonal |");
    EXPECT_LT(sequential, random) << text;
    EXPECT_LT(random, diagonal) << text;
    ASSERT_NE(diagonal, text.npos) << text;
    EXPECT_NE(text.find("must be one of", diagonal), text.npos) << text;
}

// The traffic is what the memory moved; the bound counts what has to move.
TEST_F(Page, TrafficIsThatOfTheRunAndNotOfItsBound) {
    ASSERT_EQ(call("run " + kConfigs + "/scenarios/amx_gemm_threads_m.yaml --out ."), 0);
    const Json result = Json::parse(read(folder_ / "result.json"));
    const std::int64_t moved = result["memory"]["bytes_read"].get<std::int64_t>() +
                               result["memory"]["bytes_written"].get<std::int64_t>();
    const Json point = page_data(folder_ / "result.json", 0)["points"][0];
    EXPECT_EQ(point["dram_bytes"], moved);
    EXPECT_EQ(point["bound_bytes"], result["bounds"]["dram_bytes"]);
    EXPECT_LT(point["bound_bytes"], moved) << "loads the caches did not hold";
    EXPECT_NEAR(point["dram_bytes"].get<double>() / point["time_ns"].get<double>(),
                point["gb_per_s"].get<double>(), 1e-6);
}

// As a browser leaves it when its script has run.
std::string drawn(const fs::path& folder, const std::string& flags = "") {
    const std::string dump = "cd " + folder.string() +
                             " && HOME=$PWD timeout 60 chromium --headless --no-sandbox "
                             "--disable-gpu --virtual-time-budget=4000 " +
                             flags + " --dump-dom file://$PWD/page.html > dom.html 2> browser.log";
    EXPECT_EQ(std::system(dump.c_str()), 0) << read(folder / "browser.log");
    return read(folder / "dom.html");
}

bool has_browser() {
    return std::system("command -v chromium > /dev/null") == 0;
}

TEST_F(Page, OfASweepOverDevicesSaysWhoIsFastestWhere) {
    std::ofstream(folder_ / "sweep.yaml")
        << "scenario: {device: xdna, workload: {gemm: {M: 1, K: 256, N: 256, a: int8, b: int8, "
           "c: int32}}}\n"
           "axes:\n  - {key: workload.gemm.M, values: [1, 256]}\n"
           "  - {key: device, values: [xdna, lpddr5x_pim]}\n";
    ASSERT_EQ(call("sweep sweep.yaml --quiet"), 0) << read(folder_ / "out");
    ASSERT_EQ(call("report results.db --md"), 0);
    EXPECT_NE(read(folder_ / "out").find("| 1 | "), std::string::npos);
    EXPECT_NE(read(folder_ / "out").find(" | lpddr5x_pim |\n| 256 | "), std::string::npos);
    ASSERT_EQ(call("report results.db -o page.html"), 0);
    if (has_browser()) {
        const std::string dom = drawn(folder_);
        EXPECT_NE(dom.find("<td>lpddr5x_pim</td></tr><tr><td>256</td>"), dom.npos);
    }
}

TEST_F(Page, DrawsItsPlotsAndItsTableInABrowser) {
    if (!has_browser()) {
        GTEST_SKIP() << "no chromium here";
    }
    if (web_file("library.js").empty()) {
        GTEST_SKIP() << "built without the plot library";
    }
    ASSERT_EQ(call("sweep " + kConfigs + "/sweeps/xdna_outstanding_bursts.yaml --quiet"), 0);
    ASSERT_EQ(call("report results.db -o page.html"), 0);
    const std::string dom = drawn(folder_);
    const auto count = [](const std::string& where, const std::string& text) {
        int found = 0;
        for (std::size_t at = 0; (at = where.find(text, at)) != where.npos; ++at) {
            ++found;
        }
        return found;
    };
    EXPECT_EQ(count(dom, "<svg"), 8)
        << "pareto, roofline, where, parallel, axes, map, array, banks";
    const std::size_t table = dom.find("<table id=\"points\">");
    EXPECT_EQ(count(dom.substr(table, dom.find("</table>", table) - table), "<tr>"), 16);
    EXPECT_NE(dom.find("15 of 15 points"), dom.npos);
    EXPECT_NE(dom.find("outstanding_bursts"), dom.npos);
    EXPECT_NE(dom.find("It is bound by "), dom.npos) << "why the best point is what it is";
}

// Contrast, labels and landmarks by axe-core's rules, in the colours of day and night.
TEST_F(Page, AnybodyCanReadIt) {
    const fs::path rules =
        fs::path(TILESIM_SOURCE_DIR) / "sim/page/web/node_modules/axe-core/axe.min.js";
    if (!has_browser() || !fs::exists(rules)) {
        GTEST_SKIP() << "no chromium, or no axe-core";
    }
    ASSERT_EQ(call("sweep " + kConfigs + "/sweeps/xdna_outstanding_bursts.yaml --quiet"), 0);
    ASSERT_EQ(call("report results.db -o page.html"), 0);
    std::ofstream(folder_ / "page.html", std::ios::app)
        << "<script>" << read(rules) << "</script><script>"
        << "axe.run({runOnly: ['wcag2a', 'wcag2aa', 'best-practice']}).then(found => {"
           "document.title = 'checked ' + found.passes.length + ' rules; broken: ' +"
           "found.violations.map(rule => rule.id + ' ' + rule.nodes[0].html).join(', ') + ';';})"
        << "</script>";
    for (const char* colours : {"1", "0"}) {  // Blink's numbers of light and dark
        const std::string dom =
            drawn(folder_, std::string{"--blink-settings=preferredColorScheme="} + colours);
        std::smatch found;
        ASSERT_TRUE(
            std::regex_search(dom, found, std::regex("checked ([0-9]+) rules; broken: ([^;]*);")));
        EXPECT_GT(std::stoi(found[1]), 20);
        EXPECT_EQ(found[2], "") << (colours[0] == '1' ? "light" : "dark");
    }
}

TEST_F(Page, OfOneRunShowsThatRun) {
    ASSERT_EQ(call("run " + kConfigs + "/scenarios/xdna_functional.yaml --out ."), 0);
    ASSERT_EQ(call("report result.json -o page.html"), 0) << read(folder_ / "out");
    EXPECT_NE(read(folder_ / "page.html").find("\"of\":1"), std::string::npos);
    ASSERT_EQ(call("report . -o folder.html"), 0) << read(folder_ / "out");
    EXPECT_EQ(read(folder_ / "folder.html"), read(folder_ / "page.html"));
}

TEST_F(Page, OfATracedRunHasATimelineWithKindsToChoose) {
    ASSERT_EQ(call("run " + kConfigs + "/programs/single_buffering.yaml --trace t.json --out ."), 0)
        << read(folder_ / "out");
    ASSERT_EQ(call("report . --trace t.json -o page.html"), 0) << read(folder_ / "out");
    if (has_browser()) {
        const std::string dom = drawn(folder_);
        EXPECT_TRUE(std::regex_search(dom, std::regex("type=\"checkbox\"> core \\(1\\)")));
        EXPECT_TRUE(std::regex_search(dom, std::regex("[0-9,]+ spans in [0-9]+ lanes")));
    }
}

TEST_F(Page, OfASweepHasNoTimelineAndATextNeitherTimelineNorFigures) {
    ASSERT_EQ(call("run " + kConfigs + "/programs/single_buffering.yaml --trace t.json --out ."), 0)
        << read(folder_ / "out");
    ASSERT_EQ(call("sweep " + kConfigs + "/sweeps/xdna_outstanding_bursts.yaml --quiet"), 0);
    EXPECT_EQ(call("report results.db --trace t.json"), 2);
    EXPECT_NE(read(folder_ / "out").find("--trace is of one run, results.db a store of sweeps"),
              std::string::npos);
    EXPECT_EQ(call("report . --trace t.json --md"), 2);
    EXPECT_EQ(call("report . --figures plots --md"), 2);
    EXPECT_FALSE(fs::exists(folder_ / "plots"));
}

TEST_F(Page, OfEveryMachineWithDramShowsItsBanks) {
    for (const char* scenario : {"ddr5_random.yaml", "pim_gemv.yaml", "xdna_functional.yaml",
                                 "amx_functional.yaml --set mapping.amx.data_in=dram"}) {
        ASSERT_EQ(call("run " + kConfigs + "/scenarios/" + scenario + " --out ."), 0)
            << read(folder_ / "out");
        const Json result = Json::parse(read(folder_ / "result.json"));
        ASSERT_TRUE(result.contains("banks")) << scenario;
        std::int64_t reads = 0;
        for (const Json& channel : result["banks"]["reads"]) {
            for (const Json& bank : channel) {
                reads += bank.get<std::int64_t>();
            }
        }
        EXPECT_GT(reads, 0) << scenario;
        ASSERT_EQ(call("report result.json -o page.html"), 0) << read(folder_ / "out");
        if (has_browser()) {
            const std::string dom = drawn(folder_);
            EXPECT_NE(dom.find("<th scope=\"row\">0</th>"), dom.npos) << scenario;
            EXPECT_EQ(dom.find("id=\"banks-section\" hidden"), dom.npos) << scenario;
            if (!web_file("library.js").empty()) {
                EXPECT_NE(dom.find("The table below holds every bank"), dom.npos) << scenario;
            }
        }
    }
}

TEST_F(Page, WithoutDramHasNoMapOfBanks) {
    std::ofstream(folder_ / "kernel.yaml")
        << "device: xdna\nworkload: {core_kernel: {m: 32, k: 32, n: 32, a: int8, b: int8, c: "
           "int32}}\n";
    ASSERT_EQ(call("run kernel.yaml --out ."), 0) << read(folder_ / "out");
    ASSERT_EQ(call("report result.json -o page.html"), 0);
    if (has_browser()) {
        EXPECT_NE(drawn(folder_).find("id=\"banks-section\" hidden"), std::string::npos);
    }
}

TEST_F(Page, WhatIsNoResultIsRefused) {
    std::ofstream(folder_ / "other.json") << "{\"a\": 1}";
    EXPECT_EQ(call("report other.json"), 2);
    EXPECT_EQ(call("report nothing.db"), 5);
    EXPECT_EQ(call("report ."), 5);
    EXPECT_FALSE(fs::exists(folder_ / "report.html"));
}

TEST(PageText, DataCannotEndItsElement) {
    const Json data{{"title", "</title><script>alert(1)</script>"},
                    {"model", ""},
                    {"of", 0},
                    {"axes", Json::array()},
                    {"results", Json::array()},
                    {"points", Json::array()},
                    {"provenance", {{"sweep", "</script>{{TITLE}}"}}}};
    const std::string page = to_html(data);
    EXPECT_EQ(page.find("<script>alert"), page.npos);
    EXPECT_NE(page.find("\\u003c/script>{{TITLE}}"), page.npos);
}

TEST(PageData, AResultThatWasChangedByHandIsRefused) {
    const arch::base::TemporaryFolder folder;
    const auto complaint = [&](const char* text, std::int64_t sweep) -> std::string {
        const std::string file = folder.path() / "result.json";
        std::ofstream(file) << text;
        try {
            page_data(file, sweep);
            return "";
        } catch (const arch::base::config::ConfigError& error) {
            return error.what();
        }
    };
    EXPECT_EQ(complaint(R"({"time_ns": 1, "device": "x", "provenance": {}})", 0), "");
    for (const char* text : {R"({"time_ns": 1, "device": 3, "provenance": {}})",
                             R"({"time_ns": 1, "provenance": 7})"}) {
        EXPECT_NE(complaint(text, 0).find("is no result as `tilesim run` writes it"),
                  std::string::npos);
    }
    EXPECT_NE(complaint(R"({"time_ns": 1, "device": "x", "provenance": {}})", 2)
                  .find("is one result, no store"),
              std::string::npos);
}

}  // namespace
}  // namespace tilesim::sim::page
