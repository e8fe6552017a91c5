// Which mapping to try next, for `tune` and for a case that gives none, and which are proven slower
// than the best.
//
// Only a proven bound rules a mapping out. What the tried ones have taken corrects what is expected
// of those like them; that orders the rest and excludes none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "workloads/dataflow.hpp"

namespace tilesim::workloads {

class CandidateSearch {
  public:
    // `best_ns`: of what was simulated before; 0: nothing was.
    explicit CandidateSearch(const std::vector<const Candidate*>& candidates, double best_ns = 0);

    // One more, after those that are there: its index follows theirs.
    void add(const Candidate& candidate, double best_ns = 0);

    // The most promising one not tried yet that could be faster than `best_ns`; it is then taken.
    std::optional<std::size_t> next(double best_ns);
    // The same of those that, as far as the tried ones tell, have a chance to be faster.
    std::optional<std::size_t> next_likely(double best_ns);
    void take(std::size_t index);
    // What it takes, simulated or estimated.
    void learn(std::size_t index, double time_ns);
    // It takes no less, which says nothing where more was expected.
    void learn_at_least(std::size_t index, double time_ns);

    std::int64_t open() const;  // neither tried nor ruled out
    std::int64_t ruled_out() const { return ruled_out_; }
    bool is_open(std::size_t index) const { return entries_[index].open; }
    // None of those neither tried nor ruled out is faster; nothing where there are none.
    std::optional<double> least_bound_ns() const;

  private:
    struct Entry {
        bool open = true;
        double bound_ns = 0;
        double expected = 0;           // logarithm
        double weight = 0, error = 0;  // of the tried ones like it
        double own_error = 0;          // where it was tried
        std::vector<double> place;     // mappings that differ little are near each other
    };

    // A mapping as a point: the logarithms of its numbers, and a corner for each of its words.
    std::vector<double> place_of(const Candidate& candidate);
    void rule_out(Entry& entry, double best_ns);
    double mean_error() const;
    double corrected(const Entry& entry) const;
    // A standard deviation of what the correction leaves open.
    double spread(const Entry& entry) const;
    std::optional<std::size_t> next(double best_ns, double most_optimism);

    std::map<std::string, std::size_t> axes_;
    std::vector<Entry> entries_;
    std::vector<std::size_t> learnt_;
    std::int64_t ruled_out_ = 0;
    double errors_ = 0, squares_ = 0, tried_ = 0;
};

}  // namespace tilesim::workloads
