#include "sim/compare/trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "arch/base/config.hpp"
#include "arch/base/utf8.hpp"

namespace tilesim::sim::compare {

using arch::base::config::ConfigError;
using nlohmann::json;

namespace {

// The trace unit's timer as the parser prints it.
constexpr std::int64_t kWrap = std::int64_t{1} << 32;
constexpr double kMostStamp = 1e18;  // what is added to it by wraps still fits

class Reader {
    using Key = std::pair<std::int64_t, std::string>;  // pid, event

  public:
    void add(const json& event) {
        if (!event.is_object() || !event.contains("ph") || !event["ph"].is_string()) {
            ++malformed_;
            return;
        }
        const std::string phase = event["ph"];
        if (phase == "M") {
            name(event);
        } else if (phase == "B" || phase == "E") {
            edge(event, phase == "B");
        } else if (phase == "X") {
            ++complete_;
        }
    }

    // What has begun and has no end was still on as the recording ended, if that is all of it.
    TraceFile finish(bool cut) {
        const auto still_on =
            std::count_if(open_.begin(), open_.end(), [](const auto& each) { return each.second; });
        if (fractional_ > whole_) {
            throw ConfigError(
                "its times are no whole numbers, as microseconds are; what is compared are cycles");
        }
        TraceFile result;
        std::int64_t doubled = 0;
        if (cut) {
            unpaired_ += still_on;
        } else {
            note_still_on(result, still_on);
        }
        if (recordings_ > 1) {
            result.notes.push_back(fmt::format(
                "the file has {} recordings, each with times of its own: the first is compared, {} "
                "events of the others are left out",
                recordings_, further_events_));
        }
        result.device = device_;
        result.window_begin = window_begin_;
        for (auto& [key, intervals] : intervals_) {
            const auto& [pid, name] = key;
            for (Interval& each : intervals) {
                each.begin_is_cut = each.begin <= window_.begin;
                each.end_is_cut = each.end >= window_.end;
            }
            std::stable_sort(
                intervals.begin(), intervals.end(),
                [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
            const auto process = processes_.find(pid);
            const std::string unit =
                process == processes_.end() ? fmt::format("pid {}", pid) : process->second;
            doubled += result.lanes.try_emplace({unit, name}, std::move(intervals)).second ? 0 : 1;
        }
        add_kernels_between_markers(result);
        flaw(result, malformed_, "malformed events");
        flaw(result, fractional_, "events at no whole cycle: left out");
        flaw(result, complete_, "complete events (ph X): left out");
        flaw(result, doubled, "lanes of a second process of the same name: left out");
        flaw(result, unpaired_, "events without their begin or end");
        flaw(result, unsorted_, "events out of order");
        flaw(result, wraps_, "wraps of the timer, undone");
        return result;
    }

  private:
    static void flaw(TraceFile& result, std::int64_t count, const char* what) {
        if (count > 0) {
            result.flaws.push_back(fmt::format("{} {}", count, what));
        }
    }

    // Not a number, or empty, where the event has none of this key.
    static double number_of(const json& event, const char* key) {
        const auto found = event.find(key);
        return found != event.end() && found->is_number() ? found->get<double>() : std::nan("");
    }
    static std::string text_of(const json& event, const char* key) {
        const auto found = event.find(key);
        return found != event.end() && found->is_string() ? found->get<std::string>() : "";
    }
    static std::int64_t process_of(const json& event) {
        const auto found = event.find("pid");
        return found != event.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
    }

    void name(const json& event) {
        const std::string what = text_of(event, "name");
        const auto args = event.find("args");
        if (args == event.end() || !args->is_object()) {
            return;
        }
        if (what == "process_name") {
            processes_[process_of(event)] = text_of(*args, "name");
        } else if (what == "device") {
            device_ = text_of(*args, "name");
            if (text_of(*args, "time_unit") == "us") {
                throw ConfigError(
                    "its times are microseconds (--trace-time us); what is compared are cycles");
            }
            read_window(*args);
        }
    }

    // A simulation's trace of a window: what reaches beyond it is cut there.
    void read_window(const json& args) {
        const auto window = args.find("window");
        const bool two = window != args.end() && window->is_array() && window->size() == 2;
        if (two && (*window)[0].is_number_integer() && (*window)[1].is_number_integer()) {
            const auto begin = (*window)[0].get<std::int64_t>();
            window_begin_ = begin;
            // Nothing is before a run.
            window_ = {begin == 0 ? kNoWindow.begin : begin, (*window)[1].get<std::int64_t>()};
        }
    }

    void edge(const json& event, bool begins) {
        const double stamp = number_of(event, "ts");
        const auto pid_in = event.find("pid");
        if (!(std::abs(stamp) < kMostStamp) || text_of(event, "name").empty() ||
            (pid_in != event.end() && !pid_in->is_number_integer())) {
            ++malformed_;
            return;
        }
        if (stamp != std::floor(stamp)) {
            ++fractional_;
            return;
        }
        ++whole_;
        const std::int64_t pid = process_of(event);
        const Key key{pid, event["name"]};
        const auto raw = event["ts"].get<std::int64_t>();
        if (of_a_further_recording(key, raw, begins)) {
            further_events_ += begins ? 1 : 0;
            return;
        }
        const std::int64_t now = unwrapped(pid, raw);
        auto& open = open_[key];
        if (begins) {
            unpaired_ += open ? 1 : 0;
            open = now;
        } else if (!open || now < *open) {
            ++unpaired_;
            open.reset();
        } else {
            intervals_[{pid, event["name"]}].push_back({*open, now});
            open.reset();
        }
    }

    // Where a lane begins anew, back in the first half of its times, its process was recorded
    // again: whoever writes the lanes one behind the other begins each but once. What follows
    // belongs to that recording.
    bool of_a_further_recording(const Key& key, std::int64_t stamp, bool begins) {
        Clock& clock = clocks_[key.first];
        Times& times = times_[key];
        const std::int64_t time = stamp + clock.offset;
        const bool wraps = clock.last - time > kWrap / 2;
        if (begins && !wraps && times.recording == clock.recording && time < times.last &&
            time <= times.first + (times.last - times.first) / 2) {
            clock = {.recording = clock.recording + 1};
            recordings_ = std::max(recordings_, clock.recording + 1);
        }
        if (times.recording != clock.recording) {
            times = {clock.recording, time, time};
        }
        times.last = std::max(times.last, time);
        return clock.recording > 0;
    }

    std::int64_t unwrapped(std::int64_t pid, std::int64_t stamp) {
        Clock& clock = clocks_[pid];
        if (stamp + clock.offset < clock.last) {
            if (clock.last - (stamp + clock.offset) > kWrap / 2) {
                clock.offset += kWrap;
                ++wraps_;
            } else {
                ++unsorted_;
            }
        }
        clock.last = std::max(clock.last, stamp + clock.offset);
        return stamp + clock.offset;
    }

    struct Clock {
        std::int64_t last = INT64_MIN / 2;
        std::int64_t offset = 0;
        std::int64_t recording = 0;
    };
    // Of a lane, in the recording under way: the first, and the last so far.
    struct Times {
        std::int64_t recording = -1;
        std::int64_t first = 0, last = 0;
    };
    static constexpr Interval kNoWindow{INT64_MIN, INT64_MAX};
    Interval window_ = kNoWindow;
    std::optional<std::int64_t> window_begin_;
    std::map<std::int64_t, std::string> processes_;
    std::string device_;
    std::map<std::int64_t, Clock> clocks_;
    std::map<Key, Times> times_;
    std::int64_t recordings_ = 1, further_events_ = 0;
    std::map<Key, std::optional<std::int64_t>> open_;
    std::map<Key, std::vector<Interval>> intervals_;
    std::int64_t malformed_ = 0, unpaired_ = 0, unsorted_ = 0, wraps_ = 0;
    std::int64_t whole_ = 0, fractional_ = 0;  // times
    std::int64_t complete_ = 0;
};

// The whole events of an array that was cut off.
json salvaged(const std::string& text) {
    const std::size_t last = text.rfind("},");
    return last == text.npos ? json() : json::parse(text.substr(0, last + 1) + "]", nullptr, false);
}

// "hw.json:3:17", where it stops being JSON.
std::string place_of_flaw(const std::string& text, const std::string& file) {
    try {
        [[maybe_unused]] const json all = json::parse(text);
    } catch (const json::parse_error& flaw) {  // `byte` counts from 1, and is of what it has read
        return arch::base::place_of(file, text, std::max<std::size_t>(flaw.byte, 1) - 1);
    }
    return file;
}

}  // namespace

void note_still_on(TraceFile& trace, std::int64_t events) {
    if (events > 0) {
        trace.notes.push_back(
            fmt::format("{} events were still on as the recording ended: left out", events));
    }
}

namespace {

// Not where the marker's own end is not in the recording, and this is a later one's.
bool is_end_of(const Interval& end, std::vector<Interval>::const_iterator begin,
               std::vector<Interval>::const_iterator last) {
    const auto next = std::next(begin);
    const bool restarted = end.after_restart && !begin->after_restart;
    return !restarted && (next == last || end.begin <= next->begin);
}

}  // namespace

void add_kernels_between_markers(TraceFile& trace) {
    std::map<Lane, std::vector<Interval>> kernels;
    for (const auto& [lane, begins] : trace.lanes) {
        const auto ends = trace.lanes.find({lane.first, kKernelEnd});
        if (lane.second != kKernelBegin || ends == trace.lanes.end()) {
            continue;
        }
        auto end = ends->second.begin();
        for (auto begin = begins.begin(); begin != begins.end(); ++begin) {
            while (end != ends->second.end() && end->begin < begin->begin) {
                ++end;
            }
            if (end != ends->second.end() && is_end_of(*end, begin, begins.end())) {
                kernels[{lane.first, kKernel}].push_back({begin->begin, end->begin,
                                                          begin->begin_is_cut, end->begin_is_cut,
                                                          begin->after_restart});
            }
        }
    }
    for (auto& [lane, intervals] : kernels) {
        trace.lanes[lane] = std::move(intervals);
    }
}

TraceFile parse_trace(const std::string& text, const std::string& file) {
    json events = json::parse(text, nullptr, false);
    const bool cut = events.is_discarded();
    if (cut) {
        events = salvaged(text);
    }
    if (events.is_object() && events.contains("traceEvents")) {
        events = events["traceEvents"];
    }
    if (!events.is_array()) {
        throw ConfigError(
            fmt::format("{}: is no trace: {}", place_of_flaw(text, file),
                        cut ? "no JSON from here on" : "must be an array of trace events"));
    }
    Reader reader;
    for (const json& event : events) {
        reader.add(event);
    }
    TraceFile trace = reader.finish(cut);
    if (trace.lanes.empty()) {
        throw ConfigError(fmt::format("{}: is no trace: no begin and end of any event", file));
    }
    if (cut) {
        trace.flaws.push_back("the file is cut off");
    }
    return trace;
}

}  // namespace tilesim::sim::compare
