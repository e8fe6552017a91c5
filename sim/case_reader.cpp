#include "sim/case_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "arch/base/quantity.hpp"
#include "sim/nearest_mapping.hpp"
#include "workloads/catalogue/catalogue.hpp"
#include "workloads/paths.hpp"

namespace tilesim::sim {

using arch::base::config::ConfigError;
using arch::base::config::Document;
using arch::base::config::Node;
using workloads::Dataflow;
using workloads::ProblemKind;
using workloads::ProblemSource;
namespace catalogue = workloads::catalogue;

namespace {

// Refusals of the mapping alone, none of which says what could be.
bool asks_for_another_mapping(const std::vector<workloads::Refusal>& refusals) {
    return !refusals.empty() &&
           std::all_of(refusals.begin(), refusals.end(), [](const workloads::Refusal& refusal) {
               return refusal.key == "mapping" &&
                      refusal.reason.find("nearest") == std::string::npos;
           });
}

// Exactly one kind below `workload`.
workloads::Problem read_workload(Document& document, Node node, const std::string& file,
                                 std::string& device) {
    std::vector<const ProblemKind*> given;
    std::vector<std::string_view> keys;
    for (const ProblemKind* kind : catalogue::problem_kinds()) {
        if (kind->at_root()) {
            continue;
        }
        const bool known = !keys.empty() && keys.back() == kind->key();
        if (!known) {
            keys.push_back(kind->key());
        }
        const bool taken = !given.empty() && given.back()->key() == kind->key();
        if (!taken && kind->found(node)) {
            given.push_back(kind);
        }
    }
    if (given.size() != 1) {
        node.not_exactly_one(keys);
    }
    if (given.empty()) {
        node.done();
        return {};
    }
    ProblemSource source{document, node, file, device, load_other_device};
    workloads::Problem problem = given.front()->read(source);
    node.done();
    return problem;
}

// Names of the dataflows that would run it.
std::vector<std::string_view> fitting(const workloads::Case& a_case) {
    std::vector<std::string_view> names;
    for (const Dataflow* dataflow : catalogue::dataflows()) {
        if (!dataflow->name().empty() && dataflow->serves(a_case.problem, a_case.device)) {
            names.push_back(dataflow->name());
        }
    }
    return names;
}

}  // namespace

workloads::Device load_other_device(const std::string& name) {
    return catalogue::load_device(name, {});
}

workloads::Problem read_problem(Document& document, Node& root, const std::string& file,
                                std::string& device) {
    for (const ProblemKind* kind : catalogue::problem_kinds()) {
        if (kind->at_root() && root.offers(kind->key()) && kind->found(root)) {
            ProblemSource source{document, root, file, device, load_other_device};
            return kind->read(source);
        }
    }
    return read_workload(document, root.child("workload", "what is computed"), file, device);
}

workloads::Mapping read_mapping(Node& root) {
    if (!root.offers("mapping")) {
        return {};
    }
    Node node = root.child("mapping", "how the workload runs on the device");
    std::vector<std::string_view> names;
    const Dataflow* first = nullptr;
    bool several = false;
    for (const Dataflow* dataflow : catalogue::dataflows()) {
        if (dataflow->name().empty()) {
            continue;
        }
        names.push_back(dataflow->name());
        if (dataflow->found(node)) {
            several = several || (first != nullptr && !first->holds(*dataflow));
            first = first == nullptr ? dataflow : first;
        }
    }
    if (first == nullptr || several) {
        node.not_exactly_one(names);
    }
    workloads::Mapping mapping = first != nullptr ? first->read(node) : workloads::Mapping{};
    if (!several) {
        node.done();
    }
    return mapping;
}

void read_run(Node node, workloads::RunOptions& run) {
    node.optional("functional", run.functional, "move the bytes and check the product");
    node.optional("sampled", run.sampled,
                  "simulate a few rounds of a run that repeats itself, and extrapolate");
    auto seed = static_cast<std::int64_t>(run.seed);
    node.optional("seed", seed, {0, INT64_MAX}, "seed of random operands and requests");
    run.seed = static_cast<std::uint64_t>(seed);
    node.optional("max_time", run.max_time, {1, INT64_MAX}, "simulated-time budget");
    node.optional("max_wall_time", run.max_wall_time, {1, INT64_MAX}, "host-time budget");
    node.done();
}

void load_named_device(Node& root, const Document& document, const std::string& name,
                       const Overrides& overrides, std::string_view prefix,
                       workloads::Device& device, std::string_view key) {
    try {
        device = catalogue::load_device(workloads::named_in(root.file(), name), overrides, prefix);
    } catch (const workloads::UnknownName& error) {
        root.error(key, error.what());
        document.finish();
    }
}

void check_range(const Document& document, const std::string& path,
                 const arch::memory::traffic::StreamConfig& stream,
                 const arch::memory::device::MemoryConfig& memory) {
    using arch::base::config::format_quantity;
    using arch::base::config::kBytesDimension;
    // The default is what a memory has of it.
    if (stream.range > memory.capacity() &&
        stream.range != arch::memory::traffic::StreamConfig{}.range) {
        throw ConfigError(document.located(
            fmt::format("{}.range: must be at most the memory's {}, got {}", path,
                        format_quantity(memory.capacity().count(), kBytesDimension),
                        format_quantity(stream.range.count(), kBytesDimension))));
    }
}

void check_case(Node& root, const workloads::Case& a_case, Advice advice) {
    const Dataflow* dataflow = catalogue::dataflow_of(a_case);
    if (dataflow == nullptr) {
        const auto names = fitting(a_case);
        workloads::Case without = a_case;
        without.mapping = {};
        if (names.empty() && catalogue::dataflow_of(without) != nullptr) {
            root.error("mapping",
                       fmt::format("{} on '{}' takes none, got {}", a_case.problem.kind().key(),
                                   a_case.device.name, a_case.mapping.dataflow().name()));
        } else if (names.empty()) {
            root.error("device",
                       fmt::format("nothing runs {} on '{}'{}", a_case.problem.kind().key(),
                                   a_case.device.name, a_case.problem.kind().hint()));
        } else {
            root.error("mapping", fmt::format("on '{}' this workload runs as {}, not as {}",
                                              a_case.device.name, fmt::join(names, ", "),
                                              a_case.mapping.dataflow().name()));
        }
        return;
    }
    if (a_case.traffic && !dataflow->takes_traffic()) {
        root.error("traffic", "goes with a gemv on a device with processing in memory");
    }
    std::vector<workloads::Refusal> refusals = dataflow->refusals(a_case);
    if (advice == Advice::NearestMapping && !a_case.mapping.empty() &&
        asks_for_another_mapping(refusals)) {
        const std::string nearest = nearest_mapping(*dataflow, a_case);
        refusals.back().reason += nearest.empty() ? "" : "; the nearest that can be: " + nearest;
    }
    for (const workloads::Refusal& refusal : refusals) {
        root.error(refusal.key, refusal.reason);
    }
}

}  // namespace tilesim::sim
