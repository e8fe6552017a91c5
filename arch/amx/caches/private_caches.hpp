// L1D and L2 of one core: fill buffers, the path between them, prefetchers.
//
// A load that misses the L1 takes a fill buffer until its line arrives. Lines the L2 holds reach
// the L1 in the order in which they are ready, over a path of `fill_width`; two in a row from the
// same half or quarter of the L2 cost more. Beside the path every fill takes `read_percent` of a
// cycle of the L2's pipeline, and a dirty line written back to it `write_percent`: it keeps a fill
// buffer until the pipeline has taken it, and fills pass it. A miss of the L2 takes its quarter
// when it is looked up (not of prefetches into the L2), when its line comes and when that goes on
// to the L1, and the quarter of the line it displaces: each time for a cycle and what a line behind
// another of its quarter loses. Lines of that quarter wait, others pass. PREFETCHT1 and T2 hold a
// fill buffer while the L2 looks for the line. Misses of the L2 leave through `outbox` and come
// back by `deliver`. A line the L2 evicts keeps one of the places for misses until the L3 has
// answered: these are the places of the superqueue, which any transaction with memory reaches
// (Intel SDM 3B, event OFFCORE_REQUESTS.ALL_REQUESTS). That evictions stay there so long is
// inferred. Lines are those of memory: page frames, not a program's pages.
//
// Models:  fill buffers, path and pipeline, write-backs, allocation, ownership requests of stores,
//          stores past the caches, outstanding L2 misses, next-line, stride, adjacent-line and
//          stream prefetchers.
// Ignores: bandwidth of write-backs to the L3, coherence beyond what the uncore answers.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "arch/amx/caches/fill_buffers.hpp"
#include "arch/amx/caches/stream_table.hpp"
#include "arch/amx/caches/stride_table.hpp"
#include "arch/amx/caches/superqueue.hpp"

namespace tilesim::arch::amx::caches {

// What a core sends to the uncore.
struct UncoreRequest {
    // Prefetch: into the L3 only. Stream: a whole line, past the caches.
    enum class Kind : std::uint8_t { Read, Own, Prefetch, Stream, CleanVictim, DirtyVictim };
    Kind kind = Kind::Read;
    Line line = 0;
    std::int64_t cycle = 0;
};

struct CacheCounters {
    std::int64_t l1_hits = 0;
    std::int64_t l1_misses = 0;  // loads; one a line, merged ones included
    std::int64_t l2_hits = 0;
    std::int64_t l2_misses = 0;
    std::int64_t ownerships = 0;  // stores whose line was not in the L1
    std::int64_t fills = 0;
    std::int64_t write_backs = 0;  // lines from the L1 to the L2
    std::int64_t streams = 0;      // lines stored past the caches
    std::int64_t most_misses = 0;  // of the L2 and its victims, under way at a time
};

class PrivateCaches {
  public:
    // `clock`: of the core. `victim_answer`: from a line's leaving the L2 to the L3's answer.
    PrivateCaches(const PrivateCacheConfig& config, base::Hertz clock,
                  base::Femtoseconds victim_answer = base::Femtoseconds{0});

    enum class Outcome { Hit, Waiting, NoBuffer };
    // A line has reached the core: `waiter` is what `load` was told.
    struct Arrival {
        std::uint32_t waiter = 0;
        Level level = Level::L2;
    };

