#include "sim/explore/size_table.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "arch/base/config.hpp"
#include "arch/base/units.hpp"
#include "sim/explore/device_table.hpp"
#include "sim/explore/progress.hpp"
#include "workloads/catalogue/catalogue.hpp"
#include "workloads/gemm.hpp"
#include "workloads/gemv.hpp"
#include "workloads/pim/transformer/model_workload.hpp"
#include "workloads/transformer.hpp"

namespace tilesim::sim::explore {

using arch::base::config::ConfigError;
using arch::base::config::Document;
using arch::base::config::Node;

using Json = nlohmann::ordered_json;

namespace {

// A model as its file has it: the device need not be one that runs it whole.
struct LayerList {
    workloads::TransformerModel model;
    workloads::GemvProblem format;
    std::int64_t prompt = 0, generate = 1, batch = 1;
};

LayerList read_layers(Document& document) {
    Node root = document.root();
    Node node = root.child("workload", "what is computed");
    LayerList layers;
    std::string name;
    std::string prompt_device;  // each device takes everything itself here
    workloads::pim::transformer::Places places;
    node.required("model", name, "a shipped transformer, or the path of a model file");
    const arch::base::config::Range tokens{0, 1 << 20};
    node.optional("prompt", layers.prompt, tokens, "tokens given, worked on at once");
    node.optional("generate", layers.generate, tokens, "tokens generated, one by one");
    node.optional("batch", layers.batch, {1, 4096}, "sequences side by side");
    node.optional("prompt_device", prompt_device, "NPU for the prompt's matrices");
    workloads::pim::transformer::read_places(node, places);
    workloads::read_gemv_format(node, layers.format);
    layers.model = workloads::load_transformer(node, name);
    node.done();
    document.finish();
    return layers;
}

// One product on its own, summed in the accumulator's full width as every device can; in the place
// of the model, so that the scenario's file with these settings repeats it.
Job product_job(const Job& base, const Size& size, const workloads::GemvProblem& format) {
    for (const auto& [key, value] : base.overrides) {
        if (key.starts_with("mapping")) {
            throw ConfigError(fmt::format(
                "--set {}: each product of a model has a mapping of its own here", key));
        }
    }
    Job job = without_mapping(base);
    std::erase_if(job.overrides,
                  [](const auto& setting) { return setting.first.starts_with("workload"); });
    job.overrides.emplace_back(
        "workload",
        fmt::format(
            "{{gemm: {{M: {}, K: {}, N: {}, a: {}, b: {}, c: {}, b_layout: column_major}}}}",
            size.m, size.k, size.n, name_of(format.input), name_of(format.weights),
            arch::base::is_float(format.weights) ? "f32" : "int32"));
    return job;
}

std::vector<Size> layer_sizes(const Job& base, Document& document, std::vector<std::int64_t> rows) {
    const LayerList layers = read_layers(document);
    if (rows.empty() && layers.prompt > 0) {
        rows.push_back(layers.prompt * layers.batch);
    }
    if (rows.empty() || (layers.generate > 0 && rows[0] == layers.prompt * layers.batch &&
                         rows[0] != layers.batch)) {
        rows.push_back(layers.batch);
    }
    std::vector<Size> sizes;
    for (const std::int64_t tokens : rows) {
        for (const auto& matrix : layers.model.layer_matrices()) {
            const auto copies = static_cast<double>(matrix.copies);
            const auto uses = static_cast<double>(matrix.uses);
            Size size{matrix.name,
                      workloads::tokens_of_each(copies, uses, tokens),
                      matrix.columns,
                      matrix.rows,
                      layers.model.layers,
                      {},
                      tokens,
                      workloads::matrices_read(copies, uses, static_cast<double>(tokens))};
            size.job = product_job(base, size, layers.format);
            sizes.push_back(std::move(size));
        }
    }
    return sizes;
}

std::optional<std::size_t> fastest_of(const std::vector<std::optional<double>>& times) {
    std::optional<std::size_t> fastest;
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (times[i] && (!fastest || *times[i] < *times[*fastest])) {
            fastest = i;
        }
    }
    return fastest;
}

void add_problem(SizeTable& table, const std::string& device, const Simulated& run) {
    const std::string problem =
        fmt::format("{}: {}: {}", device, run.status, run.error.substr(0, run.error.find('\n')));
    if (std::find(table.problems.begin(), table.problems.end(), problem) == table.problems.end()) {
        table.problems.push_back(problem);
    }
}

// A model's products summed over its layers, one line for each number of rows.
void add_sums(SizeTable& table, const std::vector<Size>& sizes) {
    std::vector<SizeTable::Row> sums;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const SizeTable::Row& row = table.rows[i];
        if (sizes[i].layers == 0) {
            return;
        }
        const double times = static_cast<double>(sizes[i].layers) * sizes[i].matrices;
        if (sums.empty() || sums.back().m != sizes[i].tokens) {
            sums.push_back({fmt::format("all {} layers", sizes[i].layers),
                            sizes[i].tokens,
                            0,
                            0,
                            std::vector<std::optional<double>>(row.time_ns.size(), 0.0),
                            {},
                            {}});
        }
        for (std::size_t d = 0; d < row.time_ns.size(); ++d) {
            std::optional<double>& sum = sums.back().time_ns[d];
            sum = sum && row.time_ns[d] ? std::optional{*sum + times * *row.time_ns[d]}
                                        : std::nullopt;
        }
    }
    for (SizeTable::Row& sum : sums) {
        sum.fastest = fastest_of(sum.time_ns);
        table.rows.push_back(std::move(sum));
    }
}

