#include "arch/systemc/time_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tilesim::arch::systemc {

namespace {

constexpr double kFemtosecondsPerSecond = 1e15;
constexpr const char* kResolutionMessage = "set time resolution failed";

// SystemC does not say whether somebody has: it refuses a second time.
void set_resolution_if_nobody_has() {
    using sc_core::sc_report_handler;
    const sc_core::sc_actions before =
        sc_report_handler::set_actions(kResolutionMessage, sc_core::SC_ERROR, sc_core::SC_THROW);
    try {
        sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
    } catch (const sc_core::sc_report&) {  // it stays as it is
    }
    sc_report_handler::set_actions(kResolutionMessage, sc_core::SC_ERROR, before);
}

}  // namespace

std::int64_t femtoseconds_per_unit() {
    const double seconds = sc_core::sc_get_time_resolution().to_seconds();
    return std::max<std::int64_t>(1, std::llround(seconds * kFemtosecondsPerSecond));
}

const sc_core::sc_module_name& in_elaboration(const sc_core::sc_module_name& name) {
    const int status = sc_core::sc_get_status();
    if ((status & (sc_core::SC_ELABORATION | sc_core::SC_BEFORE_END_OF_ELABORATION)) == 0) {
        SC_REPORT_ERROR(static_cast<const char*>(name),
                        "is made after SystemC has elaborated, which it does once a process");
    }
    return name;
}

void require_clocks(const sc_core::sc_module& module, std::initializer_list<base::Hertz> clocks) {
    for (const base::Hertz clock : clocks) {
        if (clock < base::Hertz{1}) {
            SC_REPORT_ERROR(
                module.name(),
                fmt::format("a clock of {} Hz: must be at least 1", clock.count()).c_str());
        }
    }
}

class TimeLine::Execution {
  public:
    explicit Execution(TimeLine& line) : line_(line) {
        line_.executing_ = true;
        line_.queues_.watch(nullptr);
    }
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;
    ~Execution() {
        line_.queues_.watch(&line_);
        line_.executing_ = false;
    }

  private:
    TimeLine& line_;
};

TimeLine::TimeLine(const sc_core::sc_module_name& name)
    : sc_core::sc_module(in_elaboration(name)), unit_(1) {
    set_resolution_if_nobody_has();
    unit_ = femtoseconds_per_unit();
    last_ = static_cast<std::uint64_t>(kLast.count() / unit_);
    queues_.add(queue_);
    queue_.watch(this);
    SC_HAS_PROCESS(TimeLine);
    SC_METHOD(on_wake);
    sensitive << wake_;
    dont_initialize();  // start_of_simulation wakes it: one that is gone by then must not be called
}

TimeLine::~TimeLine() {
    queues_.watch(nullptr);
}

void TimeLine::start_of_simulation() {
    if (unit_ > 1) {
        SC_REPORT_INFO_VERB(name(),
                            fmt::format("the time resolution is {} fs: what leaves the models is "
                                        "rounded up to it",
                                        unit_)
                                .c_str(),
                            sc_core::SC_LOW);
    }
    armed_ = queues_.now();
    wake_.cancel();
    wake_.notify(sc_core::SC_ZERO_TIME);
}

sc_core::sc_time TimeLine::until(base::Femtoseconds when) const {
    const std::int64_t now = static_cast<std::int64_t>(sc_core::sc_time_stamp().value());
    const std::int64_t then = base::ceil_div(when.count(), unit_);
    return sc_core::sc_time::from_value(
        static_cast<sc_dt::uint64>(std::max<std::int64_t>(0, then - now)));
}

base::Femtoseconds TimeLine::horizon() const {
    const std::uint64_t pending =
        sc_core::sc_time_to_pending_activity(sc_core::sc_get_curr_simcontext()).value();
    const auto most = static_cast<std::uint64_t>(run_ahead_.count() / unit_);
    const auto ahead = static_cast<std::int64_t>(std::min(pending, most));
    const base::Femtoseconds now = present();
    return ahead > (base::kNever - now).count() / unit_ ? base::kNever
                                                        : now + base::Femtoseconds{ahead * unit_};
}