    bool contains_l1(Line line) const { return l1_.contains(line); }
    bool contains_l2(Line line) const { return l2_.contains(line); }
    bool has_or_awaits(Line line) const {
        return l1_.contains(line) || l2_.contains(line) || superqueue_.holds(line);
    }
    bool dirty(Line line) const { return l1_.dirty(line) || l2_.dirty(line); }
    // Where a line that is on its way comes from.
    Level level_of(Line line) const {
        const FillBuffer* const buffer = buffers_.find(line);
        return buffer == nullptr ? Level::L1 : buffer->level;
    }
    // Changes whenever a refused request may succeed.
    std::uint64_t version() const { return version_; }
    // The line that has entered the L1 with the latest fill, and the one that since then is neither
    // there nor on its way any more; kNone: none.
    struct Fill {
        Line came = Cache::kNone;
        Line left = Cache::kNone;
    };
    const Fill& latest_fill() const { return latest_fill_; }
    // How many lines have been taken away from here.
    std::uint64_t given_up() const { return given_up_; }
    // The host may fetch what a look for the line in the L2 will need.
    void expect(Line line) const { l2_.expect(line); }
    // The same of lines that come before `cycle`.
    void expect_deliveries(std::int64_t cycle) const;
    bool full() const { return buffers_.full(); }  // no fill buffer is free
    bool full_of_misses() const { return buffers_.full_of_misses(); }
    // What a refused request for the line remembers, and whether it would be refused again.
    Refusal refusal(Line line) const { return buffers_.refusal(line); }
    bool refuses_again(Refusal refusal) const { return buffers_.refuses_again(refusal); }
    // The same of a prefetch into the L2 that was refused though a fill buffer was free: it finds
    // no place where the L2 has none, and its line has not come since. Who asks waits for a place.
    Refusal refusal_by_l2(Line line) const { return superqueue_.refusal(line); }
    bool none_in_l2(Refusal refusal) const { return superqueue_.none_taken(refusal); }
    bool l2_finds_place(std::int64_t now) { return superqueue_.finds_place(now); }
    std::int64_t l1_latency() const { return config_.l1_latency.count(); }
    const CacheCounters& counters() const { return counters_; }
    const Cache& l1() const { return l1_; }
    const Cache& l2() const { return l2_; }
    const StreamTable& streams() const { return streams_; }
    // Next cycle at which `advance` has something to do; kUnknownCycle when the uncore decides.
    std::int64_t next_event(std::int64_t now) const {
        std::int64_t next = deliveries_.empty() ? kUnknownCycle : deliveries_.front().cycle;
        next = std::min(next, buffers_.next_wait());
        next = superqueue_.awaits_victim() ? std::min(next, superqueue_.next_victim()) : next;
        if (const std::int64_t move = buffers_.next_move(); move != kUnknownCycle) {
            next = std::min(next, std::max(move, path_free_ / kPathUnits));
        }
        return std::max(next, now + 1);
    }

    // As `load` of line_of(0), line_of(1), ... below `count` up to the first that is not in the L1,
    // to which nothing happens; how many were.
    template <class LineOf>
    std::int64_t load_hits(std::int64_t count, LineOf line_of) {
        const std::int64_t hits = l1_.touch_run(count, line_of);
        counters_.l1_hits += hits;
        return hits;
    }
    Outcome load(Line line, std::int64_t now, std::uint32_t waiter, bool fills_l1) {
        if (l1_.touch(line)) {
            ++counters_.l1_hits;
            return Outcome::Hit;
        }
        FillBuffer* const buffer = buffers_.find(line);
        if (buffer == nullptr && buffers_.full()) {
            l2_.expect(line);
            return Outcome::NoBuffer;
        }
        load_missing(line, buffer, now, waiter, fills_l1);
        return Outcome::Waiting;
    }
    // As `load` of a line that was refused, where a buffer is free since: false where it may be in
    // the L1 or on its way by now, and nothing has happened.
    bool load_refused(Refusal refusal, Line line, std::int64_t now, std::uint32_t waiter,
                      bool fills_l1) {
        if (buffers_.full() || !buffers_.none_taken(refusal)) {
            return false;
        }
        load_missing(line, nullptr, now, waiter, fills_l1);
        return true;
    }
    // A store wants to write: asks for the line when it is not in the L1.
    Outcome own(Line line, std::int64_t now) {
        if (l1_.contains(line)) {
            return Outcome::Hit;
        }
        const Outcome outcome = take_buffer(line, now, true);
        counters_.ownerships += outcome == Outcome::Waiting ? 1 : 0;
        return outcome;
    }
    // Writes into the L1; false when the line is not there.
    bool commit(Line line) { return l1_.write(line); }
    Outcome prefetch(Line line, bool into_l1, std::int64_t now);
    // A load instruction has asked for `line`: its next one may be fetched.
    void train(std::size_t instruction, Line line, std::int64_t now);
    // A whole line past the caches, which then hold it no longer.
    Outcome stream(Line line, std::int64_t now);

