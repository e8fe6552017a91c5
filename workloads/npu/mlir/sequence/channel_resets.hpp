// Resets of the run-time sequence: DMA channels, cores, all channels and locks of an object FIFO.
//
// Errors:  ReadError where one names what is not there.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

class ChannelResets {
  public:
    explicit ChannelResets(Lowering& lowering) : lowering_(lowering) {}

    // (%tile, S2MM, 0)
    void channel_reset(const Operation& operation, Scope&);
    // (@fifo): every channel of it that is no shim's begins again, with its locks.
    void channel_reset_for(const Operation& operation, Scope&);
    void core_reset(const Operation& operation, Scope&);

  private:
    // What the compiler leaves of a fifo that is reset: its channels, their first descriptors and
    // repeats, its locks and what they begin with.
    void rearm(const Operation& binding);
    program::Task started_task(const program::ChannelId& channel, Location where);
    static std::vector<const FifoEnd*> ends_of(const ObjectFifo& fifo);

    Lowering& lowering_;
};

}  // namespace tilesim::workloads::npu::mlir::sequence
