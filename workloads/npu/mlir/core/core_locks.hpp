// Locks as a core names them: by value, or after the compiler's pass localize-locks by the number
// it sees them as.
//
// Errors:  DependsOnData where data decides how much is asked of a lock; ReadError for a number
// that
//          is no lock's.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::core {

class CoreLocks {
  public:
    CoreLocks(Lowering& lowering, program::TileCoordinate tile)
        : lowering_(lowering), tile_(tile) {}

    // aie.use_lock in a core's body
    LockUse read(const Operation& operation, const Scope& scope);
    // Locks among the arguments of a kernel; binary ones say themselves what is asked of them.
    std::vector<std::int64_t> given(Cursor& call, const Scope& scope) const;

  private:
    // A count behind the lock and the kind must be known.
    static void check_count(const Operation& operation, const Scope& scope);
    // After the compiler's pass localize-locks, locks are numbers as the core sees them: windows of
    // 16 for the tiles south, west, north and east of it, its own at the side its memory is on.
    LockUse lock_use(const Operation& operation, const Scope& scope);
    std::int64_t lock_seen_as(std::int64_t number, Location where);

    Lowering& lowering_;
    program::TileCoordinate tile_;
};

}  // namespace tilesim::workloads::npu::mlir::core