    // `advance` has nothing to do until something is asked for or delivered.
    bool idle() const {
        return buffers_.empty() && deliveries_.empty() && !superqueue_.awaits_victim();
    }
    // Moves fills whose time has come; arrivals are appended to `arrivals`.
    void advance(std::int64_t now, std::vector<Arrival>& arrivals) {
        if ((!deliveries_.empty() && deliveries_.front().cycle <= now) ||
            (superqueue_.awaits_victim() && superqueue_.next_victim() <= now)) {
            receive(now);
        }
        if (buffers_.next_wait() <= now) {
            release(now);
        }
        if (buffers_.next_move() <= now && path_free(now)) {
            fill_next(now, arrivals);
        }
    }
    std::vector<UncoreRequest>& outbox() { return outbox_; }
    // Nothing is on its way from or to the uncore: what is delivered is pending until it comes.
    bool quiet() const { return superqueue_.no_misses() && outbox_.empty(); }
    // Grows with whatever passes between these caches and the rest of the socket.
    std::uint64_t exchanges() const { return sent_ + given_up_; }
    // What they are in, for who is quiet; without tags and what prefetchers know, then these.
    void record(StateRecord& to) const;
    void record_tags(StateRecord& to) const;
    // So many cycles have been skipped, in which they end as they began but for what was counted.
    // The uncore's cycles are later by them from now on.
    void skip(std::int64_t cycles, const CacheCounters& counted);
    void deliver(Line line, std::int64_t cycle, bool dirty = false);
    void located(Line line, Level level);
    // Takes a line away because another core writes it.
    void give_up(Line line);
    // Another core has read it: it is dirty here no longer.
    void clean(Line line);
    // Puts a line in place before the run starts.
    void warm(Line line, Level level, bool dirty);

  private:
    struct Delivery {
        Line line = 0;
        std::int64_t cycle = 0;
        bool dirty = false;
    };

    // The path between L2 and L1 moves a line in 64 / width cycles, which is no whole number: its
    // time is kept in parts of a cycle that 48 B/cycle and hundredths both divide.
    static constexpr std::int64_t kPathUnits = 19'200;
    static constexpr std::int64_t kPercentUnits = kPathUnits / 100;
    static constexpr std::size_t kHalves = 2;
    static constexpr std::size_t kQuarters = 4;

