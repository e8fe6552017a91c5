// Some banks a queue has bursts for, in order of the age of what each would do next.
//
// A scheduler that prefers the oldest of those that are ready looks no further than the first that
// is. Ages change little from one command to the next, so an update moves a bank few places.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
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

    // A bank that is not in the list; `append` where its next burst is younger than every other.
    void append(std::size_t bank, std::uint64_t order) { entries_.push_back({bank, order}); }
    void insert(std::size_t bank, std::uint64_t order) {
        append(bank, order);
        move_towards_older(entries_.end() - 1);
    }
    void remove(std::size_t bank) { entries_.erase(find(bank)); }
    void update(std::size_t bank, std::uint64_t order) {
        auto place = find(bank);
        place->order = order;
        for (; place + 1 != entries_.end() && (place + 1)->order < place->order; ++place) {
            std::swap(*place, *(place + 1));
        }
        move_towards_older(place);
    }

  private:
    std::vector<Entry>::iterator find(std::size_t bank) {
        return std::find_if(entries_.begin(), entries_.end(),
                            [bank](const Entry& entry) { return entry.bank == bank; });
    }

    void move_towards_older(std::vector<Entry>::iterator place) {
        for (; place != entries_.begin() && place->order < (place - 1)->order; --place) {
            std::swap(*place, *(place - 1));
        }
    }

    std::vector<Entry> entries_;  // oldest first
};

}  // namespace tilesim::arch::memory
