// What has led to a component's present: what it has done itself since it last had to wait for
// another one, and before that what had led to the end of this wait, so on back to the launch.
//
// Models:  whoever waits goes on with the path of whoever ended the wait, so that the parts of the
//          last one's path add up to the time of the run: a faster part shortens it, what went on
//          beside the path does not.
// Ignores: paths that are nearly as long.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>

#include "arch/base/enumerators.hpp"
#include "arch/base/units.hpp"

namespace tilesim::arch::npu {

enum class PathPart : std::size_t {
    Dispatch,
    Writing,  // of the command processor
    Copying,  // of the command processor, into tiles
    Fetching,
    Reading,  // DRAM and the way to it
    WritingMemory,
    ShimStreamIn,
    ShimStreamOut,
    Stream,  // between memory tiles and cores
    CoreStream,
    CTransfer,
    Cascade,
    Locks,  // and calls
    Multiply,
    Zero,
    Add,
    Vector,
    Fixed
};

class CriticalPath {
  public:
    static constexpr std::size_t kParts = base::enumerators<PathPart>();

    // Nothing led to `now`.
    void begin(base::Cycles now) { until_ = now; }
    // The end of what is accounted for.
    base::Cycles until() const { return until_; }
    // The time from there to `now` is this part's.
    void charge(PathPart part, base::Cycles now) {
        if (now > until_) {
            spent_[static_cast<std::size_t>(part)] += (now - until_).count();
            until_ = now;
        }
    }
    std::int64_t spent(PathPart part) const { return spent_[static_cast<std::size_t>(part)]; }
    std::int64_t total() const {
        return std::accumulate(spent_.begin(), spent_.end(), std::int64_t{0});
    }

  private:
    std::array<std::int64_t, kParts> spent_{};
    base::Cycles until_{0};
};

// The one that goes on now has waited for the other; either may be on no path.
inline void follow(CriticalPath* waited, const CriticalPath* other) {
    if (waited != nullptr && other != nullptr) {
        *waited = *other;
    }
}

}  // namespace tilesim::arch::npu
