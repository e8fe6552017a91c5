// What a scenario and each of its agents state alike: a problem, a mapping, how to run, a device;
// and whether they go together.
#pragma once

#include <string>
#include <string_view>

#include "arch/base/config.hpp"
#include "sim/scenario.hpp"
#include "workloads/dataflow.hpp"

namespace tilesim::sim {

// A problem at the root of the file, or below `workload`; empty, with an error, where there is not
// exactly one. `file`: paths are beside it. `device`: its name, which some problems imply.
workloads::Problem read_problem(arch::base::config::Document& document,
                                arch::base::config::Node& root, const std::string& file,
                                std::string& device);

// Empty where the mapping is left out.
workloads::Mapping read_mapping(arch::base::config::Node& root);

void read_run(arch::base::config::Node node, workloads::RunOptions& run);

// A device of the scenario's problem beside its own.
workloads::Device load_other_device(const std::string& name);

// Throws ConfigError, with its place, where requests go beyond the memory's end; `path` is theirs.
void check_range(const arch::base::config::Document& document, const std::string& path,
                 const arch::memory::traffic::StreamConfig& stream,
                 const arch::memory::device::MemoryConfig& memory);

// An unknown name is an error at the key that gives it, which ends the reading. `prefix`: what
// stands before the paths of `overrides` where they are set.
void load_named_device(arch::base::config::Node& root, const arch::base::config::Document& document,
                       const std::string& name, const Overrides& overrides, std::string_view prefix,
                       workloads::Device& device, std::string_view key = "device");

// An error at the key it is about where no dataflow runs this problem on this device with this
// mapping. With `advice` it names the nearest mapping that can be, which takes a moment.
void check_case(arch::base::config::Node& root, const workloads::Case& a_case, Advice advice);

}  // namespace tilesim::sim
