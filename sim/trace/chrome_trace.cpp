#include "sim/trace/chrome_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "arch/base/clock.hpp"
#include "sim/trace/event_name.hpp"

namespace tilesim::sim::trace {

namespace {

struct Event {
    std::int64_t cycle = 0;
    bool begins = false;
    std::size_t pid = 0;
    std::size_t tid = 0;
    const std::string* name = nullptr;   // of the event
    const std::string* state = nullptr;  // ours
};

struct Process {
    std::size_t pid = 0;
    std::map<std::string, std::size_t> events;  // name and tid
};

// pid and tid follow the names' order, so that equal runs give equal files.
std::map<std::string, Process> processes_of(const ActivityLog& log) {
    std::map<std::string, Process> processes;
    for (const Activity& activity : log.activities()) {
        const Lane lane = lane_of(log.components()[activity.component], log.names()[activity.name]);
        if (!lane.event.empty()) {
            processes[lane.process].events[lane.event] = 0;
        }
    }
    std::size_t pid = 0;
    for (auto& [name, process] : processes) {
        process.pid = pid++;
        std::size_t tid = 0;
        for (auto& [event, slot] : process.events) {
            slot = tid++;
        }
    }
    return processes;
}

std::vector<Event> events_of(const ActivityLog& log, const arch::base::Clock& clock,
                             const std::map<std::string, Process>& processes) {
    // The same few pairs of component and state come again and again.
    struct Slot {
        bool known = false;
        bool shown = false;
        Event event;
    };
    std::vector<Slot> slots(log.components().size() * log.names().size());
    std::vector<Event> events;
    for (const Activity& activity : log.activities()) {
        Slot& slot = slots[activity.component * log.names().size() + activity.name];
        if (!slot.known) {
            slot.known = true;
            const std::string& state = log.names()[activity.name];
            const Lane lane = lane_of(log.components()[activity.component], state);
            slot.shown = !lane.event.empty();
            if (slot.shown) {
                const Process& process = processes.at(lane.process);
                const auto event = process.events.find(lane.event);
                slot.event = {0, false, process.pid, event->second, &event->first, &state};
            }
        }
        const std::int64_t begin = clock.cycle_at(activity.begin).count();
        const std::int64_t end = clock.cycle_at(activity.end).count();
        if (slot.shown && begin < end) {  // other clocks' activities may be shorter than a cycle
            Event event = slot.event;
            event.begins = true;
            event.cycle = begin;
            events.push_back(event);
            event.begins = false;
            event.cycle = end;
            events.push_back(event);
        }
    }
    std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
        return std::tuple{a.cycle, a.begins, a.pid, a.tid} <
               std::tuple{b.cycle, b.begins, b.pid, b.tid};
    });
    return events;
}

}  // namespace

std::string to_chrome_trace(const ActivityLog& log, arch::base::Hertz frequency) {
    const std::map<std::string, Process> processes = processes_of(log);
    std::string text = "[";
    const auto add = [&text](const std::string& line) {
        text.append(text.size() > 1 ? ",\n" : "\n").append(line);
    };
    for (const auto& [name, process] : processes) {
        add(fmt::format(R"({{"name":"process_name","ph":"M","pid":{},"args":{{"name":"{}"}}}})",
                        process.pid, name));
        for (const auto& [event, tid] : process.events) {
            add(fmt::format(
                R"({{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":"{}"}}}})",
                process.pid, tid, event));
        }
    }
    if (log.truncated()) {
        add(R"({"name":"truncated","ph":"M","pid":0,"args":{"name":"the size limit was reached"}})");
    }
    for (const Event& event : events_of(log, arch::base::Clock{frequency}, processes)) {
        if (event.begins) {
            add(fmt::format(
                R"({{"name":"{}","ts":{},"ph":"B","pid":{},"tid":{},"cname":"{}","args":{{"state":"{}"}}}})",
                *event.name, event.cycle, event.pid, event.tid, colour_of(*event.state),
                *event.state));
        } else {
            add(fmt::format(R"({{"name":"{}","ts":{},"ph":"E","pid":{},"tid":{},"args":{{}}}})",
                            *event.name, event.cycle, event.pid, event.tid));
        }
    }
    return text + "\n]\n";
}

}  // namespace tilesim::sim::trace
