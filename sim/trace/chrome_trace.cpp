#include "sim/trace/chrome_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <vector>

#include "arch/base/clock.hpp"
#include "sim/trace/counters.hpp"
#include "sim/trace/event_name.hpp"

namespace tilesim::sim::trace {

namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 16;  // handed on at a time

struct Thread {
    std::size_t tid = 0;
    std::string_view
        component;  // that was in this state; of several the one with the shortest name
};

struct Process {
    std::size_t pid = 0;
    std::map<std::string, Thread> events;  // by name
};

// One pair of component and state, as the file shows it. A run has few of them and many activities:
// what is the same in every line is made once.
struct Slot {
    bool known = false;
    Lane lane;               // its event is empty where it is not shown
    std::int64_t order = 0;  // of lines at one cycle: by pid, then tid
    std::string name;        // what stands before the time
    std::string begin, end;  // and after it
};

// Cycles of a clock, or microseconds with six digits behind the point: whole picoseconds.
class TimeScale {
  public:
    TimeScale(arch::base::Hertz clock, bool microseconds)
        : clock_(clock), microseconds_(microseconds) {}

    std::int64_t at(arch::base::Femtoseconds time) const {
        constexpr std::int64_t kFemtosecondsPerPicosecond = 1000;
        return microseconds_ ? time.count() / kFemtosecondsPerPicosecond
                             : clock_.cycle_at(time).count();
    }
    void append(std::string& text, std::int64_t ticks) const {
        constexpr std::int64_t kPicosecondsPerMicrosecond = 1'000'000;
        const fmt::format_int whole(microseconds_ ? ticks / kPicosecondsPerMicrosecond : ticks);
        text.append(whole.data(), whole.size());
        if (microseconds_) {
            text += fmt::format(".{:06}", ticks % kPicosecondsPerMicrosecond);
        }
    }

  private:
    arch::base::Clock clock_;
    bool microseconds_;
};

struct Event {
    std::int64_t ticks = 0;
    bool begins = false;
    std::uint32_t slot = 0;
};

class EventWriter {
  public:
    EventWriter(const ActivityLog& log, std::int64_t memory_rows)
        : log_(log), slots_(log.components().size() * log.names().size()) {
        for (const Activity& activity : log.activities()) {
            Slot& slot = slots_[index_of(activity)];
            if (!slot.known) {
                slot.known = true;
                const std::string& component = log.components()[activity.component];
                slot.lane = lane_of(component, log.names()[activity.name], memory_rows);
                if (!slot.lane.event.empty()) {
                    Thread& thread = processes_[slot.lane.process].events[slot.lane.event];
                    if (thread.component.empty() || component.size() < thread.component.size()) {
                        thread.component = component;
                    }
                }
            }
        }
        number_processes();
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            if (slots_[i].known && !slots_[i].lane.event.empty()) {
                format(slots_[i], log.names()[i % log.names().size()]);
            }
        }
    }

    const std::map<std::string, Process>& processes() const { return processes_; }

    // In the order of time, ends before begins.
    std::vector<Event> events(const TimeScale& scale) const {
        std::vector<Event> events;
        events.reserve(2 * log_.activities().size());
        for (const Activity& activity : log_.activities()) {
            const std::uint32_t index = index_of(activity);
            const std::int64_t begin = scale.at(activity.begin);
            const std::int64_t end = scale.at(activity.end);
            // Other clocks' activities may be shorter than a cycle.
            if (!slots_[index].lane.event.empty() && begin < end) {
                events.push_back({begin, true, index});
                events.push_back({end, false, index});
            }
        }
        std::stable_sort(events.begin(), events.end(), [this](const Event& a, const Event& b) {
            return std::tie(a.ticks, a.begins, slots_[a.slot].order) <
                   std::tie(b.ticks, b.begins, slots_[b.slot].order);
        });
        return events;
    }

    void append(std::string& text, const Event& event, const TimeScale& scale) const {
        const Slot& slot = slots_[event.slot];
        text.append(slot.name);
        scale.append(text, event.ticks);
        text.append(event.begins ? slot.begin : slot.end);
    }

    // Arrows between what is drawn of both components: from what the one was at when it released a
    // lock to what the other was at when it got it.
    std::vector<std::string> flow_lines(const TimeScale& scale) const {
        std::vector<std::vector<const Activity*>> drawn(log_.components().size());
        for (const Activity& activity : log_.activities()) {
            if (!slots_[index_of(activity)].lane.event.empty() &&
                scale.at(activity.begin) < scale.at(activity.end)) {
                drawn[activity.component].push_back(&activity);
            }
        }
        // The last activity that has begun by then; nullptr: none.
        const auto at = [&](std::uint32_t component, arch::base::Femtoseconds time) {
            const std::vector<const Activity*>& all = drawn[component];
            const auto after = std::upper_bound(
                all.begin(), all.end(), time,
                [](auto when, const Activity* each) { return when < each->begin; });
            return after == all.begin() ? nullptr : *std::prev(after);
        };
        std::vector<std::string> lines;
        std::size_t id = 0;
        for (const Wake& wake : log_.wakes()) {
            const Activity* const from = at(wake.by, wake.now);
            const Activity* const to = at(wake.whom, wake.when);
            if (from == nullptr || to == nullptr) {
                continue;
            }
            lines.push_back(flow_line("s", id, *from, wake.now, scale));
            lines.push_back(flow_line("f", id, *to, wake.when, scale));
            ++id;
        }
        return lines;
    }

