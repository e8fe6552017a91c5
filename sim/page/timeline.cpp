#include "sim/page/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/base/config.hpp"

namespace tilesim::sim::page {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kMostSpans = 5'000;    // of a kind
constexpr std::size_t kMostShownLanes = 40;  // that a page begins with

struct Span {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::size_t state = 0;
};

// A tid: a component in one of its states.
struct Thread {
    std::int64_t pid = 0;
    std::string name;
    std::string component;  // empty in a trace that does not say
    std::vector<Span> spans;
    std::int64_t begun = -1;  // of the span that has not ended; -1: there is none
    std::size_t state = 0;    // of that span
};

struct Lane {
    std::string name;
    std::vector<Span> spans;  // in the order of time
};

// "npu.channel.mm2s" of "npu.channel(3,2).mm2s0", "core_trace" of "core_trace for tile2,0". Without
// a regular expression: the library's needs stack for every character of a name.
std::string without_numbers(std::string_view name) {
    name = name.substr(0, name.find(" for tile"));
    std::string kind;
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t digits = std::min(name.find_first_not_of("0123456789", at), name.size());
        if (name[at] == '(') {
            const std::size_t close = name.find(')', at);
            if (close == name.npos) {
                return kind.append(name.substr(at));
            }
            at = close + 1;
        } else if (digits == at) {
            kind += name[at++];
        } else {
            const bool ends = digits == name.size() || name[digits] == '.';
            kind += ends ? "" : name.substr(at, digits - at);
            at = digits;
        }
    }
    return kind;
}

struct Kind {
    std::string name;
    bool detail = false;  // what a component tells besides its state, or a part of it
    std::vector<Lane> lanes;
};

class TraceReader {
  public:
    void read(const Json& event) {
        const std::string phase = event.value("ph", "");
        const std::pair key{event.value("pid", std::int64_t{0}),
                            event.value("tid", std::int64_t{0})};
        if (phase == "M") {
            const Json args = event.value("args", Json::object());
            if (event.value("name", "") == "process_name") {
                processes_[key.first] = args.value("name", "");
            } else if (event.value("name", "") == "thread_name") {
                threads_[key].name = args.value("name", "");
                threads_[key].component = args.value("component", "");
            }
            return;
        }
        Thread& thread = threads_[key];
        thread.pid = key.first;
        if (phase == "B") {
            const Json args = event.value("args", Json::object());
            thread.begun = event.at("ts").get<std::int64_t>();
            thread.state = state(args.value("state", event.value("name", "")));
        } else if (phase == "E" && thread.begun >= 0) {
            thread.spans.push_back(
                {thread.begun, event.at("ts").get<std::int64_t>(), thread.state});
            thread.begun = -1;
        }
    }

    const std::vector<std::string>& states() const { return states_; }
    // Those of which something is known, a component's one after the other.
    std::vector<std::vector<const Thread*>> components() const {
        std::vector<std::vector<const Thread*>> components;
        std::map<std::string, std::size_t> places;
        for (const auto& [key, thread] : threads_) {
            if (thread.spans.empty()) {
                continue;
            }
            const auto [place, is_new] = places.emplace(name_of(thread), components.size());
            if (is_new) {
                components.emplace_back();
            }
            components[place->second].push_back(&thread);
        }
        return components;
    }

    std::string name_of(const Thread& thread) const {
        return thread.component.empty() ? fmt::format("{} {}", process_of(thread), thread.name)
                                        : thread.component;
    }
    // "npu.tile(3,2).mm2s0" of "mem_trace for tile2,3": "core mm2s".
    std::string kind_of(const Thread& thread) const {
        const std::string process = process_of(thread);
        if (thread.component.empty()) {
            return without_numbers(process);
        }
        const std::size_t tile = thread.component.find("tile(");
        if (tile == std::string::npos) {
            return without_numbers(thread.component);
        }
        const std::string unit = thread.component.substr(thread.component.find(").", tile) + 2);
        const char* const place = process.find("memtile_trace") != std::string::npos
                                      ? "memory tile "
                                  : process.find("shim_trace") != std::string::npos ? "shim "
                                  : unit.starts_with("core")                        ? ""
                                                                                    : "core ";
        return place + without_numbers(unit);
    }

  private:
    std::size_t state(const std::string& name) {
        const auto found = std::find(states_.begin(), states_.end(), name);
        if (found == states_.end()) {
            states_.push_back(name);
            return states_.size() - 1;
        }
        return static_cast<std::size_t>(found - states_.begin());
    }
    std::string process_of(const Thread& thread) const {
        const auto process = processes_.find(thread.pid);
        return process == processes_.end() ? "" : process->second;
    }