    void load_missing(Line line, FillBuffer* buffer, std::int64_t now, std::uint32_t waiter,
                      bool fills_l1) {
        if (buffer == nullptr) {
            buffer = &take_free_buffer(line, now, false);
        }
        buffer->fills_l1 = buffer->fills_l1 || fills_l1;
        ++counters_.l1_misses;
        buffer->tell(waiter);
        if (config_.l1_next_line && !l1_.contains(line + 1)) {
            take_buffer(line + 1, now, false);
        }
    }
    // The line's own, or a free one that then asks the L2 for it: into the L1.
    Outcome take_buffer(Line line, std::int64_t now, bool own) {
        FillBuffer* buffer = buffers_.find(line);
        if (buffer == nullptr) {
            if (buffers_.full()) {
                return Outcome::NoBuffer;
            }
            buffer = &take_free_buffer(line, now, own);
        }
        buffer->fills_l1 = true;
        return Outcome::Waiting;
    }
    FillBuffer& take_free_buffer(Line line, std::int64_t now, bool own) {
        FillBuffer& buffer = buffers_.take(line);
        buffer.own = own;
        ask(buffer, now);
        return buffer;
    }
    // The L2 answers `l2_latency` after the access; its misses go to the uncore.
    void ask(FillBuffer& buffer, std::int64_t now) {
        const bool hit = l2_.touch(buffer.line);
        if (hit) {
            ++counters_.l2_hits;
            buffer.asked = true;
            buffers_.set_ready(buffer, now + config_.l2_latency.count());
        } else if (!ask_uncore(buffer, now)) {
            return;
        }
        if (!buffer.own) {  // stores train nothing
            prefetch_l2(buffer.line, !hit, now);
        }
    }
    bool ask_uncore(FillBuffer& buffer, std::int64_t now);
    static std::size_t half_of(Line line) { return static_cast<std::size_t>(line) % kHalves; }
    static std::size_t quarter_of(Line line) { return static_cast<std::size_t>(line) % kQuarters; }
    std::int64_t given_at(Line line) const;
    void release(std::int64_t now);
    bool path_free(std::int64_t now) const { return path_free_ < (now + 1) * kPathUnits; }
    void fill_next(std::int64_t now, std::vector<Arrival>& arrivals);
    // From `start` on, in kPathUnits.
    void take_half(Line line, std::int64_t start);
    void take_quarter(Line line, std::int64_t start);
    void write_back(Line line, std::int64_t now);
    void send(UncoreRequest::Kind kind, Line line, std::int64_t now);
    bool request(UncoreRequest::Kind kind, Line line, std::int64_t now);
    void receive(std::int64_t now);
    void arrive(FillBuffer& buffer, std::vector<Arrival>& arrivals);
    void fill(FillBuffer& buffer, std::int64_t now, std::vector<Arrival>& arrivals);
    void install_l2(Line line, bool dirty, std::int64_t now);
    void prefetch_l2(Line line, bool miss, std::int64_t now) {
        using AdjacentLine = PrivateCacheConfig::AdjacentLine;
        if (config_.l2_adjacent_line != AdjacentLine::Off && miss) {
            const bool into_l3 = config_.l2_adjacent_line == AdjacentLine::IntoL3;
            fetch_ahead(line ^ 1, (line ^ 1) + 1, into_l3, now);
        }
        if (config_.l2_streamer == 0) {
            return;
        }
        if (const auto [first, end] = streams_.access(line, config_.l2_streamer); first < end) {
            fetch_ahead(first, end, false, now);
        }
    }
    void fetch_ahead(Line first, Line end, bool into_l3, std::int64_t now);

    PrivateCacheConfig config_;
    Cache l1_;
    Cache l2_;
    FillBuffers buffers_;
    std::int64_t unasked_ = 0;
    std::uint64_t version_ = 0;
    std::uint64_t given_up_ = 0;  // lines
    Fill latest_fill_;
    std::uint64_t sent_ = 0;
    std::int64_t skipped_ = 0;    // cycles
    std::int64_t path_free_ = 0;  // in kPathUnits a cycle
    std::int64_t pipe_free_ = 0;
    std::int64_t line_units_;  // the path's time for a line
    // When halves and quarters have done what they have to do, in kPathUnits.
    std::array<std::int64_t, kHalves> half_free_{};
    std::array<std::int64_t, kQuarters> quarter_free_{};
    Line last_written_ = 0;
    std::int64_t streams_under_way_ = 0;
    std::int64_t stream_cycles_;
    std::int64_t victim_cycles_;
    Superqueue superqueue_;
    std::vector<Delivery> deliveries_;  // in order of arrival
    std::vector<UncoreRequest> outbox_;
    StreamTable streams_;
    StrideTable strides_;
    CacheCounters counters_;
};

}  // namespace tilesim::arch::amx::caches
