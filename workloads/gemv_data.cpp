#include "workloads/gemv_data.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "arch/base/splitmix64.hpp"

namespace tilesim::workloads {

using arch::base::bits_of;
using arch::base::ceil_div;
using arch::base::DataType;
using arch::base::is_float;
using arch::pim::PimCommand;
using arch::pim::PimOp;

namespace {

constexpr std::int64_t kBitsPerByte = 8;

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

// Element `index` of a packed array of the type.
void store_element(std::vector<std::byte>& bytes, DataType type, std::int64_t index, double value) {
    const std::int64_t bits = bits_of(type);
    std::uint32_t raw = is_float(type)
                            ? std::bit_cast<std::uint32_t>(static_cast<float>(value))
                            : static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
    if (type == DataType::Bf16) {
        raw >>= 16U;
    }
    if (bits < kBitsPerByte) {
        const auto shift = static_cast<unsigned>(index % 2 * bits);
        bytes[static_cast<std::size_t>(index / 2)] |= static_cast<std::byte>((raw & 0xFU) << shift);
        return;
    }
    const auto size = static_cast<std::size_t>(bits / kBitsPerByte);
    std::memcpy(bytes.data() + static_cast<std::size_t>(index) * size, &raw, size);
}

double load_element(const std::vector<std::byte>& bytes, DataType type, std::int64_t index) {
    const std::int64_t bits = bits_of(type);
    if (bits < kBitsPerByte) {
        const auto shift = static_cast<unsigned>(index % 2 * bits);
        const auto raw =
            (static_cast<unsigned>(bytes[static_cast<std::size_t>(index / 2)]) >> shift) & 0xFU;
        return wrapped(raw, bits);
    }
    std::uint32_t raw = 0;
    const auto size = static_cast<std::size_t>(bits / kBitsPerByte);
    std::memcpy(&raw, bytes.data() + static_cast<std::size_t>(index) * size, size);
    if (type == DataType::Bf16) {
        raw <<= 16U;
    }
    return is_float(type) ? static_cast<double>(std::bit_cast<float>(raw)) : wrapped(raw, bits);
}

}  // namespace

FunctionalGemv::FunctionalGemv(const GemvProblem& gemv, const PimPlacement& placement,
                               const arch::memory::MemoryConfig& memory,
                               const arch::pim::PimConfig& pim, std::uint64_t seed)
    : gemv_(gemv),
      placement_(placement),
      banks_per_channel_(memory.banks()),
      all_channels_(memory.channels),
      interleave_(pim.interleave.count()),
      word_bytes_(pim.register_bits / kBitsPerByte),
      seed_(seed),
      floating_(is_float(gemv.weights)) {
    const arch::pim::PimProgram program = lower(gemv, placement, memory, pim);
    for (const PimCommand& command : program.commands) {
        for (std::int64_t channel = 0; channel < all_channels_; ++channel) {
            for (std::int64_t bank = 0; bank < banks_per_channel_; ++bank) {
                if (command.op == PimOp::Mac && command.purpose == PimCommand::Purpose::None) {
                    write_weights({channel, bank}, command);
                } else if (command.op == PimOp::Mac) {
                    write_scales({channel, bank}, command);
                }
            }
        }
        if (command.op == PimOp::Spill) {
            results_[command.row_block] = command.word;
        }
    }
}

// Interleave units go to channels first, then to banks, then along the rows.
std::int64_t FunctionalGemv::address_of(const Place& place, std::int64_t word) const {
    const std::int64_t byte = word * word_bytes_;
    const std::int64_t unit = byte / interleave_;
    return ((unit * banks_per_channel_ + place.bank) * all_channels_ + place.channel) *
               interleave_ +
           byte % interleave_;
}

std::int64_t FunctionalGemv::first_row(const Place& place, std::int64_t row_block) const {
    const std::int64_t bank =
        place.bank * placement_.channels + place.channel % placement_.channels;
    return (row_block * placement_.banks + bank) * placement_.m;
}

std::int64_t FunctionalGemv::first_column(const Place& place) const {
    return place.channel / placement_.channels * placement_.part_k;
}

std::int64_t FunctionalGemv::columns_in_chunk(std::int64_t from) const {
    return std::min(placement_.chunk, placement_.part_k - from);
}

// Where an element of a tile is added: its lane, or with tall tiles its row.
std::size_t FunctionalGemv::lane_of(std::int64_t element) const {
    return static_cast<std::size_t>(element % std::max(placement_.m, placement_.lanes));
}

double FunctionalGemv::weight(std::int64_t row, std::int64_t column) const {
    return row < gemv_.m && column < gemv_.k
               ? random_value(gemv_.weights, random_at(seed_, 1, row, column))
               : 0.0;
}

double FunctionalGemv::input(std::int64_t column) const {
    return column < gemv_.k ? random_value(gemv_.input, random_at(seed_, 2, column, 0)) : 0.0;
}

double FunctionalGemv::weight_scale(std::int64_t row, std::int64_t block) const {
    return static_cast<double>(1 + random_at(seed_, 3, row, block) % 8);
}

double FunctionalGemv::input_scale(std::int64_t block) const {
    return static_cast<double>(1 + random_at(seed_, 4, block, 0) % 8);
}

double FunctionalGemv::add(double a, double b) const {
    return floating_ ? static_cast<double>(static_cast<float>(a) + static_cast<float>(b))
                     : wrapped(a + b, bits_of(gemv_.accumulate));
}

void FunctionalGemv::write_weights(const Place& place, const PimCommand& command) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(word_bytes_));
    const std::int64_t tile = placement_.m * placement_.k;
    for (std::int64_t word = 0; word < command.count; ++word) {
        std::fill(bytes.begin(), bytes.end(), std::byte{0});
        for (std::int64_t lane = 0; lane < placement_.lanes; ++lane) {
            const std::int64_t element = word * placement_.lanes + lane;
            const std::int64_t row =
                first_row(place, command.row_block) + element % tile % placement_.m;
            const std::int64_t column =
                element / tile * placement_.k + element % tile / placement_.m;
            const bool inside = column < columns_in_chunk(command.k);
            store_element(bytes, gemv_.weights, lane,
                          inside ? weight(row, first_column(place) + command.k + column) : 0.0);
        }
        store_.write(address_of(place, command.word + word), bytes);
    }
}