  private:
    // `phase`: s, an arrow begins, or f, it ends, in this activity.
    std::string flow_line(const char* phase, std::size_t id, const Activity& activity,
                          arch::base::Femtoseconds time, const TimeScale& scale) const {
        const Lane& lane = slots_[index_of(activity)].lane;
        const Process& process = processes_.at(lane.process);
        std::string line = R"({"name":"lock","cat":"lock","ts":)";
        // Within the activity, whose last moment is the one before its end.
        scale.append(line, std::min(scale.at(time), scale.at(activity.end) - 1));
        return line + fmt::format(R"(,"ph":"{}","bp":"e","id":{},"pid":{},"tid":{}}})", phase, id,
                                  process.pid, process.events.at(lane.event).tid);
    }

    // pid and tid follow the names' order, so that equal runs give equal files.
    void number_processes() {
        std::size_t pid = 0;
        for (auto& [name, process] : processes_) {
            process.pid = pid++;
            std::size_t tid = 0;
            for (auto& [event, thread] : process.events) {
                thread.tid = tid++;
            }
        }
    }

    void format(Slot& slot, const std::string& state) const {
        const Process& process = processes_.at(slot.lane.process);
        const std::size_t tid = process.events.at(slot.lane.event).tid;
        constexpr std::int64_t kMostEvents = 1 << 20;  // of a process
        slot.order =
            static_cast<std::int64_t>(process.pid) * kMostEvents + static_cast<std::int64_t>(tid);
        slot.name = fmt::format(R"({{"name":"{}","ts":)", slot.lane.event);
        slot.begin =
            fmt::format(R"(,"ph":"B","pid":{},"tid":{},"cname":"{}","args":{{"state":"{}"}}}})",
                        process.pid, tid, colour_of(state), state);
        slot.end = fmt::format(R"(,"ph":"E","pid":{},"tid":{},"args":{{}}}})", process.pid, tid);
    }

    std::uint32_t index_of(const Activity& activity) const {
        return static_cast<std::uint32_t>(activity.component * log_.names().size() + activity.name);
    }

    const ActivityLog& log_;
    std::vector<Slot> slots_;
    std::map<std::string, Process> processes_;
};

// Counters have a process of their own behind all others.
std::vector<std::string> counter_lines(const ActivityLog& log, const TimeScale& scale,
                                       std::size_t pid) {
    constexpr arch::base::Femtoseconds kWindow{1'000'000'000};  // a microsecond
    const std::vector<Counter> counters = counters_of(log, kWindow);
    std::vector<std::string> lines;
    if (!counters.empty()) {
        lines.push_back(fmt::format(
            R"({{"name":"process_name","ph":"M","pid":{},"args":{{"name":"counters"}}}})", pid));
    }
    for (const Counter& counter : counters) {
        for (const Counter::Value& value : counter.values) {
            std::string line = fmt::format(R"({{"name":"{}","ts":)", counter.name);
            scale.append(line, scale.at(value.since));
            lines.push_back(line + fmt::format(R"(,"ph":"C","pid":{},"args":{{"value":{:g}}}}})",
                                               pid, value.value));
        }
    }
    return lines;
}

// The window that activities are cut at; empty where none is.
std::string window_text(const Window& window, const TimeScale& scale) {
    if (window.begin.count() == 0 && window.end.count() == INT64_MAX) {
        return "";
    }
    std::string text = R"(,"window":[)";
    scale.append(text, scale.at(window.begin));
    text += ',';
    scale.append(text, scale.at(window.end));
    return text + "]";
}

}  // namespace

void write_chrome_trace(const ActivityLog& log, arch::base::Hertz frequency,
                        std::int64_t memory_rows, const std::string& device, ChromeForm form,
                        const std::function<void(std::string_view)>& out) {
    const EventWriter writer(log, memory_rows);
    const TimeScale scale{frequency, form.microseconds};
    std::string text = "[";
    const char* separator = "\n";
    const auto next_line = [&]() -> std::string& {
        text.append(separator);
        separator = ",\n";
        return text;
    };
    for (const auto& [name, process] : writer.processes()) {
        next_line() +=
            fmt::format(R"({{"name":"process_name","ph":"M","pid":{},"args":{{"name":"{}"}}}})",
                        process.pid, name);
        for (const auto& [event, thread] : process.events) {
            next_line() += fmt::format(
                R"({{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":"{}","component":"{}"}}}})",
                process.pid, thread.tid, event, thread.component);
        }
    }
    next_line() += fmt::format(
        R"({{"name":"device","ph":"M","pid":0,"args":{{"name":{},"clock_hz":{}{}{}}}}})",
        nlohmann::json(device).dump(), frequency.count(),
        form.microseconds ? R"(,"time_unit":"us")" : "", window_text(log.window(), scale));
    if (log.truncated()) {
        next_line() +=
            R"({"name":"truncated","ph":"M","pid":0,"args":{"name":"the size limit was reached"}})";
    }
    if (form.counters) {
        for (const std::string& line : counter_lines(log, scale, writer.processes().size())) {
            next_line() += line;
        }
    }
    if (form.flows) {
        for (const std::string& line : writer.flow_lines(scale)) {
            next_line() += line;
        }
    }
    for (const Event& event : writer.events(scale)) {
        writer.append(next_line(), event, scale);
        if (text.size() >= kPieceBytes) {
            out(text);
            text.clear();
        }
    }
    out(text.append("\n]\n"));
}

std::string to_chrome_trace(const ActivityLog& log, arch::base::Hertz frequency,
                            std::int64_t memory_rows, const std::string& device, ChromeForm form) {
    std::string text;
    write_chrome_trace(log, frequency, memory_rows, device, form,
                       [&text](std::string_view piece) { text.append(piece); });
    return text;
}

}  // namespace tilesim::sim::trace
