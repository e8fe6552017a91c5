#include "sim/explore/cost_law.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tilesim::sim::explore {

namespace {

// Something is always fixed, and some machines simulate a part of a large run.
constexpr double kExpectedPower = 0.8;
// Standard deviations of what is not known beforehand, in logarithms of time.
constexpr double kLevel = 3;          // of all points
constexpr double kPowerOfWork = 0.3;  // beside the one expected
constexpr double kPower = 0.3;        // of a number the sweep changes, beside 0
constexpr double kWord = 0.8;         // a factor for each word
constexpr double kBeside = 0.4;       // what only neighbours share
constexpr double kNoise = 0.1;        // of the host

double squared(double value) {
    return value * value;
}

double covariance(const PointFeatures& a, const PointFeatures& b) {
    double sum = squared(kLevel) + squared(kPowerOfWork) * a.work * b.work;
    double distance = std::abs(a.work - b.work);
    for (std::size_t i = 0; i < a.numbers.size(); ++i) {
        sum += squared(kPower) * a.numbers[i] * b.numbers[i];
        distance += std::abs(a.numbers[i] - b.numbers[i]);
    }
    for (std::size_t i = 0; i < a.words.size(); ++i) {
        sum += a.words[i] == b.words[i] ? squared(kWord) : 0;
        distance += a.words[i] == b.words[i] ? 0 : 1;
    }
    return sum + squared(kBeside) * std::exp(-distance);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

CostLaw::CostLaw(std::vector<TriedPoint> tried) : tried_(std::move(tried)) {
    std::vector<double> logs;
    for (const TriedPoint& each : tried_) {
        logs.push_back(std::log(each.wall_s) - kExpectedPower * each.features.work);
    }
    level_ = std::accumulate(logs.begin(), logs.end(), 0.0) /
             static_cast<double>(std::max<std::size_t>(1, logs.size()));
    for (std::size_t i = 0; i < tried_.size(); ++i) {
        lower_.emplace_back(i + 1);
        for (std::size_t j = 0; j <= i; ++j) {
            const auto end = lower_[j].begin() + static_cast<std::ptrdiff_t>(j);
            const double rest = covariance(tried_[i].features, tried_[j].features) +
                                (i == j ? squared(kNoise) : 0) -
                                std::inner_product(lower_[j].begin(), end, lower_[i].begin(), 0.0);
            lower_[i][j] = i == j ? std::sqrt(rest) : rest / lower_[j][j];
        }
        logs[i] -= level_;
    }
    off_ = forward(std::move(logs));
}

// Solves lower x = right.
std::vector<double> CostLaw::forward(std::vector<double> right) const {
    for (std::size_t i = 0; i < right.size(); ++i) {
        const auto end = right.begin() + static_cast<std::ptrdiff_t>(i);
        right[i] = (right[i] - std::inner_product(right.begin(), end, lower_[i].begin(), 0.0)) /
                   lower_[i][i];
    }
    return right;
}

std::vector<double> CostLaw::alike(const PointFeatures& point) const {
    std::vector<double> all;
    for (const TriedPoint& each : tried_) {
        all.push_back(covariance(point, each.features));
    }
    return all;
}

CostLaw::Expected CostLaw::at(const PointFeatures& point) const {
    const std::vector<double> known = forward(alike(point));
    return {std::exp(kExpectedPower * point.work + level_ + dot(known, off_)),
            std::sqrt(std::max(0.0, covariance(point, point) - dot(known, known)))};
}

}  // namespace tilesim::sim::explore
