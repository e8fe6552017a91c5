#include "arch/systemc/run.hpp"

#include <exception>
#include <optional>
#include <systemc>

namespace tilesim::arch::systemc {

namespace {

// Time stamps executed between two looks at the host's clock.
constexpr int kStampsPerClockLook = 4096;
constexpr std::chrono::milliseconds kProgressInterval{500};
// What nobody waits for; the clock's own greatest value would overflow.
constexpr std::chrono::hours kLongestWall{24 * 365 * 100};

// Queues being executed under limits.
class Execution final : public TimeLine::Supervisor {
  public:
    Execution(base::JointQueue& queues, const Limits& limits, const std::function<bool()>& finished)
        : queues_(queues),
          limits_(limits),
          finished_(finished),
          wall_(std::min<std::chrono::steady_clock::duration>(
              kLongestWall, std::min<std::chrono::milliseconds>(limits.wall, kLongestWall))),
          began_(std::chrono::steady_clock::now()) {}

    // Ends SystemC's simulation, for now, when it has ended.
    bool go_on() override {
        if (!stopped()) {
            outcome_ = ended();
        }
        if (stopped()) {
            sc_core::sc_pause();
            return false;
        }
        return true;  // others may yet put something on the queue
    }
    bool on_failure(std::exception_ptr failure) override {
        failure_ = failure;
        sc_core::sc_pause();
        return true;
    }

    Outcome run_alone() {
        while (!(outcome_ = ended())) {
            queues_.run_until(queues_.next_time());
        }
        return *outcome_;
    }
    Outcome outcome() const { return outcome_.value_or(Outcome::NothingPending); }
    std::exception_ptr failure() const { return failure_; }

  private:
    bool stopped() const { return outcome_ && *outcome_ != Outcome::NothingPending; }

    // Nothing while there is a next event to execute.
    std::optional<Outcome> ended() {
        if (finished_()) {
            return Outcome::Finished;
        }
        const base::Femtoseconds next = queues_.next_time();
        if (next == base::kNever) {
            return Outcome::NothingPending;
        }
        if (next > limits_.simulated) {
            return Outcome::SimulatedTimeLimit;
        }
        if (++stamps_ % kStampsPerClockLook == 0 && look_at_clock()) {
            return Outcome::WallTimeLimit;
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
    const std::function<bool()>& finished_;
    std::chrono::steady_clock::duration wall_;
    int stamps_ = 0;
    std::chrono::steady_clock::time_point began_;
    std::chrono::steady_clock::time_point reported_ = began_;
    std::optional<Outcome> outcome_;
    std::exception_ptr failure_;
};

}  // namespace

bool elaborating() {
    return sc_core::sc_get_status() == sc_core::SC_ELABORATION;
}

Outcome run(TimeLine& time_line, const Limits& limits, const std::function<bool()>& finished) {
    Execution execution(time_line.queues(), limits, finished);
    if (!elaborating()) {  // SystemC warns where it is started a second time for nothing
        if (finished()) {
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

Outcome run(base::JointQueue& queues, const Limits& limits, const std::function<bool()>& finished) {
    return Execution(queues, limits, finished).run_alone();
}

}  // namespace tilesim::arch::systemc
