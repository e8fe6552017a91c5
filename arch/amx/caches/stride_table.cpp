#include "arch/amx/caches/stride_table.hpp"

#include <cstdlib>

namespace tilesim::arch::amx::caches {

Line StrideTable::access(std::size_t instruction, Line line) {
    constexpr Line kLongest = 4;  // as far as measured; the manual says 2 KiB
    Entry& entry = entries_[instruction % kEntries];
    if (entry.instruction != instruction) {
        entry = {instruction, line, 0};
        return Cache::kNone;
    }
    const Line stride = line - entry.last;
    const bool again = stride == entry.stride && stride != 0 && std::abs(stride) <= kLongest;
    entry.last = line;
    entry.stride = stride;
    const bool inside = (line + stride) / kLinesPerPage == line / kLinesPerPage;
    return again && inside ? line + stride : Cache::kNone;
}

void StrideTable::record(StateRecord& to) const {
    for (const Entry& entry : entries_) {
        to.add(static_cast<std::int64_t>(entry.instruction));
        to.add(entry.last);
        to.add(entry.stride);
    }
}

}  // namespace tilesim::arch::amx::caches