std::vector<std::int64_t> FunctionalGemv::blocks_ended(std::int64_t from) const {
    const std::int64_t to = from + columns_in_chunk(from);
    const std::int64_t last =
        to == placement_.part_k ? ceil_div(to, gemv_.scale_block) : to / gemv_.scale_block;
    std::vector<std::int64_t> blocks;
    for (std::int64_t block = from / gemv_.scale_block; block < last; ++block) {
        blocks.push_back(block);
    }
    return blocks;
}

void FunctionalGemv::write_scales(const Place& place, const PimCommand& command) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(command.count * word_bytes_));
    std::int64_t index = 0;
    for (const std::int64_t block : blocks_ended(command.k)) {
        for (std::int64_t r = 0; r < placement_.m; ++r) {
            store_element(bytes, DataType::Int8, index++,
                          weight_scale(first_row(place, command.row_block) + r, block));
        }
    }
    for (std::int64_t word = 0; word < command.count; ++word) {
        const auto first = static_cast<std::size_t>(word * word_bytes_);
        store_.write(address_of(place, command.word + word),
                     std::span{bytes}.subspan(first, static_cast<std::size_t>(word_bytes_)));
    }
}

FunctionalGemv::RowBlock& FunctionalGemv::row_block(const Place& place, std::int64_t index) {
    return row_blocks_[(index * banks_per_channel_ + place.bank) * all_channels_ + place.channel];
}

void FunctionalGemv::on_pim_command(std::size_t channel, const PimCommand& command) {
    const auto at = static_cast<std::int64_t>(channel);
    if (command.op == PimOp::WriteInputs) {
        Lanes& registers = inputs_[at];
        registers.clear();
        for (std::int64_t c = 0; c < columns_in_chunk(command.k); ++c) {
            registers.push_back(input(first_column({at, 0}) + command.k + c));
        }
        return;
    }
    for (std::int64_t bank = 0; bank < banks_per_channel_; ++bank) {
        if (command.op == PimOp::Mac && command.purpose == PimCommand::Purpose::None) {
            multiply({at, bank}, command);
        } else if (command.op == PimOp::Mac) {
            apply_scales({at, bank}, command);
        } else if (command.op == PimOp::Spill) {
            spill({at, bank}, command);
        }
    }
}

void FunctionalGemv::multiply(const Place& place, const PimCommand& command) {
    RowBlock& target = row_block(place, command.row_block);
    std::vector<std::byte> bytes(static_cast<std::size_t>(word_bytes_));
    const std::int64_t tile = placement_.m * placement_.k;
    const auto lanes = static_cast<std::size_t>(std::max(placement_.m, placement_.lanes));
    for (std::int64_t word = 0; word < command.count; ++word) {
        store_.read(address_of(place, command.word + word), bytes);
        for (std::int64_t lane = 0; lane < placement_.lanes; ++lane) {
            const std::int64_t element = word * placement_.lanes + lane;
            const std::int64_t column =
                element / tile * placement_.k + element % tile / placement_.m;
            if (column >= columns_in_chunk(command.k)) {
                continue;
            }
            const std::int64_t block =
                gemv_.scale_block > 0 ? (command.k + column) / gemv_.scale_block : 0;
            Lanes& sums = target.sums[block];
            sums.resize(lanes);
            const double product = load_element(bytes, gemv_.weights, lane) *
                                   inputs_[place.channel][static_cast<std::size_t>(column)];
            double& sum = sums[lane_of(element % tile)];
            sum = add(sum, product);
        }
    }
}

