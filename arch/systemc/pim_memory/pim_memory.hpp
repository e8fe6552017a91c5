// A DRAM with an ALU at every bank as a SystemC module: a memory like any other, and a command
// socket that has all banks execute a program.
//
// The registers of the command socket are words of 4 B: a program is written to `kProgram` on, four
// words a command (operation, count, word low, word high), and started by writing their number to
// `kStart`; `kState` reads 1 while one runs. While it does, ordinary requests wait where the
// program has the channels.
//
// Ignores: what the commands compute: bytes are those of ordinary writes.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "arch/pim/pim_controller.hpp"
#include "arch/systemc/dram/dram.hpp"

namespace tilesim::arch::systemc::pim_memory {

class PimMemory final : public dram::Dram, private TimeLine::Observer {
  public:
    using CommandSocket = tlm_utils::simple_target_socket_optional<PimMemory, kBusBits>;
    using Interrupt =
        sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 0, sc_core::SC_ZERO_OR_MORE_BOUND>;

    static constexpr std::uint64_t kStart = 0;
    static constexpr std::uint64_t kState = 4;
    static constexpr std::uint64_t kProgram = 0x1000;
    static constexpr std::uint64_t kWordsPerCommand = 4;
    static constexpr std::uint64_t kMostCommands = 1 << 20;

    PimMemory(const sc_core::sc_module_name& name, TimeLine& time_line,
              const memory::device::MemoryConfig& memory, const pim::PimConfig& pim,
              const dram::DramOptions& options = {});
    ~PimMemory() override;

    CommandSocket commands{"commands"};
    Interrupt interrupt{"interrupt"};  // high from the end of a program to the start of the next

    // From a process, or before the simulation starts; one program at a time.
    void run(pim::PimProgram program);
    bool busy() const { return !runs_.empty() && !runs_.back()->ended; }
    // CK of the program that has ended last; an error in its name where none has.
    base::Cycles program_cycles() const;
    // What the units wait for, a line each, where a program runs when the simulation ends.
    std::string standstill() const;
    const sc_core::sc_event& finished_event() const { return finished_event_; }
    // What the units of each channel do, beside the memory's; before the simulation starts.
    void trace(sc_core::sc_trace_file* file) const override;

  private:
    struct Run {
        pim::PimProgram program;
        std::unique_ptr<pim::PimController> controller;
        bool ended = false;
    };
    void on_stamp(base::Femtoseconds now) override;
    void update_interrupt();
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    // Why they are refused; empty where they are not.
    std::string write(std::uint64_t address, std::uint32_t value);
    std::string start(std::uint32_t count);

    TimeLine& time_line_;
    pim::PimConfig pim_;
    std::vector<std::array<std::uint32_t, kWordsPerCommand>> written_;
    std::vector<std::unique_ptr<Run>> runs_;
    sc_core::sc_event finished_event_;
    sc_core::sc_event interrupt_event_;
    BlockModules units_;
};

}  // namespace tilesim::arch::systemc::pim_memory
