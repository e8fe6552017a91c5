#include "arch/fabric/read_tracker.hpp"

#include <iterator>
#include <utility>

namespace tilesim::arch::fabric {

std::int32_t& ReadTracker::link_to(std::int64_t number) {
    std::int32_t* link = &bucket_of(number);
    while (*link != kNone && block(*link).number != number) {
        link = &block(*link).next;
    }
    return *link;
}

std::int32_t ReadTracker::new_block(std::int64_t number) {
    if (unused_.empty()) {
        unused_.push_back(static_cast<std::int32_t>(blocks_.size()));
        blocks_.emplace_back();
    }
    const std::int32_t index = unused_.back();
    unused_.pop_back();
    block(index).number = number;
    block(index).next = std::exchange(bucket_of(number), index);
    return index;
}

bool ReadTracker::begin(std::int64_t address, std::uint64_t read) {
    const std::int64_t number = address / block_.count();
    const std::int32_t found = link_to(number);
    const bool is_new = found == kNone;
    const std::int32_t index = is_new ? new_block(number) : found;
    if (is_new && free_ > 0) {
        --free_;
        block(index).under_way = 1;
        return true;
    }
    if (block(index).under_way > 0) {
        ++block(index).under_way;
        return true;
    }
    if (is_new) {
        waiting_.push_back(index);
    }
    block(index).waiting.push_back(read);
    return false;
}

const std::vector<std::uint64_t>& ReadTracker::end(std::int64_t address) {
    going_.clear();
    std::int32_t& link = link_to(address / block_.count());
    const std::int32_t ended = link;
    if (--block(ended).under_way > 0) {
        return going_;
    }
    link = block(ended).next;
    unused_.push_back(ended);
    if (waiting_.empty()) {
        ++free_;
        return going_;
    }
    Block& next = block(waiting_.front());
    waiting_.pop_front();
    next.under_way = std::ssize(next.waiting);
    going_.swap(next.waiting);
    return going_;
}

}  // namespace tilesim::arch::fabric
