#include "arch/fabric/page_translation.hpp"

#include <algorithm>
#include <cstddef>

#include "arch/base/spread.hpp"

namespace tilesim::arch::fabric {

namespace {
constexpr std::size_t kWays = 4;  // of a set; the first of its places is the last asked for
}

PageTranslation::PageTranslation(const FabricConfig& config)
    : page_(config.page.count()),
      walk_(config.page_walk),
      places_(static_cast<std::size_t>(config.known_pages)) {}

base::Femtoseconds PageTranslation::look_up(std::int64_t page, base::Femtoseconds from) {
    constexpr unsigned kBits = 32;  // more than there are places
    const std::size_t ways = std::min(kWays, places_.size());
    const std::size_t set = base::spread(page, kBits) % (places_.size() / ways);
    const auto first = places_.begin() + static_cast<std::ptrdiff_t>(set * ways);
    const auto last = first + static_cast<std::ptrdiff_t>(ways);
    auto place = std::find_if(first, last, [page](const Place& at) { return at.page == page; });
    if (place == last) {
        --place;
        walked_again_ = walked_again_ || place->page >= 0;
        walker_free_ = std::max(walker_free_, from) + walk_;
        *place = {page, walker_free_};
    }
    std::rotate(first, place, place + 1);
    return std::max(from, first->ready);
}

}  // namespace tilesim::arch::fabric
