// `tilesim report`: a page or a text from a sweep's store or one run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "arch/base/config.hpp"
#include "sim/commands/commands.hpp"
#include "sim/console.hpp"
#include "sim/exit_code.hpp"
#include "sim/page/figures.hpp"
#include "sim/page/page.hpp"
#include "sim/page/page_data.hpp"
#include "sim/page/timeline.hpp"
#include "sim/write_file.hpp"

namespace tilesim::sim::commands {

using namespace page;

namespace {

struct ReportArguments {
    std::string file;
    std::string out;
    std::string trace;
    std::string figures;
    std::int64_t sweep = 0;
    bool markdown = false;
};

int report(const ReportArguments& arguments) {
    check_output("-o", arguments.out, {arguments.file, arguments.trace});
    nlohmann::ordered_json data = page_data(arguments.file, arguments.sweep);
    if (!arguments.trace.empty()) {
        if (data["provenance"].contains("store")) {
            throw arch::base::config::ConfigError(
                fmt::format("--trace is of one run, {} a store of sweeps", arguments.file));
        }
        data["timeline"] =
            timeline(arch::base::config::read_file(arguments.trace), arguments.trace);
    }
    if (arguments.markdown) {
        if (arguments.out.empty()) {
            print(to_markdown(data));
        } else {
            write_file(arguments.out, to_markdown(data));
        }
        return kFine;
    }
    if (!arguments.figures.empty()) {
        const std::size_t count = write_figures(to_html(data), arguments.figures);
        print(fmt::format("{}: {} figures\n", arguments.figures, count));
        if (arguments.out.empty()) {
            return kFine;
        }
    }
    const std::string out = arguments.out.empty() ? "report.html" : arguments.out;
    write_file(out, to_html(data));
    const std::size_t points = data["points"].size();
    print(fmt::format("{}: {} point{}\n", out, points, points == 1 ? "" : "s"));
    return kFine;
}

}  // namespace

void add_report(CLI::App& app, std::optional<int>& exit_code) {
    auto arguments = std::make_shared<ReportArguments>();
    CLI::App* command = app.add_subcommand("report", "an HTML page of a sweep or a run");
    command->add_option("file", arguments->file, "store, result as JSON, or folder of `run --out`")
        ->required();
    command->add_option("-o,--out", arguments->out, "file [report.html; --md: stdout]");
    command->add_option("--sweep", arguments->sweep, "id, as `sweep --show` lists it [newest]");
    CLI::Option* const trace = command->add_option(
        "--trace", arguments->trace, "of a run: the trace `run --trace` wrote, for a timeline");
    CLI::Option* const figures = command->add_option(
        "--figures", arguments->figures, "folder for the page's plots as SVG files; needs Node.js");
    command->add_flag("--md", arguments->markdown, "Markdown instead")
        ->excludes(trace)
        ->excludes(figures);
    command->callback([arguments, &exit_code] { exit_code = report(*arguments); });
}

}  // namespace tilesim::sim::commands
