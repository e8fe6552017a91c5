#include "workloads/npu/array_attribution.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arch/base/units.hpp"
#include "workloads/attribution.hpp"

namespace tilesim::workloads::npu {

using arch::npu::PathPart;

namespace {

constexpr const char* kMultiply = "core kernel: multiply";
constexpr const char* kVector = "core kernel: vector";
constexpr const char* kStreams = "streams between memory tiles and cores";
constexpr const char* kShimStreams = "streams from the shims, a word a cycle";
constexpr const char* kStreamsToShims = "streams to the shims, a word a cycle";
constexpr const char* kOwnStreams = "cores' own streams";
constexpr const char* kReads = "shim reads waiting for DRAM and its fabric";
constexpr const char* kWrites = "shim writes waiting for DRAM and its fabric";
constexpr const char* kDescriptors = "shim descriptors not programmed in time";
constexpr const char* kDispatch = "dispatch";
constexpr const char* kFetches = "descriptor fetches";

const char* name_of(PathPart part) {
    switch (part) {
        case PathPart::Dispatch:
            return kDispatch;
        case PathPart::Writing:
            return kDescriptors;
        case PathPart::Copying:
            return "host copies of B";
        case PathPart::Fetching:
            return kFetches;
        case PathPart::Reading:
            return kReads;
        case PathPart::WritingMemory:
            return kWrites;
        case PathPart::ShimStreamIn:
            return kShimStreams;
        case PathPart::ShimStreamOut:
            return kStreamsToShims;
        case PathPart::Stream:
            return kStreams;
        case PathPart::CoreStream:
            return kOwnStreams;
        case PathPart::CTransfer:
            return "C transfer";
        case PathPart::Cascade:
            return "cascade";
        case PathPart::Locks:
            return "lock operations and kernel calls";
        case PathPart::Multiply:
            return kMultiply;
        case PathPart::Zero:
            return "core kernel: zero";
        case PathPart::Add:
            return "core kernel: add";
        case PathPart::Vector:
            return kVector;
        case PathPart::Fixed:
            return "core kernels of stated cost";
    }
    return "";
}

// Of an array that only moves data.
const char* name_without_cores(PathPart part) {
    switch (part) {
        case PathPart::Writing:
            return "command processor: writes";
        case PathPart::Reading:
        case PathPart::WritingMemory:
            return "shim channels waiting for DRAM and its fabric";
        case PathPart::ShimStreamIn:
        case PathPart::ShimStreamOut:
        case PathPart::Stream:
            return "streams, a word a cycle";
        default:
            return name_of(part);
    }
}

// What a reader would change is one thing for several parts.
bool is_memory(std::string_view cause) {
    return cause == kReads || cause == kWrites;
}
bool is_stream(std::string_view cause) {
    return cause == kStreams || cause == kShimStreams || cause == kStreamsToShims ||
           cause == kOwnStreams;
}
bool same_resource(std::string_view a, std::string_view b) {
    return a == b || (is_memory(a) && is_memory(b)) || (is_stream(a) && is_stream(b));
}

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

// Something that could be faster.
struct Resource {
    std::string cause;
    double longest = 0;  // of its parts, which it is named by
    double path = 0;     // cycles of the critical path
    // Before whose end the run cannot be over, whatever else is made faster.
    ArrayFindings::Need need{};
};

class Account {
  public:
    Account(const RunResult& result, const ArrayFindings& findings);

    std::vector<Saving> savings() const;
    double total() const { return total_; }

  private:
    Resource& of(const std::string& cause);
    void add_path(const std::string& cause, double cycles);
    void add_need(const std::string& cause, const ArrayFindings::Need& need);
    void add_needs(const RunResult& result, const ArrayFindings& findings, double scale);
    double end_beside(const Resource& resource, const Resource& other) const;
    const Resource* longest_beside(const Resource& resource) const;
    double left_by_others(const Resource& resource) const;
    double saved(const Resource& resource, double share) const;

