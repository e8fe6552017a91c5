// Event probes: what a trace writer listens to. Off by default; a probe without a listener costs
// one branch.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "arch/base/clock.hpp"
#include "arch/base/units.hpp"

namespace tilesim::arch::base {

// Receives the begin and end of named activities of components. `component` is the hierarchical
// name ("npu.tile(2,3).mm2s0"), `activity` a state or event name ("lock_stall").
class ProbeListener {
  public:
    virtual void begin(std::string_view component, std::string_view activity, Femtoseconds now) = 0;
    virtual void end(std::string_view component, std::string_view activity, Femtoseconds now) = 0;
    // At `now` component `by` did what `whom` had been waiting for, who goes on at `when`.
    virtual void wakes(std::string_view, std::string_view, Femtoseconds, Femtoseconds) {}

  protected:
    ~ProbeListener() = default;
};

class Probe {
  public:
    void connect(ProbeListener* listener) { listener_ = listener; }
    explicit operator bool() const { return listener_ != nullptr; }
    void begin(std::string_view component, std::string_view activity, Femtoseconds now) const {
        if (listener_ != nullptr) [[unlikely]] {
            listener_->begin(component, activity, now);
        }
    }
    void end(std::string_view component, std::string_view activity, Femtoseconds now) const {
        if (listener_ != nullptr) [[unlikely]] {
            listener_->end(component, activity, now);
        }
    }
    void wakes(std::string_view by, std::string_view whom, Femtoseconds now,
               Femtoseconds when) const {
        if (listener_ != nullptr) [[unlikely]] {
            listener_->wakes(by, whom, now, when);
        }
    }

  private:
    ProbeListener* listener_ = nullptr;
};

// The states of one component that counts in cycles, each from when it begins to when another does.
// To be asked before it is told, which is the one branch: `if (probe_) { probe_.enter(...); }`.
class StateProbe {
  public:
    void connect(ProbeListener* listener, std::string component, Clock clock) {
        listener_ = listener;
        component_ = std::move(component);
        clock_ = clock;
    }
    explicit operator bool() const { return listener_ != nullptr; }
    // Texts must outlive the probe. A state that is entered again goes on.
    void enter(std::string_view state, Cycles now) {
        if (state != state_) {
            leave(now);
            listener_->begin(component_, state, clock_->time_of(now));
            state_ = state;
        }
    }
    // No state holds until the next is entered.
    void leave(Cycles now) {
        if (!state_.empty()) {
            listener_->end(component_, state_, clock_->time_of(now));
            state_ = {};
        }
    }

  private:
    ProbeListener* listener_ = nullptr;
    std::string component_;
    std::optional<Clock> clock_;
    std::string_view state_;  // the one that holds; empty: none
};

}  // namespace tilesim::arch::base
