#include "workloads/amx/tiles/amx_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "arch/amx/core/tile_machine.hpp"
#include "arch/base/splitmix64.hpp"
#include "arch/base/units.hpp"
#include "workloads/amx/tiles/amx_relayout.hpp"

namespace tilesim::workloads::amx::tiles {

using arch::amx::core::flushed;
using arch::amx::core::from_bf16;
using arch::amx::core::fused_multiply_add;
using arch::amx::core::round_to_bf16;
using arch::amx::program::kMaxRows;
using arch::amx::program::kRowBytes;
using arch::amx::program::kTileBytes;
using arch::base::ceil_div;
using arch::memory::port::BackingStore;

namespace {

constexpr std::int64_t kGroupBytes = 4;  // elements of k that lie together in B
constexpr double kFullCheck = 268435456.0;
constexpr std::int64_t kParts = 3;

float random_value(DataType type, bool is_signed, std::uint64_t& state) {
    const std::uint64_t bits = arch::base::next_splitmix64(state);
    const auto byte = static_cast<std::uint8_t>(bits);
    if (type == DataType::Int4) {
        return static_cast<float>(static_cast<int>(bits % 16) - (is_signed ? 8 : 0));
    }
    if (type == DataType::Int8) {
        return is_signed ? static_cast<float>(static_cast<std::int8_t>(byte))
                         : static_cast<float>(byte);
    }
    constexpr float kBf16Scale = 1.0F / 128.0F;
    constexpr float kF32Scale = 1.0F / 8388608.0F;
    return type == DataType::Bf16
               ? (static_cast<float>(byte) - 128.0F) * kBf16Scale
               : static_cast<float>(static_cast<std::int32_t>(bits >> 40U) - 8388608) * kF32Scale;
}

void write_bits(BackingStore& store, std::int64_t address, std::uint32_t bits, std::int64_t bytes) {
    std::array<std::byte, sizeof bits> image;
    std::memcpy(image.data(), &bits, sizeof bits);
    store.write(address, std::span{image}.first(static_cast<std::size_t>(bytes)));
}

std::uint32_t read_bits(const BackingStore& store, std::int64_t address, std::int64_t bytes) {
    std::array<std::byte, sizeof(std::uint32_t)> image{};
    store.read(address, std::span{image}.first(static_cast<std::size_t>(bytes)));
    return std::bit_cast<std::uint32_t>(image);
}

void write_nibble(BackingStore& store, std::int64_t address, int value, bool high) {
    constexpr std::uint32_t kNibble = 15;
    const std::uint32_t bits = static_cast<std::uint32_t>(value) & kNibble;
    write_bits(store, address, read_bits(store, address, 1) | (high ? bits << 4U : bits), 1);
}

std::size_t at(std::int64_t index) {
    return static_cast<std::size_t>(index);
}

}  // namespace

AmxData::AmxData(const ConvolutionProblem& convolution, const AmxMapping& mapping,
                 const LoweredAmx& lowered, std::uint64_t seed)
    : conv_(convolution), map_(mapping), lowered_(lowered) {
    gemm_.a = convolution.a;
    gemm_.b = convolution.b;
    gemm_.c = convolution.c;
    generate(seed);
}

AmxData::AmxData(const GemmProblem& gemm, const AmxMapping& mapping, const LoweredAmx& lowered,
                 std::uint64_t seed)
    : gemm_(gemm), map_(mapping), lowered_(lowered) {
    conv_.height = 1;
    conv_.width = gemm.m;
    conv_.channels = gemm.k;
    conv_.filters = gemm.n;
    generate(seed);
}

void AmxData::generate(std::uint64_t seed) {
    element_bytes_ = gemm_.a == DataType::Int8 ? 1 : 2;
    k_tiles_ = ceil_div(conv_.channels, lowered_.k_tile);
    std::uint64_t state = seed;
    a_.resize(at(conv_.input_height() * conv_.input_width() * conv_.channels));
    b_.resize(at(taps() * conv_.channels * conv_.filters));
    bias_.resize(at(conv_.filters));
    for (float& value : a_) {
        value = random_value(gemm_.a, map_.a_signed, state);
    }
    // What VPMOVSXBD widens for products of bf16 has a sign.
    const bool b_signed = map_.b_signed || gemm_.a != DataType::Int8;
    for (float& value : b_) {
        value = random_value(gemm_.b, b_signed, state);
    }
    for (float& value : bias_) {
        value = random_value(DataType::F32, true, state);
    }
    if (map_.b_layout == AmxMapping::BLayout::Sparse) {
        drop_from_sparse();
    }
}

// What the masks leave out is zero, what they keep is not: lines are as long as they say.
void AmxData::drop_from_sparse() {
    for_sparse_bytes([this](std::size_t line, std::int64_t byte, std::int64_t index) {
        float& value = b_[at(index)];
        const bool kept = (lowered_.line_masks[line] >> at(byte) & 1U) != 0;
        value = kept ? (value == 0.0F ? 1.0F : value) : 0.0F;
    });
}

// Calls `visit(line, byte of the line, index into b_)` for every byte inside B, line by line.
void AmxData::for_sparse_bytes(
    const std::function<void(std::size_t, std::int64_t, std::int64_t)>& visit) const {
    const std::int64_t lines = k_tiles_ * kMaxRows;
    for (std::size_t line = 0; line < lowered_.line_masks.size(); ++line) {
        const std::int64_t tile = static_cast<std::int64_t>(line) / lines;
        const std::int64_t group = static_cast<std::int64_t>(line) % lines;
        for (std::int64_t i = 0; i < kRowBytes; ++i) {
            const std::int64_t k = group * kGroupBytes + i % kGroupBytes;
            const std::int64_t n = tile * kMaxRows + i / kGroupBytes;
            if (k < conv_.channels && n < conv_.filters) {
                visit(line, i, b_index(0, k, n));
            }
        }
    }
}

// A float as its three bf16 parts add up to it.
std::uint32_t AmxData::part(float value, std::int64_t index) const {
    std::uint16_t bits = round_to_bf16(value);
    for (std::int64_t i = 0; i < index; ++i) {
        value -= from_bf16(bits);
        bits = round_to_bf16(value);
    }
    return bits;
}

std::int64_t AmxData::a_address(std::int64_t y, std::int64_t x, std::int64_t k) const {
    if (map_.a_packed && taps() == 1 && conv_.height == 1) {
        return lowered_.a + (x / kMaxRows * k_tiles_ + k / lowered_.k_tile) * kTileBytes +
               x % kMaxRows * kRowBytes + k % lowered_.k_tile * element_bytes_;
    }
    const std::int64_t pixel =
        taps() == 1 && conv_.height == 1 ? lowered_.a_row : k_tiles_ * kRowBytes;
    const std::int64_t row = conv_.input_width() * pixel + map_.a_padding;
    return lowered_.a + (conv_.input_height() == 1 ? 0 : y * row) + x * pixel + k * element_bytes_;
}

std::int64_t AmxData::b_address(std::int64_t tap, std::int64_t k, std::int64_t n) const {
    const std::int64_t group = kGroupBytes / element_bytes_;
    if (map_.b_layout == AmxMapping::BLayout::RowMajor) {
        return lowered_.raw + k * lowered_.raw_row + n * element_bytes_;
    }
    if (map_.b_layout == AmxMapping::BLayout::Vnni) {
        return lowered_.b + k / group * lowered_.b_row + n * kGroupBytes +
               k % group * element_bytes_;
    }
    const std::int64_t tile = (n / kMaxRows * taps() + tap) * k_tiles_ + k / lowered_.k_tile;
    if (gemm_.b == DataType::Int4) {  // a half of this byte
        return lowered_.raw + tile * kNarrowTileBytes +
               k % lowered_.k_tile / group / 2 * kRowBytes + n % kMaxRows * group + k % group;
    }
    if (decompresses(gemm_, map_)) {  // int8 where the tile has bf16
        return lowered_.raw + (tile * kMaxRows + k % lowered_.k_tile / group) * kMaxRows * group +
               n % kMaxRows * group + k % group;
    }
    return lowered_.b + tile * kTileBytes + k % lowered_.k_tile / group * kRowBytes +
           n % kMaxRows * kGroupBytes + k % group * element_bytes_;
}

std::int64_t AmxData::c_address(std::int64_t m, std::int64_t n) const {
    return lowered_.c + m / conv_.width * lowered_.c_group + m % conv_.width * lowered_.c_row +
           n * bytes_of(gemm_.c);
}

void AmxData::fill(BackingStore& store) const {
    fill_a(store);
    if (map_.b_layout == AmxMapping::BLayout::Sparse) {
        fill_sparse(store);
    } else {
        fill_b(store);
    }
    if (gemm_.b == DataType::Int4) {
        write_bits(store, lowered_.nibbles, kNibbleMask, kNibbleMaskBytes);
    }
    const float scale = scale_ / (gemm_.b == DataType::Int4 ? kNibbleScale : 1.0F);
    write_bits(store, lowered_.scale, std::bit_cast<std::uint32_t>(scale), sizeof(float));
    for (std::int64_t n = 0; n < conv_.filters; ++n) {
        write_bits(store, lowered_.bias + n * kGroupBytes,
                   std::bit_cast<std::uint32_t>(bias_[at(n)]), sizeof(float));
    }
}

void AmxData::fill_a(BackingStore& store) const {
    const bool f32 = gemm_.a == DataType::F32;
    std::size_t i = 0;
    for (std::int64_t y = 0; y < conv_.input_height(); ++y) {
        for (std::int64_t x = 0; x < conv_.input_width(); ++x) {
            for (std::int64_t k = 0; k < conv_.channels; ++k, ++i) {
                for (std::int64_t p = 0; p < (f32 ? kParts : 1); ++p) {
                    const std::uint32_t bits =
                        element_bytes_ == 1
                            ? static_cast<std::uint32_t>(static_cast<std::int32_t>(a_[i]))
                            : part(a_[i], p);
                    write_bits(store, a_address(y, x, k) + p * lowered_.a_part, bits,
                               element_bytes_);
                }
            }
        }
    }
}

void AmxData::fill_b(BackingStore& store) const {
    const bool f32 = gemm_.b == DataType::F32;
    const std::int64_t bytes = gemm_.b == DataType::Int8 ? 1 : element_bytes_;
    const bool int4 = gemm_.b == DataType::Int4;
    for (std::int64_t tap = 0; tap < taps(); ++tap) {
        for (std::int64_t k = 0; k < conv_.channels; ++k) {
            for (std::int64_t n = 0; n < conv_.filters; ++n) {
                const float value = b_[at(b_index(tap, k, n))];
                if (int4) {
                    write_nibble(store, b_address(tap, k, n), static_cast<int>(value),
                                 k % lowered_.k_tile / kGroupBytes % 2 == 0);
                    continue;
                }
                for (std::int64_t p = 0; p < (f32 ? kParts : 1); ++p) {
                    const std::uint32_t bits =
                        bytes == 1 ? static_cast<std::uint32_t>(static_cast<std::int32_t>(value))
                                   : part(value, p);
                    write_bits(store, b_address(tap, k, n) + p * lowered_.b_part, bits, bytes);
                }
            }
        }
    }
}

void AmxData::fill_sparse(BackingStore& store) const {
    for (std::size_t line = 0; line < lowered_.line_masks.size(); ++line) {
        const std::uint64_t mask = lowered_.line_masks[line];
        const std::int64_t address = lowered_.masks + static_cast<std::int64_t>(line) * 8;
        write_bits(store, address, static_cast<std::uint32_t>(mask), 4);
        write_bits(store, address + 4, static_cast<std::uint32_t>(mask >> 32U), 4);
    }
    std::int64_t next = lowered_.raw;
    for_sparse_bytes([&](std::size_t, std::int64_t, std::int64_t index) {
        if (const float value = b_[at(index)]; value != 0.0F) {
            write_bits(store, next++, static_cast<std::uint32_t>(static_cast<std::int32_t>(value)),
                       1);
        }
    });
}

std::int64_t AmxData::a_index(std::int64_t m, std::int64_t tap, std::int64_t k) const {
    const std::int64_t y = m / conv_.width * conv_.stride + tap / conv_.kw;
    const std::int64_t x = m % conv_.width * conv_.stride + tap % conv_.kw;
    return (y * conv_.input_width() + x) * conv_.channels + k;
}

std::uint32_t AmxData::sum_int8(std::int64_t m, std::int64_t n) const {
    std::uint32_t sum = 0;
    for (std::int64_t tap = 0; tap < taps(); ++tap) {
        const std::int64_t a = a_index(m, tap, 0);
        for (std::int64_t k = 0; k < conv_.channels; ++k) {
            sum +=
                static_cast<std::uint32_t>(static_cast<std::int32_t>(a_[at(a + k)]) *
                                           static_cast<std::int32_t>(b_[at(b_index(tap, k, n))]));
        }
    }
    return sum;
}

// K tiles [first, last), in TDPBF16PS's order: even and odd products apart, tile by tile.
float AmxData::sum_bf16(std::int64_t m, std::int64_t n, std::int64_t first,
                        std::int64_t last) const {
    const std::int64_t parts = gemm_.a == DataType::F32 ? kParts : 1;
    float c = 0;
    for (std::int64_t tap = 0; tap < taps(); ++tap) {
        for (std::int64_t tile = first; tile < last; ++tile) {
            for (std::int64_t pair = 0; pair < parts * parts; ++pair) {
                if (pair / parts + pair % parts >= parts) {
                    continue;
                }
                std::array<float, 2> chain{0.0F, 0.0F};
                const std::int64_t end = std::min((tile + 1) * lowered_.k_tile, conv_.channels);
                for (std::int64_t k = tile * lowered_.k_tile; k < end; ++k) {
                    const float a = from_bf16(
                        static_cast<std::uint16_t>(part(a_[at(a_index(m, tap, k))], pair / parts)));
                    const float b = from_bf16(
                        static_cast<std::uint16_t>(part(b_[at(b_index(tap, k, n))], pair % parts)));
                    float& sum = chain[at(k % 2)];
                    sum = flushed(fused_multiply_add(a, b, sum));
                }
                c = flushed(flushed(c) + flushed(chain[0] + chain[1]));
            }
        }
    }
    return c;
}

std::uint32_t AmxData::expected(std::int64_t m, std::int64_t n) const {
    if (gemm_.a == DataType::Int8) {
        return sum_int8(m, n);
    }
    if (lowered_.c_copy == 0) {
        return std::bit_cast<std::uint32_t>(sum_bf16(m, n, 0, k_tiles_));
    }
    float sum = 0;
    for (std::int64_t t = 0; t < map_.threads; ++t) {
        const float copy =
            sum_bf16(m, n, k_tiles_ * t / map_.threads, k_tiles_ * (t + 1) / map_.threads);
        sum = t == 0 ? copy : sum + copy;
    }
    return std::bit_cast<std::uint32_t>(sum);
}

std::uint32_t AmxData::finished(std::uint32_t bits, std::int64_t n) const {
    const bool int8 = gemm_.a == DataType::Int8;
    if (gemm_.c == (int8 ? DataType::Int32 : DataType::F32)) {
        return bits;
    }
    const float bias = bias_[at(n)];
    float value = int8 ? std::fma(static_cast<float>(static_cast<std::int32_t>(bits)), scale_, bias)
                       : std::bit_cast<float>(bits) + bias;
    value = map_.relu && !(value > 0.0F) ? 0.0F : value;
    if (gemm_.c == DataType::Bf16) {
        return round_to_bf16(value);
    }
    if (gemm_.c == DataType::Int8) {
        const float rounded = std::clamp(std::nearbyint(value), -128.0F, 127.0F);
        return static_cast<std::uint8_t>(static_cast<std::int8_t>(rounded));
    }
    return std::bit_cast<std::uint32_t>(value);
}

ProductCheck AmxData::check(const BackingStore& store) const {
    ProductCheck result;
    const double products = static_cast<double>(rows()) * static_cast<double>(conv_.filters) *
                            static_cast<double>(conv_.channels * taps());
    const std::int64_t step =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(products / kFullCheck));
    result.method = step == 1 ? "every element" : fmt::format("every {}th row", step);
    result.match = true;
    for (std::int64_t m = 0; m < rows(); m += step) {
        for (std::int64_t n = 0; n < conv_.filters; ++n) {
            const std::uint32_t got = read_bits(store, c_address(m, n), bytes_of(gemm_.c));
            const std::uint32_t wanted = finished(expected(m, n), n);
            ++result.checked;
            if (got != wanted && result.match) {
                result.match = false;
                result.first_mismatch =
                    fmt::format("C[{}][{}] is {:#x}, expected {:#x}", m, n, got, wanted);
            }
        }
    }
    return result;
}

}  // namespace tilesim::workloads::amx::tiles
