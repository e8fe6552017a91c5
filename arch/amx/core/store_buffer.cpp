#include "arch/amx/core/store_buffer.hpp"

#include <algorithm>
#include <bit>

#include "arch/base/check.hpp"

namespace tilesim::arch::amx::core {

StoreBuffer::StoreBuffer(std::int64_t entries, std::int64_t tile_load_after_store,
                         const caches::PageMap& pages)
    : entries_(entries),
      after_store_(tile_load_after_store),
      pages_(pages),
      ring_(std::bit_ceil(static_cast<std::size_t>(entries + tile_load_after_store + 2))),
      mask_(ring_.size() - 1) {}

std::int64_t StoreBuffer::search(caches::Line line, std::uint64_t sequence) const {
    for (std::int64_t store = tail_ - 1; store >= release_; --store) {
        const Entry& entry = at(store);
        if (entry.sequence < sequence && line_of(entry) == line) {
            return store;
        }
    }
    return kNone;
}

bool StoreBuffer::forwards(std::int64_t store, std::int64_t address, std::int64_t bytes) const {
    const Entry& entry = at(store);
    if (entry.tile && bytes != caches::kLineBytes) {
        return false;
    }
    return entry.address <= address && address + bytes <= entry.address + entry.bytes;
}

std::int64_t StoreBuffer::push(std::int64_t address, std::int64_t bytes, std::uint64_t sequence,
                               bool tile, bool streams) {
    SIM_DCHECK(room() > 0, "store buffer is full");
    at(tail_) = {address,
                 bytes,
                 sequence,
                 pages_.physical(caches::line_at(address)),
                 tile,
                 streams,
                 caches::kUnknownCycle,
                 caches::kUnknownCycle};
    ++filter_[slot_of(caches::line_at(address))];
    return tail_++;
}

bool StoreBuffer::commit(std::int64_t now, caches::PrivateCaches& caches) {
    bool moved = false;
    while (release_ < commit_ && at(release_).committed_at + after_store_ <= now) {
        --filter_[slot_of(line_of(at(release_)))];
        ++release_;
        moved = true;
    }
    if (commit_ < senior_ && lineless_ != commit_ && at(commit_).data_at <= now) {
        moved = write_next(now, caches) || moved;
    }
    return moved;
}

bool StoreBuffer::write_next(std::int64_t now, caches::PrivateCaches& caches) {
    Entry& entry = at(commit_);
    if (entry.streams) {
        if (caches.stream(entry.line, now) == caches::PrivateCaches::Outcome::NoBuffer) {
            refused_ = caches.version();
            return false;
        }
    } else if (!caches.commit(entry.line)) {
        lineless_ = commit_;
        return false;
    }
    entry.committed_at = now;
    ++commit_;
    return true;
}

// The line of the store whose turn it is was evicted again before.
bool StoreBuffer::head_lost(const caches::PrivateCaches& caches) {
    if (asked_ <= commit_ || commit_ >= senior_ || at(commit_).streams) {
        return false;
    }
    if (keeps_head(caches)) {
        return false;
    }
    const bool lost = !caches.contains_l1(at(commit_).line) &&
                      caches.level_of(at(commit_).line) == caches::Level::L1;
    kept_ = lost ? kept_ : Head{commit_, caches.given_up()};
    return lost;
}

bool StoreBuffer::ask_ahead(std::int64_t now, caches::PrivateCaches& caches) {
    while (asked_ < senior_ && at(asked_).streams) {
        ++asked_;
    }
    if (refused_ == caches.version()) {
        return false;
    }
    if (head_lost(caches)) {
        asked_ = commit_;  // others behind it are likely to be lost, too
    }
    if (asked_ >= senior_) {
        return false;
    }
    if (caches.own(at(asked_).line, now) == caches::PrivateCaches::Outcome::NoBuffer) {
        refused_ = caches.version();
        return false;
    }
    ++asked_;
    return true;
}

std::int64_t StoreBuffer::next_event(std::int64_t now) const {
    std::int64_t next = caches::kUnknownCycle;
    if (release_ < commit_) {
        next = at(release_).committed_at + after_store_;
    }
    if (asked_ < senior_ && !refused_now_) {
        return now + 1;
    }
    if (commit_ < senior_ && lineless_ != commit_ && !(at(commit_).streams && refused_now_)) {
        next = std::min(next, at(commit_).data_at);
    }
    return std::max(next, now + 1);
}

void StoreBuffer::record(caches::StateRecord& to, const caches::PrivateCaches& caches) const {
    for (const std::int64_t end : {release_, commit_, std::max(asked_, commit_), senior_}) {
        to.add(tail_ - end);
    }
    for (std::int64_t store = release_; store < tail_; ++store) {
        const Entry& entry = at(store);
        to.add(entry.address);
        to.add(entry.bytes);
        to.sequence(entry.sequence);
        to.add((entry.tile ? 1 : 0) | (entry.streams ? 2 : 0));
        to.time(entry.data_at);
        to.past(entry.committed_at);
    }
    to.add((lineless_ == commit_ ? 1 : 0) | (keeps_head(caches) ? 2 : 0) | (refused_now_ ? 4 : 0) |
           (refused_ == caches.version() ? 8 : 0));
}

}  // namespace tilesim::arch::amx::core
