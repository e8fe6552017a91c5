#include "arch/memory/address_map.hpp"

#include <array>

namespace tilesim::arch::memory {

AddressMap::AddressMap(const MemoryConfig& config)
    : mapping_(config.mapping),
      bank_groups_(config.bank_groups),
      banks_per_group_(config.banks_per_group),
      hash_(config.bank_hash) {}

Location AddressMap::locate(std::int64_t burst) const {
    std::array<std::int64_t, 5> value{};
    std::array<std::int64_t, 5> filled{};
    for (const AddressBits& entry : mapping_) {
        const auto field = static_cast<std::size_t>(entry.field);
        value[field] |= (burst & ((std::int64_t{1} << entry.bits) - 1)) << filled[field];
        filled[field] += entry.bits;
        burst >>= entry.bits;
    }
    const auto of = [&value](AddressField f) { return value[static_cast<std::size_t>(f)]; };
    Location location{of(AddressField::Channel), of(AddressField::BankGroup),
                      of(AddressField::Bank), of(AddressField::Row), of(AddressField::Column)};
    if (hash_) {  // rows that would share a bank spread over banks
        location.bank_group ^= location.row % bank_groups_;
        location.bank ^= location.row / bank_groups_ % banks_per_group_;
    }
    location.bank += location.bank_group * banks_per_group_;
    return location;
}

}  // namespace tilesim::arch::memory
