#include "sim/page/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "arch/base/config.hpp"

namespace tilesim::sim::page {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kMostSpans = 20'000;

using LaneKey = std::pair<std::int64_t, std::int64_t>;  // pid, tid

struct Span {
    std::size_t lane = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::size_t state = 0;
};

class TraceReader {
  public:
    void read(const Json& event) {
        const std::string phase = event.value("ph", "");
        const LaneKey key{event.value("pid", std::int64_t{0}), event.value("tid", std::int64_t{0})};
        if (phase == "M") {
            name(event, key);
        } else if (phase == "B") {
            const Json args = event.value("args", Json::object());
            open_[key] = {lane(key), event.at("ts").get<std::int64_t>(), 0,
                          state(args.value("state", event.value("name", "")))};
        } else if (phase == "E") {
            if (const auto begun = open_.find(key); begun != open_.end()) {
                begun->second.end = event.at("ts").get<std::int64_t>();
                spans_.push_back(begun->second);
                open_.erase(begun);
            }
        }
    }

    Json json() && {
        const std::size_t all = spans_.size();
        if (all > kMostSpans) {
            std::stable_sort(spans_.begin(), spans_.end(), [](const Span& a, const Span& b) {
                return a.end - a.begin > b.end - b.begin;
            });
            spans_.resize(kMostSpans);
        }
        std::int64_t end = 0;
        Json spans = Json::array();
        for (const Span& span : spans_) {
            end = std::max(end, span.end);
            spans.push_back({span.lane, span.begin, span.end, span.state});
        }
        return {{"lanes", lane_names()},
                {"states", states_},
                {"spans", std::move(spans)},
                {"end", end},
                {"left_out", all - spans_.size()}};
    }

  private:
    void name(const Json& event, const LaneKey& key) {
        const std::string given = event.value("args", Json::object()).value("name", "");
        if (event.value("name", "") == "process_name") {
            processes_[key.first] = given;
        } else if (event.value("name", "") == "thread_name") {
            threads_[key] = given;
        }
    }

    std::size_t lane(const LaneKey& key) {
        return lanes_.emplace(key, lanes_.size()).first->second;
    }

    std::size_t state(const std::string& name) {
        const auto found = std::find(states_.begin(), states_.end(), name);
        if (found == states_.end()) {
            states_.push_back(name);
            return states_.size() - 1;
        }
        return static_cast<std::size_t>(found - states_.begin());
    }

    std::vector<std::string> lane_names() const {
        std::vector<std::string> names(lanes_.size());
        for (const auto& [key, index] : lanes_) {
            const auto process = processes_.find(key.first);
            const auto thread = threads_.find(key);
            names[index] = fmt::format("{} {}", process == processes_.end() ? "" : process->second,
                                       thread == threads_.end() ? "" : thread->second);
        }
        return names;
    }

    std::map<std::int64_t, std::string> processes_;
    std::map<LaneKey, std::string> threads_;
    std::map<LaneKey, std::size_t> lanes_;
    std::vector<std::string> states_;
    std::map<LaneKey, Span> open_;
    std::vector<Span> spans_;
};

}  // namespace

Json timeline(const std::string& text, const std::string& file) {
    const Json events = Json::parse(text, nullptr, false);
    if (!events.is_array()) {
        throw arch::base::config::ConfigError(
            fmt::format("{}: is no trace of `tilesim run --trace`", file));
    }
    TraceReader reader;
    try {
        for (const Json& event : events) {
            if (event.contains("args") && event["args"].value("time_unit", "") == "us") {
                throw arch::base::config::ConfigError(fmt::format(
                    "{}: its times are microseconds (--trace-time us); a timeline is of cycles",
                    file));
            }
            reader.read(event);
        }
    } catch (const Json::exception& error) {
        throw arch::base::config::ConfigError(
            fmt::format("{}: an event cannot be read: {}", file, error.what()));
    }
    return std::move(reader).json();
}

}  // namespace tilesim::sim::page
