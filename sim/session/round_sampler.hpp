// A run of many equal rounds, judged by its first few: when they have come into their stride, the
// rest follows.
//
// Models:  rounds that overlap: each part of a round comes a period after that part of the round
//          before; the last results leave as long after the last work as the first did.
// Ignores: what comes about more rarely than every round, unless the rounds simulated show it.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "arch/base/units.hpp"
#include "arch/memory/port/memory_totals.hpp"
#include "workloads/run.hpp"

namespace tilesim::sim::session {

struct WholeRun {
    arch::base::Femtoseconds time{0};
    double error_percent = 0;  // of the time
    arch::memory::port::MemoryTotals memory;
    double memory_error_percent = 0;
    double simulated = 0;  // rounds
};

class RoundSampler {
  public:
    using Totals = std::function<arch::memory::port::MemoryTotals()>;

    // `rounds`: there are; `totals`: what the memory has done so far.
    RoundSampler(double rounds, Totals totals) : rounds_(rounds), totals_(std::move(totals)) {}

    // Fewer rounds are as soon simulated.
    static bool pays(double rounds) { return rounds >= 6; }

    void note(arch::base::Femtoseconds now, const workloads::Rounds& at);
    // The rounds have come into their stride, and what follows from them is known.
    bool enough() const;
    WholeRun whole() const;

  private:
    struct Mark {
        arch::base::Femtoseconds time;
        arch::memory::port::MemoryTotals memory;
    };

    double time_at(std::size_t mark) const { return static_cast<double>(marks_[mark].time.count()); }
    double period_to(std::size_t mark, std::size_t rounds) const;
    double simulated() const;
    std::size_t settled_rounds() const;
    double drift() const;
    double period() const;
    double period_error_percent() const;

    double rounds_;
    Totals totals_;
    std::vector<Mark> marks_;  // one each part of a round
    std::optional<arch::base::Femtoseconds> first_delivered_;
};

}  // namespace tilesim::sim::session
