// Code that stands among the products of a k step, behind each its share: prefetches, lines of
// weights to decompress.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

namespace tilesim::workloads::amx::tiles {

class AmongProducts {
  public:
    using Code = std::function<void()>;  // writes an instruction, or a few

    void add(Code code) { waiting_.push_back(std::move(code)); }
    // What `more` adds, evenly among what waits already: a row of prefetches would take all fill
    // buffers at once.
    void add_evenly(const std::function<void()>& more);
    // A step of so many products begins.
    void begin_step(std::int64_t products) { left_ = products; }
    // Behind a product: an equal share of what waits, as of the step's products left.
    void write_share();
    void write_rest();

  private:
    std::deque<Code> waiting_;
    std::int64_t left_ = 1;  // products of the step
};

}  // namespace tilesim::workloads::amx::tiles
