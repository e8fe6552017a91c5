#include "workloads/candidate_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

#include "workloads/keys.hpp"

namespace tilesim::workloads {

namespace {

// A mapping as a point: the logarithms of its numbers, and a corner for each of its words.
class Places {
  public:
    std::vector<double> of(const Candidate& candidate) {
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

  private:
    std::map<std::string, std::size_t> axes_;
};

// Axes that only later mappings have are zero for earlier ones.
double distance_squared(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
        const double apart = (i < a.size() ? a[i] : 0) - (i < b.size() ? b[i] : 0);
        sum += apart * apart;
    }
    return sum;
}

}  // namespace

CandidateSearch::CandidateSearch(const std::vector<const Candidate*>& candidates, double best_ns) {
    Places places;
    for (const Candidate* candidate : candidates) {
        Entry entry;
        entry.bound_ns = candidate->bound_ns();
        rule_out(entry, best_ns);
        if (!entry.open) {
            entries_.push_back(std::move(entry));
            continue;
        }
        entry.expected = std::log(std::max(1e-3, std::max(candidate->expected_ns, entry.bound_ns)));
        entry.place = places.of(*candidate);
        entries_.push_back(std::move(entry));
    }
}

void CandidateSearch::rule_out(Entry& entry, double best_ns) {
    if (entry.open && best_ns > 0 && entry.bound_ns >= best_ns) {
        entry.open = false;
        ++ruled_out_;
    }
}

// What it is expected to take, a little less where nothing like it has been tried.
double CandidateSearch::score(const Entry& entry) const {
    constexpr double kPrior = 0.3;     // weight of the mean error of all
    constexpr double kOptimism = 0.5;  // standard deviations
    const double mean = tried_ > 0 ? errors_ / tried_ : 0;
    const double spread =
        tried_ > 1 ? std::sqrt(std::max(0.0, squares_ / tried_ - mean * mean)) : 0.1;
    return entry.expected + (entry.error + kPrior * mean) / (entry.weight + kPrior) -
           kOptimism * spread / std::sqrt(1 + entry.weight);
}

std::optional<std::size_t> CandidateSearch::next(double best_ns) {
    std::optional<std::size_t> best;
    double least = 0;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        Entry& entry = entries_[i];
        rule_out(entry, best_ns);
        if (!entry.open) {
            continue;
        }
        const double here = score(entry);
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
    constexpr double kNear = 0.5;  // half an octave of one number
    const Entry& tried = entries_[index];
    const double error = std::log(time_ns) - tried.expected;
    errors_ += error;
    squares_ += error * error;
    ++tried_;
    for (Entry& entry : entries_) {
        if (entry.open) {
            const double weight =
                std::exp(-distance_squared(entry.place, tried.place) / (2 * kNear * kNear));
            entry.weight += weight;
            entry.error += weight * error;
        }
    }
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
