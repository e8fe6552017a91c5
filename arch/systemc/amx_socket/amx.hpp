// A socket of AMX cores as a SystemC module: runs a program a core over a memory, its own or
// somebody else's.
#pragma once

#include <memory>
#include <optional>
#include <systemc>
#include <vector>

#include "arch/amx/amx_config.hpp"
#include "arch/amx/program/instruction.hpp"
#include "arch/amx/socket/socket.hpp"
#include "arch/memory/port/memory_window.hpp"
#include "arch/systemc/block_tree.hpp"
#include "arch/systemc/dram/dram.hpp"
#include "arch/systemc/port/memory_initiator.hpp"
#include "arch/systemc/time_line.hpp"
#include "arch/systemc/waves.hpp"

namespace tilesim::arch::systemc::amx_socket {

class Amx final : public sc_core::sc_module, private TimeLine::Observer {
  public:
    // Its addresses begin at `base` of a memory on the same time line, called directly.
    Amx(const sc_core::sc_module_name& name, dram::Dram& dram, const amx::AmxConfig& config,
        const std::vector<amx::program::Program>& programs, std::int64_t base = 0);
    // On somebody else's memory, to be bound to `memory->socket`.
    Amx(const sc_core::sc_module_name& name, TimeLine& time_line, const amx::AmxConfig& config,
        const std::vector<amx::program::Program>& programs,
        const port::InitiatorOptions& initiator = {});
    ~Amx() override;

    std::unique_ptr<port::MemoryInitiator> memory;  // nullptr on a shared DRAM

    // From a process, or before the simulation starts; once.
    void start();
    bool finished() const { return started_ && socket_->finished(); }
    // From start to the end; an error in its name where it has not finished.
    base::Cycles cycles() const;
    const sc_core::sc_event& finished_event() const { return finished_event_; }
    amx::socket::Socket& socket() { return *socket_; }
    // What each core waits for as waveforms; before the simulation starts.
    void trace(sc_core::sc_trace_file* file) const override;

  private:
    void build(memory::port::MemoryPort& to, std::int64_t base);
    void on_stamp(base::Femtoseconds now) override;

    TimeLine& time_line_;
    amx::AmxConfig config_;
    std::vector<amx::program::Program> programs_;
    base::EventQueue queue_;  // its time begins when it is started
    std::unique_ptr<memory::port::MemoryWindow> window_;
    std::unique_ptr<amx::socket::Socket> socket_;
    bool started_ = false;
    bool told_ = false;
    sc_core::sc_event finished_event_;
    BlockModules blocks_;
    mutable std::unique_ptr<Waves> waves_;  // only where it is traced
};

}  // namespace tilesim::arch::systemc::amx_socket