void FunctionalGemv::apply_scales(const Place& place, const PimCommand& command) {
    RowBlock& target = row_block(place, command.row_block);
    std::vector<std::byte> bytes(static_cast<std::size_t>(command.count * word_bytes_));
    for (std::int64_t word = 0; word < command.count; ++word) {
        const auto first = static_cast<std::size_t>(word * word_bytes_);
        store_.read(address_of(place, command.word + word),
                    std::span{bytes}.subspan(first, static_cast<std::size_t>(word_bytes_)));
    }
    const auto lanes = static_cast<std::size_t>(std::max(placement_.m, placement_.lanes));
    target.scaled.resize(lanes);
    std::int64_t first = 0;
    for (const std::int64_t block : blocks_ended(command.k)) {
        const Lanes& sums = target.sums[block];
        for (std::size_t lane = 0; lane < sums.size(); ++lane) {
            const std::int64_t row = static_cast<std::int64_t>(lane) % placement_.m;
            const double factor =
                load_element(bytes, DataType::Int8, first + row) * input_scale(block);
            target.scaled[lane] = add(target.scaled[lane], factor * sums[lane]);
        }
        target.sums.erase(block);
        first += placement_.m;
    }
}

// Halves the lanes until one is left for each of the m outputs.
FunctionalGemv::Lanes FunctionalGemv::folded(Lanes lanes) const {
    const auto outputs = static_cast<std::size_t>(placement_.m);
    while (lanes.size() > outputs) {
        const std::size_t half = lanes.size() / 2;
        for (std::size_t i = 0; i < half; ++i) {
            lanes[i] = add(lanes[i], lanes[i + half]);
        }
        lanes.resize(half);
    }
    return lanes;
}

void FunctionalGemv::spill(const Place& place, const PimCommand& command) {
    RowBlock& done = row_block(place, command.row_block);
    const Lanes outputs = folded(gemv_.scale_block > 0 ? done.scaled : done.sums[0]);
    std::vector<std::byte> bytes(static_cast<std::size_t>(command.count * word_bytes_));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const double value =
            gemv_.accumulate == DataType::Bf16 ? rounded_to_bf16(outputs[i]) : outputs[i];
        store_element(bytes, gemv_.accumulate, static_cast<std::int64_t>(i), value);
    }
    for (std::int64_t word = 0; word < command.count; ++word) {
        const auto first = static_cast<std::size_t>(word * word_bytes_);
        store_.write(address_of(place, command.word + word),
                     std::span{bytes}.subspan(first, static_cast<std::size_t>(word_bytes_)));
    }
    done = {};
}

// One part of K by plain loops, in the stated order.
double FunctionalGemv::reference(std::int64_t row, std::int64_t first_column) const {
    const std::int64_t lanes = std::max<std::int64_t>(1, placement_.lanes / placement_.m);
    const std::int64_t block =
        gemv_.scale_block > 0 ? gemv_.scale_block : std::max<std::int64_t>(1, placement_.part_k);
    Lanes total(static_cast<std::size_t>(lanes));
    for (std::int64_t from = 0; from < placement_.part_k; from += block) {
        Lanes sums(static_cast<std::size_t>(lanes));
        for (std::int64_t c = from; c < std::min(from + block, placement_.part_k); ++c) {
            double& sum = sums[static_cast<std::size_t>(c % placement_.k % lanes)];
            sum = add(sum, weight(row, first_column + c) * input(first_column + c));
        }
        const double factor = gemv_.scale_block > 0
                                  ? weight_scale(row, from / block) * input_scale(from / block)
                                  : 1.0;
        for (std::size_t lane = 0; lane < sums.size(); ++lane) {
            total[lane] = add(total[lane], factor * sums[lane]);
        }
    }
    while (total.size() > 1) {
        const std::size_t half = total.size() / 2;
        for (std::size_t i = 0; i < half; ++i) {
            total[i] = add(total[i], total[i + half]);
        }
        total.resize(half);
    }
    return gemv_.accumulate == DataType::Bf16 ? rounded_to_bf16(total[0]) : total[0];
}

ProductCheck FunctionalGemv::check() const {
    ProductCheck check;
    check.method = floating_ ? "f32 sums per lane, lanes halved" : "modulo 2^bits";
    check.match = true;
    const std::int64_t registers_bytes = placement_.output_registers * word_bytes_;
    for (std::int64_t channel = 0; channel < all_channels_; ++channel) {
        for (std::int64_t bank = 0; bank < banks_per_channel_; ++bank) {
            const Place place{channel, bank};
            for (const auto& [block, first_word] : results_) {
                std::vector<std::byte> bytes(static_cast<std::size_t>(registers_bytes));
                for (std::int64_t word = 0; word < placement_.output_registers; ++word) {
                    const auto first = static_cast<std::size_t>(word * word_bytes_);
                    store_.read(
                        address_of(place, first_word + word),
                        std::span{bytes}.subspan(first, static_cast<std::size_t>(word_bytes_)));
                }
                for (std::int64_t r = 0; r < placement_.m; ++r) {
                    const std::int64_t row = first_row(place, block) + r;
                    if (row >= gemv_.m) {
                        continue;
                    }
                    const double expected = reference(row, first_column(place));
                    const double got = load_element(bytes, gemv_.accumulate, r);
                    ++check.checked;
                    if (got != expected && check.match) {
                        check.match = false;
                        check.first_mismatch =
                            fmt::format("row {}: {} instead of {}", row, got, expected);
                    }
                }
            }
        }
    }
    return check;
}

}  // namespace tilesim::workloads
