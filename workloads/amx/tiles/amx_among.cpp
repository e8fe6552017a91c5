#include "workloads/amx/tiles/amx_among.hpp"

#include <algorithm>
#include <utility>

#include "arch/base/units.hpp"

namespace tilesim::workloads::amx::tiles {

void AmongProducts::add_evenly(const std::function<void()>& more) {
    std::deque<Code> before;
    before.swap(waiting_);
    more();
    const std::size_t count = before.size();
    const std::size_t all = count + waiting_.size();
    std::deque<Code> mixed;
    for (std::size_t i = 0, taken = 0; i < all; ++i) {
        const bool earlier = taken * all < (i + 1) * count;
        taken += earlier ? 1 : 0;
        std::deque<Code>& from = earlier ? before : waiting_;
        mixed.push_back(std::move(from.front()));
        from.pop_front();
    }
    waiting_.swap(mixed);
}

void AmongProducts::write_share() {
    const auto waiting = static_cast<std::int64_t>(waiting_.size());
    for (std::int64_t i = arch::base::ceil_div(waiting, left_); i > 0; --i) {
        waiting_.front()();
        waiting_.pop_front();
    }
    left_ = std::max<std::int64_t>(left_ - 1, 1);
}

void AmongProducts::write_rest() {
    left_ = 1;
    write_share();
}

}  // namespace tilesim::workloads::amx::tiles
