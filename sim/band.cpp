#include "sim/band.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "workloads/paths.hpp"

namespace tilesim::sim {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFewestRows = 5;
// Rows so many times smaller or larger than any measured say little.
constexpr double kFarSize = 8;
// Those of another device count this much. Those of other types say as much as of the same: bands
// of rows left out hold no less often so (330 of 390), and are narrower.
constexpr double kOtherDevice = 0.4;
// Nine of ten errors that are spread normally are below this many times their mean. A few rows tell
// their mean better than their ninth decile.
constexpr double kNineOfTen = 2.06;

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, ',');) {
        cells.push_back(cell);
    }
    return cells;
}

double number(const std::string& text) {
    return std::strtod(text.c_str(), nullptr);
}

void read_into(std::vector<Residual>& all, const fs::path& suite) {
    std::ifstream in(suite / "residuals.csv");
    for (std::string line; std::getline(in, line);) {
        const std::vector<std::string> cells = cells_of(line);
        constexpr std::size_t kColumns = 8;  // id, what, device, host, types, macs, error, use
        if (cells.size() == kColumns && cells[0] != "id" && !line.starts_with("#")) {
            all.push_back({cells[1], cells[2], cells[3], cells[4], number(cells[5]),
                           number(cells[6]), cells[7] == "calibrate", suite.filename().string()});
        }
    }
}

// How much a row says of a run: one of its device and size counts 1.
double weight_of(const Residual& row, const Residual& run) {
    double weight = row.device == run.device ? 1.0 : kOtherDevice;
    if (row.macs > 0 && run.macs > 0) {  // half at the distance beyond which all is far
        const double distance = std::log(row.macs / run.macs) / std::log(kFarSize);
        weight /= 1 + distance * distance;
    }
    return weight;
}

std::vector<const Residual*> rows_like(const Residual& run, const std::vector<Residual>& residuals,
                                       bool fitted) {
    std::vector<const Residual*> rows;
    for (const Residual& row : residuals) {
        if (row.what == run.what && (fitted || !row.fitted)) {
            rows.push_back(&row);
        }
    }
    return rows;
}

std::vector<const Residual*> of_host(std::vector<const Residual*> rows, const std::string& host) {
    std::erase_if(rows, [&host](const Residual* row) { return row->host != host; });
    return rows;
}

// Whether rows say nothing of runs of this size.
bool far_in_size(const Residual& run, const std::vector<const Residual*>& rows) {
    const bool sized =
        std::any_of(rows.begin(), rows.end(), [](const Residual* row) { return row->macs > 0; });
    return run.macs > 0 && sized &&
           std::none_of(rows.begin(), rows.end(), [&](const Residual* row) {
               return row->macs > 0 && run.macs < kFarSize * row->macs &&
                      row->macs < kFarSize * run.macs;
           });
}

std::string far_from(const Residual& run, const std::vector<const Residual*>& alike) {
    const auto any = [&](auto matches) {
        return std::any_of(alike.begin(), alike.end(),
                           [&](const Residual* row) { return matches(*row); });
    };
    std::string far;
    const auto say = [&far](const std::string& what) { far += (far.empty() ? "" : ", ") + what; };
    if (!any([&](const Residual& row) { return row.device == run.device; })) {
        say("device " + run.device);
    }
    if (!run.host.empty() && !any([&](const Residual& row) { return row.host == run.host; })) {
        say("host.profile " + run.host);
    }
    if (!run.types.empty() && !any([&](const Residual& row) { return row.types == run.types; })) {
        say("types " + run.types);
    }
    if (far_in_size(run, alike)) {
        say("this size");
    }
    return far;
}

std::vector<Residual> read_shipped() {
    std::vector<Residual> all;
    std::error_code error;
    std::vector<fs::path> suites;
    for (const auto& entry : fs::directory_iterator(workloads::validation_folder(), error)) {
        suites.push_back(entry.path());
    }
    std::sort(suites.begin(), suites.end());
    for (const fs::path& suite : suites) {
        read_into(all, suite);
    }
    return all;
}

}  // namespace

const std::vector<Residual>& shipped_residuals() {
    static const std::vector<Residual> all = read_shipped();
    return all;
}

std::optional<Band> band_of(const Residual& run, double time_ns,
                            const std::vector<Residual>& residuals) {
    // What a parameter was set on says less of others: it counts where there is little else.
    std::vector<const Residual*> alike = rows_like(run, residuals, false);
    if (alike.size() < kFewestRows) {
        alike = rows_like(run, residuals, true);
    }
    if (alike.size() < kFewestRows) {
        return std::nullopt;
    }
    // A machine's launches, its driver and the designs measured on it make errors of their own:
    // where enough of these are known, others' say nothing, unless nothing of the size is.
    const std::vector<const Residual*> own = of_host(alike, run.host);
    const bool enough = own.size() >= kFewestRows;
    const std::string far = far_from(run, enough ? own : alike);
    if (enough && !far_in_size(run, own)) {
        alike = own;
    }
    double weights = 0;
    double errors = 0;
    for (const Residual* row : alike) {
        const double weight = weight_of(*row, run);
        weights += weight;
        errors += weight * std::abs(row->error);
    }
    const double half = kNineOfTen * errors / weights;
    return Band{time_ns * std::exp(-half), time_ns * std::exp(half),
                static_cast<std::int64_t>(alike.size()), far};
}

Residual described(const workloads::RunResult& result) {
    Residual run;
    run.device = result.device;
    run.host = result.host;
    const nlohmann::ordered_json empty = nlohmann::ordered_json::object();
    const auto first = [](const nlohmann::ordered_json& json) {
        return json.is_object() && !json.empty() ? json.begin().key() : std::string{};
    };
    const auto inside = [&](const nlohmann::ordered_json& json) {
        return json.is_object() && !json.empty() && json.begin().value().is_object()
                   ? json.begin().value()
                   : empty;
    };
    const auto mapping = inside(result.mapping);
    // A model is more than the products its mapping is for.
    run.what = result.mapping.empty() || result.workload.contains("model") ? first(result.workload)
                                                                           : first(result.mapping);
    if (mapping.contains("data_in")) {  // a cache's rows say nothing of DRAM's
        run.what += ":" + mapping["data_in"].get<std::string>();
    }
    const auto problem = inside(result.workload);
    const auto word = [&problem](const char* a, const char* b) {
        const auto text = [&problem](const char* key) {  // an agent may be called like a type's key
            return problem.contains(key) && problem[key].is_string()
                       ? problem[key].get<std::string>()
                       : std::string{};
        };
        return problem.contains(a) ? text(a) : text(b);
    };
    run.types = word("a", "weights");
    if (const std::string to = word("c", "accumulate"); !to.empty()) {
        run.types += "/" + to;
    }
    // 1 MAC a cycle is this many a nanosecond.
    run.macs = result.macs_per_cycle * static_cast<double>(result.cycles);
    return run;
}

std::optional<Band> band_of(const workloads::RunResult& result) {
    if (result.status != workloads::Status::Ok || result.time_ns <= 0) {
        return std::nullopt;
    }
    return band_of(described(result), result.time_ns, shipped_residuals());
}

}  // namespace tilesim::sim
