// A DRAM with its controllers as a SystemC module: a TLM-2.0 target for whoever binds to it, and a
// memory that models of this project call directly.
//
// Serves b_transport, nb_transport with the base protocol (END_REQ held back while a socket has
// `outstanding` requests under way), transport_dbg and, where `direct_access` is on, DMI. Answers
// of nb_transport come as early as they are known, their time annotated. What enters at one
// moment reaches the controllers `request_latency` later. Bytes are moved in the order in which
// requests come.
//
// Ignores: which bytes a write masks (byte enables are refused); in times, the order of requests of
// one socket to one address beyond what the controller keeps.
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "arch/base/slot_pool.hpp"
#include "arch/memory/controller/command_trace.hpp"
#include "arch/memory/controller/memory_system.hpp"
#include "arch/memory/port/backing_store.hpp"
#include "arch/systemc/block_tree.hpp"
#include "arch/systemc/time_line.hpp"
#include "arch/systemc/transaction.hpp"
#include "arch/systemc/waves.hpp"

namespace tilesim::arch::systemc::dram {

struct DramOptions {
    base::Femtoseconds request_latency{20'000'000};  // from a socket to the controllers
    std::int64_t outstanding = 256;                  // of a socket, before END_REQ is held back
    bool bytes = true;                               // keeps what is written
    bool direct_access = false;                      // grants DMI, which takes no time
    std::vector<std::string> in_banks = {};          // blocks that each bank has in it
};

class Dram : public sc_core::sc_module, private memory::port::MemoryClient {
  public:
    using Socket = tlm_utils::multi_passthrough_target_socket_optional<Dram, kBusBits>;

    Dram(const sc_core::sc_module_name& name, TimeLine& time_line,
         const memory::device::MemoryConfig& config, const DramOptions& options = {});
    ~Dram() override;

    Socket socket{"socket"};

    // For models on the same time line. What they ask reaches the controllers `lookahead` after it
    // was asked, or later.
    memory::controller::MemorySystem& share(base::Femtoseconds lookahead);
    // An error in the client's name where these bytes lie outside: the memory's addresses begin
    // anew at its end, and what lies beyond it would be timed elsewhere.
    void require_inside(const sc_core::sc_module& client, std::string_view what,
                        std::int64_t address, std::int64_t bytes) const;
    TimeLine& time_line() { return time_line_; }
    memory::controller::MemorySystem& memory() { return memory_; }
    memory::port::BackingStore& bytes() { return store_; }
    bool keeps_bytes() const { return options_.bytes; }
    base::stats::Group& statistics() { return root_; }
    // Charges every channel until now; to be called at the end.
    void finish_statistics();
    // Rows, data bus and refresh as waveforms; before the simulation starts.
    void trace(sc_core::sc_trace_file* file) const override;

  protected:
    // Where probes go whose activities are traced; nullptr where nothing is.
    Waves* waves() const { return waves_.get(); }

  private:
    struct Request {
        tlm::tlm_generic_payload* payload = nullptr;
        std::unique_ptr<sc_core::sc_event> done;  // of a blocking one
        base::Femtoseconds when{0};
        int initiator = -1;
    };
    // What the base protocol remembers of a socket.
    struct Initiator {
        std::int64_t under_way = 0;                // not answered
        std::vector<base::Femtoseconds> leaving;   // times of answers given ahead of them
        tlm::tlm_generic_payload* owed = nullptr;  // END_REQ
        base::Femtoseconds owed_since{0};          // its BEGIN_REQ
        const tlm::tlm_generic_payload* responding = nullptr;  // BEGIN_RESP, no END_RESP so far
        bool looping = false;                                  // answers are just being sent
        base::Femtoseconds response_free{0};
        std::deque<std::uint64_t> answered;
    };

    void end_of_elaboration() override;
    void on_memory_complete(std::uint64_t tag, base::Femtoseconds when) override;
    void b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    tlm::tlm_sync_enum nb_transport_fw(int id, tlm::tlm_generic_payload& payload,
                                       tlm::tlm_phase& phase, sc_core::sc_time& delay);
    tlm::tlm_sync_enum begin(int id, tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             const sc_core::sc_time& delay);
    unsigned transport_dbg(int id, tlm::tlm_generic_payload& payload);
    bool get_direct_mem_ptr(int id, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
    std::uint64_t submit(tlm::tlm_generic_payload& payload, int id, const sc_core::sc_time& delay);
    bool grants_direct_access() const { return options_.direct_access && options_.bytes; }
    void move_bytes(tlm::tlm_generic_payload& payload);
    void finish(tlm::tlm_generic_payload& payload);
    Initiator& initiator(int id) { return initiators_[static_cast<std::size_t>(id)]; }
    void send_answers();
    void respond(int id);
    bool has_room(Initiator& of);
    void await_room(const Initiator& of);
    void end_request(int id);

    TimeLine& time_line_;
    DramOptions options_;
    base::stats::Group root_{""};
    // SystemC's trace() is const.
    mutable memory::controller::MemorySystem memory_;
    memory::port::BackingStore store_;
    base::SlotPool<Request> requests_;
    std::vector<Initiator> initiators_;
    std::vector<int> answered_;  // initiators with answers to be sent
    sc_core::sc_event answer_;
    sc_core::sc_event room_;  // somebody's answer, given ahead, is due
    BlockModules blocks_;
    mutable std::unique_ptr<Waves> waves_;  // both only where it is traced
    mutable std::unique_ptr<memory::controller::CommandTrace> commands_;
};

}  // namespace tilesim::arch::systemc::dram
