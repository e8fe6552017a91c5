// When a loop repeats itself: a core that is in the state it was in some turns ago does in the next
// turns what it did in those, in the same cycles.
//
// That can only be where no address in a loop depends on its count. Of such loops the outermost are
// watched. A state is compared with one of an earlier turn, which is replaced after 1, 2, 4, ...
// turns (Brent 1980): a period is found whatever its length and however late it begins. Tags and
// what prefetchers know are by far most of a state: they are compared where all else is equal.
//
// Ignores: loops with barriers and with other tile configurations.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arch/amx/caches/state_record.hpp"
#include "arch/amx/core/core_counters.hpp"
#include "arch/amx/program/instruction.hpp"

namespace tilesim::arch::amx::core {

class Repetition {
  public:
    explicit Repetition(const program::Program& program);

    // One turn of a watched loop, from its end.
    struct Turn {
        std::size_t position = 0;     // of its LoopEnd
        std::int64_t count = 0;       // of its variable, the next turn's
        std::uint64_t exchanges = 0;  // with the rest of the socket so far
    };
    // Turns that the next ones repeat.
    struct Period {
        Turn from;
        Turn to;
        Counts then;
        Counts now;

        std::int64_t turns() const { return to.count - from.count; }
        std::int64_t cycles() const { return now.cycle - then.cycle; }
    };

    bool watches(std::size_t position) const { return watched_[position]; }
    // Is a state of this turn worth recording?
    bool wants(const Turn& turn);
    // The core's state at the turn's end. `tags` says the rest of it, `counts` what it has counted.
    template <class Tags, class Counted>
    void note(const Turn& turn, caches::StateRecord state, Tags tags, Counted counts) {
        if (seen_ && follows(turn, seen_->turn) && state == seen_->state && tries_ < kTries) {
            ++tries_;
            if (tags() == seen_->tags) {
                period_ = Period{seen_->turn, turn, seen_->counts, counts()};
                return;
            }
        }
        if (replaces(turn)) {
            seen_ = Seen{turn, std::move(state), tags(), counts()};
        }
    }
    // Known turns that others repeat, and whether the one under way is such a one.
    const std::optional<Period>& period() const { return period_; }
    bool holds(const Turn& turn) const {
        return turn.position == period_->to.position && turn.count >= period_->to.count &&
               turn.exchanges == period_->to.exchanges;
    }
    void forget();

  private:
    struct Seen {
        Turn turn;
        caches::StateRecord state;
        caches::StateRecord tags;
        Counts counts;
    };
    static constexpr std::int64_t kTries = 8;       // tags compared with those of one turn
    static constexpr std::int64_t kPatience = 256;  // turns in which a period must begin
    static bool follows(const Turn& turn, const Turn& before) {
        return turn.position == before.position && turn.count > before.count &&
               turn.exchanges == before.exchanges;
    }
    bool replaces(const Turn& turn);

    std::vector<bool> watched_;
    std::optional<Seen> seen_;
    std::optional<Period> period_;
    Turn last_;
    std::int64_t looks_ = 0;  // since the loop began or something was exchanged
    std::int64_t tries_ = 0;
    std::int64_t since_ = 0;  // looks since the turn it is compared with
    std::int64_t span_ = 1;   // for so many
};

}  // namespace tilesim::arch::amx::core
