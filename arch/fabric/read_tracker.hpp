// Which reads the fabric has under way: it follows a bounded number of aligned blocks of memory for
// all agents together, and reads of a block that is already being followed need no entry of their
// own. Short reads all over memory therefore waste entries, and neighbours that read neighbouring
// addresses at about the same time share them.
//
// Models:  a bounded number of blocks; waiting blocks in order of arrival.
// Ignores: data kept after a read has ended; writes.
// Source:  the bound is calibrated, see the device file. That reads may be joined: AXI's modifiable
// attribute, set by mlir-aie since pull request 2559.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "arch/base/slot_pool.hpp"
#include "arch/base/units.hpp"

namespace tilesim::arch::fabric {

class ReadTracker {
  public:
    ReadTracker(std::int64_t blocks, base::Bytes block)
        : free_(blocks), block_(block), buckets_(kBuckets, kNone) {}

    // True: the read goes now. Otherwise it is kept until `end` lets it go.
    bool begin(std::int64_t address, std::uint64_t read);
    // A read of this address has ended; returns those that go now, valid until the next call.
    const std::vector<std::uint64_t>& end(std::int64_t address);

  private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    static constexpr std::size_t kBuckets = 1024;
    struct Block {
        std::int64_t number = 0;
        std::int64_t under_way = 0;
        std::uint32_t next = kNone;  // of the same bucket
        std::vector<std::uint64_t> waiting{};
    };

    std::uint32_t& bucket_of(std::int64_t number) {
        return buckets_[static_cast<std::size_t>(number) % kBuckets];
    }
    // The link that leads to the block: in its bucket or in the block before it there; kNone where
    // reads of the block are neither under way nor waiting.
    std::uint32_t& link_to(std::int64_t number);
    std::uint32_t new_block(std::int64_t number);

    std::int64_t free_;  // entries
    base::Bytes block_;
    // A hash table that allocates nothing once it has grown: a block lives for a few hundred
    // cycles.
    std::vector<std::uint32_t> buckets_;
    base::SlotPool<Block> blocks_;
    std::deque<std::uint32_t> waiting_;  // blocks without an entry
    std::vector<std::uint64_t> going_;
};

}  // namespace tilesim::arch::fabric
