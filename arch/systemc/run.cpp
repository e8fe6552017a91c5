#include "arch/systemc/run.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <systemc>

namespace tilesim::arch::systemc {

namespace {

// Time stamps executed between two looks at the host's clock.
constexpr std::int64_t kStampsPerClockLook = 4096;
constexpr std::chrono::milliseconds kProgressInterval{500};
// What nobody waits for; the clock's own greatest value would overflow.
constexpr std::chrono::hours kLongestWall{24 * 365 * 100};

// Queues being executed under limits.
class Execution final : public TimeLine::Supervisor {
  public:
    Execution(base::JointQueue& queues, const Limits& limits, Goal& goal)
        : queues_(queues),
          limits_(limits),
          goal_(goal),
          wall_(std::min<std::chrono::steady_clock::duration>(
              kLongestWall, std::min<std::chrono::milliseconds>(limits.wall, kLongestWall))),
          began_(std::chrono::steady_clock::now()) {}

    // Ends SystemC's simulation, for now, when it has ended.
    Leave go_on(std::int64_t unasked) override {
        if (!stopped()) {
            outcome_ = ended(unasked);
        }
        if (stopped()) {
            sc_core::sc_pause();
            return {.stamps = 0};
        }
        return leave();  // others may yet put something on the queue
    }
    bool on_failure(std::exception_ptr failure) override {
        failure_ = failure;
        sc_core::sc_pause();
        return true;
    }

    Outcome run_alone() {
        std::int64_t unasked = 0;
        while (!(outcome_ = ended(unasked))) {
            const Leave leave = this->leave();
            unasked = queues_.run_stamps(leave.until, leave.stamps) - 1;
        }
        return *outcome_;
    }
    Outcome outcome() const { return outcome_.value_or(Outcome::NothingPending); }
    std::exception_ptr failure() const { return failure_; }

  private:
    bool stopped() const { return outcome_ && *outcome_ != Outcome::NothingPending; }

    Leave leave() const {
        return {std::min(goal_.patience(), next_look_ - stamps_), limits_.simulated};
    }

    // Nothing while there is a next event to execute.
    std::optional<Outcome> ended(std::int64_t unasked) {
        if (goal_.reached(unasked)) {
            return Outcome::Finished;
        }
        const base::Femtoseconds next = queues_.next_time();
        if (next == base::kNever) {
            return Outcome::NothingPending;
        }
        if (next > limits_.simulated) {
            return Outcome::SimulatedTimeLimit;
        }
        stamps_ += unasked + 1;
        if (stamps_ >= next_look_) {
            next_look_ = stamps_ + kStampsPerClockLook;
            if (look_at_clock()) {
                return Outcome::WallTimeLimit;
            }
        }
        return std::nullopt;
    }

    // Reports progress; true when the host's time is up.
    bool look_at_clock() {
        const auto now = std::chrono::steady_clock::now();
        if (limits_.progress && now - reported_ >= kProgressInterval) {
            reported_ = now;
            limits_.progress(queues_.now());
        }
        return now - began_ >= wall_;
    }

    base::JointQueue& queues_;
    const Limits& limits_;
    Goal& goal_;
    std::chrono::steady_clock::duration wall_;
    std::int64_t stamps_ = 0;
    std::int64_t next_look_ = 0;
    std::chrono::steady_clock::time_point began_;
    std::chrono::steady_clock::time_point reported_ = began_;
    std::optional<Outcome> outcome_;
    std::exception_ptr failure_;
};

class Condition final : public Goal {
  public:
    explicit Condition(const std::function<bool()>& holds) : holds_(holds) {}
    bool reached(std::int64_t /*unasked*/) override { return holds_(); }

  private:
    const std::function<bool()>& holds_;
};

}  // namespace

bool elaborating() {
    return sc_core::sc_get_status() == sc_core::SC_ELABORATION;
}

Outcome run(TimeLine& time_line, const Limits& limits, Goal& goal) {
    Execution execution(time_line.queues(), limits, goal);
    if (!elaborating()) {  // SystemC warns where it is started a second time for nothing
        if (goal.reached(0)) {
            return Outcome::Finished;
        }
        time_line.go_on();
        if (!sc_core::sc_pending_activity()) {
            return Outcome::NothingPending;
        }
    }
    time_line.supervise(&execution);
    sc_core::sc_start();
    time_line.supervise(nullptr);
    if (execution.failure()) {
        std::rethrow_exception(execution.failure());
    }
    return execution.outcome();
}

Outcome run(TimeLine& time_line, const Limits& limits, const std::function<bool()>& finished) {
    Condition condition(finished);
    return run(time_line, limits, condition);
}

Outcome run(base::JointQueue& queues, const Limits& limits, Goal& goal) {
    return Execution(queues, limits, goal).run_alone();
}

Outcome run(base::JointQueue& queues, const Limits& limits, const std::function<bool()>& finished) {
    Condition condition(finished);
    return run(queues, limits, condition);
}

}  // namespace tilesim::arch::systemc
