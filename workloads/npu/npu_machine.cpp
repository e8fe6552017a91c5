#include "workloads/npu/npu_machine.hpp"

#include "arch/fabric/fabric_config.hpp"
#include "arch/host/host_config.hpp"
#include "arch/host/host_profile.hpp"
#include "arch/npu/npu_config.hpp"

namespace tilesim::workloads::npu {

namespace {

class NpuMachine final : public Machine {
  public:
    std::string_view kind() const override { return "npu"; }
    void read(arch::base::config::Node& root, Device& device) const override {
        device.put(
            arch::fabric::read_fabric_config(root.child("fabric", "between shim and memory")));
        arch::npu::NpuConfig array = arch::npu::read_npu_config(root.child("npu", "the array"));
        if (root.has("host")) {
            const arch::host::HostConfig host =
                arch::host::read_host_config(root.child("host", "the processor beside the array"));
            apply(arch::host::host_profiles()[host.profile], array);
            device.put(host);
        }
        device.put(array);
    }

  private:
    static void apply(const arch::host::HostProfile& profile, arch::npu::NpuConfig& array) {
        const auto set = [](auto& value, auto given) { value = given.count() > 0 ? given : value; };
        set(array.command_processor.dispatch, profile.dispatch);
        set(array.clock, profile.array_clock);
        set(array.command_processor.clock, profile.processor_clock);
        set(array.command_processor.descriptor_cycles, profile.descriptor_cycles);
        array.shim.modifiable = array.shim.modifiable || profile.modifiable;
    }
};

}  // namespace

const Machine& npu_machine() {
    static const NpuMachine machine;
    return machine;
}

MemoryPath path_of(const Device& device) {
    return {device.memory, device.get<arch::fabric::FabricConfig>()};
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
