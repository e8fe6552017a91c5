#include "validation/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "arch/base/config.hpp"

namespace tilesim::validation {

namespace {

constexpr double kShare = 0.1;    // of the error
constexpr double kPoints = 0.1;   // percent
constexpr double kGrain = 0.001;  // percent: bounds are written with three decimals

bool within(const Row& row, double bound) {
    return std::abs(row.error_percent()) <= bound;  // not where the error is no number
}

}  // namespace

double bound_for(double error_percent) {
    const double error = std::abs(error_percent);
    constexpr double kNoise = 1e-6;  // 0.1 / 0.001 may be a little more than 100
    return std::ceil((error + std::max(kShare * error, kPoints)) / kGrain - kNoise) * kGrain;
}

BoundsCheck check(const Bounds& bounds, const std::vector<Row>& rows) {
    BoundsCheck result;
    for (const Row& row : rows) {
        const auto found = bounds.find(row.id);
        if (found == bounds.end()) {
            result.broken.push_back(
                fmt::format("{}: no bound; `tilesim validate --tighten` gives it one", row.id));
        } else if (!within(row, found->second)) {
            result.broken.push_back(fmt::format("{}: {:+.3f} %, its bound is {:.3f} %", row.id,
                                                row.error_percent(), found->second));
        } else if (bound_for(row.error_percent()) < found->second - kGrain / 2) {
            result.loose.push_back(fmt::format("{}: bound {:.3f} % could be {:.3f} %", row.id,
                                               found->second, bound_for(row.error_percent())));
        }
    }
    for (const auto& [id, bound] : bounds) {
        if (std::none_of(rows.begin(), rows.end(), [&](const Row& row) { return row.id == id; })) {
            result.broken.push_back(fmt::format("{}: a bound without a row", id));
        }
    }
    return result;
}

Bounds tightened(const Bounds& bounds, const std::vector<Row>& rows) {
    Bounds result;
    for (const Row& row : rows) {
        const auto found = bounds.find(row.id);
        const double reached = bound_for(row.error_percent());
        if (found != bounds.end()) {
            // In this order: an error that is no number leaves the bound as it is.
            result[row.id] = reached < found->second ? reached : found->second;
        } else if (!std::isnan(reached)) {
            result[row.id] = reached;
        }
    }
    return result;
}

Bounds read_bounds(const std::string& file) {
    Bounds bounds;
    if (std::filesystem::exists(file)) {
        for (const Record& record : read_csv(file)) {
            const auto [bound, fresh] =
                bounds.emplace(record.at("id"), record.number("bound_percent"));
            if (!fresh) {
                throw arch::base::config::ConfigError(
                    fmt::format("{}: id: '{}' has a bound already", record.place(), bound->first));
            }
        }
    }
    return bounds;
}

std::string why_no_bounds(const std::string& file) {
    std::error_code error;
    return fmt::format(
        "{}: {}; `tilesim validate --tighten` writes it", file,
        std::filesystem::exists(file, error) ? "holds no bound" : "there is no such file");
}

std::string to_csv(const Bounds& bounds, const std::vector<Row>& rows) {
    std::string text =
        "# The greatest error each row may have: `tilesim validate SUITE --tighten` writes this "
        "file, and makes no bound wider.\nid,bound_percent\n";
    for (const Row& row : rows) {
        if (const auto found = bounds.find(row.id); found != bounds.end()) {
            text += fmt::format("{},{:.3f}\n", row.id, found->second);
        }
    }
    return text;
}

}  // namespace tilesim::validation
