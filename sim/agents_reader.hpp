// `agents` of a scenario: who shares a memory, each with a device and a problem of its own.
#pragma once

#include <string>
#include <string_view>

#include "arch/base/config.hpp"
#include "sim/scenario.hpp"

namespace tilesim::sim {

// What overrides of an agent's keys begin with.
inline constexpr std::string_view kAgentsPrefix = "agents.";

// "agents.npu0.device.npu.columns" is of the device of npu0.
struct AgentOverrides {
    Overrides all;

    // What those of one agent's device begin with.
    static std::string prefix(std::string_view agent);
    // These, without it.
    Overrides of(std::string_view agent) const;
    static bool holds(std::string_view key);
};

// Throws ConfigError where a key set is of an agent that the file does not have.
void check_agents_of(const Overrides& overrides, const arch::base::config::Document& document,
                     const std::string& file);

// The root's keys where there are agents instead of a device and its workload. `for_memory`:
// overrides of the memory's device, without their prefix.
void read_agents(arch::base::config::Document& document, arch::base::config::Node& root,
                 const std::string& file, const Overrides& for_memory,
                 const AgentOverrides& overrides, Scenario& scenario);

// Every key they may have, for a document that describes.
void describe_agents(arch::base::config::Document& document, arch::base::config::Node& root);

}  // namespace tilesim::sim
