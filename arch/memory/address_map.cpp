#include "arch/memory/address_map.hpp"

#include <array>
#include <bit>

namespace tilesim::arch::memory {

namespace {

constexpr std::size_t kFields = 5;

int bits_of(std::int64_t power_of_two) {
    return std::countr_zero(static_cast<std::uint64_t>(power_of_two));
}

std::int64_t low_bits(std::int64_t value, int bits) {
    return value & ((std::int64_t{1} << bits) - 1);
}

}  // namespace

AddressMap::AddressMap(const MemoryConfig& config)
    : group_bits_(bits_of(config.bank_groups)),
      bank_bits_(bits_of(config.banks_per_group)),
      hash_(config.bank_hash) {
    int from = 0;
    std::array<int, kFields> filled{};
    for (const AddressBits& entry : config.mapping) {
        const auto field = static_cast<std::size_t>(entry.field);
        const int bits = static_cast<int>(entry.bits);
        pieces_.push_back({field, from, (std::int64_t{1} << bits) - 1, filled[field]});
        filled[field] += bits;
        from += bits;
    }
    for (std::size_t i = 0; i < kLow; ++i) {
        low_[i] = compute(static_cast<std::int64_t>(i));
    }
}

Location AddressMap::locate(std::int64_t burst) const {
    const std::int64_t high_bits = burst >> kLowBits;
    if (high_bits != high_bits_) {
        high_bits_ = high_bits;
        high_ = compute(high_bits << kLowBits);
    }
    const Location& low = low_[static_cast<std::size_t>(burst) % kLow];
    return {high_.channel ^ low.channel, high_.bank_group ^ low.bank_group, high_.bank ^ low.bank,
            high_.row ^ low.row, high_.column ^ low.column};
}

Location AddressMap::compute(std::int64_t burst) const {
    std::array<std::int64_t, kFields> value{};
    for (const Piece& piece : pieces_) {
        value[piece.field] |= ((burst >> piece.from) & piece.mask) << piece.to;
    }
    const auto of = [&value](AddressField f) { return value[static_cast<std::size_t>(f)]; };
    Location location{of(AddressField::Channel), of(AddressField::BankGroup),
                      of(AddressField::Bank), of(AddressField::Row), of(AddressField::Column)};
    if (hash_) {  // rows that would share a bank spread over banks
        location.bank_group ^= low_bits(location.row, group_bits_);
        location.bank ^= low_bits(location.row >> group_bits_, bank_bits_);
    }
    location.bank += location.bank_group << bank_bits_;
    return location;
}

}  // namespace tilesim::arch::memory
