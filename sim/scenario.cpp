#include "sim/scenario.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "workloads/catalogue/catalogue.hpp"
#include "workloads/npu/mlir/design_file.hpp"

namespace tilesim::sim {

using arch::base::config::ConfigError;
using arch::base::config::Document;
using arch::base::config::Node;
using workloads::Dataflow;
using workloads::ProblemKind;
using workloads::ProblemSource;
namespace catalogue = workloads::catalogue;

namespace {

constexpr std::string_view kDevicePrefix = "device.";

workloads::Device load_other_device(const std::string& name) {
    return catalogue::load_device(name, {});
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
        node.error("", fmt::format("must hold exactly one of {}", fmt::join(keys, ", ")));
    }
    if (given.empty()) {
        return {};
    }
    ProblemSource source{document, node, file, device, load_other_device};
    workloads::Problem problem = given.front()->read(source);
    node.done();
    return problem;
}

// A kind at the root of the file, or one below `workload`.
workloads::Problem read_problem(Document& document, Node& root, const std::string& file,
                                std::string& device) {
    for (const ProblemKind* kind : catalogue::problem_kinds()) {
        if (kind->at_root() && kind->found(root)) {
            ProblemSource source{document, root, file, device, load_other_device};
            return kind->read(source);
        }
    }
    return read_workload(document, root.child("workload", "what is computed"), file, device);
}

workloads::Mapping read_mapping(Node& root) {
    if (!root.has("mapping")) {
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
        node.error("", fmt::format("must hold exactly one of {}", fmt::join(names, ", ")));
    }
    workloads::Mapping mapping = first != nullptr ? first->read(node) : workloads::Mapping{};
    if (!several) {
        node.done();
    }
    return mapping;
}

void read_run(Node node, workloads::RunOptions& run) {
    node.optional("functional", run.functional, "move the bytes and check the product");
    auto seed = static_cast<std::int64_t>(run.seed);
    node.optional("seed", seed, {0, INT64_MAX}, "seed of random operands");
    run.seed = static_cast<std::uint64_t>(seed);
    node.optional("max_time", run.max_time, {1, INT64_MAX}, "simulated-time budget");
    node.optional("max_wall_time", run.max_wall_time, {1, INT64_MAX}, "host-time budget");
    node.done();
}

// An unknown name is an error at the key `device`.
void load_named_device(Node& root, const Document& document, const std::string& name,
                       const Overrides& overrides, workloads::Device& device) {
    try {
        device = catalogue::load_device(name, overrides);
    } catch (const ConfigError& error) {
        const std::string text = error.what();
        if (!text.starts_with("unknown device")) {
            throw;
        }
        root.error("device", text);
        document.finish();
    }
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

void check_case(Node& root, const workloads::Case& a_case) {
    const Dataflow* dataflow = catalogue::dataflow_of(a_case);
    if (dataflow == nullptr) {
        const auto names = fitting(a_case);
        if (names.empty()) {
            root.error("device", fmt::format("nothing runs a {} on '{}'{}",
                                             a_case.problem.kind().key(), a_case.device.name,
                                             a_case.problem.kind().hint()));
        } else {
            root.error("mapping",
                       fmt::format("on '{}' this workload runs as {}, not as {}",
                                   a_case.device.name, fmt::join(names, ", "),
                                   a_case.mapping.dataflow().name()));
        }
        return;
    }
    if (a_case.traffic && !dataflow->takes_traffic()) {
        root.error("traffic", "goes with a gemv on a device with processing in memory");
    }
    for (const workloads::Refusal& refusal : dataflow->refusals(a_case)) {
        root.error(refusal.key, refusal.reason);
    }
}

Scenario read_scenario(Document document, const std::string& file, const Overrides& overrides) {
    Scenario scenario;
    Overrides for_device;
    for (const auto& [key, value] : overrides) {
        scenario.overridden.push_back(key);
        if (key.starts_with(kDevicePrefix)) {
            for_device.emplace_back(key.substr(kDevicePrefix.size()), value);
        } else {
            document.override_value(key, value, "--set");
        }
    }
    scenario.document = std::make_shared<Document>(document);
    Node root = document.root();
    std::string device;
    if (root.has("design")) {
        root.optional("device", device, "device name or file; left out: the design's target");
    } else {
        root.required("device", device, "device name, or path of a device file");
    }
    scenario.problem = read_problem(document, root, file, device);
    scenario.mapping = read_mapping(root);
    if (root.has("traffic")) {
        scenario.traffic = arch::memory::traffic::read_stream_config(
            root.child("traffic", "ordinary requests to the memory beside a gemv in its banks"));
    }
    read_run(root.child("run", "how to run"), scenario.run);
    if (scenario.problem.empty()) {
        root.done();
        document.finish();
    }
    const bool binds = scenario.problem.kind().binds();
    if (!binds) {
        root.done();
        document.finish();
    }
    load_named_device(root, document, device, for_device, scenario.device);
    if (binds) {
        scenario.problem.kind().bind(scenario.problem, root, scenario.device);
        root.done();
        document.finish();
    }
    check_case(root, scenario);
    document.finish();
    return scenario;
}

}  // namespace

Scenario load_scenario(const std::string& file, const Overrides& overrides) {
    using namespace workloads::npu;
    if (mlir::is_design_file(file)) {
        return parse_scenario(mlir::scenario_of_design(file), file, overrides);
    }
    return read_scenario(Document::load(file), file, overrides);
}

Scenario parse_scenario(const std::string& text, const std::string& file,
                        const Overrides& overrides) {
    return read_scenario(Document::parse(text, file), file, overrides);
}

void describe_scenario(Node& root) {
    std::string device;
    root.required("device", device, "device name, or path of a device file");
    Document document = Document::describing();
    Node workload = root.child("workload", "what is computed");
    for (const ProblemKind* kind : catalogue::problem_kinds()) {
        Node& node = kind->at_root() ? root : workload;
        ProblemSource source{document, node, "", device, load_other_device};
        kind->read(source);
    }
    Node mapping = root.child("mapping", "how the workload runs on the device");
    for (const Dataflow* dataflow : catalogue::dataflows()) {
        if (!dataflow->name().empty()) {
            dataflow->read(mapping);
        }
    }
    arch::memory::traffic::read_stream_config(
        root.child("traffic", "ordinary requests to the memory beside a gemv in its banks"));
    workloads::RunOptions run;
    read_run(root.child("run", "how to run"), run);
}

}  // namespace tilesim::sim
