#include "arch/base/kernel/kernel_module.hpp"

#include <exception>
#include <systemc>

namespace tilesim::arch::base::kernel {

namespace {

// Time stamps executed between two looks at the host's clock.
constexpr int kStampsPerClockLook = 4096;
constexpr std::chrono::milliseconds kProgressInterval{500};

sc_core::sc_time to_systemc(Femtoseconds time) {
    return sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(time.count()));
}

class KernelModule : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(KernelModule);
    KernelModule(const sc_core::sc_module_name& name, EventQueue& queue, const Limits& limits,
                 const std::function<bool()>& finished)
        : sc_core::sc_module(name),
          queue_(queue),
          limits_(limits),
          finished_(finished),
          began_(std::chrono::steady_clock::now()) {
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
        int stamps = 0;
        while (true) {
            if (finished_()) {
                return stop(Outcome::Finished);
            }
            const Femtoseconds next = queue_.next_time();
            if (next == kNever) {
                return stop(Outcome::NothingPending);
            }
            if (next > limits_.simulated) {
                return stop(Outcome::SimulatedTimeLimit);
            }
            if (++stamps % kStampsPerClockLook == 0 && look_at_clock()) {
                return stop(Outcome::WallTimeLimit);
            }
            const sc_core::sc_time due = to_systemc(next);
            if (due > sc_core::sc_time_stamp() && sc_core::sc_pending_activity()) {
                next_trigger(due - sc_core::sc_time_stamp());
                return;
            }
            queue_.run_until(next);
        }
    }

    // Reports progress; true when the host's time is up.
    bool look_at_clock() {
        const auto now = std::chrono::steady_clock::now();
        if (limits_.progress && now - reported_ >= kProgressInterval) {
            reported_ = now;
            limits_.progress(queue_.now());
        }
        return now - began_ >= limits_.wall;
    }

    void stop(Outcome outcome) {
        outcome_ = outcome;
        sc_core::sc_stop();
    }

    EventQueue& queue_;
    Limits limits_;
    const std::function<bool()>& finished_;
    std::chrono::steady_clock::time_point began_;
    std::chrono::steady_clock::time_point reported_ = began_;
    Outcome outcome_ = Outcome::NothingPending;
    std::exception_ptr failure_;
};

}  // namespace

Outcome run(EventQueue& queue, const Limits& limits, const std::function<bool()>& finished) {
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    sc_core::sc_report_handler::set_actions("/OSCI/SystemC", sc_core::SC_DO_NOTHING);
    KernelModule module("tilesim", queue, limits, finished);
    sc_core::sc_start();
    if (module.failure()) {
        std::rethrow_exception(module.failure());
    }
    return module.outcome();
}

}  // namespace tilesim::arch::base::kernel
