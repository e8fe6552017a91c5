#include "sim/agents_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <variant>
#include <vector>

#include "arch/amx/amx_config.hpp"
#include "arch/base/quantity.hpp"
#include "arch/host/memory_loop.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/pim/pim_config.hpp"
#include "sim/case_reader.hpp"
#include "workloads/memory/host_loop/host_loop.hpp"
#include "workloads/memory/streams/streams.hpp"

namespace tilesim::sim {

using arch::base::config::ConfigError;
using arch::base::config::Document;
using arch::base::config::Node;

namespace {

constexpr std::int64_t kForEver = -1;
constexpr const char* kMemoryName = "memory";

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

constexpr std::int64_t kOwnRange = -1;

std::int64_t read_address(Node& node) {
    std::string address = "own_range";
    node.optional("address", address,
                  "where its addresses begin in the memory: bytes with their unit, or own_range");
    if (address == "own_range") {
        return kOwnRange;
    }
    const auto parsed =
        arch::base::config::parse_quantity(address, arch::base::config::kBytesDimension);
    const auto* bytes = std::get_if<std::int64_t>(&parsed);
    if (bytes == nullptr || *bytes < 0) {
        node.error("address",
                   fmt::format("must be bytes (as in '1 GiB') or own_range, got '{}'{}", address,
                               bytes == nullptr ? ": " + std::get<std::string>(parsed) : ""));
        return kOwnRange;
    }
    return *bytes;
}

// A name is part of key paths, and of the names of what belongs to the agent.
void check_name(Node& map, Node& node, const std::string& name) {
    const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '-';
    });
    if (map.describing()) {
        return;
    }
    if (!plain) {
        node.error("", "an agent's name has letters, digits, '_' and '-'");
    } else if (name == kMemoryName) {
        node.error("", "is the name of what the agents share");
    }
}

// What an agent's map says but for its device: the problem and how often. `device`: its name;
// `streams`: of the agents before it.
void read_agent_keys(Document& document, Node& node, const std::string& file, std::string& device,
                     std::uint64_t& streams, AgentCase& agent) {
    node.optional("start", agent.start, {0, INT64_MAX}, "when it begins");
    const std::int64_t repeat = read_repeat(node);
    agent.until_all_done = repeat == kForEver;
    agent.repeat = std::max<std::int64_t>(repeat, 1);
    agent.address = read_address(node);
    const bool host = node.offers("host"), stream = node.offers("stream");
    const bool device_given = node.offers("device"), work_given = node.offers("workload");
    const bool machine = device_given || work_given;
    if (!node.describing() && int{host} + int{stream} + int{machine} != 1) {
        node.error("", "must hold exactly one of device (with its workload), stream, host");
        if (!host && !stream && !machine) {
            return;
        }
    }
    if (host) {
        const auto loop = arch::host::read_memory_loop(
            node.child("host", "a processor whose loops go over the memory"));
        agent.a_case.problem = {workloads::memory::host_loop::loop_kind(), loop};
        if (!node.describing()) {
            return;
        }
    }
    if (stream) {
        auto requests = arch::memory::traffic::read_stream_config(
            node.child("stream", "generated requests to the memory"));
        requests.number = streams++;
        agent.a_case.problem = {workloads::memory::streams::stream_kind(), requests};
        if (!node.describing()) {
            return;
        }
    }
    node.optional("device", device, "device name, or path of a device file");
    agent.a_case.problem = read_problem(document, node, file, device);
    agent.a_case.mapping = read_mapping(node);
}

// With or without banks that compute.
bool is_memory(const workloads::Device& device) {
    return !device.has<arch::npu::NpuConfig>() && !device.has<arch::amx::AmxConfig>();
}

// Why an agent cannot be on this memory; empty: it can.
std::string clash(const workloads::Device& device, const workloads::Device& memory) {
    if (is_memory(device) && !device.has<arch::pim::PimConfig>()) {
        return fmt::format(
            "'{}' is a memory, and that of all agents is '{}'; requests alone are "
            "a `stream`, a processor's loop a `host`",
            device.name, memory.name);
    }
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
        agent.address = agent.address == kOwnRange ? i * room : agent.address;
    }
}

