// A core's own stream accesses: aie.put_stream and aie.get_stream.
//
// Source:  mlir-aie's operation definitions (values of 32 or 128 bits) and its lowering to AIE-ML,
//          whose cores have one port each way: the operations' port number is dropped there.
#pragma once

#include <cstdint>
#include <optional>

#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir::core {

// aie.put_stream(%port : i32, %value : i32), aie.get_stream(%port : i32) : i128: the port, and how
// many words the value is. Throws ReadError.
struct StreamUse {
    std::int64_t port = 0;
    std::int64_t words = 1;
    std::optional<std::int64_t> packet{};  // the id of a known word, should it be a header
};
StreamUse read_stream_use(const Operation& operation, const Scope& scope,
                          const arch::npu::CoreConfig& core);

}  // namespace tilesim::workloads::npu::mlir::core
