#include "sim/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/agents_reader.hpp"
#include "sim/case_reader.hpp"
#include "workloads/catalogue/catalogue.hpp"
#include "workloads/npu/mlir/design/design_file.hpp"
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

// Files of another kind than scenarios, each told by a key of its own.
void refuse_other_kinds(const Node& root, const std::string& file) {
    if (root.has("device") || root.has("workload")) {
        return;
    }
    refuse_sweeps_and_models(root, file);
    if (root.has("kind")) {
        throw ConfigError(
            fmt::format("{0}:1:1: is a device; `tilesim describe {0}` lists what it holds, and a "
                        "scenario names it: `device: {0}`",
                        file));
    }
}

// A key as `describe DEVICE` prints it, which a scenario has below `device`.
void refuse_key_of_a_device(const Node& root, const std::string& key) {
    const std::string section = key.substr(0, key.find('.'));
    const std::vector<std::string> others{"workload", "mapping", "run", "traffic"};
    if (section == key || root.has(section) ||
        std::find(others.begin(), others.end(), section) != others.end()) {
        return;
    }
    for (const workloads::Machine* machine : catalogue::machines()) {
        Document device = Document::describing();
        Node described = device.root();
        catalogue::describe_device(described, *machine);
        for (const auto& known : device.descriptions()) {
            if (known.path == key) {
                throw ConfigError(fmt::format("{}{}: unknown key; did you mean '{}{}'?",
                                              workloads::kSetOrigin, key, kDevicePrefix, key));
            }
        }
    }
}

Scenario read_scenario(Document document, const std::string& file, const Overrides& overrides,
                       Advice advice) {
    Scenario scenario;
    scenario.advice = advice;
    Overrides for_device;
    AgentOverrides for_agents;
    check_agents_of(overrides, document, file);
    for (const auto& [key, value] : overrides) {
        scenario.overridden.push_back(key);
        if (key.starts_with(kDevicePrefix)) {
            for_device.emplace_back(key.substr(kDevicePrefix.size()), value);
        } else if (AgentOverrides::holds(key)) {
            for_agents.all.emplace_back(key, value);
        } else {
            if (key == "device") {
                workloads::require_one_meaning(file, "--set device", value);
            }
            refuse_key_of_a_device(document.root(), key);
            document.override_value(key, value, workloads::kSetOrigin);
        }
    }
    scenario.document = std::make_shared<Document>(document);
    Node root = document.root();
    refuse_other_kinds(root, file);
    if (root.has("agents")) {
        read_agents(document, root, file, for_device, for_agents, scenario);
        return scenario;
    }
    std::string device;
    if (root.has("design")) {
        root.optional("device", device, "device name or file; left out: the design's target");
    } else {
        root.required("device", device, "device name, or path of a device file");
    }
    scenario.problem = read_problem(document, root, file, device);
    scenario.mapping = read_mapping(root);
    if (root.offers("traffic")) {
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
    load_named_device(root, document, device, for_device, kDevicePrefix, scenario.device);
    if (binds) {
        scenario.problem.kind().bind(scenario.problem, root, scenario.device);
        root.done();
        document.finish();
    }
    check_case(root, scenario, advice);
    document.finish();
    if (const auto* stream = scenario.problem.find<arch::memory::traffic::StreamConfig>()) {
        check_range(document, "workload.memory_stream", *stream, scenario.device.memory);
    }
    if (scenario.traffic) {
        check_range(document, "traffic", *scenario.traffic, scenario.device.memory);
    }
    return scenario;
}

}  // namespace

void refuse_sweeps_and_models(const Node& root, const std::string& file) {
    if (root.has("axes")) {
        throw ConfigError(fmt::format("{0}:1:1: is a sweep; `tilesim sweep {0}` runs it", file));
    }
    if (root.has("layers")) {
        throw ConfigError(fmt::format(
            "{0}:1:1: is a model; a scenario names it: `workload: {{model: {0}, ...}}`", file));
    }
    for (const char* key : {"kernels", "default_kernel", "default_core", "inline"}) {
        if (root.has(key)) {
            throw ConfigError(fmt::format(
                "{0}:1:1: holds kernel costs; `tilesim run DESIGN.mlir --kernels {0}` takes them",
                file));
        }
    }
}

Scenario load_scenario(const std::string& file, const Overrides& overrides, Advice advice) {
    using namespace workloads::npu;
    if (mlir::design::is_design_file(file)) {
        return parse_scenario(mlir::design::scenario_of_design(file), file, overrides, advice);
    }
    return read_scenario(Document::load(file), file, overrides, advice);
}

Scenario parse_scenario(const std::string& text, const std::string& file,
                        const Overrides& overrides, Advice advice) {
    return read_scenario(Document::parse(text, file), file, overrides, advice);
}

bool sets_device(std::string_view key) {
    return key.starts_with(kDevicePrefix) || AgentOverrides::holds(key);
}

std::vector<NamedDevice> devices_of(const Scenario& scenario) {
    std::vector<NamedDevice> devices{{std::string{kDevicePrefix}, scenario.device}};
    for (const AgentCase& agent : scenario.agents) {
        devices.push_back({AgentOverrides::prefix(agent.name), agent.a_case.device});
    }
    return devices;
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
    describe_agents(document, root);
}

}  // namespace tilesim::sim
