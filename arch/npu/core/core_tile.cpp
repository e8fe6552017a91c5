#include "arch/npu/core/core_tile.hpp"

#include <utility>
#include <variant>

namespace tilesim::arch::npu::core {

CoreTile::CoreTile(const program::CoreProgram& script, const program::Program& program,
                   const NpuConfig& config, const KernelTiming& timing,
                   std::vector<LockRole> lock_roles, CycleScheduler& scheduler,
                   tile::LockUnit& locks, base::stats::Group& parent, tile::TileMemory* memory,
                   const memory::port::BackingStore* store)
    : script_(script),
      scheduler_(scheduler),
      account_(scheduler, parent),
      cursor_(script.script, account_.name(), script.parameters),
      locks_(config.core, std::move(lock_roles), scheduler, locks, account_, *this),
      operands_(script, timing, memory),
      ports_(config.core, scheduler),
      calls_(program, script.tile, config, timing, ports_, scheduler, operands_, store, account_,
             *this),
      cascade_(config.cascade, scheduler, operands_, account_, *this),
      streams_(script.tile, config, ports_, scheduler, operands_, account_, *this) {}

void CoreTile::start() {
    enabled_ = script_.enabled == 0;
    if (enabled_) {
        begin();
    } else {
        scheduler_.at(scheduler_.now() + base::Cycles{script_.enabled}, *this, kEnabled);
    }
}

void CoreTile::begin() {
    cursor_.start();
    account_.enter(CoreState::LockOperation);
    scheduler_.at(scheduler_.now(), *this);
}

void CoreTile::reset() {
    if (!enabled_) {
        return;
    }
    if (done() || locks_.withdraw()) {
        begin();
        return;
    }
    resetting_ = true;
}

void CoreTile::on_event(std::uint64_t what, base::Femtoseconds) {
    if (what == kEnabled) {
        enabled_ = true;
        begin();
    } else {
        step();
    }
}

void CoreTile::step() {
    if (std::exchange(resetting_, false)) {
        cursor_.start();
    }
    const program::CoreOp* op = cursor_.next(scheduler_.now());
    if (op == nullptr) {
        account_.enter(CoreState::Done);
        return;
    }
    std::visit([this](const auto& operation) { execute(operation); }, op->op);
}

}  // namespace tilesim::arch::npu::core
