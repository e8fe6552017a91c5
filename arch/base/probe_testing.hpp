// Keeps what probes tell, for tests.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "arch/base/probe.hpp"

namespace tilesim::arch::base {

class ProbeRecorder final : public ProbeListener {
  public:
    struct Activity {
        std::string component;
        std::string name;
        std::int64_t begin = 0;  // cycles of the clock
        std::int64_t end = 0;

        bool operator==(const Activity&) const = default;
        friend std::ostream& operator<<(std::ostream& out, const Activity& activity) {
            return out << activity.component << ' ' << activity.name << " [" << activity.begin
                       << ", " << activity.end << ')';
        }
    };

    explicit ProbeRecorder(Clock clock) : clock_(clock) {}

    // In the order in which they began; one that has not ended ends at -1.
    const std::vector<Activity>& activities() const { return activities_; }
    std::vector<Activity> of(std::string_view component) const {
        std::vector<Activity> result;
        for (const Activity& activity : activities_) {
            if (activity.component == component) {
                result.push_back(activity);
            }
        }
        return result;
    }

    void begin(std::string_view component, std::string_view activity, Femtoseconds now) override {
        activities_.push_back(
            {std::string{component}, std::string{activity}, clock_.cycle_at(now).count(), -1});
    }
    void end(std::string_view component, std::string_view activity, Femtoseconds now) override {
        for (Activity& open : activities_) {
            if (open.end < 0 && open.component == component && open.name == activity) {
                open.end = clock_.cycle_at(now).count();
            }
        }
    }

  private:
    Clock clock_;
    std::vector<Activity> activities_;
};

}  // namespace tilesim::arch::base
