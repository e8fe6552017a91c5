#include "arch/systemc/port/address_decoder.hpp"

#include <fmt/format.h>

#include "arch/systemc/time_line.hpp"

namespace tilesim::arch::systemc::port {

AddressDecoder::AddressDecoder(const sc_core::sc_module_name& name)
    : sc_core::sc_module(in_elaboration(name)) {
    socket.register_b_transport(this, &AddressDecoder::b_transport);
    socket.register_nb_transport_fw(this, &AddressDecoder::nb_transport_fw);
    socket.register_transport_dbg(this, &AddressDecoder::transport_dbg);
    socket.register_get_direct_mem_ptr(this, &AddressDecoder::get_direct_mem_ptr);
}

AddressDecoder::~AddressDecoder() = default;

void AddressDecoder::add(const Range& range) {
    if (range.bytes == 0 || range.begin + (range.bytes - 1) < range.begin) {
        SC_REPORT_ERROR(name(), fmt::format("{} of {:#x} B at {:#x}: must be at least 1 B, within "
                                            "the addresses of 64 bits",
                                            range.target, range.bytes, range.begin)
                                    .c_str());
    }
    for (const Range& other : ranges_) {
        // Ends themselves: the last range may end where 64 bits do.
        if (range.begin <= other.begin + (other.bytes - 1) &&
            other.begin <= range.begin + (range.bytes - 1)) {
            SC_REPORT_ERROR(name(),
                            fmt::format("{} at {:#x} to {:#x} lies over {} at {:#x} to "
                                        "{:#x}",
                                        range.target, range.begin, range.begin + range.bytes - 1,
                                        other.target, other.begin, other.begin + other.bytes - 1)
                                .c_str());
        }
    }
    ranges_.push_back(range);
}

int AddressDecoder::target_of(tlm::tlm_generic_payload& payload) {
    const std::uint64_t begin = payload.get_address();
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
        const Range& range = ranges_[i];
        if (begin >= range.begin && begin - range.begin < range.bytes &&
            payload.get_data_length() <= range.bytes - (begin - range.begin)) {
            return static_cast<int>(i);
        }
    }
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    SC_REPORT_WARNING(name(),
                      fmt::format("nothing is there: {} is refused", text_of(payload)).c_str());
    return kNowhere;
}

void AddressDecoder::b_transport(int, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const int target = target_of(payload);
    if (target != kNowhere) {
        const std::uint64_t address = payload.get_address();
        payload.set_address(address - ranges_[static_cast<std::size_t>(target)].begin);
        out_[target]->b_transport(payload, delay);
        payload.set_address(address);
    }
}

tlm::tlm_sync_enum AddressDecoder::nb_transport_fw(int, tlm::tlm_generic_payload& payload,
                                                   tlm::tlm_phase&, sc_core::sc_time&) {
    SC_REPORT_ERROR(
        name(), fmt::format("takes blocking transactions only, not {}", text_of(payload)).c_str());
    return tlm::TLM_ACCEPTED;
}

unsigned AddressDecoder::transport_dbg(int, tlm::tlm_generic_payload& payload) {
    const int target = target_of(payload);
    if (target == kNowhere) {
        return 0;
    }
    const std::uint64_t address = payload.get_address();
    payload.set_address(address - ranges_[static_cast<std::size_t>(target)].begin);
    const unsigned moved = out_[target]->transport_dbg(payload);
    payload.set_address(address);
    return moved;
}

bool AddressDecoder::get_direct_mem_ptr(int, tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) {
    dmi.allow_none();
    return false;
}

}  // namespace tilesim::arch::systemc::port
