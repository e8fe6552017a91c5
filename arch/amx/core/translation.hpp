// Which pages a core's loads may access: two TLBs, and walks through the page tables behind them.
//
// A page the first TLB knows costs nothing; one only the second knows `second_latency`; any other a
// walk, which loads lines of page tables through the caches, eight pages a line. As many walks as
// there are `walkers` go on beside each other, others wait for one; their loads take a fill buffer
// before those of the program.
//
// Ignores: translation of stores and prefetches, of instructions; upper levels of the tables.
#pragma once

#include <cstdint>
#include <vector>

#include "arch/amx/caches/page_map.hpp"
#include "arch/amx/caches/private_caches.hpp"

namespace tilesim::arch::amx::core {

class Translation {
  public:
    Translation(const PageConfig& config, caches::PrivateCaches& caches);

    // What the caches are told of a walk's load instead of an entry of the window.
    static constexpr std::uint32_t kWalks = 0x8000'0000U;

    caches::Line physical(caches::Line line) const { return map_.physical(line); }
    const caches::PageMap& map() const { return map_; }
    std::int64_t page_of(caches::Line line) const { return line >> shift_; }
    // May the line be accessed? Otherwise its page is on its way from now on.
    bool ready(caches::Line line, std::int64_t now) { return page_ready(page_of(line), now); }
    bool page_ready(std::int64_t page, std::int64_t now) {
        if (page != latest_ && !first_.latest(page) && !known(page, now)) {
            return false;
        }
        latest_ = page;
        return true;
    }
    // Grows whenever an answer of `ready`, asked again, may be another or change something.
    std::uint64_t changes() const { return changes_; }
    // Walks that found no walker, and loads of walks that found no fill buffer, try again.
    void ask_again(std::int64_t now) {
        if (asking_ > 0) {
            advance_all(now);
        }
    }
    // A line of the page tables is there.
    void arrive(std::uint32_t waiter, std::int64_t now);
    // Next known end of a wait.
    std::int64_t next_event() const;
    // Before the run starts: the pages of [first, end) are in the second TLB, their tables in the
    // L2.
    void warm(caches::Line first, caches::Line end);
    // No walk is under way.
    bool quiet() const { return pending_.empty(); }
    void record(caches::StateRecord& to) const;
    // Walks and misses as they are counted after a skip.
    void set_counts(std::int64_t walks, std::int64_t misses) {
        walks_ = walks;
        misses_ = misses;
    }
    const caches::Cache& first() const { return first_; }
    const caches::Cache& second() const { return second_; }
    std::int64_t walks() const { return walks_; }
    std::int64_t misses() const { return misses_; }
    // Walks that found every walker busy.
    std::int64_t queued() const { return queued_; }

  private:
    enum class Stage {
        SecondTlb,  // no walk
        Queued,     // no walker
        Walking,    // loads found no fill buffer
        Sent,       // all loads are under way or over
    };
    struct Walk {
        std::int64_t page = 0;
        std::int64_t unsent = 0;   // loads that found no fill buffer
        std::int64_t waiting = 0;  // loads under way
        std::int64_t done_at = 0;  // as far as is known
        std::uint32_t id = 0;
        Stage stage = Stage::SecondTlb;

        bool has_walker() const { return stage == Stage::Walking || stage == Stage::Sent; }
        // Nothing but time is missing.
        bool told() const { return stage != Stage::Queued && unsent + waiting == 0; }
        bool over(std::int64_t now) const { return told() && done_at <= now; }
    };
    bool known(std::int64_t page, std::int64_t now) {
        ++changes_;
        return (pending_.empty() && first_.touch(page)) || walked(page, now);
    }
    // Not in the first TLB, or other walks are under way.
    bool walked(std::int64_t page, std::int64_t now);
    void start(std::int64_t page, std::int64_t now);
    // Takes a walker, and fill buffers, as far as there are.
    void advance(Walk& walk, std::int64_t now);
    void advance_all(std::int64_t now);
    bool walker_free(std::int64_t now) const;
    static caches::Line table_line(std::int64_t page, std::int64_t level);

    PageConfig config_;
    caches::PageMap map_;
    caches::PrivateCaches& caches_;
    caches::Cache first_;
    caches::Cache second_;
    int shift_;                 // of a line's number to its page's
    std::int64_t latest_ = -1;  // page last accessed: asking again changes nothing
    std::vector<Walk> pending_;
    std::int64_t asking_ = 0;  // walks without a walker or with unsent loads
    std::uint32_t next_id_ = 0;
    std::uint64_t changes_ = 0;
    std::int64_t walks_ = 0;
    std::int64_t misses_ = 0;
    std::int64_t queued_ = 0;
};

}  // namespace tilesim::arch::amx::core
