// Event probes: what a trace writer listens to. Off by default; a probe without a listener costs
// one branch.
#pragma once

#include <string_view>

#include "arch/base/units.hpp"

namespace tilesim::arch::base {

// Receives the begin and end of named activities of components. `component` is the hierarchical
// name ("npu.tile(2,3).mm2s0"), `activity` a state or event name ("lock_stall").
class ProbeListener {
  public:
    virtual void begin(std::string_view component, std::string_view activity, Femtoseconds now) = 0;
    virtual void end(std::string_view component, std::string_view activity, Femtoseconds now) = 0;

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

  private:
    ProbeListener* listener_ = nullptr;
};

}  // namespace tilesim::arch::base
