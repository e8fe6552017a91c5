// Who sets an array up for a program: the firmware, or the run-time sequence itself, register by
// register, as mlir-aie makes it of a load_pdi with --expand-load-pdis.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "arch/base/name_table.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::workloads::npu {

enum class SetUp { Loaded, Written };
inline constexpr arch::base::NameTable<SetUp> kSetUps{
    {{"loaded", SetUp::Loaded}, {"written", SetUp::Written}}};

// Puts the writes in front of the sequence; returns how many. `program` need not be ready: throws
// ConfigError where `prepare` does.
std::int64_t write_configuration(arch::npu::program::Program& program,
                                 const arch::npu::NpuConfig& config);

// What a result says of a run with so many of them in front of each of its launches.
std::string note_of_writes(const std::vector<std::int64_t>& writes);

}  // namespace tilesim::workloads::npu
