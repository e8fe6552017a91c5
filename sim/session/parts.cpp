#include "sim/session/parts.hpp"

#include <fmt/format.h>

#include "arch/memory/device/power.hpp"
#include "arch/memory/policy/refresh_policies.hpp"

namespace tilesim::sim::session {

using arch::systemc::Outcome;
using workloads::Model;
using workloads::RunEnd;

std::vector<arch::base::Block> blocks_of(const Model& model, const arch::base::stats::Group& root,
                                         const std::string& prefix) {
    std::vector<arch::base::Block> blocks = model.blocks();
    arch::base::add_groups(root, blocks);
    std::erase_if(blocks,
                  [](const arch::base::Block& block) { return block.path.starts_with("memory"); });
    for (arch::base::Block& block : blocks) {
        block.path = prefix + block.path;
    }
    return blocks;
}

RunEnd end_of(Outcome outcome, const Model& model) {
    switch (outcome) {
        case Outcome::Finished:
            return model.finished() ? RunEnd::Finished : RunEnd::Standstill;
        case Outcome::NothingPending:
            return model.may_rest() ? RunEnd::Rested : RunEnd::Standstill;
        case Outcome::SimulatedTimeLimit:
        case Outcome::WallTimeLimit:
            break;
    }
    return model.done_so_far() ? RunEnd::Stopped : RunEnd::TimeLimit;
}

// A run that did not end well is reported as far as it came, to `reached`.
void note_end(RunEnd end, const Model& model, arch::base::Clock clock,
              arch::base::Femtoseconds reached, workloads::RunResult& result) {
    const bool well = end == RunEnd::Finished || end == RunEnd::Rested || end == RunEnd::Stopped;
    const arch::base::Cycles cycles = well ? model.finish_cycle() : clock.cycle_at(reached);
    const arch::base::Femtoseconds time = well ? model.finish_time() : clock.time_of(cycles);
    result.cycles = cycles.count();
    result.time_ns = arch::base::ns_of(time);
    if (well) {
        result.status = workloads::Status::Ok;
    } else if (end == RunEnd::Standstill) {
        result.status = workloads::Status::Deadlock;
        result.deadlock = model.deadlock();
    } else {
        result.status = workloads::Status::TimeLimit;
        result.notes.push_back("stopped by its budget, not dead: " + model.deadlock().progress());
    }
}

void add_energy(const arch::memory::device::MemoryConfig& memory, arch::base::Cycles cycles,
                workloads::RunResult& result) {
    arch::memory::device::CommandCounts counts;
    for (const auto& channel : result.banks->channels) {
        for (const arch::memory::port::BankCounts& bank : channel) {
            counts.activates += static_cast<double>(bank.activates);
            counts.reads += static_cast<double>(bank.reads);
            counts.writes += static_cast<double>(bank.writes);
        }
    }
    counts.refreshes = static_cast<double>(result.memory->refreshes);
    counts.row_open = static_cast<double>(result.memory->row_open + result.banks->guest_row_open);
    counts.any_row_open =
        static_cast<double>(result.memory->any_row_open + result.banks->guest_any_row_open);
    counts.cycles = static_cast<double>(cycles.count());
    const auto refreshes = arch::memory::policy::refreshes_of(memory);
    const auto energy = arch::memory::device::energy_of(memory, refreshes, counts);
    result.energy = nlohmann::ordered_json::object();
    if (!energy) {
        result.energy["none"] = "the device file gives no currents (memory.power)";
        return;
    }
    double total = 0;
    for (const auto& [what, nanojoules] : *energy) {
        result.energy[what + "_nj"] = nanojoules;
        total += nanojoules;
    }
    result.energy["total_nj"] = total;
    if (const auto key = arch::memory::device::missing_refresh_current(memory, refreshes.command);
        key && counts.refreshes > 0) {
        result.notes.push_back(
            fmt::format("memory energy: without refreshes, as the device file "
                        "gives no memory.power.core.{}",
                        *key));
    }
}

}  // namespace tilesim::sim::session