// Why one of the keys set is none of the agent's device; empty: all are.
std::string foreign_key(const Overrides& overrides, const std::string& device) {
    for (const auto& [key, value] : overrides) {
        if (device.empty()) {
            return fmt::format("the agent has none of its own to set {} of", key);
        }
        if (key == "memory" || key.starts_with("memory.")) {
            return fmt::format("{} is of the memory the agents share: set {}{}", key,
                               key == "memory" ? "" : kDevicePrefix, key);
        }
    }
    return {};
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
    const std::string foreign = foreign_key(overrides, device);
    if (!foreign.empty()) {
        node.error("device", foreign);
        return;
    }
    if (device.empty()) {
        own.device.name = scenario.device.name;
    } else {
        load_named_device(node, document, device, overrides, AgentOverrides::prefix(agent.name),
                          own.device);
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
    check_case(node, own, scenario.advice);
    if (agent.address >= own.device.memory.capacity().count()) {
        node.error("address", fmt::format("lies outside the memory's {} B",
                                          own.device.memory.capacity().count()));
    }
}

}  // namespace

std::string AgentOverrides::prefix(std::string_view agent) {
    return fmt::format("{}{}.{}", kAgentsPrefix, agent, kDevicePrefix);
}

Overrides AgentOverrides::of(std::string_view agent) const {
    const std::string begin = prefix(agent);
    Overrides own;
    for (const auto& [key, value] : all) {
        if (key.starts_with(begin)) {
            own.emplace_back(key.substr(begin.size()), value);
        }
    }
    return own;
}

bool AgentOverrides::holds(std::string_view key) {
    const std::size_t dot = key.find('.', kAgentsPrefix.size());
    return key.starts_with(kAgentsPrefix) && dot != std::string_view::npos &&
           key.substr(dot + 1).starts_with(kDevicePrefix);
}

void check_agents_of(const Overrides& overrides, const Document& document,
                     const std::string& file) {
    std::vector<std::string> names;
    for (const auto& [key, value] : overrides) {
        if (!key.starts_with(kAgentsPrefix)) {
            continue;
        }
        if (names.empty()) {
            names = Document::parse(document.text(), file).root().child("agents", "").keys();
        }
        const std::string name = key.substr(
            kAgentsPrefix.size(), key.find('.', kAgentsPrefix.size()) - kAgentsPrefix.size());
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            throw ConfigError(
                fmt::format("--set {}: {} has no agent '{}'{}{}", key, file, name,
                            names.empty() ? "" : fmt::format("; it has {}", fmt::join(names, ", ")),
                            arch::base::config::did_you_mean(name, names)));
        }
    }
}

void read_agents(Document& document, Node& root, const std::string& file,
                 const Overrides& for_memory, const AgentOverrides& overrides, Scenario& scenario) {
    std::string memory;
    root.required("memory", memory, "the memory they share: device name, or path of a device file");
    read_run(root.child("run", "how to run"), scenario.run);
    Node map = root.child("agents", "who shares the memory, each by a name");
    const std::vector<std::string> names = map.keys();
    std::vector<Node> nodes;
    std::vector<std::string> devices(names.size());
    std::uint64_t streams = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        nodes.push_back(map.child(names[i], "an agent"));
        scenario.agents.emplace_back().name = names[i];
        check_name(map, nodes[i], names[i]);
        read_agent_keys(document, nodes[i], file, devices[i], streams, scenario.agents[i]);
    }
    if (names.empty()) {
        map.error("", "must name at least one");
    }
    if (memory.empty() || names.empty()) {
        map.done();
        root.done();
        document.finish();
    }
    load_named_device(root, document, memory, for_memory, kDevicePrefix, scenario.device,
                      kMemoryName);
    if (!is_memory(scenario.device)) {
        root.error(kMemoryName, fmt::format("'{}' is no memory, nor one whose banks compute; an "
                                            "agent has it as its device",
                                            memory));
        document.finish();
    }
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
    for (const AgentCase& agent : scenario.agents) {
        using arch::memory::traffic::StreamConfig;
        if (const auto* stream = agent.a_case.problem.find<StreamConfig>()) {
            check_range(document, fmt::format("{}{}.stream", kAgentsPrefix, agent.name), *stream,
                        scenario.device.memory);
        }
    }
}

void describe_agents(Document& document, Node& root) {
    std::string memory;
    root.optional("memory", memory, "with agents: the memory they share");
    Node map = root.child("agents", "instead of a device and its workload: who shares a memory");
    for (const std::string& name : map.keys()) {
        Node node = map.child(name, "an agent");
        AgentCase agent;
        std::string device_of_agent;
        std::uint64_t streams = 0;
        read_agent_keys(document, node, "", device_of_agent, streams, agent);
    }
}

}  // namespace tilesim::sim
