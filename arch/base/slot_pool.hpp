// Elements named by index while they are in use: an index whose element is no longer needed is
// given out again, so that nothing is allocated once as many are in use as ever were.
#pragma once

#include <cstddef>
#include <vector>

#include "arch/base/check.hpp"

namespace tilesim::arch::base {

template <class T>
class SlotPool {
  public:
    // An index that is nobody's, the one given back last if there is one. Its element is as its
    // last user left it, or new. References to elements do not outlive this call.
    std::size_t take() {
        if (unused_.empty()) {
            elements_.emplace_back();
            return elements_.size() - 1;
        }
        const std::size_t index = unused_.back();
        unused_.pop_back();
        return index;
    }
    void give_back(std::size_t index) {
        SIM_DCHECK(unused_.size() < elements_.size(), "slot {} was given back twice", index);
        unused_.push_back(index);
    }

    T& operator[](std::size_t index) { return elements_[index]; }
    const T& operator[](std::size_t index) const { return elements_[index]; }
    std::size_t in_use() const { return elements_.size() - unused_.size(); }

  private:
    std::vector<T> elements_;
    std::vector<std::size_t> unused_;
};

}  // namespace tilesim::arch::base
