#include "sim/session/platform.hpp"

#include <utility>

namespace tilesim::sim::session {

using arch::memory::controller::MemorySystem;

Platform::Modules::Modules(const arch::memory::device::MemoryConfig& memory,
                           arch::base::Femtoseconds lookahead,
                           const std::vector<std::string>& in_banks)
    : dram("memory", line, memory, {.in_banks = in_banks}) {
    dram.share(lookahead);
    // Nobody outside acts between two starts of a run: there is only one.
    line.set_run_ahead(arch::base::kNever);
}

Platform::Platform(const arch::memory::device::MemoryConfig& memory,
                   arch::base::Femtoseconds lookahead, const std::vector<std::string>& in_banks,
                   bool modules) {
    if (modules && arch::systemc::elaborating()) {
        modules_ = std::make_unique<Modules>(memory, lookahead, in_banks);
        return;
    }
    queue_ = std::make_unique<arch::base::EventQueue>();
    queues_.add(*queue_);
    root_ = std::make_unique<arch::base::stats::Group>("");
    memory_ = std::make_unique<MemorySystem>(memory, lookahead, *queue_, *root_);
}

Platform::~Platform() = default;

void Platform::join(arch::base::EventQueue& queue, arch::base::Femtoseconds origin) {
    if (modules_) {
        modules_->line.join(queue, origin);
    } else {
        queues_.add(queue, origin);
    }
}

void Platform::leave(arch::base::EventQueue& queue) {
    queue.watch(nullptr);
    queues().remove(queue);
}

void Platform::add_blocks(const std::vector<arch::base::Block>& blocks) {
    if (!modules_) {
        return;
    }
    for (auto& module : arch::systemc::make_modules(blocks, 0)) {
        modules_->blocks.push_back(std::move(module));
    }
}

arch::systemc::Outcome Platform::run(const arch::systemc::Limits& limits,
                                     arch::systemc::Goal& goal) {
    return modules_ ? arch::systemc::run(modules_->line, limits, goal)
                    : arch::systemc::run(queues_, limits, goal);
}

arch::systemc::Outcome Platform::run(const arch::systemc::Limits& limits,
                                     const std::function<bool()>& finished) {
    return modules_ ? arch::systemc::run(modules_->line, limits, finished)
                    : arch::systemc::run(queues_, limits, finished);
}

}  // namespace tilesim::sim::session
