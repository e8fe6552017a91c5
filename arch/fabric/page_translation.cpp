#include "arch/fabric/page_translation.hpp"

#include <algorithm>

namespace tilesim::arch::fabric {

PageTranslation::PageTranslation(const FabricConfig& config)
    : page_(config.page.count()),
      walk_(config.page_walk),
      places_(static_cast<std::size_t>(config.known_pages)) {}

base::Femtoseconds PageTranslation::look_up(std::int64_t page, base::Femtoseconds from) {
    // Fibonacci hashing: neighbouring pages and those a stride apart spread alike.
    constexpr std::uint64_t kGoldenRatio = 0x9E37'79B9'7F4A'7C15;
    const std::uint64_t hash = (static_cast<std::uint64_t>(page) * kGoldenRatio) >> 32;
    Place& place = places_[hash % places_.size()];
    if (place.page != page) {
        walked_again_ = walked_again_ || place.page >= 0;
        walker_free_ = std::max(walker_free_, from) + walk_;
        place = {page, walker_free_};
    }
    return std::max(from, place.ready);
}

}  // namespace tilesim::arch::fabric