    double total_ = 0;
    double dispatch_ = 0;
    std::vector<Resource> resources_;
};

Resource& Account::of(const std::string& cause) {
    const auto found =
        std::find_if(resources_.begin(), resources_.end(),
                     [&cause](const Resource& each) { return same_resource(each.cause, cause); });
    return found == resources_.end() ? resources_.emplace_back(Resource{.cause = cause}) : *found;
}

void Account::add_path(const std::string& cause, double cycles) {
    Resource& resource = of(cause);
    if (cycles > resource.longest) {
        resource.longest = cycles;
        resource.cause = cause;
    }
    resource.path += cycles;
}

void Account::add_need(const std::string& cause, const ArrayFindings::Need& need) {
    Resource& resource = of(cause);
    if (need.end() > resource.need.end()) {
        resource.need = need;
    }
}

// A sampled run stands for a longer one, whose launch is the same.
Account::Account(const RunResult& result, const ArrayFindings& findings) {
    const double simulated = std::accumulate(findings.path.begin(), findings.path.end(), 0.0);
    dispatch_ = findings.path[static_cast<std::size_t>(PathPart::Dispatch)];
    for (const auto& [name, states] : result.where) {
        total_ = name == "command_processor" ? total_of(states) : total_;
    }
    total_ = result.sampled ? total_ : simulated;
    const double scale = simulated > dispatch_ ? (total_ - dispatch_) / (simulated - dispatch_) : 1;
    const bool cores = has_class(result, "core");
    for (std::size_t i = 0; i < findings.path.size(); ++i) {
        const auto part = static_cast<PathPart>(i);
        add_path(cores ? name_of(part) : name_without_cores(part),
                 findings.path[i] * (part == PathPart::Dispatch ? 1 : scale));
    }
    if (cores) {
        add_needs(result, findings, scale);
    }
}

void Account::add_needs(const RunResult& result, const ArrayFindings& findings, double scale) {
    const double cycles_a_ns = result.time_ns > 0 ? total_ / result.time_ns : 0;
    const GemmBounds bounds = result.bounds.value_or(GemmBounds{});
    const auto from_first_task = [&findings](double busy) {
        return ArrayFindings::Need{findings.first_task, busy};
    };
    const auto scaled = [scale](const ArrayFindings::Need& need) {
        return ArrayFindings::Need{need.from, need.busy * scale};
    };
    add_need(kReads, scaled(findings.way));
    add_need(kReads, from_first_task(std::max(bounds.memory_ns * cycles_a_ns,
                                              needed_of_channels(result) * total_)));
    if (!result.sampled) {
        // Else it ends amid descriptors, whose waits are not told from their words before their
        // end.
        add_need(kStreams, findings.shim_in);
        add_need(kStreams, findings.shim_out);
    }
    add_need(kStreams, from_first_task(bounds.stream_ns * cycles_a_ns));
    add_need(kDescriptors, {dispatch_, state_of(result, "command_processor", "writing") +
                                           state_of(result, "command_processor", "syncing")});
    add_need(state_of(result, "core", "vector") > state_of(result, "core", "multiply") ? kVector
                                                                                       : kMultiply,
             from_first_task(bounds.compute_ns * cycles_a_ns));
}

// When another one's need ends that such a resource could not shorten. What the processor writes
// sooner begins sooner.
double Account::end_beside(const Resource& resource, const Resource& other) const {
    const double from = resource.cause == kDescriptors ? dispatch_ : other.need.from;
    return other.need.busy > 0 ? from + other.need.busy : 0;
}

// Which of the others needs longest; nullptr where none needs anything.
const Resource* Account::longest_beside(const Resource& resource) const {
    const Resource* longest = nullptr;
    for (const Resource& each : resources_) {
        const double end = &each == &resource ? 0 : end_beside(resource, each);
        longest = end > (longest == nullptr ? 0 : end_beside(resource, *longest)) ? &each : longest;
    }
    return longest;
}

// What the others leave for it to save.
double Account::left_by_others(const Resource& resource) const {
    const Resource* longest = longest_beside(resource);
    return longest == nullptr ? total_ : std::max(0.0, total_ - end_beside(resource, *longest));
}

// Of such a share of its path.
double Account::saved(const Resource& resource, double share) const {
    const double cycles = share * resource.path;
    return resource.cause == kDispatch ? cycles : std::min(cycles, left_by_others(resource));
}

std::vector<Saving> Account::savings() const {
    constexpr double kHalf = 0.5;
    std::vector<Saving> savings;
    for (const Resource& each : resources_) {
        Saving saving{each.cause, each.path, saved(each, kHalf), saved(each, 1)};
        const Resource* longest = saving.most < each.path ? longest_beside(each) : nullptr;
        saving.limit = longest == nullptr ? "" : longest->cause;
        savings.push_back(saving);
    }
    return savings;
}

}  // namespace

void name_array_bottlenecks(RunResult& result, const ArrayFindings& findings) {
    const Account account(result, findings);
    take_most_saving(result, account.savings(), account.total());
}

}  // namespace tilesim::workloads::npu
