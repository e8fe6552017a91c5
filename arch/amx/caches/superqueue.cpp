#include "arch/amx/caches/superqueue.hpp"

namespace tilesim::arch::amx::caches {

void Superqueue::give_back(Line line) {
    const auto place = std::find(misses_.begin(), misses_.end(), line);
    if (place != misses_.end()) {
        misses_.erase(place);
        --slots_[slot_of(line)].held;
    }
}

void Superqueue::record(StateRecord& to) const {
    to.add(std::ssize(victims_));
    for (const std::int64_t answered : victims_) {
        to.time(answered);
    }
    to.add(refused_ ? 1 : 0);
}

}  // namespace tilesim::arch::amx::caches
