// Generated or recorded requests as a SystemC module: an agent that loads a memory.
#pragma once

#include <optional>
#include <systemc>

#include "arch/memory/port/memory_window.hpp"
#include "arch/memory/traffic/stream_driver.hpp"
#include "arch/systemc/dram/dram.hpp"
#include "arch/systemc/time_line.hpp"

namespace tilesim::arch::systemc::dram {

class Stream final : public sc_core::sc_module, private TimeLine::Observer {
  public:
    // Its addresses begin at `base` of the memory.
    Stream(const sc_core::sc_module_name& name, Dram& dram,
           const memory::traffic::StreamConfig& config, std::int64_t base = 0);
    // On any memory of the same time line.
    Stream(const sc_core::sc_module_name& name, TimeLine& time_line,
           memory::port::MemoryPort& memory, const memory::traffic::StreamConfig& config,
           std::int64_t base = 0);

    // From a process, or before the simulation starts; once.
    void start();
    bool finished() const { return started_ && driver_.finished(); }
    // An error in its name where it has not finished.
    memory::traffic::StreamResult result() const;
    const sc_core::sc_event& finished_event() const { return finished_event_; }

  private:
    void on_stamp(base::Femtoseconds now) override;

    TimeLine& time_line_;
    memory::port::MemoryWindow window_;
    memory::traffic::StreamDriver driver_;
    bool started_ = false;
    bool told_ = false;
    sc_core::sc_event finished_event_;
};

}  // namespace tilesim::arch::systemc::dram
