#include "workloads/npu/array_attribution.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arch/base/units.hpp"
#include "workloads/attribution.hpp"

namespace tilesim::workloads::npu {

using arch::base::stats::Group;
using arch::base::stats::StateAccount;

namespace {

// How the shims' readers, or writers, spend their time. Idle: with no transfer, the dispatch not
// counted.
struct Lane {
    double streaming = 0, memory = 0, stream = 0, idle = 0;

    // Cycles in which a reader had nothing to fetch or nowhere to put it.
    double slack() const { return idle + stream; }
    bool hardly_pauses() const { return 10 * (memory + stream + idle) < streaming; }
    // Memory is what it waits for; else words come and go as fast as the stream moves them.
    bool starves() const { return 10 * memory > streaming; }
};

struct Times {
    const RunResult& result;
    const ShimPace& pace;
};

using States = std::vector<std::pair<std::string, double>>;

double of_state(const States& states, std::string_view state) {
    const auto found = std::find_if(states.begin(), states.end(),
                                    [&](const auto& each) { return each.first == state; });
    return found == states.end() ? 0 : found->second;
}

double total_of(const States& states) {
    return std::accumulate(states.begin(), states.end(), 0.0,
                           [](double sum, const auto& each) { return sum + each.second; });
}

// A class by the channel that sets its pace, else by the mean of its channels.
std::vector<Lane> lanes_of(const Times& times, std::string_view prefix) {
    const double dispatch = state_of(times.result, "command_processor", "dispatch");
    std::vector<Lane> lanes;
    for (const auto& [name, mean] : times.result.where) {
        if (!name.starts_with(prefix)) {
            continue;
        }
        const auto pace =
            std::find_if(times.pace.begin(), times.pace.end(),
                         [&, &lane = name](const auto& each) { return each.first == lane; });
        const bool paced = pace != times.pace.end();
        const double cycles = paced ? total_of(mean) : 1;
        const States& states = paced ? pace->second : mean;
        const auto state = [&](const char* of) { return of_state(states, of) * cycles; };
        lanes.push_back({state("streaming"), state("waiting_for_memory"),
                         state("waiting_for_stream"), std::max(0.0, state("idle") - dispatch)});
    }
    return lanes;
}

// The one that is idle least sets the pace: others may have moved all they had to, as a vector.
Lane busiest_lane(const Times& times, std::string_view prefix) {
    const std::vector<Lane> lanes = lanes_of(times, prefix);
    const auto least = std::min_element(
        lanes.begin(), lanes.end(), [](const Lane& a, const Lane& b) { return a.idle < b.idle; });
    return least == lanes.end() ? Lane{} : *least;
}

// The command processor behind the dispatch.
struct Processor {
    double dispatch = 0, writes = 0, tokens = 0, others = 0;

