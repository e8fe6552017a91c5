#include "sim/scenario.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "arch/amx/amx_config.hpp"
#include "arch/base/quantity.hpp"
#include "arch/host/memory_loop.hpp"
#include "arch/pim/pim_config.hpp"
#include "workloads/catalogue/catalogue.hpp"
#include "workloads/memory/host_loop/host_loop.hpp"
#include "workloads/memory/streams/streams.hpp"
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
            root.error("device",
                       fmt::format("nothing runs a {} on '{}'{}", a_case.problem.kind().key(),
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
    for (const workloads::Refusal& refusal : dataflow->refusals(a_case)) {
        root.error(refusal.key, refusal.reason);
    }
}

constexpr std::string_view kAgentsPrefix = "agents.";
constexpr std::int64_t kForEver = -1;

// "agents.npu0.device.npu.columns" is of the device of npu0.
struct AgentOverrides {
    Overrides of(const std::string& agent) const {
        const std::string prefix = fmt::format("{}{}.{}", kAgentsPrefix, agent, kDevicePrefix);
        Overrides own;
        for (const auto& [key, value] : all) {
            if (key.starts_with(prefix)) {
                own.emplace_back(key.substr(prefix.size()), value);
            }
        }
        return own;
    }
    static bool holds(std::string_view key) {
        const std::size_t dot = key.find('.', kAgentsPrefix.size());
        return key.starts_with(kAgentsPrefix) && dot != std::string_view::npos &&
               key.substr(dot + 1).starts_with(kDevicePrefix);
    }
    Overrides all;
};

std::int64_t read_repeat(Node& node) {
    std::string repeat = "1";
    node.optional("repeat", repeat,
                  "runs one after the other: how many, or until_all_done: the others");
    const auto parsed = arch::base::config::parse_integer(repeat);
    const auto* count = std::get_if<std::int64_t>(&parsed);
    constexpr std::int64_t kMostRuns = 1'000'000;
    if (repeat == "until_all_done") {
        return kForEver;
    }
    if (count == nullptr || *count < 1 || *count > kMostRuns) {
        node.error("repeat",
                   fmt::format("must be 1..{} or until_all_done, got '{}'", kMostRuns, repeat));
        return 1;
    }
    return *count;
}

// What an agent's map says but for its device: the problem and how often. `device`: its name.
void read_agent_keys(Document& document, Node& node, const std::string& file, std::string& device,
                     AgentCase& agent) {
    node.optional("start", agent.start, {0, INT64_MAX}, "when it begins");
    const std::int64_t repeat = read_repeat(node);
    agent.until_all_done = repeat == kForEver;
    agent.repeat = std::max<std::int64_t>(repeat, 1);
    arch::base::Bytes address{-1};
    node.optional("address", address, {0, INT64_MAX},
                  "where its addresses begin in the memory; left out: in a range of its own");
    agent.address = address.count();
    if (node.has("host")) {
        const auto loop = arch::host::read_memory_loop(
            node.child("host", "a processor whose loops go over the memory"));
        agent.a_case.problem = {workloads::memory::host_loop::loop_kind(), loop};
        if (!node.describing()) {
            return;
        }
    }
    if (node.has("stream")) {
        const auto stream = arch::memory::traffic::read_stream_config(
            node.child("stream", "generated requests to the memory"));
        agent.a_case.problem = {workloads::memory::streams::stream_kind(), stream};
        if (!node.describing()) {
            return;
        }
    }
    node.optional("device", device, "device name, or path of a device file");
    agent.a_case.problem = read_problem(document, node, file, device);
    agent.a_case.mapping = read_mapping(node);
}

// Why an agent cannot be on this memory; empty: it can.
std::string clash(const workloads::Device& device, const workloads::Device& memory) {
    const bool computes = device.has<arch::pim::PimConfig>();
    const bool can_compute = memory.has<arch::pim::PimConfig>();
    if (computes && !can_compute) {
        return fmt::format("'{}' computes in its banks, which those of '{}' cannot", device.name,
                           memory.name);
    }
    if (device.has<arch::amx::AmxConfig>() && can_compute) {
        return fmt::format(
            "an AMX core knows nothing of the modes '{}' switches its banks to: its "
            "lines would be read from banks that compute",
            memory.name);
    }
    return "";
}

// In ranges of their own, whole rows of all banks and channels each.
void place_agents(const arch::memory::device::MemoryConfig& memory,
                  std::vector<AgentCase>& agents) {
    const std::int64_t stripe = memory.row.count() * memory.banks() * memory.channels;
    const auto count = static_cast<std::int64_t>(agents.size());
    const std::int64_t room =
        std::max<std::int64_t>(1, memory.capacity().count() / stripe / count) * stripe;
    for (std::int64_t i = 0; i < count; ++i) {
        AgentCase& agent = agents[static_cast<std::size_t>(i)];
        agent.room = room;
        agent.address = agent.address < 0 ? i * room : agent.address;
    }
}

void bind_agent(Document& document, Node& node, const std::string& device,
                const Overrides& overrides, const Scenario& scenario, AgentCase& agent) {
    workloads::Case& own = agent.a_case;
    own.run = scenario.run;
    if (own.problem.empty()) {
        return;
    }
    const bool on_memory = own.problem.find<arch::memory::traffic::StreamConfig>() != nullptr ||
                           own.problem.find<arch::host::MemoryLoopConfig>() != nullptr;
    if (device.empty() && !on_memory) {
        node.error("device", "is missing: what runs this workload");
        return;
    }
    if (device.empty()) {
        own.device.name = scenario.device.name;
    } else {
        load_named_device(node, document, device, overrides, own.device);
    }
    own.device.memory = scenario.device.memory;
    if (own.problem.kind().binds()) {
        own.problem.kind().bind(own.problem, node, own.device);
    }
    const std::string reason = device.empty() ? "" : clash(own.device, scenario.device);
    if (!reason.empty()) {
        node.error("device", reason);
        return;
    }
    check_case(node, own);
    if (agent.address >= own.device.memory.capacity().count()) {
        node.error("address", fmt::format("lies outside the memory's {} B",
                                          own.device.memory.capacity().count()));
    }
}

// The root's keys where there are agents instead of a device and its workload.
void read_agents(Document& document, Node& root, const std::string& file,
                 const Overrides& for_memory, const AgentOverrides& overrides, Scenario& scenario) {
    std::string memory;
    root.required("memory", memory, "the memory they share: device name, or path of a device file");
    read_run(root.child("run", "how to run"), scenario.run);
    Node map = root.child("agents", "who shares the memory, each by a name");
    const std::vector<std::string> names = map.keys();
    std::vector<Node> nodes;
    std::vector<std::string> devices(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
        nodes.push_back(map.child(names[i], "an agent"));
        scenario.agents.emplace_back().name = names[i];
        read_agent_keys(document, nodes[i], file, devices[i], scenario.agents[i]);
    }
    if (names.empty()) {
        root.error("agents", "must name at least one");
    }
    if (memory.empty()) {
        root.done();
        document.finish();
    }
    load_named_device(root, document, memory, for_memory, scenario.device);
    place_agents(scenario.device.memory, scenario.agents);
    std::size_t computing = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        bind_agent(document, nodes[i], devices[i], overrides.of(names[i]), scenario,
                   scenario.agents[i]);
        nodes[i].done();
        computing += scenario.agents[i].a_case.device.has<arch::pim::PimConfig>() ? 1 : 0;
    }
    if (computing > 1) {
        map.error("", "a memory's banks compute for one agent at a time");
    }
    const bool endless = std::all_of(scenario.agents.begin(), scenario.agents.end(),
                                     [](const AgentCase& agent) { return agent.until_all_done; });
    if (endless && !names.empty()) {
        map.error("", "repeat: until_all_done needs an agent that ends of itself");
    }
    map.done();
    root.done();
    document.finish();
}

