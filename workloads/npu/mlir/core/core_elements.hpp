// Elements of object FIFOs that a core acquires and releases, as lock operations of its script.
//
// Errors:  ReadError where the core is no end of the FIFO, releases what it does not hold, or takes
//          an element behind those it has acquired.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "workloads/npu/mlir/core/flow_walker.hpp"
#include "workloads/npu/mlir/core/script_writer.hpp"
#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/object_fifo.hpp"

namespace tilesim::workloads::npu::mlir::core {

class CoreElements {
  public:
    // `counts_on`: which element is next matters also where all share a pair of locks.
    CoreElements(const Lowering& lowering, ScriptWriter& writer, HeldElements& held,
                 program::TileCoordinate tile, bool counts_on)
        : lowering_(lowering), writer_(writer), held_(held), tile_(tile), counts_on_(counts_on) {}

    // Elements of an object FIFO that the core takes: those it does not hold yet.
    void acquire(const Operation& operation, Scope& scope, Script& ops);
    // One of the elements that an acquire gives, by its number.
    void access(const Operation& operation) const;
    // Elements it gives: the first it holds.
    void release(const Operation& operation, Script& ops);

    // %acquired, %released = aie.objectfifo.lock @f (Produce): what a kernel that serves its end of
    // the FIFO itself is given.
    void name_locks(const Operation& operation, Scope& scope);
    // %b = aie.objectfifo.buffer @f (0)
    void name_buffer(const Operation& operation, Scope& scope) const;
    // Whether a kernel that is given these locks serves an object FIFO.
    bool serves(const std::vector<std::int64_t>& locks) const;

  private:
    const FifoPool& pool_at(const std::string& name, std::optional<bool> produces,
                            Location where) const;
    std::pair<std::int64_t, std::int64_t>& held_of(const FifoUse& use);
    const FifoEnd& end_of(const Operation& operation, const FifoUse& use) const;
    // Of the segments the end handles.
    std::vector<LockPair> locks_of(const FifoEnd& end) const;
    void move_elements(const Operation& operation, const FifoUse& use, std::int64_t next,
                       std::int64_t from, std::int64_t to, Script& ops);
    void give_elements(const Operation& operation, const FifoUse& use, std::int64_t& next,
                       Script& ops);
    static std::int64_t repeat_of(const FifoPool& pool, const FifoUse& use);
    static std::int64_t lock_at(const FifoPool& pool, std::int64_t element);
    template <class LockOp>
    void add_lock_operation(const LockOp& op, Script& ops) {
        writer_.flush(ops);
        ops.push_back({op});
    }

    const Lowering& lowering_;
    ScriptWriter& writer_;
    HeldElements& held_;
    program::TileCoordinate tile_;
    bool counts_on_;
    std::map<std::string, std::int64_t> acquired_;  // elements, by the value that stands for them
    std::set<std::int64_t> named_locks_;
};

}  // namespace tilesim::workloads::npu::mlir::core
