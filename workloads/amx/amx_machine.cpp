#include "workloads/amx/amx_machine.hpp"

#include "arch/amx/amx_config.hpp"

namespace tilesim::workloads::amx {

namespace {

class AmxMachine final : public Machine {
  public:
    std::string_view kind() const override { return "amx"; }
    void read(arch::base::config::Node& root, Device& device) const override {
        device.put(arch::amx::read_amx_config(root.child("amx", "cores, caches, mesh")));
    }
};

}  // namespace

const Machine& amx_machine() {
    static const AmxMachine machine;
    return machine;
}

}  // namespace tilesim::workloads::amx