// Files of another kind than scenarios, each told by a key of its own.
void refuse_other_kinds(const Node& root, const std::string& file) {
    if (root.has("device") || root.has("workload")) {
        return;
    }
    const auto refuse = [&file](std::string_view what) {
        throw ConfigError(fmt::format("{}:1:1: {}", file, what));
    };
    if (root.has("axes")) {
        refuse(fmt::format("is a sweep; `tilesim sweep {}` runs it", file));
    }
    if (root.has("kind")) {
        refuse(
            fmt::format("is a device; `tilesim describe {0}` lists what it holds, and a "
                        "scenario names it: `device: {0}`",
                        file));
    }
    if (root.has("layers")) {
        refuse(
            fmt::format("is a model; a scenario names it: `workload: {{model: {}, ...}}`", file));
    }
}

Scenario read_scenario(Document document, const std::string& file, const Overrides& overrides) {
    Scenario scenario;
    Overrides for_device;
    AgentOverrides for_agents;
    for (const auto& [key, value] : overrides) {
        scenario.overridden.push_back(key);
        if (key.starts_with(kDevicePrefix)) {
            for_device.emplace_back(key.substr(kDevicePrefix.size()), value);
        } else if (AgentOverrides::holds(key)) {
            for_agents.all.emplace_back(key, value);
        } else {
            document.override_value(key, value, "--set ");
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

bool sets_device(std::string_view key) {
    return key.starts_with(kDevicePrefix) || AgentOverrides::holds(key);
}

std::vector<NamedDevice> devices_of(const Scenario& scenario) {
    std::vector<NamedDevice> devices{{std::string{kDevicePrefix}, scenario.device}};
    for (const AgentCase& agent : scenario.agents) {
        devices.push_back({fmt::format("{}{}.{}", kAgentsPrefix, agent.name, kDevicePrefix),
                           agent.a_case.device});
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
    std::string memory;
    root.optional("memory", memory, "with agents: the memory they share");
    Node map = root.child("agents", "instead of a device and its workload: who shares a memory");
    for (const std::string& name : map.keys()) {
        Node node = map.child(name, "an agent");
        AgentCase agent;
        std::string device_of_agent;
        read_agent_keys(document, node, "", device_of_agent, agent);
    }
}

}  // namespace tilesim::sim
