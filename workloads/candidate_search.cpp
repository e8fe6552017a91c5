#include "workloads/candidate_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "workloads/keys.hpp"

namespace tilesim::workloads {

namespace {

// Axes that only later mappings have are zero for earlier ones.
double distance_squared(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
        const double apart = (i < a.size() ? a[i] : 0) - (i < b.size() ? b[i] : 0);
        sum += apart * apart;
    }
    return sum;
}

double weight_between(const std::vector<double>& a, const std::vector<double>& b) {
    constexpr double kNear = 0.5;  // half an octave of one number
    return std::exp(-distance_squared(a, b) / (2 * kNear * kNear));
}

}  // namespace

CandidateSearch::CandidateSearch(const std::vector<const Candidate*>& candidates, double best_ns) {
    for (const Candidate* candidate : candidates) {
        add(*candidate, best_ns);
    }
}

void CandidateSearch::add(const Candidate& candidate, double best_ns) {
    Entry entry;
    entry.bound_ns = candidate.bound_ns();
    rule_out(entry, best_ns);
    if (entry.open) {
        entry.expected = std::log(std::max(1e-3, std::max(candidate.expected_ns, entry.bound_ns)));
        entry.place = place_of(candidate);
        for (const std::size_t tried : learnt_) {
            const double weight = weight_between(entry.place, entries_[tried].place);
            entry.weight += weight;
            entry.error += weight * entries_[tried].own_error;
        }
    }
    entries_.push_back(std::move(entry));
}

std::vector<double> CandidateSearch::place_of(const Candidate& candidate) {
    std::vector<double> place(axes_.size(), 0.0);
    for (const auto& [key, value] :
         settings_of("", candidate.mapping.dataflow().describe(candidate.mapping))) {
        char* end = nullptr;
        const double number = std::strtod(value.c_str(), &end);
        const bool is_number = end != value.c_str() && *end == '\0';
        const std::size_t axis =
            axes_.try_emplace(is_number ? key : key + "=" + value, axes_.size()).first->second;
        place.resize(std::max(place.size(), axis + 1), 0.0);
        place[axis] = is_number ? std::log2(1 + std::abs(number)) : 1.0;
    }
    return place;
}

void CandidateSearch::rule_out(Entry& entry, double best_ns) {
    if (entry.open && best_ns > 0 && entry.bound_ns >= best_ns) {
        entry.open = false;
        ++ruled_out_;
    }
}

double CandidateSearch::mean_error() const {
    return errors_ / (tried_ + 1);
}

double CandidateSearch::corrected(const Entry& entry) const {
    constexpr double kPrior = 0.3;  // weight of the mean error of all
    return entry.expected + (entry.error + kPrior * mean_error()) / (entry.weight + kPrior);
}

double CandidateSearch::spread(const Entry& entry) const {
    // Before any is tried, and believed as much as so many of them.
    constexpr double kUnknown = 0.04;
    constexpr double kBelieved = 6;
    const double mean = mean_error();
    const double of_all =
        squares_ - 2 * mean * errors_ + tried_ * mean * mean + kBelieved * kUnknown * kUnknown;
    return std::sqrt(of_all / (tried_ + kBelieved) / (1 + entry.weight));
}

std::optional<std::size_t> CandidateSearch::next(double best_ns) {
    return next(best_ns, std::numeric_limits<double>::infinity());
}

std::optional<std::size_t> CandidateSearch::next_likely(double best_ns) {
    constexpr double kDeviations = 2.5;
    return next(best_ns, kDeviations);
}

std::optional<std::size_t> CandidateSearch::next(double best_ns, double most_optimism) {
    constexpr double kOptimism = 1;  // standard deviations less where nothing like it is tried
    std::optional<std::size_t> best;
    double least = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        Entry& entry = entries_[i];
        rule_out(entry, best_ns);
        if (!entry.open) {
            continue;
        }
        const double likely = corrected(entry);
        const double apart = spread(entry);
        if (best_ns > 0 && likely - most_optimism * apart >= std::log(best_ns)) {
            continue;
        }
        const double here = likely - kOptimism * apart;
        if (!best || here < least) {
            best = i;
            least = here;
        }
    }
    if (best) {
        take(*best);
    }
    return best;
}

void CandidateSearch::take(std::size_t index) {
    entries_[index].open = false;
}

void CandidateSearch::learn(std::size_t index, double time_ns) {
    Entry& tried = entries_[index];
    const double error = std::log(time_ns) - tried.expected;
    errors_ += error;
    squares_ += error * error;
    ++tried_;
    tried.own_error = error;
    learnt_.push_back(index);
    for (Entry& entry : entries_) {
        if (entry.open) {
            const double weight = weight_between(entry.place, tried.place);
            entry.weight += weight;
            entry.error += weight * error;
        }
    }
}

void CandidateSearch::learn_at_least(std::size_t index, double time_ns) {
    learn(index, std::max(time_ns, std::exp(corrected(entries_[index]))));
}

std::int64_t CandidateSearch::open() const {
    return std::count_if(entries_.begin(), entries_.end(),
                         [](const Entry& entry) { return entry.open; });
}

std::optional<double> CandidateSearch::least_bound_ns() const {
    std::optional<double> least;
    for (const Entry& entry : entries_) {
        if (entry.open) {
            least = least ? std::min(*least, entry.bound_ns) : entry.bound_ns;
        }
    }
    return least;
}

}  // namespace tilesim::workloads
