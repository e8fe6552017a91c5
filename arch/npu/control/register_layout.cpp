#include "arch/npu/control/register_layout.hpp"

namespace tilesim::arch::npu::control {

using program::TileKind;

namespace {

// What core and shim tiles of the second generation hold alike: the last word.
constexpr DescriptorLayout with_control_word(DescriptorLayout layout, int word) {
    layout.valid = {word, 25, 25};
    layout.use_next = {word, 26, 26};
    layout.next = {word, 30, 27};
    layout.acquire = {{word, 12, 12}, {word, 3, 0}, {word, 11, 5}, {}};
    layout.release = {{}, {word, 16, 13}, {word, 24, 18}, {}};
    return layout;
}

constexpr DescriptorLayout kSecondCoreWords =
    with_control_word({.words = 6,
                       .length = {0, 13, 0},
                       .address = {0, 27, 14},
                       .address_unit = kWordBytes,
                       .packet = {1, 30, 30},
                       .packet_id = {1, 23, 19},
                       .packet_type = {1, 18, 16},
                       .packet_descriptor = {1, 29, 24},
                       .wraps = {Field{3, 20, 13}, Field{3, 28, 21}},
                       .steps = {Field{2, 12, 0}, Field{2, 25, 13}, Field{3, 12, 0}},
                       .iteration_current = {4, 24, 19},
                       .iteration_wrap = {4, 18, 13},
                       .iteration_step = {4, 12, 0}},
                      5);

constexpr DescriptorLayout kSecondShimWords =
    with_control_word({.words = 8,
                       .length = {0, 31, 0},
                       .address = {1, 31, 2},
                       .address_high = {2, 15, 0},
                       .address_unit = kWordBytes,
                       .packet = {2, 30, 30},
                       .packet_id = {2, 23, 19},
                       .packet_type = {2, 18, 16},
                       .packet_descriptor = {2, 29, 24},
                       .wraps = {Field{3, 29, 20}, Field{4, 29, 20}},
                       .steps = {Field{3, 19, 0}, Field{4, 19, 0}, Field{5, 19, 0}},
                       .iteration_current = {6, 31, 26},
                       .iteration_wrap = {6, 25, 20},
                       .iteration_step = {6, 19, 0}},
                      7);

constexpr DescriptorLayout kSecondMemoryWords{
    .words = 8,
    .valid = {7, 31, 31},
    .use_next = {1, 19, 19},
    .next = {1, 25, 20},
    .length = {0, 16, 0},
    .address = {1, 18, 0},
    .address_unit = kWordBytes,
    .packet = {0, 31, 31},
    .packet_id = {0, 27, 23},
    .packet_type = {0, 30, 28},
    .packet_descriptor = {0, 22, 17},
    .acquire = {{7, 15, 15}, {7, 7, 0}, {7, 14, 8}, {}},
    .release = {{}, {7, 23, 16}, {7, 30, 24}, {}},
    .wraps = {Field{2, 26, 17}, Field{3, 26, 17}, Field{4, 26, 17}},
    .steps = {Field{2, 16, 0}, Field{3, 16, 0}, Field{4, 16, 0}, Field{5, 16, 0}},
    .zeros_before = {Field{1, 31, 26}, Field{3, 31, 27}, Field{4, 30, 27}},
    .zeros_after = {Field{5, 22, 17}, Field{5, 27, 23}, Field{5, 31, 28}},
    .iteration_current = {6, 28, 23},
    .iteration_wrap = {6, 22, 17},
    .iteration_step = {6, 16, 0}};

// Buffers A and B of a first-generation core tile, a word each: one lock, acquired and released.
constexpr LockFields first_acquire(int word) {
    return {{word, 18, 18}, {word, 25, 22}, {word, 17, 17}, {word, 16, 16}};
}
constexpr LockFields first_release(int word) {
    return {{word, 21, 21}, {word, 25, 22}, {word, 20, 20}, {word, 19, 19}};
}

constexpr DescriptorLayout kFirstCoreWords{
    .words = 7,
    .valid = {6, 31, 31},
    .use_next = {6, 17, 17},
    .next = {6, 16, 13},
    .length = {6, 12, 0},
    .length_bias = 1,
    .address = {0, 12, 0},
    .address_unit = kWordBytes,
    .packet = {6, 27, 27},
    .packet_id = {4, 4, 0},
    .packet_type = {4, 14, 12},
    .counting_locks = false,
    .acquire = first_acquire(0),
    .release = first_release(0),
    .counters = {CounterFields{{2, 31, 24}, {2, 23, 16}, {2, 12, 0}},
                 CounterFields{{3, 31, 24}, {3, 23, 16}, {3, 12, 0}}},
    .alternates = {6, 30, 30},
    .begins_with_second = {5, 16, 16},
    .second_address = {1, 12, 0},
    .second_acquire = first_acquire(1),
    .second_release = first_release(1),
    .interleaved = {6, 26, 26},
    .fifo = {6, 29, 28}};

constexpr DescriptorLayout kFirstShimWords{.words = 5,
                                           .valid = {2, 0, 0},
                                           .use_next = {2, 15, 15},
                                           .next = {2, 14, 11},
                                           .length = {1, 31, 0},
                                           .address = {0, 31, 0},
                                           .address_high = {2, 31, 16},
                                           .packet = {4, 31, 31},
                                           .packet_id = {4, 4, 0},
                                           .packet_type = {4, 14, 12},
                                           .counting_locks = false,
                                           .acquire = {{2, 3, 3}, {2, 10, 7}, {2, 2, 2}, {2, 1, 1}},
                                           .release = {{2, 6, 6}, {2, 10, 7}, {2, 5, 5}, {2, 4, 4}},
                                           .burst = {3, 10, 9}};

}  // namespace

const DescriptorLayout& descriptor_layout_of(TileKind kind, Generation generation) {
    if (generation == Generation::First) {
        return kind == TileKind::Core ? kFirstCoreWords : kFirstShimWords;
    }
    return kind == TileKind::Core     ? kSecondCoreWords
           : kind == TileKind::Memory ? kSecondMemoryWords
                                      : kSecondShimWords;
}

}  // namespace tilesim::arch::npu::control
