#include "workloads/pim/pim_machine.hpp"

#include "arch/pim/pim_config.hpp"

namespace tilesim::workloads::pim {

namespace {

class PimMachine final : public Machine {
  public:
    std::string_view kind() const override { return "pim"; }
    void read(arch::base::config::Node& root, Device& device) const override {
        device.put(arch::pim::read_pim_config(root.child("pim", "the units at the banks")));
        device.put(arch::pim::read_soc_config(root.child("soc", "the system it serves")));
    }
};

}  // namespace

const Machine& pim_machine() {
    static const PimMachine machine;
    return machine;
}

}  // namespace tilesim::workloads::pim
