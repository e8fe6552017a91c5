// Where the fields of a descriptor lie in its words: a table for each generation and kind of tile.
//
// The decoder (descriptor_words.hpp) reads these tables and knows no offsets. A field that a kind
// of tile does not have reads as 0 and takes nothing. Source:  Xilinx/aie-rt, xaiegbl_params.h and
// xaiegbl_reginit.c (first generation),
//          xaiemlgbl_params.h (second).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "arch/npu/control/register_map.hpp"

namespace tilesim::arch::npu::control {

// Bits of a word, both ends included.
struct Field {
    int word = -1;  // of the descriptor; -1: there is none
    int high = 0;
    int low = 0;
};

// What is done with a lock. Without an enable bit, what adds a value is done. Without a bit that
// says whether the value counts, it does.
struct LockFields {
    Field enable, id, value, use_value;
};

// A first-generation address counter: after `increment` words a step of `offset` words, after
// `wrap` steps from the start again. Increment and wrap are stored minus one.
struct CounterFields {
    Field increment, wrap, offset;
};

struct DescriptorLayout {
    std::size_t words = 0;
    Field valid{}, use_next{}, next{};
    Field length{};
    std::int64_t length_bias = 0;     // the register holds the words minus this
    Field address{}, address_high{};  // of so many bytes; bits 32 and up
    std::int64_t address_unit = 1;
    Field packet{}, packet_id{}, packet_type{}, packet_descriptor{};
    bool counting_locks = true;  // their values have a sign
    LockFields acquire{}, release{};
    // Second generation: wraps of 0 are not used; steps, iterations and their strides are stored
    // minus one.
    std::array<Field, 3> wraps{};
    std::array<Field, 4> steps{};
    std::array<Field, 3> zeros_before{}, zeros_after{};
    Field iteration_current{}, iteration_wrap{}, iteration_step{};
    // First generation.
    std::array<CounterFields, 2> counters{};                     // X and Y, whose steps add up
    Field alternates{}, begins_with_second{}, second_address{};  // A/B mode
    LockFields second_acquire{}, second_release{};
    Field interleaved{}, fifo{};
    Field burst{};  // 0, 1, 2: kFirstBurst bytes, twice, four times as many
};
inline constexpr std::int64_t kFirstBurst = 64;

const DescriptorLayout& descriptor_layout_of(program::TileKind kind, Generation generation);

}  // namespace tilesim::arch::npu::control
