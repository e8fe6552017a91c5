// What else each key of a mapping may say: what a default is sought among and `tune` varies.
#pragma once

#include <cstddef>
#include <vector>

#include "arch/amx/amx_config.hpp"
#include "arch/memory/device/memory_config.hpp"
#include "workloads/amx/tiles/amx_mapping.hpp"
#include "workloads/gemm.hpp"

namespace tilesim::workloads::amx::tiles {

// The mapping with one key changed, and those that go with it: a list for each key, the keys that
// help most often first, and so the values of each. Some cannot be: see `problems_of`. What says
// where operands lie before the run, or what is computed, stays.
std::vector<std::vector<AmxMapping>> alternatives_of(
    const GemmProblem& gemm, const arch::amx::AmxConfig& socket,
    const arch::memory::device::MemoryConfig& memory, const AmxMapping& mapping);
// So many of the first keys are those that help often: all up to `b_nontemporal`.
inline constexpr std::size_t kHelpfulKeys = 10;

}  // namespace tilesim::workloads::amx::tiles
