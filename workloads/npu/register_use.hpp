// What a register block asks of a core, in the words of the data sheet.
#pragma once

#include <nlohmann/json.hpp>

#include "arch/npu/core/stream_kernel_timing.hpp"

namespace tilesim::workloads::npu {

inline nlohmann::ordered_json describe(const arch::npu::core::RegisterUse& use) {
    return {{"lanes", use.lanes},
            {"accumulators", use.accumulators},
            {"accumulators_available", use.available},
            {"spilled_per_body", use.spilled},
            {"vectors", use.vectors}};
}

}  // namespace tilesim::workloads::npu
