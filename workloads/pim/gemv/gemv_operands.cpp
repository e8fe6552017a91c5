#include "workloads/pim/gemv/gemv_operands.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "arch/base/half.hpp"
#include "arch/base/splitmix64.hpp"

namespace tilesim::workloads::pim::gemv {

using arch::base::bits_of;
using arch::base::DataType;
using arch::base::is_float;

namespace {

// A random number for each place of each of the streams (weights, inputs, scales).
std::uint64_t random_at(std::uint64_t seed, std::uint64_t stream, std::int64_t a, std::int64_t b) {
    const std::uint64_t z = seed * arch::base::kSplitmixStep + stream * 0xD1B54A32D192ED03ULL +
                            static_cast<std::uint64_t>(a) * 0x8CB92BA72F3D8DD7ULL +
                            static_cast<std::uint64_t>(b) * 0xDB4F0B9175AE2165ULL;
    return arch::base::splitmix64_hash(z);
}

double rounded_to_bf16(double value) {
    return arch::base::from_bf16(arch::base::to_bf16(static_cast<float>(value)));
}

double wrapped(double value, std::int64_t bits) {
    const double range = std::ldexp(1.0, static_cast<int>(bits));
    const double low = value - range * std::floor(value / range);
    return low >= range / 2 ? low - range : low;
}

// A value of the type from random bits: all of an integer's range, [-1, 1) for floating point.
double random_value(DataType type, std::uint64_t random) {
    if (!is_float(type)) {
        return wrapped(static_cast<double>(random >> 32U), bits_of(type));
    }
    return rounded_to_bf16(static_cast<double>(random >> 40U) / 8388608.0 - 1.0);
}

// As it lies in memory.
std::uint32_t raw_of(DataType type, double value) {
    switch (type) {
        case DataType::Bf16:
            return arch::base::to_bf16(static_cast<float>(value));
        case DataType::F16:
            return arch::base::to_f16(static_cast<float>(value));
        case DataType::F32:
            return std::bit_cast<std::uint32_t>(static_cast<float>(value));
        default:
            return static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
    }
}

}  // namespace

void store_element(std::vector<std::byte>& bytes, DataType type, std::int64_t index, double value) {
    const std::int64_t bits = bits_of(type);
    const std::uint32_t raw = raw_of(type, value);
    if (bits < arch::base::kBitsPerByte) {
        const auto shift = static_cast<unsigned>(index % 2 * bits);
        bytes[static_cast<std::size_t>(index / 2)] |= static_cast<std::byte>((raw & 0xFU) << shift);
        return;
    }
    const auto size = static_cast<std::size_t>(bits / arch::base::kBitsPerByte);
    std::memcpy(bytes.data() + static_cast<std::size_t>(index) * size, &raw, size);
}

double load_element(const std::vector<std::byte>& bytes, DataType type, std::int64_t index) {
    const std::int64_t bits = bits_of(type);
    if (bits < arch::base::kBitsPerByte) {
        const auto shift = static_cast<unsigned>(index % 2 * bits);
        const auto raw =
            (static_cast<unsigned>(bytes[static_cast<std::size_t>(index / 2)]) >> shift) & 0xFU;
        return wrapped(raw, bits);
    }
    std::uint32_t raw = 0;
    const auto size = static_cast<std::size_t>(bits / arch::base::kBitsPerByte);
    std::memcpy(&raw, bytes.data() + static_cast<std::size_t>(index) * size, size);
    switch (type) {
        case DataType::Bf16:
            return arch::base::from_bf16(static_cast<std::uint16_t>(raw));
        case DataType::F16:
            return arch::base::from_f16(static_cast<std::uint16_t>(raw));
        case DataType::F32:
            return std::bit_cast<float>(raw);
        default:
            return wrapped(raw, bits);
    }
}

GemvOperands::GemvOperands(const GemvProblem& gemv, std::uint64_t seed)
    : gemv_(gemv), seed_(seed), floating_(is_float(gemv.weights)) {}

double GemvOperands::weight(std::int64_t row, std::int64_t column) const {
    return row < gemv_.m && column < gemv_.k
               ? random_value(gemv_.weights, random_at(seed_, 1, row, column))
               : 0.0;
}

double GemvOperands::input(std::int64_t column, std::int64_t vector) const {
    return column < gemv_.k ? random_value(gemv_.input, random_at(seed_, 2, column, vector)) : 0.0;
}

double GemvOperands::weight_scale(std::int64_t row, std::int64_t block) const {
    return static_cast<double>(1 + random_at(seed_, 3, row, block) % 8);
}

double GemvOperands::input_scale(std::int64_t block, std::int64_t vector) const {
    return static_cast<double>(1 + random_at(seed_, 4, block, vector) % 8);
}

double GemvOperands::add(double a, double b) const {
    return floating_ ? static_cast<double>(static_cast<float>(a) + static_cast<float>(b))
                     : wrapped(a + b, bits_of(gemv_.accumulate));
}

std::vector<double> GemvOperands::halved(std::vector<double> values, std::size_t left) const {
    while (values.size() > left) {
        const std::size_t half = values.size() / 2;
        for (std::size_t i = 0; i < half; ++i) {
            values[i] = add(values[i], values[i + half]);
        }
        values.resize(half);
    }
    return values;
}

double GemvOperands::stored(double value) const {
    switch (gemv_.accumulate) {
        case DataType::Bf16:
            return rounded_to_bf16(value);
        case DataType::F16:
            return arch::base::from_f16(arch::base::to_f16(static_cast<float>(value)));
        default:
            return value;
    }
}

const char* GemvOperands::arithmetic() const {
    return floating_ ? "f32 sums in the stated order" : "modulo 2^bits";
}

void compare_row(ProductCheck& check, std::int64_t row, double got, double expected,
                 std::int64_t vector) {
    ++check.checked;
    if (got != expected && check.first_mismatch.empty()) {
        check.match = false;
        check.first_mismatch =
            fmt::format("row {}{}: {} instead of {}", row,
                        vector > 0 ? fmt::format(" of vector {}", vector) : "", got, expected);
    }
}

BankWords::BankWords(const arch::memory::device::MemoryConfig& memory,
                     const arch::pim::PimConfig& pim)
    : channels_(memory.channels),
      banks_per_channel_(memory.banks()),
      interleave_(pim.interleave.count()),
      word_bytes_(pim.register_bits / arch::base::kBitsPerByte) {}

std::int64_t BankWords::address_of(const BankPlace& place, std::int64_t word) const {
    const std::int64_t byte = word * word_bytes_;
    const std::int64_t unit = byte / interleave_;
    return ((unit * banks_per_channel_ + place.bank) * channels_ + place.channel) * interleave_ +
           byte % interleave_;
}

std::vector<std::byte> BankWords::read(const BankPlace& place, std::int64_t word,
                                       std::int64_t words) const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(words * word_bytes_));
    for (std::int64_t i = 0; i < words; ++i) {
        store_.read(address_of(place, word + i),
                    std::span{bytes}.subspan(static_cast<std::size_t>(i * word_bytes_),
                                             static_cast<std::size_t>(word_bytes_)));
    }
    return bytes;
}

void BankWords::write(const BankPlace& place, std::int64_t word,
                      const std::vector<std::byte>& bytes) {
    const std::int64_t words = std::ssize(bytes) / word_bytes_;
    for (std::int64_t i = 0; i < words; ++i) {
        store_.write(address_of(place, word + i),
                     std::span{bytes}.subspan(static_cast<std::size_t>(i * word_bytes_),
                                              static_cast<std::size_t>(word_bytes_)));
    }
}

}  // namespace tilesim::workloads::pim::gemv
