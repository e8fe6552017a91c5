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
        arch::fabric::FabricConfig fabric =
            arch::fabric::read_fabric_config(root.child("fabric", "between shim and memory"));
        arch::npu::NpuConfig array = arch::npu::read_npu_config(root.child("npu", "the array"));
        if (root.has("host")) {
            const arch::host::HostConfig host =
                arch::host::read_host_config(root.child("host", "the processor beside the array"));
            apply(arch::host::host_profiles()[host.profile], root, array, fabric);
            device.put(host);
        }
        device.put(fabric);
        device.put(array);
    }

  private:
    // What the profile knows takes the place of what the device's file says, but not of what a run
    // sets.
    static void apply(const arch::host::HostProfile& profile, const arch::base::config::Node& root,
                      arch::npu::NpuConfig& array, arch::fabric::FabricConfig& fabric) {
        const auto set = [&root](const char* key, auto& value, auto given) {
            if (given != decltype(given){} && !root.overridden(key)) {
                value = given;
            }
        };
        auto& processor = array.command_processor;
        set("npu.clock", array.clock, profile.array_clock);
        set("npu.command_processor.dispatch", processor.dispatch, profile.dispatch);
        set("npu.command_processor.clock", processor.clock, profile.processor_clock);
        set("npu.command_processor.descriptor_cycles", processor.descriptor_cycles,
            profile.descriptor_cycles);
        set("npu.shim.modifiable", array.shim.modifiable, profile.modifiable);
        set("fabric.link_clock", fabric.link_clock, profile.link_clock);
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
