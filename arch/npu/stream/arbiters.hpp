// Which arbiter of a switch passes a packet, where the program does not say.
//
// Models:  a master port listens to one arbiter. So ports that one packet leaves by have theirs in
//          common, and packets of other ports of these wait for it, too. Where a switch has fewer
//          arbiters than such groups, some share one.
// Ignores: the order in which a compiler hands arbiters out, which decides who shares where they do
//          not suffice.
// Source:  AMD AM020 (amsel and msel), AM025 (Deterministic_Merge); mlir-aie's lowering of packet
// flows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "arch/npu/program/program.hpp"

namespace tilesim::arch::npu::stream {

inline constexpr std::size_t kArbiters = 6;  // per switch
inline constexpr std::size_t kSelects = 4;   // combinations of outputs an arbiter tells apart
// Deterministic merge: which arbiters have it, how many turns, how many packets in one.
inline constexpr std::int64_t kMergingArbiters = 2;
inline constexpr std::size_t kMergeTurns = 4;
inline constexpr std::int64_t kMergePackets = 63;

// Sets Hop::arbiter where more than one master, or more than one packet's masters, share one.
// Switches of which a route states arbiters are left as they are.
void share_arbiters(program::Program& program);

}  // namespace tilesim::arch::npu::stream
