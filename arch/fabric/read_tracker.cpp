#include "arch/fabric/read_tracker.hpp"

#include <iterator>
#include <utility>

namespace tilesim::arch::fabric {

std::uint32_t& ReadTracker::link_to(std::int64_t number) {
    std::uint32_t* link = &bucket_of(number);
    while (*link != kNone && blocks_[*link].number != number) {
        link = &blocks_[*link].next;
    }
    return *link;
}

std::uint32_t ReadTracker::new_block(std::int64_t number) {
    const auto index = static_cast<std::uint32_t>(blocks_.take());
    blocks_[index].number = number;
    blocks_[index].next = std::exchange(bucket_of(number), index);
    return index;
}

bool ReadTracker::begin(std::int64_t address, std::uint64_t read) {
    const std::int64_t number = address / block_.count();
    const std::uint32_t found = link_to(number);
    const bool is_new = found == kNone;
    const std::uint32_t index = is_new ? new_block(number) : found;
    if (is_new && free_ > 0) {
        --free_;
        blocks_[index].under_way = 1;
        return true;
    }
    if (blocks_[index].under_way > 0) {
        ++blocks_[index].under_way;
        return true;
    }
    if (is_new) {
        waiting_.push_back(index);
    }
    blocks_[index].waiting.push_back(read);
    return false;
}

const std::vector<std::uint64_t>& ReadTracker::end(std::int64_t address) {
    going_.clear();
    std::uint32_t& link = link_to(address / block_.count());
    const std::uint32_t ended = link;
    if (--blocks_[ended].under_way > 0) {
        return going_;
    }
    link = blocks_[ended].next;
    blocks_.give_back(ended);
    if (waiting_.empty()) {
        ++free_;
        return going_;
    }
    Block& next = blocks_[waiting_.front()];
    waiting_.pop_front();
    next.under_way = std::ssize(next.waiting);
    going_.swap(next.waiting);
    return going_;
}

}  // namespace tilesim::arch::fabric
