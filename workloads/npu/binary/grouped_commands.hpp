// The commands of a PDI that XRT's xclbinutil has rewritten to be loaded faster, as vendors'
// overlays are: those of one kind that follow each other are a group, a count and their operands,
// and what block writes write stands behind all of them.
//
// Source: XRT's aie-pdi-transform.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "workloads/npu/binary/transaction.hpp"
#include "workloads/npu/binary/words.hpp"

namespace tilesim::workloads::npu::binary {

// Bytes of the groups behind the CDO's header at this byte, as the PDI's header in front of it
// says; nothing where its commands are not grouped.
std::optional<std::size_t> grouped_commands(const std::string& bytes, std::size_t header);

// `words`: all behind the CDO's header; the first `commands` are the groups. Throws ConfigError.
void read_groups(const Words& words, std::size_t commands, std::vector<Instruction>& into);

}  // namespace tilesim::workloads::npu::binary
