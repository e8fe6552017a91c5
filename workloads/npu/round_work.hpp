// What a program does in each of the equal rounds it consists of: how a sampled run tells how far
// it is.
#pragma once

#include <cstdint>

#include "arch/base/units.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"

namespace tilesim::workloads::npu {

// What every core together and every shim together do in a round.
struct WorkOfRound {
    double calls = 0;  // but those that clear; 0: not known
    double words = 0;  // 0: results leave as they are made
};

WorkOfRound work_of_round(const arch::npu::program::Program& program, double rounds);

// The shortest time a round's results take to leave: every channel towards memory moves its share,
// a stream's width a cycle.
arch::base::Femtoseconds least_leaving(const arch::npu::program::Program& program,
                                       const WorkOfRound& round,
                                       const arch::npu::NpuConfig& config);

}  // namespace tilesim::workloads::npu
