// Remembers what every component did and when, for the trace writers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arch/base/probe.hpp"
#include "arch/base/units.hpp"

namespace tilesim::sim::trace {

// What to keep. An activity that reaches into the window is kept, cut at its ends.
struct Window {
    arch::base::Femtoseconds begin{0};
    arch::base::Femtoseconds end{INT64_MAX};
};

struct Activity {
    std::uint32_t component = 0;  // index into components()
    std::uint32_t name = 0;       // index into names()
    arch::base::Femtoseconds begin{0}, end{0};
};

// What a component did at `now` ended the wait of another, which goes on at `when`.
struct Wake {
    std::uint32_t by = 0, whom = 0;  // indices into components()
    arch::base::Femtoseconds now{0}, when{0};
};

class ActivityLog final : public arch::base::ProbeListener {
  public:
    // Keeps at most `most` activities; then it stops listening and says so.
    ActivityLog(Window window, std::size_t most) : window_(window), most_(most) {}

    void begin(std::string_view component, std::string_view activity,
               arch::base::Femtoseconds now) override;
    void end(std::string_view component, std::string_view activity,
             arch::base::Femtoseconds now) override;
    void wakes(std::string_view by, std::string_view whom, arch::base::Femtoseconds now,
               arch::base::Femtoseconds when) override;
    // Ends what still goes on, and cuts what lies beyond; call once, with the run's end.
    void finish(arch::base::Femtoseconds now);

    const std::vector<std::string>& components() const { return components_; }
    const std::vector<std::string>& names() const { return names_; }
    // In the order in which they ended, each component by itself.
    const std::vector<Activity>& activities() const { return activities_; }
    // In the order of time; as many as activities at most.
    const std::vector<Wake>& wakes() const { return wakes_; }
    bool truncated() const { return truncated_; }
    const Window& window() const { return window_; }

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };
    using Index = std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>>;
    static std::uint32_t index_of(std::string_view text, Index& index,
                                  std::vector<std::string>& texts);
    void keep(std::uint32_t component, arch::base::Femtoseconds now);

    Window window_;
    std::size_t most_;
    Index component_index_, name_index_;
    std::vector<std::string> components_, names_;
    struct Open {
        std::uint32_t name = 0;
        arch::base::Femtoseconds begin{-1};  // negative: nothing goes on
    };
    std::vector<Open> open_;  // one a component
    std::vector<Activity> activities_;
    std::vector<Wake> wakes_;
    bool truncated_ = false;
};

}  // namespace tilesim::sim::trace
