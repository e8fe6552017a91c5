// Somebody else's memory, behind a TLM-2.0 initiator socket: models see a MemoryPort.
//
// Requests leave at their arrival, as non-blocking transactions of the base protocol, cut into
// pieces of at most `largest` bytes that cross no multiple of it. Where bytes are kept, a write
// carries those that lie in the models' store at its address, and what a read brings is put there.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "arch/base/ring.hpp"
#include "arch/base/slot_pool.hpp"
#include "arch/memory/port/backing_store.hpp"
#include "arch/memory/port/memory_port.hpp"
#include "arch/systemc/time_line.hpp"
#include "arch/systemc/transaction.hpp"

namespace tilesim::arch::systemc::port {

struct InitiatorOptions {
    base::Hertz clock{1'000'000'000};  // of the memory, for models that count in its cycles
    base::Bytes largest{256};          // of a transaction
    // Of the memory: behind it its addresses begin anew, as a Dram's do for models that call it
    // directly. The page tables of AMX cores lie below 128 GiB, whatever the memory has. 0: the
    // models' addresses go out as they are.
    base::Bytes size{0};
    bool bytes = true;
};

class MemoryInitiator final : public sc_core::sc_module,
                              public memory::port::MemoryPort,
                              public tlm::tlm_mm_interface {
  public:
    MemoryInitiator(const sc_core::sc_module_name& name, TimeLine& time_line,
                    const InitiatorOptions& options = {});
    ~MemoryInitiator() override;

    tlm_utils::simple_initiator_socket<MemoryInitiator, kBusBits> socket{"socket"};

    // Where the models find the bytes they have read and put those they write.
    memory::port::BackingStore& bytes() { return store_; }

    void submit(const memory::port::MemoryRequest& request) override;
    bool idle() const override { return requests_.in_use() == 0; }
    base::Femtoseconds busy_until() const override { return last_; }
    base::Femtoseconds lookahead() const override { return base::Femtoseconds{1}; }
    base::Hertz clock() const override { return options_.clock; }

  private:
    struct Request {
        memory::port::MemoryClient* client = nullptr;
        std::uint64_t tag = 0;
        std::int64_t pieces = 0;
        base::Femtoseconds last{0};
    };
    struct Piece {  // not yet sent
        base::Femtoseconds arrival{0};
        std::int64_t address = 0;
        std::int64_t bytes = 0;
        std::uint64_t request = 0;
        bool write = false;
    };
    struct Payload;

    void free(tlm::tlm_generic_payload* payload) override;
    Payload& take_payload(const Piece& piece);
    // When the first of those waiting may leave, where no request is without its end.
    base::Femtoseconds departure() const {
        return std::max(waiting_.front().arrival, request_ended_);
    }
    void send();
    void send_first();
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay);
    // One of its own, sent and not answered.
    static bool is_under_way(const tlm::tlm_generic_payload& payload);
    void end_request(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay);
    void complete(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay);

    TimeLine& time_line_;
    InitiatorOptions options_;
    memory::port::BackingStore store_;
    base::SlotPool<Request> requests_;
    base::Ring<Piece> waiting_;  // in order of arrival
    std::vector<std::unique_ptr<Payload>> payloads_;
    std::vector<Payload*> unused_;
    const tlm::tlm_generic_payload* requesting_ = nullptr;  // BEGIN_REQ without END_REQ so far
    base::Femtoseconds request_ended_{0};                   // END_REQ of the one before
    base::Femtoseconds last_{0};
    sc_core::sc_event send_;
};

}  // namespace tilesim::arch::systemc::port