// "gemm: lpddr5x_pim at 1..16 rows, xdna2 at 64..4096", for products with several numbers of rows.
std::string crossovers(const SizeTable& table) {
    std::map<std::string, std::map<std::int64_t, std::string>> winners;  // by product and rows
    for (const SizeTable::Row& row : table.rows) {
        winners[row.product][row.m] = row.fastest ? table.devices[*row.fastest] : "none";
    }
    std::string text;
    for (const auto& [product, by_rows] : winners) {
        if (by_rows.size() < 2) {
            continue;
        }
        text += fmt::format("fastest, {}:", product);
        for (auto from = by_rows.begin(); from != by_rows.end();) {
            const auto next = std::find_if(
                from, by_rows.end(), [&](const auto& at) { return at.second != from->second; });
            const std::int64_t last = std::prev(next)->first;
            text += fmt::format("{} {} at {}", from == by_rows.begin() ? "" : ",", from->second,
                                last == from->first ? std::to_string(last)
                                                    : fmt::format("{} to {}", from->first, last));
            from = next;
        }
        const bool all = by_rows.rbegin()->first - by_rows.begin()->first ==
                         static_cast<std::int64_t>(by_rows.size()) - 1;
        text += all ? " rows\n" : " rows; numbers between them are not simulated\n";
    }
    return text;
}

std::optional<std::size_t> next_of(const std::vector<std::optional<double>>& times,
                                   std::size_t fastest) {
    std::vector<std::optional<double>> others = times;
    others[fastest].reset();
    return fastest_of(others);
}

// Time that a run leaves out: of sums that somebody has to add, whether the device charges it or
// not.
double left_out_ns(const BestRun& cell) {
    const Json details = cell.run.result.value("details", Json::object());
    return details.value("uncharged_ns", 0.0);
}

// Whose lead is one that searches leave open or that refreshes at other moments take, and whose is
// not, were all charged that the next one is.
std::string close_calls(const SizeTable& table) {
    constexpr double kClose = 0.1;
    std::string text;
    for (const SizeTable::Row& row : table.rows) {
        const auto next = row.fastest ? next_of(row.time_ns, *row.fastest) : std::nullopt;
        if (!next) {
            continue;
        }
        const double first_ns = *row.time_ns[*row.fastest];
        const double next_ns = *row.time_ns[*next];
        const double out_ns = row.cells.empty() ? 0 : left_out_ns(row.cells[*row.fastest]);
        const bool turns = out_ns > 0 && first_ns + out_ns > next_ns;
        if (next_ns > (1 + kClose) * first_ns && !turns) {
            continue;
        }
        text += fmt::format("close, {} of {} rows: {} is {:.1f} % ahead of {}", row.product, row.m,
                            table.devices[*row.fastest],
                            arch::base::kPercent * (next_ns / first_ns - 1), table.devices[*next]);
        text += turns ? fmt::format("; with sums that it is not charged, {:.3f} us, it is behind\n",
                                    out_ns / arch::base::kNanosecondsPerMicrosecond)
                      : "\n";
    }
    return text;
}

}  // namespace

bool SizeTable::complete() const {
    return std::all_of(rows.begin(), rows.end(), [](const Row& row) { return row.fastest; });
}

namespace {

// The kind of problem the map holds; nullptr: none that is known.
const workloads::ProblemKind* kind_in(const Node& workload) {
    for (const workloads::ProblemKind* kind : workloads::catalogue::problem_kinds()) {
        if (!kind->at_root() && kind->found(workload)) {
            return kind;
        }
    }
    return nullptr;
}

}  // namespace

