// The banks a queue has bursts for, in order of the age of what each would do next.
//
// A scheduler that prefers the oldest of those that are ready looks no further than the first that
// is. Ages change little from one command to the next, so an update moves a bank few places.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tilesim::arch::memory {

class BanksByAge {
  public:
    struct Entry {
        std::size_t bank = 0;
        std::uint64_t order = 0;  // of its next burst; lower is older
    };

    auto begin() const { return entries_.begin(); }
    auto end() const { return entries_.end(); }

    // A bank that is not in the list, whose next burst is younger than every other.
    void append(std::size_t bank, std::uint64_t order) { entries_.push_back({bank, order}); }
    void remove(std::size_t bank) { entries_.erase(find(bank)); }
    void update(std::size_t bank, std::uint64_t order) {
        auto place = find(bank);
        for (; place != entries_.begin() && order < (place - 1)->order; --place) {
            *place = *(place - 1);
        }
        for (; place + 1 != entries_.end() && (place + 1)->order < order; ++place) {
            *place = *(place + 1);
        }
        *place = {bank, order};
    }

  private:
    std::vector<Entry>::iterator find(std::size_t bank) {
        return std::find_if(entries_.begin(), entries_.end(),
                            [bank](const Entry& entry) { return entry.bank == bank; });
    }

    std::vector<Entry> entries_;
};

}  // namespace tilesim::arch::memory
