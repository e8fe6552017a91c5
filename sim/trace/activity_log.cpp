#include "sim/trace/activity_log.hpp"

#include <algorithm>

namespace tilesim::sim::trace {

using arch::base::Femtoseconds;

std::uint32_t ActivityLog::index_of(std::string_view text, Index& index,
                                    std::vector<std::string>& texts) {
    const auto known = index.find(text);
    if (known != index.end()) {
        return known->second;
    }
    const auto next = static_cast<std::uint32_t>(texts.size());
    texts.emplace_back(text);
    index.emplace(text, next);
    return next;
}

void ActivityLog::begin(std::string_view component, std::string_view activity, Femtoseconds now) {
    const std::uint32_t index = index_of(component, component_index_, components_);
    open_.resize(components_.size());
    open_[index] = {index_of(activity, name_index_, names_), now};
}

void ActivityLog::end(std::string_view component, std::string_view, Femtoseconds now) {
    const std::uint32_t index = index_of(component, component_index_, components_);
    open_.resize(components_.size());
    if (open_[index].begin.count() < 0) {  // the state it was built in: it began with the run
        return;
    }
    keep(index, now);
}

void ActivityLog::wakes(std::string_view by, std::string_view whom, Femtoseconds now,
                        Femtoseconds when) {
    if (now < window_.begin || when >= window_.end || wakes_.size() >= most_) {
        return;
    }
    wakes_.push_back({index_of(by, component_index_, components_),
                      index_of(whom, component_index_, components_), now, when});
    open_.resize(components_.size());
}

void ActivityLog::keep(std::uint32_t component, Femtoseconds now) {
    const Femtoseconds begin = std::max(open_[component].begin, window_.begin);
    const Femtoseconds end = std::min(now, window_.end);
    open_[component].begin = Femtoseconds{-1};
    if (end <= begin) {  // outside the window, or it took no time
        return;
    }
    if (activities_.size() >= most_) {
        truncated_ = true;
        return;
    }
    activities_.push_back({component, open_[component].name, begin, end});
}

void ActivityLog::finish(Femtoseconds now) {
    for (std::uint32_t component = 0; component < open_.size(); ++component) {
        if (open_[component].begin.count() >= 0) {
            keep(component, std::max(now, open_[component].begin));
        }
    }
    // Memory channels decide ahead of time, and go on after the run.
    std::erase_if(activities_, [now](const Activity& a) { return a.begin >= now; });
    for (Activity& activity : activities_) {
        activity.end = std::min(activity.end, now);
    }
}

}  // namespace tilesim::sim::trace
