// A run of many equal rounds, judged by its first few: when they have come into their stride, the
// rest follows.
//
// Models:  rounds that overlap: each part of a round comes a period after that part of the round
//          before; rounds that differ in a pattern of several, as addresses come back to the same
//          banks; the last results, which leave with nobody in their way.
// Ignores: what comes about more rarely than the rounds simulated show.
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
    double memory_error_percent = 0;     // of bytes
    double activates_error_percent = 0;  // of rows opened
    double simulated = 0;                // rounds
};

class RoundSampler {
  public:
    using Totals = std::function<arch::memory::port::MemoryTotals()>;

    // `rounds`: there are; `totals`: what the memory has done so far; `least_leaving`: the time a
    // round's results take to leave at least; `least_period`: what a round takes at least when
    // buffers are full, on average over its addresses; 0: not known.
    RoundSampler(double rounds, Totals totals, arch::base::Femtoseconds least_leaving = {},
                 arch::base::Femtoseconds least_period = {})
        : rounds_(rounds),
          totals_(std::move(totals)),
          least_leaving_(least_leaving),
          least_period_(least_period) {}

    // Fewer rounds are as soon simulated.
    static bool pays(double rounds) { return rounds >= 6; }

    // Whether a part of a round has ended since it was last asked.
    bool note(arch::base::Femtoseconds now, const workloads::Rounds& at);
    // The rounds have come into their stride, and what follows from them is known.
    bool enough() const { return stride_ && (first_delivered_ || least_leaving_.count() > 0); }
    WholeRun whole() const;

  private:
    struct Mark {
        arch::base::Femtoseconds time;
        arch::memory::port::MemoryTotals memory;
    };
    // What a round takes from now on, in the mean.
    struct Stride {
        double period = 0;         // femtoseconds
        double error_percent = 0;  // of it
        std::size_t rounds = 1;    // it was seen in, the last ones
    };
    // How long the last results take to leave.
    struct Leaving {
        double time = 0, error = 0;  // femtoseconds
    };

    double time_at(std::size_t mark) const {
        return static_cast<double>(marks_[mark].time.count());
    }
    double simulated() const;
    std::optional<Stride> lasting(const std::optional<Stride>& stride) const;
    double time_of(double rounds) const;
    double share_left() const { return 1 - simulated() / rounds_; }
    std::optional<Stride> early_stride() const;
    std::optional<Stride> calm_stride() const;
    std::optional<Stride> stride_after(std::size_t part, double spread_percent) const;
    std::optional<Stride> repeated_stride() const;
    std::optional<Stride> stride_over(const std::vector<double>& lengths,
                                      std::size_t pattern) const;
    Leaving leaving() const;

    double rounds_;
    Totals totals_;
    arch::base::Femtoseconds least_leaving_;
    arch::base::Femtoseconds least_period_;
    std::vector<Mark> marks_;  // one each part of a round
    std::optional<arch::base::Femtoseconds> first_delivered_;
    double behind_ = 0;  // rounds whose work is done and whose results have not arrived
    std::optional<Stride> stride_;
};

}  // namespace tilesim::sim::session
