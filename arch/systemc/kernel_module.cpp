#include "arch/systemc/kernel_module.hpp"

#include <exception>
#include <optional>
#include <systemc>

namespace tilesim::arch::systemc {

namespace {

// Time stamps executed between two looks at the host's clock.
constexpr int kStampsPerClockLook = 4096;
constexpr std::chrono::milliseconds kProgressInterval{500};

sc_core::sc_time to_systemc(base::Femtoseconds time) {
    return sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(time.count()));
}

// A queue being executed under limits.
class Execution {
  public:
    Execution(base::EventQueue& queue, const Limits& limits, const std::function<bool()>& finished)
        : queue_(queue),
          limits_(limits),
          finished_(finished),
          began_(std::chrono::steady_clock::now()) {}

    base::EventQueue& queue() { return queue_; }

    // How it has ended; nothing while there is a next event to execute.
    std::optional<Outcome> ended() {
        if (finished_()) {
            return Outcome::Finished;
        }
        const base::Femtoseconds next = queue_.next_time();
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

  private:
    // Reports progress; true when the host's time is up.
    bool look_at_clock() {
        const auto now = std::chrono::steady_clock::now();
        if (limits_.progress && now - reported_ >= kProgressInterval) {
            reported_ = now;
            limits_.progress(queue_.now());
        }
        return now - began_ >= limits_.wall;
    }

    base::EventQueue& queue_;
    Limits limits_;
    const std::function<bool()>& finished_;
    int stamps_ = 0;
    std::chrono::steady_clock::time_point began_;
    std::chrono::steady_clock::time_point reported_ = began_;
};

// Nothing but the queue's own events is to come, and those wake no process.
Outcome run_alone(Execution& execution) {
    while (true) {
        if (const auto outcome = execution.ended()) {
            return *outcome;
        }
        execution.queue().run_until(execution.queue().next_time());
    }
}

class KernelModule : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(KernelModule);
    KernelModule(const sc_core::sc_module_name& name, Execution& execution)
        : sc_core::sc_module(name), execution_(execution) {
        SC_METHOD(on_wake);
    }

    Outcome outcome() const { return outcome_; }
    std::exception_ptr failure() const { return failure_; }

  private:
    void on_wake() {
        try {
            execute();
        } catch (...) {  // SystemC would turn it into text
            failure_ = std::current_exception();
            sc_core::sc_stop();
        }
    }

    void execute() {
        while (sc_core::sc_pending_activity()) {
            if (const auto outcome = execution_.ended()) {
                stop(*outcome);
                return;
            }
            const base::Femtoseconds next = execution_.queue().next_time();
            const sc_core::sc_time due = to_systemc(next);
            if (due > sc_core::sc_time_stamp()) {
                next_trigger(due - sc_core::sc_time_stamp());
                return;
            }
            execution_.queue().run_until(next);
        }
        stop(run_alone(execution_));
    }

    void stop(Outcome outcome) {
        outcome_ = outcome;
        sc_core::sc_stop();
    }

    Execution& execution_;
    Outcome outcome_ = Outcome::NothingPending;
    std::exception_ptr failure_;
};

}  // namespace

Outcome run(base::EventQueue& queue, const Limits& limits, const std::function<bool()>& finished) {
    Execution execution(queue, limits, finished);
    if (sc_core::sc_get_status() != sc_core::SC_ELABORATION) {
        return run_alone(execution);
    }
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_DO_NOTHING);
    KernelModule module("tilesim", execution);
    sc_core::sc_start();
    if (module.failure()) {
        std::rethrow_exception(module.failure());
    }
    return module.outcome();
}

}  // namespace tilesim::arch::systemc
