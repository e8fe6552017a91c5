// The bytes behind the addresses, for functional mode: sparse, zero where never written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

namespace tilesim::arch::memory::port {

class BackingStore {
  public:
    void read(std::int64_t address, std::span<std::byte> into) const;
    void write(std::int64_t address, std::span<const std::byte> from);
    // The aligned page that holds `address`; stays where it is.
    static constexpr std::int64_t page_bytes() { return kPageBytes; }
    std::span<std::byte> page(std::int64_t address);

  private:
    static constexpr std::int64_t kPageBytes = 1 << 16;
    using Page = std::array<std::byte, kPageBytes>;
    std::unordered_map<std::int64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace tilesim::arch::memory::port
