#include "arch/memory/port/backing_store.hpp"

#include <algorithm>
#include <cstring>

namespace tilesim::arch::memory::port {

void BackingStore::read(std::int64_t address, std::span<std::byte> into) const {
    while (!into.empty()) {
        const auto offset = static_cast<std::size_t>(address % kPageBytes);
        const std::size_t take =
            std::min(into.size(), static_cast<std::size_t>(kPageBytes) - offset);
        if (const auto page = pages_.find(address / kPageBytes); page != pages_.end()) {
            std::memcpy(into.data(), page->second->data() + offset, take);
        } else {
            std::memset(into.data(), 0, take);
        }
        into = into.subspan(take);
        address += static_cast<std::int64_t>(take);
    }
}

void BackingStore::write(std::int64_t address, std::span<const std::byte> from) {
    while (!from.empty()) {
        const auto offset = static_cast<std::size_t>(address % kPageBytes);
        const std::size_t take =
            std::min(from.size(), static_cast<std::size_t>(kPageBytes) - offset);
        std::memcpy(page(address).data() + offset, from.data(), take);
        from = from.subspan(take);
        address += static_cast<std::int64_t>(take);
    }
}

std::span<std::byte> BackingStore::page(std::int64_t address) {
    auto& page = pages_[address / kPageBytes];
    if (!page) {
        page = std::make_unique<Page>();
        page->fill(std::byte{0});
    }
    return *page;
}

}  // namespace tilesim::arch::memory::port
