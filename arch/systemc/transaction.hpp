// What is the same for every TLM-2.0 socket of the modules: sizes, checks of payloads, texts.
#pragma once

#include <cstdint>
#include <string>
#include <systemc>
#include <tlm>

#include "arch/base/units.hpp"

namespace tilesim::arch::systemc {

constexpr unsigned kBusBits = 32;  // of every socket: TLM-2.0's default

// Refuses what no module supports: byte enables, streams narrower than the data, nothing at all,
// an address beyond `size`. Sets the response status and warns in the name of `module`; true where
// the payload may go on.
bool accept(const sc_core::sc_module& module, tlm::tlm_generic_payload& payload, base::Bytes size);
// The same of a debug access, which has a command, an address and data, or none: whoever asks need
// not set the payload's other attributes (IEEE 1666, debug transport interface).
bool accept_debug(const sc_core::sc_module& module, tlm::tlm_generic_payload& payload,
                  base::Bytes size);

// Notes that a payload is under way in a target; false where it is already: it has begun twice.
bool begin_transaction(tlm::tlm_generic_payload& payload);
// The payload may begin again.
void end_transaction(tlm::tlm_generic_payload& payload);

// A phase that extends the base protocol: who does not know it takes it and does nothing (IEEE
// 1666, base protocol, ignorable phases).
bool is_ignorable(const tlm::tlm_phase& phase);

// "a read of 64 B at 0x1000"
std::string text_of(const tlm::tlm_generic_payload& payload);

}  // namespace tilesim::arch::systemc
