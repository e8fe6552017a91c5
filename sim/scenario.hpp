// A scenario: a device, a problem, a mapping and how to run them, read from one YAML file.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "arch/base/config.hpp"
#include "workloads/dataflow.hpp"
#include "workloads/device.hpp"

namespace tilesim::sim {

using workloads::Overrides;

// What the keys of the scenario's device begin with.
inline constexpr std::string_view kDevicePrefix = "device.";

// One of several on a memory.
struct AgentCase {
    std::string name;
    workloads::Case a_case;  // its memory is the shared one
    arch::base::Femtoseconds start{0};
    std::int64_t repeat = 1;      // runs
    bool until_all_done = false;  // instead: until those who end of themselves have ended
    std::int64_t address = 0;     // of its 0 in the memory
};

// What is said beside why a mapping cannot be.
enum class Advice { None, NearestMapping };

struct Scenario : workloads::Case {
    std::shared_ptr<arch::base::config::Document> document;
    // Instead of a problem: `device` is the memory they share.
    std::vector<AgentCase> agents;
    std::vector<std::string> overridden;  // keys changed on the command line
    Advice advice = Advice::None;         // to whoever wrote it

    // Who hears how far its runs are, its agents' included.
    void watch(const std::function<void(arch::base::Femtoseconds)>& progress) {
        run.progress = progress;
        for (AgentCase& agent : agents) {
            agent.a_case.run.progress = progress;
        }
    }
};

// Throws ConfigError, which says what the file is, where it is neither a scenario nor a device.
void refuse_sweeps_and_models(const arch::base::config::Node& root, const std::string& file);

// `overrides`: what --set changes; keys below `device.` go to the device. A design (.mlir) is a
// scenario of its own.
Scenario load_scenario(const std::string& file, const Overrides& overrides,
                       Advice advice = Advice::None);
Scenario parse_scenario(const std::string& text, const std::string& file,
                        const Overrides& overrides, Advice advice = Advice::None);

// Whether --set of this key changes a device: "device.npu.columns",
// "agents.npu0.device.npu.columns".
bool sets_device(std::string_view key);
// Every device, by what its keys begin with there.
struct NamedDevice {
    std::string prefix;  // "device.", "agents.npu0.device."
    const workloads::Device& device;
};
std::vector<NamedDevice> devices_of(const Scenario& scenario);

// Asks a describing document's root for every key a scenario may have.
void describe_scenario(arch::base::config::Node& root);

}  // namespace tilesim::sim
