#include "arch/fabric/page_translation.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "arch/base/spread.hpp"

namespace tilesim::arch::fabric {

namespace {
constexpr std::size_t kWays = 4;  // of a set; the first of its places is the last asked for
}

PageTranslation::PageTranslation(const FabricConfig& config)
    : page_(config.page.count()),
      walk_(config.page_walk),
      places_(static_cast<std::size_t>(config.known_pages)) {}

// Requests are looked at as they set out, some of them long before the link has carried them here:
// what is asked for until then goes before.
base::Femtoseconds PageTranslation::walk(base::Femtoseconds from, base::Femtoseconds now) {
    walking_ += walk_;
    busy_.erase(busy_.begin(), std::find_if(busy_.begin(), busy_.end(),
                                            [now](const Busy& each) { return each.end > now; }));
    auto next = busy_.begin();
    for (; next != busy_.end() && from + walk_ > next->begin; ++next) {
        from = std::max(from, next->end);
    }
    const base::Femtoseconds end = from + walk_;
    const bool behind = next != busy_.begin() && from - std::prev(next)->end < walk_;
    const bool before = next != busy_.end() && next->begin - end < walk_;
    if (behind && before) {
        std::prev(next)->end = next->end;
        busy_.erase(next);
    } else if (behind) {
        std::prev(next)->end = end;
    } else if (before) {
        next->begin = from;
    } else {
        busy_.insert(next, {from, end});
    }
    return end;
}

base::Femtoseconds PageTranslation::look_up(std::int64_t page, base::Femtoseconds from,
                                            base::Femtoseconds now) {
    constexpr unsigned kBits = 32;  // more than there are places
    const std::size_t ways = std::min(kWays, places_.size());
    const std::size_t set = base::spread(page, kBits) % (places_.size() / ways);
    const auto first = places_.begin() + static_cast<std::ptrdiff_t>(set * ways);
    const auto last = first + static_cast<std::ptrdiff_t>(ways);
    auto place = std::find_if(first, last, [page](const Place& at) { return at.page == page; });
    if (place == last) {
        --place;
        walked_again_ = walked_again_ || place->page >= 0;
        *place = {page, walk(from, now)};
    }
    std::rotate(first, place, place + 1);
    return std::max(from, first->ready);
}

}  // namespace tilesim::arch::fabric
