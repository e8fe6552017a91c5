// Which mapping to try next, for `tune` and for a case that gives none, and which are proven slower
// than the best.
//
// Only a proven bound rules a mapping out. What the tried ones have taken corrects what is expected
// of those like them; that orders the rest and excludes none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/dataflow.hpp"

namespace tilesim::workloads {

class CandidateSearch {
  public:
    // `best_ns`: of what was simulated before; 0: nothing was.
    explicit CandidateSearch(const std::vector<const Candidate*>& candidates, double best_ns = 0);

    // The most promising one not tried yet that could be faster than `best_ns`; it is then taken.
    std::optional<std::size_t> next(double best_ns);
    void take(std::size_t index);
    // What it takes, simulated or estimated.
    void learn(std::size_t index, double time_ns);

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
        std::vector<double> place;     // mappings that differ little are near each other
    };

    void rule_out(Entry& entry, double best_ns);
    double score(const Entry& entry) const;

    std::vector<Entry> entries_;
    std::int64_t ruled_out_ = 0;
    double errors_ = 0, squares_ = 0, tried_ = 0;
};

}  // namespace tilesim::workloads
