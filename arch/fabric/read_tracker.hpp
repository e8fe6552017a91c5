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
#include <unordered_map>
#include <vector>

#include "arch/base/units.hpp"

namespace tilesim::arch::fabric {

class ReadTracker {
  public:
    ReadTracker(std::int64_t blocks, base::Bytes block) : free_(blocks), block_(block) {}

    // True: the read goes now. Otherwise it is kept until `end` lets it go.
    bool begin(std::int64_t address, std::uint64_t read);
    // A read of this address has ended; returns those that go now, valid until the next call.
    const std::vector<std::uint64_t>& end(std::int64_t address);

  private:
    struct Block {
        std::int64_t under_way = 0;
        std::vector<std::uint64_t> waiting{};
    };

    std::int64_t free_;  // entries
    base::Bytes block_;
    std::unordered_map<std::int64_t, Block> blocks_;  // by number
    std::deque<std::int64_t> waiting_;                // numbers of blocks without an entry
    std::vector<std::uint64_t> going_;
};

}  // namespace tilesim::arch::fabric
