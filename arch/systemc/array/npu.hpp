// An AI Engine array as a SystemC module: its register map behind a TLM-2.0 target socket, its way
// to memory either the shared DRAM module or an initiator socket, completion as tokens and an
// interrupt.
//
// The program it is built with is what is loaded before a driver starts: routes, core scripts,
// buffers, locks, the descriptors and tasks of configuration time; a run-time sequence in it is
// executed by the array's own command processor. A driver writes descriptors, start queues,
// parameters and core memory, writes or asks for locks, enables and resets channels
// (array/register_file.hpp).
//
// Ignores: the time a driver's accesses take on the way; each costs what the command processor pays
// for a register write.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>

#include "arch/fabric/fabric_config.hpp"
#include "arch/npu/array/array.hpp"
#include "arch/npu/array/register_file.hpp"
#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "arch/systemc/block_tree.hpp"
#include "arch/systemc/dram/dram.hpp"
#include "arch/systemc/port/memory_initiator.hpp"
#include "arch/systemc/time_line.hpp"
#include "arch/systemc/transaction.hpp"
#include "arch/systemc/waves.hpp"

namespace tilesim::arch::systemc::array {

// The program of a driver, checked, its buffers placed, its streams routed, as
// check/ready_program.hpp does it for one with a sequence of its own: here the driver writes what a
// loop's count is a parameter for. Throws ConfigError.
npu::program::Program prepare_for_driver(npu::program::Program program,
                                         const npu::NpuConfig& config);

struct NpuOptions {
    bool bytes = false;              // moves real data: functional mode
    bool start_at_once = true;       // else when `start` is called
    std::string parameters = "rtp";  // name of the buffers that hold cores' run-time parameters
};

class Npu final : public sc_core::sc_module, private TimeLine::Observer {
  public:
    using ControlSocket = tlm_utils::simple_target_socket_optional<Npu, kBusBits>;
    using Interrupt =
        sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 0, sc_core::SC_ZERO_OR_MORE_BOUND>;

    // Beyond the array's own addresses: reading it takes the next token, as `encode_token` says it;
    // 0 where there is none.
    static constexpr std::uint64_t kTokenRegister = 0xFFF0'0000;
    static std::uint32_t encode_token(const npu::program::ChannelId& channel);

    // With its memory on the same time line, called directly. The program must be ready to run
    // (check/ready_program.hpp).
    Npu(const sc_core::sc_module_name& name, dram::Dram& dram, const npu::NpuConfig& config,
        const fabric::FabricConfig& fabric, const npu::program::Program& program,
        const NpuOptions& options = {});
    // With somebody else's, to be bound to `memory->socket`.
    Npu(const sc_core::sc_module_name& name, TimeLine& time_line, const npu::NpuConfig& config,
        const fabric::FabricConfig& fabric, const npu::program::Program& program,
        const NpuOptions& options = {}, const port::InitiatorOptions& initiator = {});
    ~Npu() override;

    ControlSocket control{"control"};
    Interrupt interrupt{"interrupt"};               // high while a token is there
    std::unique_ptr<port::MemoryInitiator> memory;  // nullptr on a shared DRAM

    // Launches the program: configured tasks, cores, command processor. From a process, or before
    // the simulation starts.
    void start();
    // The run-time sequence has ended and the shim tiles' tasks are done.
    bool finished() const { return finished_at_.has_value(); }
    // When, and how long after its start; an error in its name where it has not.
    base::Femtoseconds finished_at() const;
    base::Cycles cycles() const;
    // Who waits for what, a line each, where it has not finished when the simulation ends.
    std::string standstill() const;
    const sc_core::sc_event& finished_event() const { return finished_event_; }
    // Completion tokens, in order; each is there once.
    std::optional<npu::program::ChannelId> take_token();
    const sc_core::sc_event& token_event() const { return token_event_; }

    npu::array::Array& array() { return *array_; }
    const base::stats::Group& statistics() const { return root_; }
    // Charges every component until now; to be called at the end.
    void finish_statistics();
    // States of channels, cores and the command processor as waveforms; before the simulation
    // starts.
    void trace(sc_core::sc_trace_file* file) const override;

  private:
    void build(memory::port::MemoryPort& to, memory::port::BackingStore* store);
    void on_stamp(base::Femtoseconds now) override;
    void update_interrupt();
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(tlm::tlm_generic_payload& payload);
    bool access(tlm::tlm_generic_payload& payload, bool look_only);
    std::uint32_t read(std::uint64_t address, bool look_only);

    TimeLine& time_line_;
    npu::NpuConfig config_;
    fabric::FabricConfig fabric_;
    npu::program::Program program_;
    NpuOptions options_;
    base::stats::Group root_{""};
    std::unique_ptr<npu::array::Array> array_;
    std::unique_ptr<npu::array::RegisterFile> registers_;
    bool started_ = false;
    base::Femtoseconds started_at_{0};
    std::optional<base::Femtoseconds> finished_at_;
    std::deque<npu::program::ChannelId> tokens_;
    sc_core::sc_event token_event_;
    sc_core::sc_event finished_event_;
    BlockModules blocks_;
    mutable std::unique_ptr<Waves> waves_;  // only where it is traced
};

}  // namespace tilesim::arch::systemc::array