    std::map<std::int64_t, std::string> processes_;
    std::map<std::pair<std::int64_t, std::int64_t>, Thread> threads_;  // by pid, tid
    std::vector<std::string> states_;
};

// One lane, or one a state where they overlap.
std::vector<Lane> lanes_of(const std::string& name, const std::vector<const Thread*>& threads) {
    Lane all{name, {}};
    for (const Thread* const thread : threads) {
        all.spans.insert(all.spans.end(), thread->spans.begin(), thread->spans.end());
    }
    std::stable_sort(all.spans.begin(), all.spans.end(),
                     [](const Span& a, const Span& b) { return a.begin < b.begin; });
    const auto overlap =
        std::adjacent_find(all.spans.begin(), all.spans.end(),
                           [](const Span& a, const Span& b) { return b.begin < a.end; });
    if (threads.size() == 1 || overlap == all.spans.end()) {
        return {std::move(all)};
    }
    std::vector<Lane> lanes;
    std::transform(threads.begin(), threads.end(), std::back_inserter(lanes),
                   [&](const Thread* thread) {
                       return Lane{fmt::format("{} {}", name, thread->name), thread->spans};
                   });
    return lanes;
}

bool is_detail(const std::string& component) {
    const std::size_t numbered = component.find(").");
    return numbered != std::string::npos &&
           (component.find('.', numbered + 2) != std::string::npos ||
            component.compare(numbered + 2, 5, "bank(") == 0);
}

// In the order of the trace, details behind the others.
std::vector<Kind> kinds_of(const TraceReader& trace) {
    std::vector<Kind> kinds;
    for (const std::vector<const Thread*>& threads : trace.components()) {
        const std::string kind = trace.kind_of(*threads.front());
        auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [&](const Kind& each) { return each.name == kind; });
        if (found == kinds.end()) {
            kinds.push_back({kind, is_detail(threads.front()->component), {}});
            found = std::prev(kinds.end());
        }
        std::vector<Lane> lanes = lanes_of(trace.name_of(*threads.front()), threads);
        std::move(lanes.begin(), lanes.end(), std::back_inserter(found->lanes));
    }
    std::stable_partition(kinds.begin(), kinds.end(),
                          [](const Kind& kind) { return !kind.detail; });
    return kinds;
}

Json json_of(const Kind& kind, bool shown) {
    std::vector<std::pair<std::size_t, Span>> spans;
    Json names = Json::array();
    for (const Lane& lane : kind.lanes) {
        for (const Span& span : lane.spans) {
            spans.emplace_back(names.size(), span);
        }
        names.push_back(lane.name);
    }
    const std::size_t all = spans.size();
    if (all > kMostSpans) {
        std::stable_sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) {
            return a.second.end - a.second.begin > b.second.end - b.second.begin;
        });
        spans.resize(kMostSpans);
    }
    Json drawn = Json::array();
    for (const auto& [lane, span] : spans) {
        drawn.push_back({lane, span.begin, span.end, span.state});
    }
    return {{"name", kind.name},
            {"shown", shown},
            {"lanes", std::move(names)},
            {"spans", std::move(drawn)},
            {"left_out", all - spans.size()}};
}

Json json_of(const TraceReader& trace) {
    Json kinds = Json::array();
    std::int64_t end = 0;
    std::size_t shown_lanes = 0;
    for (const Kind& kind : kinds_of(trace)) {
        const bool shown = shown_lanes == 0 ||
                           (!kind.detail && shown_lanes + kind.lanes.size() <= kMostShownLanes);
        shown_lanes += shown ? kind.lanes.size() : 0;
        kinds.push_back(json_of(kind, shown));
        for (const Lane& lane : kind.lanes) {
            for (const Span& span : lane.spans) {
                end = std::max(end, span.end);
            }
        }
    }
    return {{"kinds", std::move(kinds)}, {"states", trace.states()}, {"end", end}};
}

}  // namespace

Json timeline(const std::string& text, const std::string& file) {
    const Json events = Json::parse(text, nullptr, false);
    if (!events.is_array()) {
        throw arch::base::config::ConfigError(
            fmt::format("{}: is no trace of `tilesim run --trace`", file));
    }
    TraceReader trace;
    try {
        for (const Json& event : events) {
            if (event.contains("args") && event["args"].value("time_unit", "") == "us") {
                throw arch::base::config::ConfigError(fmt::format(
                    "{}: its times are microseconds (--trace-time us); a timeline is of cycles",
                    file));
            }
            trace.read(event);
        }
    } catch (const Json::exception& error) {
        throw arch::base::config::ConfigError(
            fmt::format("{}: an event cannot be read: {}", file, error.what()));
    }
    return json_of(trace);
}

}  // namespace tilesim::sim::page
