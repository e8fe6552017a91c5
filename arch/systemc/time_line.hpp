// The SystemC face of event queues: one process that executes them, in step with SystemC's time.
//
// Both ways: who puts an event on the queue, from whatever process, wakes this one in time; who
// enters from SystemC first brings the queue to the present (`enter`). In between the queue runs
// ahead, to the first moment at which anything else in SystemC can act
// (sc_time_to_pending_activity) or at which something leaves the models (`leave`). Nothing here
// ends the simulation.
//
// While nothing else is pending, only sc_main can act, after a sc_start that was given a duration:
// the queue is then at most `run_ahead` further than SystemC, and whoever enters in its past is
// told.
#pragma once

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <optional>
#include <systemc>
#include <vector>

#include "arch/base/joint_queue.hpp"

namespace tilesim::arch::systemc {

// Femtoseconds of one unit of SystemC's time resolution; fixes the resolution.
std::int64_t femtoseconds_per_unit();

// The name of a module that is being made; an error in that name where SystemC has elaborated.
const sc_core::sc_module_name& in_elaboration(const sc_core::sc_module_name& name);

// An error in the module's name where a clock of it stands still: a device's file cannot say so,
// who fills a configuration by hand can.
void require_clocks(const sc_core::sc_module& module, std::initializer_list<base::Hertz> clocks);

class TimeLine final : public sc_core::sc_module, private base::QueueWatcher {
  public:
    static constexpr base::Femtoseconds kRunAhead{100'000'000};

    // Is asked before time stamps.
    class Supervisor {
      public:
        // How far to go before asking again, unless somebody interrupts the queue.
        struct Leave {
            std::int64_t stamps = 1;  // 0: nothing more is executed, until somebody enters
            base::Femtoseconds until = base::kNever;
        };
        // `unasked`: time stamps executed since the last time, but for the first.
        virtual Leave go_on(std::int64_t unasked) = 0;
        // A model has thrown; true: it has been taken care of.
        virtual bool on_failure(std::exception_ptr failure) = 0;

      protected:
        ~Supervisor() = default;
    };

    // Hears of every time stamp that has been executed.
    class Observer {
      public:
        virtual void on_stamp(base::Femtoseconds now) = 0;

      protected:
        ~Observer() = default;
    };

    // Sets the time resolution to 1 fs where nobody has set or used it. One that is coarser rounds
    // what leaves the models up.
    explicit TimeLine(const sc_core::sc_module_name& name);
    ~TimeLine() override;

    base::EventQueue& queue() { return queue_; }
    // Executes another queue as well from now on, whose 0 is the joint time `origin`.
    void join(base::EventQueue& queue, base::Femtoseconds origin);
    // That one and all others.
    base::JointQueue& queues() { return queues_; }
    void set_run_ahead(base::Femtoseconds most) { run_ahead_ = most; }
    void observe(Observer& observer) {
        observers_.push_back(&observer);
        queues_.interrupt();
    }
    void supervise(Supervisor* supervisor) { supervisor_ = supervisor; }
    // Goes on where a supervisor has stopped it.
    void go_on() { arm(); }

    // SystemC's present; an error in its name where that is more than the models can count.
    base::Femtoseconds present() const {
        const std::uint64_t now = sc_core::sc_time_stamp().value();
        if (now > last_) {
            refuse_present();
        }
        return base::Femtoseconds{static_cast<std::int64_t>(now) * unit_};
    }
    // Somebody acts now: everything due up to the present has been executed when this returns, and
    // the queue's present is SystemC's. To be called before anything is asked of a model.
    base::Femtoseconds enter();
    // For whoever only looks: the same, but models that are ahead of SystemC stay where they are.
    void catch_up() {
        if (queues_.now() < present()) {
            enter();
        }
    }
    // `event` is notified at `when`, which is not before the queue's present. To be called by
    // models from their events: the queue goes no further before SystemC has acted.
    void leave(sc_core::sc_event& event, base::Femtoseconds when);
    // From SystemC's present, rounded up; zero for what is past.
    sc_core::sc_time until(base::Femtoseconds when) const;
    // An error in its name where that is more than the models can count.
    base::Femtoseconds femtoseconds(const sc_core::sc_time& duration) const {
        if (duration.value() > static_cast<std::uint64_t>(kLongest.count() / unit_)) {
            refuse(duration);
        }
        return base::Femtoseconds{static_cast<std::int64_t>(duration.value()) * unit_};
    }
    // Activations of the process so far.
    std::uint64_t activations() const { return activations_; }

  private:
    class Execution;  // for as long as one lives, what is put on the queue wakes nobody
    static constexpr base::Femtoseconds kLongest{INT64_MAX / 4};
    static constexpr base::Femtoseconds kLast = base::kNever - kLongest;

    void refuse_present() const;
    void refuse(const sc_core::sc_time& duration) const;
    void on_earlier(base::Femtoseconds time) override;
    void start_of_simulation() override;
    void on_wake();
    void execute();
    Supervisor::Leave ask();
    void step(base::Femtoseconds next);
    void arm();
    base::Femtoseconds horizon() const;

    base::EventQueue queue_;
    base::JointQueue queues_;
    std::int64_t unit_;
    std::uint64_t last_ = 0;  // kLast, in units
    base::Femtoseconds run_ahead_ = kRunAhead;
    base::Femtoseconds horizon_{0};
    base::Femtoseconds armed_ = base::kNever;
    sc_core::sc_event wake_;
    bool executing_ = false;
    Supervisor* supervisor_ = nullptr;
    std::int64_t unasked_ = 0;  // time stamps that the supervisor does not know of
    std::vector<Observer*> observers_;
    std::uint64_t activations_ = 0;
};

}  // namespace tilesim::arch::systemc
