#include "workloads/memory/memory_machine.hpp"

namespace tilesim::workloads::memory {

namespace {

class MemoryMachine final : public Machine {
  public:
    std::string_view kind() const override { return "memory"; }
    void read(arch::base::config::Node&, Device&) const override {}
    bool is_memory() const override { return true; }
};

}  // namespace

const Machine& memory_machine() {
    static const MemoryMachine machine;
    return machine;
}

}  // namespace tilesim::workloads::memory