void TimeLine::leave(sc_core::sc_event& event, base::Femtoseconds when) {
    horizon_ = std::min(horizon_, std::max(when, queues_.now()));
    queues_.interrupt();
    event.notify(until(when));
}

void TimeLine::refuse(const sc_core::sc_time& duration) const {
    SC_REPORT_ERROR(name(),
                    fmt::format("a duration of {:.1f} s is longer than the models count, {:.1f} s",
                                duration.to_seconds(),
                                static_cast<double>(kLongest.count()) / kFemtosecondsPerSecond)
                        .c_str());
}

void TimeLine::refuse_present() const {
    SC_REPORT_ERROR(name(), fmt::format("SystemC is at {:.1f} s, and the models count no further "
                                        "than {:.1f} s",
                                        sc_core::sc_time_stamp().to_seconds(),
                                        static_cast<double>(kLast.count()) / kFemtosecondsPerSecond)
                                .c_str());
}

base::Femtoseconds TimeLine::enter() {
    if (executing_) {
        return queues_.now();
    }
    const base::Femtoseconds now = present();
    if (queues_.now() == now && queues_.next_time() > now) {
        return now;
    }
    if (queues_.now() > now) {
        SC_REPORT_ERROR(name(), fmt::format("entered at {} fs, but the models are at {} fs: they "
                                            "run ahead while nothing is pending in SystemC; "
                                            "set_run_ahead bounds it",
                                            now.count(), queues_.now().count())
                                    .c_str());
        return queues_.now();
    }
    horizon_ = now;
    try {
        const Execution execution(*this);
        for (base::Femtoseconds next = queues_.next_time(); next <= now;
             next = queues_.next_time()) {
            step(next);
        }
        queues_.catch_up(now);
    } catch (...) {
        arm();  // who has entered is told; the other models go on
        throw;
    }
    arm();
    return now;
}

void TimeLine::join(base::EventQueue& queue, base::Femtoseconds origin) {
    queues_.add(queue, origin);
    if (!executing_) {
        queue.watch(this);
        arm();
    }
}

void TimeLine::on_earlier(base::Femtoseconds) {
    arm();
}

// Wakes for the next event, or to bring SystemC to where the queue has ended.
void TimeLine::arm() {
    base::Femtoseconds next = queues_.next_time();
    if (next == base::kNever && queues_.now() > present()) {
        next = queues_.now();
    }
    if (next >= armed_) {
        return;
    }
    armed_ = next;
    wake_.cancel();
    wake_.notify(until(next));
}

void TimeLine::on_wake() {
    ++activations_;
    armed_ = base::kNever;
    try {
        {
            const Execution execution(*this);
            execute();
        }
        if (ask().stamps > 0) {
            arm();
        }
    } catch (const std::exception& error) {
        if (supervisor_ == nullptr || !supervisor_->on_failure(std::current_exception())) {
            SC_REPORT_ERROR(name(), error.what());
        }
    }
}

TimeLine::Supervisor::Leave TimeLine::ask() {
    const std::int64_t unasked = std::exchange(unasked_, 0);
    return supervisor_ != nullptr ? supervisor_->go_on(unasked) : Supervisor::Leave{};
}

void TimeLine::execute() {
    horizon_ = horizon();
    for (base::Femtoseconds next = queues_.next_time(); next <= horizon_ && next != base::kNever;
         next = queues_.next_time()) {
        const Supervisor::Leave leave = ask();
        if (leave.stamps == 0) {
            return;
        }
        if (leave.stamps > 1 && observers_.empty()) {
            unasked_ = queues_.run_stamps(std::min(horizon_, leave.until), leave.stamps) - 1;
        } else {
            step(std::min(next, queues_.next_time()));  // who was asked may have put one before it
        }
    }
}

void TimeLine::step(base::Femtoseconds next) {
    queues_.run_until(next);
    for (Observer* const observer : observers_) {
        observer->on_stamp(next);
    }
}

}  // namespace tilesim::arch::systemc
