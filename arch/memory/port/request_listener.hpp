// Hears what lets each request come, from one of them on, of whoever keeps a number of them under
// way. Times in CK.
#pragma once

#include <cstdint>

namespace tilesim::arch::memory::port {

class RequestListener {
  public:
    // The first, and those that come with it; which it waited for is not told.
    virtual void on_first_request(std::int64_t arrival) = 0;
    // One in place of another that was done: read, or taken over to be written.
    virtual void on_next_request(bool was_write, std::int64_t done, std::int64_t arrival) = 0;
    // None comes in place of the last one that was done.
    virtual void on_last_answer(bool was_write, std::int64_t done) = 0;

  protected:
    ~RequestListener() = default;
};

}  // namespace tilesim::arch::memory::port
