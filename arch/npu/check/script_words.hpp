// How many words a core's script moves in all, where that can be known before it runs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::check {

// Nothing when a loop with such operations has no end, as good as none, or no constant count.
std::optional<std::int64_t> words_put_on_cascade(const std::vector<program::CoreOp>& script);
std::optional<std::int64_t> words_got_from_cascade(const std::vector<program::CoreOp>& script);
// By the port of the core's own streams it puts on or gets from.
std::map<program::ChannelId, std::optional<std::int64_t>> words_on_ports(
    const program::CoreProgram& core);

}  // namespace tilesim::arch::npu::check