    double pauses() const { return tokens + others; }
    bool hardly_pauses() const { return 10 * pauses() < writes; }
};

Processor processor_of(const RunResult& result) {
    const auto state = [&](const char* of) { return state_of(result, "command_processor", of); };
    return {state("dispatch"), state("writing") + state("syncing"), state("waiting_for_token"),
            state("waiting_for_lock") + state("copying") + state("done")};
}

constexpr const char* kMultiply = "core kernel: multiply";
constexpr const char* kVector = "core kernel: vector";
constexpr const char* kStreams = "streams between memory tiles and cores";
constexpr const char* kShimStreams = "streams from the shims, a word a cycle";
constexpr const char* kStreamsToShims = "streams to the shims, a word a cycle";
constexpr const char* kOwnStreams = "cores' own streams";
constexpr const char* kReads = "shim reads waiting for DRAM and its fabric";
constexpr const char* kWrites = "shim writes waiting for DRAM and its fabric";
constexpr const char* kDescriptors = "shim descriptors not programmed in time";
constexpr const char* kEachOther = "cores waiting for each other";

// Who keeps readers from the words they have room for: a processor that writes their descriptors
// late, or one that waits for results before it may. Those are late by what reads, kernels and
// writes take; kernels do not starve anybody.
const char* cause_of_idle(const Processor& processor, const Lane& reader, const Lane& writer) {
    return processor.writes >= processor.tokens || reader.memory + writer.memory == 0 ? kDescriptors
           : writer.memory > reader.memory                                            ? kWrites
                                                                                      : kReads;
}

// A reader that has nowhere to put its words while cores starve: they wait for the other operand,
// which is late in the streams, or for its descriptors, or out of memory.
const char* cause_of_blocked(const Times& times, const Processor& processor,
                             const std::vector<Lane>& readers) {
    double inner = busiest_lane(times, "shim_mm2s").streaming;  // goes on to them
    for (const auto& [name, states] : times.result.where) {
        if (name.starts_with("memory_tile_mm2s")) {
            inner = std::max(inner, of_state(states, "streaming"));
        }
    }
    double memory = 0;
    for (const Lane& reader : readers) {
        memory = std::max(memory, reader.memory > reader.stream ? reader.memory : 0.0);
    }
    return std::max(processor.writes, memory) <= inner ? kStreams
           : processor.writes >= memory                ? kDescriptors
                                                       : kReads;
}

// Cores that wait for input: as long as the dispatch did not keep them, and, where whoever feeds
// them hardly ever pauses or is waited for while it has no slack, as long as they compute, for
// faster kernels would wait longer.
Cause cause_of_starving(const Times& times, double starved, double kernels) {
    const Processor processor = processor_of(times.result);
    const std::vector<Lane> readers = lanes_of(times, "shim_mm2s");
    if (readers.empty()) {  // nothing comes from DRAM
        return {starved, kEachOther};
    }
    const Lane reader = busiest_lane(times, "shim_mm2s");
    if (processor.hardly_pauses() && 2 * processor.pauses() < starved) {
        return {starved + kernels, kDescriptors};
    }
    const bool from_memory = reader.memory >= reader.stream && reader.memory >= reader.idle;
    const bool idle = reader.idle > reader.stream && reader.idle > reader.memory;
    const bool reads_bind = (from_memory || reader.hardly_pauses()) && 2 * reader.slack() < starved;
    const Lane writer = busiest_lane(times, "shim_s2mm");
    return {starved + (reads_bind ? kernels : 0.0),
            reader.hardly_pauses() ? kShimStreams
            : from_memory          ? kReads
            : idle                 ? cause_of_idle(processor, reader, writer)
                                   : cause_of_blocked(times, processor, readers)};
}

// Cores that wait for room for their results: whom the shims' writers wait for.
const char* cause_of_full(const Times& times) {
    const Lane writer = busiest_lane(times, "shim_s2mm");
    return !writer.hardly_pauses() && writer.memory > writer.slack() ? kWrites : "C drain";
}

// An array's time as its cores see it. The dispatch passes while they wait for the host or for
// their first input; waiting for input is split by whom the shim's reads wait for.
std::vector<Cause> causes_of_cores(const Times& times) {
    const RunResult& result = times.result;
    const auto core = [&](const char* state) { return state_of(result, "core", state); };
    const double dispatch = state_of(result, "command_processor", "dispatch");
    const double host = core("waiting_for_host");
    const double starved = core("waiting_for_input") - std::max(0.0, dispatch - host);
    const double kernels = core("multiply") + core("vector");
    return {{core("multiply"), kMultiply},
            {core("vector"), kVector},
            cause_of_starving(times, starved, kernels),
            {core("waiting_for_output"), cause_of_full(times)},
            {core("zero"), "core kernel: zero"},
            {core("add"), "core kernel: add"},
            {core("fixed_kernel"), "core kernels of stated cost"},
            {core("lock_operation") + core("call"), "lock operations and kernel calls"},
            {dispatch, "dispatch"},
            {host - dispatch, result.mapping.contains("gotoblas")
                                  ? "host copies of B"
                                  : "parameters and locks not written in time"},
            {core("c_load") + core("c_store"), "C transfer"},
            {core("stream") + core("waiting_for_stream"), kOwnStreams},
            {core("cascade") + core("waiting_for_cascade"), "cascade"},
            {core("waiting_for_lock"), "locks between cores"}};
}

// What a run can get no shorter than whatever else is made faster, in cycles of the cores.
struct Needs {
    double total = 0;  // of the run
    std::vector<Cause> of;
};

bool is_memory(std::string_view cause) {
    return cause == kReads || cause == kWrites;
}

// Whether making one of them faster makes the other so.
bool same_resource(std::string_view a, std::string_view b) {
    return a == b || (is_memory(a) && is_memory(b));
}

// The share of their time that channels need: all they do not lack a request for, where they hardly
// do. Others would have had time for more, whatever turns and changes of row they took.
double needed_of_channels(const RunResult& result) {
    constexpr double kHardlyIdle = 0.05;
    double idle = 0;
    double all = 0;
    for (const auto& [name, states] : result.where) {
        if (name == "dram_channel") {
            idle += of_state(states, "idle");
            all += total_of(states);
        }
    }
    return all > 0 && idle <= kHardlyIdle * all ? 1 - idle / all : 0;
}

// A sampled run ends amid descriptors, whose waits are not told from their words before their end.
double longest_stream(const Times& times, std::string_view prefix) {
    double longest = 0;
    if (times.result.sampled) {
        return longest;
    }
    for (const Lane& lane : lanes_of(times, prefix)) {
        longest = std::max(longest, lane.streaming);
    }
    return longest;
}

Cause need_of_streams(const Times& times, double bound) {
    const double in = longest_stream(times, "shim_mm2s");
    const double out = longest_stream(times, "shim_s2mm");
    const bool shims = 10 * std::max(in, out) >= 9 * bound;
    return {std::max({in, out, bound}), shims ? (in >= out ? kShimStreams : kStreamsToShims)
                                        : times.result.mapping.contains("gotoblas") ? kOwnStreams
                                                                                    : kStreams};
}

Needs needs_of(const Times& times) {
    const RunResult& result = times.result;
    Needs needs;
    for (const auto& [name, states] : result.where) {
        needs.total += name == "core" ? total_of(states) : 0;
    }
    const double cycles_a_ns = result.time_ns > 0 ? needs.total / result.time_ns : 0;
    const GemmBounds bounds = result.bounds.value_or(GemmBounds{});
    const Lane reader = busiest_lane(times, "shim_mm2s");
    const Lane writer = busiest_lane(times, "shim_s2mm");
    const Cause memory{
        std::max(bounds.memory_ns * cycles_a_ns, needed_of_channels(result) * needs.total),
        writer.memory > reader.memory ? kWrites : kReads};
    // Where the way to memory is as wide as the streams, who is waited for tells.
    needs.of = {memory, need_of_streams(times, bounds.stream_ns * cycles_a_ns)};
    if (!reader.starves() && !writer.starves()) {
        std::swap(needs.of[0], needs.of[1]);
    }
    needs.of.emplace_back(processor_of(result).writes, kDescriptors);
    needs.of.emplace_back(bounds.compute_ns * cycles_a_ns,
                          state_of(result, "core", "vector") > state_of(result, "core", "multiply")
                              ? kVector
                              : kMultiply);
    return needs;
}

// A cause lasts as long as what it is about needs at least: cores may be as busy as they are and
// yet end no sooner were they faster.
void weigh(const Cause& need, std::vector<Cause>& causes) {
    std::erase_if(causes, [&](const Cause& cause) {
        return same_resource(cause.second, need.second) && cause.first < need.first;
    });
    if (std::none_of(causes.begin(), causes.end(), [&](const Cause& cause) {
            return same_resource(cause.second, need.second);
        })) {
        causes.push_back(need);
    }
}

// What making the bottleneck faster, and nothing else, saves at most, in percent: the launch and
// the longest of the other needs remain.
std::optional<double> most_saved(const RunResult& result, const Needs& needs) {
    double others = 0;
    bool overlaps = false;
    for (const Cause& need : needs.of) {
        const bool same = same_resource(need.second, result.bottleneck);
        overlaps = overlaps || same;
        others = std::max(others, same ? 0.0 : need.first);
    }
    if (!overlaps || needs.total <= 0) {
        return std::nullopt;
    }
    const double dispatch = state_of(result, "command_processor", "dispatch");
    return arch::base::kPercent * std::max(0.0, needs.total - dispatch - others) / needs.total;
}

// An array's that only moves data.
std::vector<Cause> causes_of_shims(const RunResult& result) {
    const auto shims = [&](const char* state) {
        double most = 0;
        for (const auto& [name, states] : result.where) {
            if (name.starts_with("shim_")) {
                most = std::max(most, state_of(result, name, state));
            }
        }
        return most;
    };
    const auto processor = [&](const char* state) {
        return state_of(result, "command_processor", state);
    };
    return {{processor("dispatch"), "dispatch"},
            {processor("writing") + processor("syncing"), "command processor: writes"},
            {shims("waiting_for_memory"), "shim channels waiting for DRAM and its fabric"},
            {shims("streaming"), "streams, a word a cycle"},
            {shims("fetching"), "descriptor fetches"}};
}

// The account that was idle or waited for the stream least, by class.
void add_pace(const Group& group, std::map<std::string, const StateAccount*>& least) {
    const auto slack = [](const StateAccount& account) {
        std::int64_t cycles = 0;
        for (std::size_t i = 0; i < account.states().size(); ++i) {
            const std::string_view state = account.states()[i].name;
            cycles += state == "idle" || state == "waiting_for_stream" ? account.spent(i) : 0;
        }
        return cycles;
    };
    if (group.component_class().starts_with("shim_")) {
        for (const StateAccount* account : group.accounts()) {
            const StateAccount*& kept = least[group.component_class()];
            kept = kept == nullptr || slack(*account) < slack(*kept) ? account : kept;
        }
    }
    for (const Group* child : group.children()) {
        add_pace(*child, least);
    }
}

}  // namespace

ShimPace shim_pace(const Group& root) {
    std::map<std::string, const StateAccount*> least;
    add_pace(root, least);
    ShimPace pace;
    for (const auto& [name, account] : least) {
        States shares;
        for (std::size_t i = 0; i < account->states().size() && account->total() > 0; ++i) {
            shares.emplace_back(
                account->states()[i].name,
                static_cast<double>(account->spent(i)) / static_cast<double>(account->total()));
        }
        pace.emplace_back(name, std::move(shares));
    }
    return pace;
}

void name_array_bottlenecks(RunResult& result, const ShimPace& pace) {
    if (!has_class(result, "core")) {
        take_longest(result, causes_of_shims(result));
        return;
    }
    const Times times{result, pace};
    const Needs needs = needs_of(times);
    std::vector<Cause> causes = causes_of_cores(times);
    for (const Cause& need : needs.of) {
        weigh(need, causes);
    }
    take_longest(result, std::move(causes));
    result.most_saved_percent = most_saved(result, needs);
}

}  // namespace tilesim::workloads::npu
