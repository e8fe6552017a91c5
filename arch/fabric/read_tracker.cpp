#include "arch/fabric/read_tracker.hpp"

#include <iterator>

namespace tilesim::arch::fabric {

bool ReadTracker::begin(std::int64_t address, std::uint64_t read) {
    const std::int64_t number = address / block_.count();
    const auto [found, is_new] = blocks_.try_emplace(number);
    Block& block = found->second;
    if (is_new && free_ > 0) {
        --free_;
        block.under_way = 1;
        return true;
    }
    if (block.under_way > 0) {
        ++block.under_way;
        return true;
    }
    if (is_new) {
        waiting_.push_back(number);
    }
    block.waiting.push_back(read);
    return false;
}

const std::vector<std::uint64_t>& ReadTracker::end(std::int64_t address) {
    going_.clear();
    const auto ended = blocks_.find(address / block_.count());
    if (--ended->second.under_way > 0) {
        return going_;
    }
    blocks_.erase(ended);
    if (waiting_.empty()) {
        ++free_;
        return going_;
    }
    Block& next = blocks_.at(waiting_.front());
    waiting_.pop_front();
    next.under_way = std::ssize(next.waiting);
    going_.swap(next.waiting);
    return going_;
}

}  // namespace tilesim::arch::fabric
