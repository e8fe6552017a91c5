// An array that begins as zeroes, in lines of the host's cache. The system provides its pages when
// they are first touched: what a run does not use of a large cache costs it nothing.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace tilesim::arch::amx::caches {

template <class T>
class Zeroed {
    static_assert(std::is_trivially_copyable_v<T>);

  public:
    explicit Zeroed(std::size_t size)
        : size_(size), memory_(std::calloc(size * sizeof(T) + kAlignment, 1)) {
        void* first = memory_.get();
        std::size_t bytes = size * sizeof(T) + kAlignment;
        if (first == nullptr || std::align(kAlignment, size * sizeof(T), first, bytes) == nullptr) {
            throw std::bad_alloc();
        }
        first_ = static_cast<T*>(first);
    }

    std::size_t size() const { return size_; }
    T& operator[](std::size_t index) { return first_[index]; }
    const T& operator[](std::size_t index) const { return first_[index]; }
    T* data() { return first_; }
    const T* data() const { return first_; }
    const T* begin() const { return first_; }
    const T* end() const { return first_ + size_; }

  private:
    static constexpr std::size_t kAlignment = 64;
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };

    std::size_t size_;
    std::unique_ptr<void, Free> memory_;
    T* first_ = nullptr;
};

}  // namespace tilesim::arch::amx::caches
