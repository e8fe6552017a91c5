// When a row that nobody waits for is closed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tilesim::arch::memory::policy {

inline constexpr std::int64_t kNever = INT64_MAX;

class PagePolicy {
  public:
    virtual ~PagePolicy() = default;

    // It never closes a row: nobody has to ask.
    virtual bool always_open() const { return false; }
    // How many CK after its last use the bank's row is closed.
    virtual std::int64_t idle_limit(std::size_t bank) const = 0;
    // Whether the column command that is the row's `columns`-th, and after which bursts wait for
    // the row or not, closes it by itself. Asked only where `may_auto_precharge`.
    virtual bool may_auto_precharge() const { return false; }
    virtual bool auto_precharge(std::int64_t /*columns*/, bool /*others_wait*/) const {
        return false;
    }
    // A burst has had a row of the bank opened.
    virtual void on_open(std::size_t /*bank*/, std::int64_t /*row*/) {}
    // A row has been closed: for a burst to another row, or because it had been idle for so long.
    virtual void on_conflict(std::size_t /*bank*/) {}
    virtual void on_idle_close(std::size_t /*bank*/, std::int64_t /*row*/) {}
};

}  // namespace tilesim::arch::memory::policy
