// A processor beside the others as a SystemC module: an agent whose loops go over a memory.
#pragma once

#include <systemc>

#include "arch/host/memory_loop.hpp"
#include "arch/memory/port/memory_window.hpp"
#include "arch/systemc/block_tree.hpp"
#include "arch/systemc/dram/dram.hpp"
#include "arch/systemc/time_line.hpp"

namespace tilesim::arch::systemc::host_processor {

class Host final : public sc_core::sc_module, private TimeLine::Observer {
  public:
    // Its addresses begin at `base` of a memory on the same time line, called directly.
    Host(const sc_core::sc_module_name& name, dram::Dram& dram,
         const host::MemoryLoopConfig& config, std::int64_t base = 0);
    // On any other memory of the time line: port::MemoryInitiator.
    Host(const sc_core::sc_module_name& name, TimeLine& time_line, memory::port::MemoryPort& memory,
         const host::MemoryLoopConfig& config, std::int64_t base = 0);

    // From a process, or before the simulation starts; once.
    void start();
    bool finished() const { return started_ && loop_.finished(); }
    // From start to the end; an error in its name where it has not finished.
    base::Femtoseconds time() const;
    const sc_core::sc_event& finished_event() const { return finished_event_; }
    const base::stats::Group& statistics() const { return root_; }

  private:
    void on_stamp(base::Femtoseconds now) override;

    TimeLine& time_line_;
    base::stats::Group root_{""};
    memory::port::MemoryWindow window_;
    host::MemoryLoop loop_;
    base::Femtoseconds origin_{0};
    bool started_ = false;
    bool told_ = false;
    sc_core::sc_event finished_event_;
    BlockModules blocks_;
};

}  // namespace tilesim::arch::systemc::host_processor
