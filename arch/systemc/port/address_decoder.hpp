// Several targets behind one address space, for blocking and debug transactions: register maps on
// a control bus.
#pragma once

#include <tlm_utils/multi_passthrough_initiator_socket.h>
#include <tlm_utils/multi_passthrough_target_socket.h>

#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "arch/systemc/transaction.hpp"

namespace tilesim::arch::systemc::port {

class AddressDecoder final : public sc_core::sc_module {
  public:
    explicit AddressDecoder(const sc_core::sc_module_name& name);
    ~AddressDecoder() override;

    tlm_utils::multi_passthrough_target_socket<AddressDecoder, kBusBits> socket{"socket"};

    // Binds `target`, which sees addresses from 0. Two at one address are an error.
    template <class Socket>
    void map(std::uint64_t begin, std::uint64_t bytes, const std::string& name, Socket& target) {
        add({begin, bytes, name});
        out_.bind(target);
    }

  private:
    struct Range {
        std::uint64_t begin;
        std::uint64_t bytes;
        std::string target;
    };
    static constexpr int kNowhere = -1;
    void add(const Range& range);
    // Of what the payload asks for; kNowhere, with a warning.
    int target_of(tlm::tlm_generic_payload& payload);
    void b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    tlm::tlm_sync_enum nb_transport_fw(int id, tlm::tlm_generic_payload& payload,
                                       tlm::tlm_phase& phase, sc_core::sc_time& delay);
    unsigned transport_dbg(int id, tlm::tlm_generic_payload& payload);
    bool get_direct_mem_ptr(int id, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);

    tlm_utils::multi_passthrough_initiator_socket<AddressDecoder, kBusBits> out_{"out"};
    std::vector<Range> ranges_;  // in the order of binding
};

}  // namespace tilesim::arch::systemc::port