std::vector<Size> sizes_of(const Job& base, const std::vector<std::int64_t>& rows) {
    Document document = Document::parse(base.text, base.file);
    for (const auto& [key, value] : base.overrides) {
        if (!key.starts_with("device.")) {
            document.override_value(key, value, workloads::kSetOrigin);
        }
    }
    Node root = document.root();
    Node workload = root.child("workload", "what is computed");
    const workloads::ProblemKind* kind = kind_in(workload);
    if (kind == &workloads::pim::transformer::model_kind()) {
        return layer_sizes(base, document, rows);
    }
    if (rows.empty()) {
        return {};
    }
    if (!workload.has("gemm")) {
        throw ConfigError("--rows: only a gemm and a model's layers have rows to change");
    }
    workloads::GemmProblem gemm;
    Node keys = workload.child("gemm", "C = A x B");
    workloads::read_gemm(keys, gemm);
    document.finish();
    std::vector<Size> sizes;
    for (const std::int64_t m : rows) {
        sizes.push_back({"gemm", m, gemm.k, gemm.n, 0, base});
        sizes.back().job.overrides.emplace_back("workload.gemm.M", std::to_string(m));
    }
    return sizes;
}

SizeTable run_sizes(const std::vector<Size>& sizes, const std::vector<std::string>& devices,
                    const SearchEffort& effort) {
    SizeTable table;
    table.devices = devices;
    Progress progress(static_cast<std::int64_t>(sizes.size() * devices.size()),
                      ::isatty(STDERR_FILENO) == 0, "cells");
    for (const Size& size : sizes) {
        SizeTable::Row row{size.product, size.m, size.k, size.n, {}, {}, {}};
        for (const std::string& device : devices) {
            BestRun cell = best_run(size.job, device, effort);
            const Simulated& run = cell.run;
            row.time_ns.push_back(run.good() ? std::optional{run.result["time_ns"].get<double>()}
                                             : std::nullopt);
            if (!run.good()) {
                add_problem(table, device, run);
            }
            progress.advance(run.good());
            progress.show();
            row.cells.push_back(std::move(cell));
        }
        row.fastest = fastest_of(row.time_ns);
        table.rows.push_back(std::move(row));
    }
    progress.finish();
    add_sums(table, sizes);
    return table;
}

std::string to_table(const SizeTable& table) {
    constexpr double kNanosecondsPerMicrosecond = 1e3;
    std::string text = fmt::format("{:<14} {:>6} {:>6} {:>6}", "product", "rows", "K", "N");
    for (const std::string& device : table.devices) {
        text += fmt::format(" {:>18}", device + " us");
    }
    text += "  fastest\n";
    for (const SizeTable::Row& row : table.rows) {
        const auto extent = [](std::int64_t size) {
            return size > 0 ? std::to_string(size) : std::string{};
        };
        text += fmt::format("{:<14} {:>6} {:>6} {:>6}", row.product, row.m, extent(row.k),
                            extent(row.n));
        for (const auto& time : row.time_ns) {
            text += fmt::format(
                " {:>18}", time ? fmt::format("{:.3f}", *time / kNanosecondsPerMicrosecond) : "-");
        }
        text += fmt::format("  {}\n", row.fastest ? table.devices[*row.fastest] : "none");
    }
    text += crossovers(table) + close_calls(table);
    for (const SizeTable::Row& row : table.rows) {
        for (const BestRun& cell : row.cells) {
            if (cell.run.good()) {
                text += fmt::format(
                    "{}, {} rows, {}: {}{}\n  {}\n", row.product, row.m, cell.device, cell.mapping,
                    cell.search.empty() ? "" : " (" + cell.search + ")", cell.command);
            }
        }
    }
    for (const std::string& problem : table.problems) {
        text += fmt::format("{}\n", problem);
    }
    return text + kEnergyNote;
}

nlohmann::ordered_json to_json(const SizeTable& table) {
    Json rows = Json::array();
    for (const SizeTable::Row& row : table.rows) {
        Json times = Json::object();
        for (std::size_t i = 0; i < row.time_ns.size(); ++i) {
            times[table.devices[i]] = row.time_ns[i] ? Json(*row.time_ns[i]) : Json();
        }
        Json line{{"product", row.product}, {"M", row.m}};
        if (row.k > 0) {
            line["K"] = row.k;
            line["N"] = row.n;
        }
        line["time_ns"] = std::move(times);
        for (const BestRun& cell : row.cells) {
            Json entry = to_json(cell);
            entry.erase("result");
            entry["mapping"] = cell.run.result.value("mapping", Json::object());
            line["cells"].push_back(std::move(entry));
        }
        line["fastest"] = row.fastest ? Json(table.devices[*row.fastest]) : Json();
        rows.push_back(std::move(line));
    }
    return {{"devices", table.devices}, {"rows", std::move(rows)}, {"problems", table.problems}};
}

}  // namespace tilesim::sim::explore
