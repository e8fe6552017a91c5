// The words of a stream that have left their source and not yet reached every receiver, in
// functional mode. Positions count words since the beginning of time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

namespace tilesim::arch::npu::stream {

class WordQueue {
  public:
    // Position behind the last word.
    std::int64_t end() const { return base_ + last_ - first_; }
    // The `words` words from `position` on; valid until the next append().
    std::span<const std::uint32_t> words(std::int64_t position, std::int64_t words) const {
        return {storage_.get() + first_ + (position - base_), static_cast<std::size_t>(words)};
    }
    void drop_before(std::int64_t position) {
        first_ += position - base_;
        base_ = position;
    }
    // Room for further words, to be written by the caller.
    std::span<std::uint32_t> append(std::int64_t words) {
        if (last_ + words > capacity_) {
            make_room(words);
        }
        last_ += words;
        return {storage_.get() + last_ - words, static_cast<std::size_t>(words)};
    }

  private:
    // Moves the words to the front of storage in which as many words again find room.
    void make_room(std::int64_t words) {
        const std::int64_t held = last_ - first_;
        const std::uint32_t* from = storage_.get() + first_;
        if (2 * (held + words) > capacity_) {
            capacity_ = 2 * (held + words);
            auto larger = std::make_unique_for_overwrite<std::uint32_t[]>(
                static_cast<std::size_t>(capacity_));
            std::copy(from, from + held, larger.get());
            storage_ = std::move(larger);
        } else {
            std::copy(from, from + held, storage_.get());
        }
        first_ = 0;
        last_ = held;
    }

    std::unique_ptr<std::uint32_t[]> storage_;
    std::int64_t capacity_ = 0;
    std::int64_t first_ = 0;  // in storage
    std::int64_t last_ = 0;
    std::int64_t base_ = 0;  // position of the first word
};

}  // namespace tilesim::arch::npu::stream
