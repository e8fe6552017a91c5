// Conduits (a dialect of forks of mlir-aie, 2026) as the object FIFOs they stand for.
//
// Models:  conduit.create with its tiles, acquire and acquire_async with wait_window,
//          subview_access, release and release_async.
// Ignores: channels that several conduits share (fused_dma_channel_group): each has its own.
// Source:  the conduit dialect's tests in hunhoffe/mlir-aie (test/Dialect/Conduit) and the
// use_locks
//          they expect.
#pragma once

#include <vector>

#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

// Whether conduits share channels here. Throws ReadError where a conduit is incomplete.
bool write_conduits_as_fifos(std::vector<Operation>& operations);

}  // namespace tilesim::workloads::npu::mlir::syntax
