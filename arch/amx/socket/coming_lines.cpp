#include "arch/amx/socket/coming_lines.hpp"

#include <bit>
#include <utility>

#include "arch/base/check.hpp"
#include "arch/base/spread.hpp"

namespace tilesim::arch::amx::socket {

std::size_t ComingLines::home_of(caches::Line line) const {
    return base::spread(line, static_cast<unsigned>(std::countr_zero(places_.size())));
}

std::size_t ComingLines::place_of(caches::Line line) const {
    std::size_t place = home_of(line);
    while (places_[place].line != line && places_[place].line != caches::Cache::kNone) {
        place = after(place);
    }
    return place;
}

ComingLines::Coming* ComingLines::find(caches::Line line) {
    Coming& coming = places_[place_of(line)];
    return coming.line == line ? &coming : nullptr;
}

void ComingLines::add(caches::Line line) {
    if (2 * ++lines_ > places_.size()) {
        grow();
    }
    places_[place_of(line)] = {line, kNobody, kNobody};
}

void ComingLines::grow() {
    std::vector<Coming> before(2 * places_.size());
    std::swap(before, places_);
    for (const Coming& coming : before) {
        if (coming.line != caches::Cache::kNone) {
            places_[place_of(coming.line)] = coming;
        }
    }
}

// Those behind it move up where they no longer lie between their home and a gap.
ComingLines::Coming ComingLines::take(caches::Line line) {
    std::size_t gap = place_of(line);
    SIM_CHECK(places_[gap].line == line, "line {} was not coming", line);
    --lines_;
    const Coming taken = std::exchange(places_[gap], {});
    const std::size_t mask = places_.size() - 1;
    for (std::size_t place = after(gap); places_[place].line != caches::Cache::kNone;
         place = after(place)) {
        const std::size_t from_home = (place - home_of(places_[place].line)) & mask;
        if (from_home >= ((place - gap) & mask)) {
            places_[gap] = std::exchange(places_[place], {});
            gap = place;
        }
    }
    return taken;
}

}  // namespace tilesim::arch::amx::socket
