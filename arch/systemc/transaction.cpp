#include "arch/systemc/transaction.hpp"

#include <fmt/format.h>

#include <utility>

namespace tilesim::arch::systemc {

namespace {

// Stays with the payload: pools hand the same ones out again.
struct UnderWay : tlm::tlm_extension<UnderWay> {
    tlm::tlm_extension_base* clone() const override { return nullptr; }  // a copy is not under way
    void copy_from(const tlm::tlm_extension_base& /*other*/) override {}

    bool now = false;
};

bool refuse(const sc_core::sc_module& module, tlm::tlm_generic_payload& payload,
            tlm::tlm_response_status status, const std::string& reason) {
    payload.set_response_status(status);
    SC_REPORT_WARNING(module.name(),
                      fmt::format("{}: {} is refused", reason, text_of(payload)).c_str());
    return false;
}

bool is_command(const sc_core::sc_module& module, tlm::tlm_generic_payload& payload) {
    return payload.is_read() || payload.is_write() ||
           refuse(module, payload, tlm::TLM_COMMAND_ERROR_RESPONSE, "neither a read nor a write");
}

bool is_inside(const sc_core::sc_module& module, tlm::tlm_generic_payload& payload,
               base::Bytes size) {
    const auto capacity = static_cast<std::uint64_t>(size.count());
    return (payload.get_address() < capacity &&
            payload.get_data_length() <= capacity - payload.get_address()) ||
           refuse(module, payload, tlm::TLM_ADDRESS_ERROR_RESPONSE,
                  fmt::format("the address lies outside its {} B", capacity));
}

}  // namespace

bool begin_transaction(tlm::tlm_generic_payload& payload) {
    auto* under_way = payload.get_extension<UnderWay>();
    if (under_way == nullptr) {
        under_way = new UnderWay;  // the payload deletes it
        payload.set_extension(under_way);
    }
    return !std::exchange(under_way->now, true);
}

void end_transaction(tlm::tlm_generic_payload& payload) {
    payload.get_extension<UnderWay>()->now = false;
}

bool is_ignorable(const tlm::tlm_phase& phase) {
    return phase > tlm::END_RESP;
}

std::string text_of(const tlm::tlm_generic_payload& payload) {
    return fmt::format("{} of {} B at {:#x}",
                       payload.is_read()    ? "a read"
                       : payload.is_write() ? "a write"
                                            : "a command",
                       payload.get_data_length(), payload.get_address());
}

bool accept(const sc_core::sc_module& module, tlm::tlm_generic_payload& payload, base::Bytes size) {
    const std::uint64_t length = payload.get_data_length();
    if (!is_command(module, payload)) {
        return false;
    }
    if (payload.get_byte_enable_ptr() != nullptr) {
        return refuse(module, payload, tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE,
                      "byte enables are not supported");
    }
    if (payload.get_streaming_width() < length) {
        return refuse(
            module, payload, tlm::TLM_BURST_ERROR_RESPONSE,
            fmt::format("a streaming width of {} is not supported", payload.get_streaming_width()));
    }
    if (length == 0 || payload.get_data_ptr() == nullptr) {
        return refuse(module, payload, tlm::TLM_BURST_ERROR_RESPONSE, "there are no data");
    }
    return is_inside(module, payload, size);
}

bool accept_debug(const sc_core::sc_module& module, tlm::tlm_generic_payload& payload,
                  base::Bytes size) {
    const bool has_data = payload.get_data_length() > 0 && payload.get_data_ptr() != nullptr;
    return has_data && is_command(module, payload) && is_inside(module, payload, size);
}

}  // namespace tilesim::arch::systemc
