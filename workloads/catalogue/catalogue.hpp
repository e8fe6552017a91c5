// Everything that can be named in a file: machines, problems, dataflows. One table each; a new one
// is a folder and a line here.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "workloads/dataflow.hpp"
#include "workloads/machine.hpp"
#include "workloads/problem.hpp"

namespace tilesim::workloads::catalogue {

std::span<const Machine* const> machines();
std::span<const ProblemKind* const> problem_kinds();
std::span<const Dataflow* const> dataflows();

// The dataflow that runs a case: its mapping's, or the first that is for such problems on such
// devices; nullptr: there is none.
const Dataflow* dataflow_of(const Case& a_case);

// A shipped device's name or a file. `overrides`: paths below the device ("npu.shim.burst",
// "memory.refresh") and their values; `prefix`: what stands before these paths where they are set.
// Throws ConfigError.
Device load_device(const std::string& name, const Overrides& overrides,
                   std::string_view prefix = "device.");

// Asks a describing document's root for every key of such a device's file.
void describe_device(arch::base::config::Node& root, const Machine& machine);

}  // namespace tilesim::workloads::catalogue
