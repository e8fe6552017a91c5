#include "workloads/npu/npu_machine.hpp"

#include "arch/fabric/fabric_config.hpp"
#include "arch/host/host_config.hpp"
#include "arch/npu/npu_config.hpp"

namespace tilesim::workloads::npu {

namespace {

class NpuMachine final : public Machine {
  public:
    std::string_view kind() const override { return "npu"; }
    void read(arch::base::config::Node& root, Device& device) const override {
        device.put(
            arch::fabric::read_fabric_config(root.child("fabric", "between shim and memory")));
        device.put(arch::npu::read_npu_config(root.child("npu", "the array")));
        if (root.has("host")) {
            device.put(arch::host::read_host_config(
                root.child("host", "the processor beside the array")));
        }
    }
};

}  // namespace

const Machine& npu_machine() {
    static const NpuMachine machine;
    return machine;
}

bool stream_fed(const Device& device) {
    const auto* config = device.find<arch::npu::NpuConfig>();
    return config != nullptr && config->kernels.modes.empty() &&
           !config->kernels.stream_modes.empty();
}

bool tile_fed(const Device& device) {
    return device.has<arch::npu::NpuConfig>() && !stream_fed(device);
}

}  // namespace tilesim::workloads::npu
