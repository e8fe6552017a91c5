// What a case runs on: a time line and a memory, as SystemC modules with the hierarchy of the
// hardware where SystemC still elaborates, and without it in the runs of a process after that.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "arch/base/block.hpp"
#include "arch/base/joint_queue.hpp"
#include "arch/base/stats.hpp"
#include "arch/memory/controller/memory_system.hpp"
#include "arch/systemc/dram/dram.hpp"
#include "arch/systemc/run.hpp"

namespace tilesim::sim::session {

class Platform {
  public:
    // `modules`: false where it shall be without SystemC in any case.
    Platform(const arch::memory::device::MemoryConfig& memory, arch::base::Femtoseconds lookahead,
             const std::vector<std::string>& in_banks = {}, bool modules = true);
    ~Platform();

    // Of the memory, and of whoever shares its time.
    arch::base::EventQueue& queue() { return modules_ ? modules_->line.queue() : *queue_; }
    arch::base::JointQueue& queues() { return modules_ ? modules_->line.queues() : queues_; }
    arch::base::stats::Group& root() { return modules_ ? modules_->dram.statistics() : *root_; }
    arch::memory::controller::MemorySystem& memory() {
        return modules_ ? modules_->dram.memory() : *memory_;
    }
    // Executes another queue as well, whose 0 is `origin` of the memory's time; and no longer.
    void join(arch::base::EventQueue& queue, arch::base::Femtoseconds origin);
    void leave(arch::base::EventQueue& queue);
    // Modules for the blocks of an agent, beneath one that is named as their paths begin.
    void add_blocks(const std::vector<arch::base::Block>& blocks);
    arch::systemc::Outcome run(const arch::systemc::Limits& limits, arch::systemc::Goal& goal);
    arch::systemc::Outcome run(const arch::systemc::Limits& limits,
                               const std::function<bool()>& finished);

  private:
    struct Modules {
        Modules(const arch::memory::device::MemoryConfig& memory,
                arch::base::Femtoseconds lookahead, const std::vector<std::string>& in_banks);
        arch::systemc::TimeLine line{"time_line"};
        arch::systemc::dram::Dram dram;
        arch::systemc::BlockModules blocks{};
    };
    std::unique_ptr<Modules> modules_;  // or:
    std::unique_ptr<arch::base::EventQueue> queue_;
    arch::base::JointQueue queues_;
    std::unique_ptr<arch::base::stats::Group> root_;
    std::unique_ptr<arch::memory::controller::MemorySystem> memory_;
};

}  // namespace tilesim::sim::session
