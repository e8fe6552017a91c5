// What trace units put into memory, as mlir-aie's host programs save it: 32-bit words, as hex text
// or little-endian bytes.
//
// Source:  the packet headers and commands of AIE-ML's trace units (AM020, mlir-aie's
//          python/utils/trace); spans of an event as its parser makes them.
#pragma once

#include <span>
#include <string>

#include "sim/compare/trace_file.hpp"
#include "workloads/npu/program_file/program_file.hpp"

namespace tilesim::sim::compare {

// Whether the bytes may be such a file rather than JSON or a table of timings.
bool is_raw_trace(const std::string& bytes);
// Whether the words are those of a buffer that no trace unit has written into.
bool is_unwritten_trace(const std::string& bytes);

// `slots`: what the design's trace units watch; a unit that is not among them keeps slot numbers
// for names. Packets without a valid header are counted as lost. Throws ConfigError where the bytes
// hold no packet.
TraceFile parse_raw_trace(const std::string& bytes, const std::string& file,
                          std::span<const workloads::npu::program_file::TraceSlots> slots);

}  // namespace tilesim::sim::compare
