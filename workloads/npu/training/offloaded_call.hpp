// The stages of one matrix product handed to an array, as the processor that calls sees them.
#pragma once

#include <array>
#include <cstddef>

#include "arch/host/host_config.hpp"
#include "workloads/npu/training/offload_mapping.hpp"
#include "workloads/npu/training/training_step.hpp"

namespace tilesim::workloads::npu::training {

enum class CallStage : std::size_t {
    CopyIn,          // operands that lie as the array reads them, converted to its type
    TransposeIn,     // those that do not
    SyncToDevice,    // flush the operands' buffers
    Reconfigure,     // the whole array, where the mapping says so and the size changes
    Dispatch,        // the fixed cost of a launch
    Run,             // the simulated array: descriptors and parameters written, data moved, kernels
    SyncFromDevice,  // flush the result's buffer
    CopyOut          // the result, added to what is there or with a bias where the product says so
};
constexpr std::size_t kCallStages = 8;
const char* name_of(CallStage stage);

inline constexpr double kElementBytes = 4;  // the trainer computes in f32

struct CallTimes {
    std::array<double, kCallStages> ns{};
    double& operator[](CallStage stage) { return ns[static_cast<std::size_t>(stage)]; }
    double total() const;
    CallTimes& operator+=(const CallTimes& other);
};

// Without dispatch, run and reconfiguration.
CallTimes host_stages(const arch::host::HostConfig& host, const OffloadMapping& offload,
                      const TrainingProduct& product);

}  // namespace tilesim::workloads::npu::training
