#include "sim/session/parts.hpp"

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
    result.time_ns = static_cast<double>(time.count()) / workloads::kFemtosecondsPerNanosecond;
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

}  // namespace tilesim::sim::session
