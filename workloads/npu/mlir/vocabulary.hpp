// What this front end speaks of: the array's rooms, under their own names, and the text's parts.
#pragma once

#include "arch/npu/npu_config.hpp"
#include "arch/npu/program/program.hpp"
#include "arch/npu/stream/stream_switch.hpp"
#include "workloads/npu/mlir/syntax/cursor.hpp"
#include "workloads/npu/mlir/syntax/memref_type.hpp"
#include "workloads/npu/mlir/syntax/scope.hpp"
#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir {

namespace program = arch::npu::program;
namespace stream = arch::npu::stream;
using arch::npu::DataType;
using arch::npu::DmaConfig;
using arch::npu::kDataTypes;
using arch::npu::LockKind;
using arch::npu::NpuConfig;

using syntax::Block;
using syntax::Cursor;
using syntax::Item;
using syntax::Location;
using syntax::MemrefType;
using syntax::Operation;
using syntax::ReadError;
using syntax::Scope;
using syntax::to_integer;
using syntax::Token;
using syntax::TokenKind;
using syntax::Value;
using syntax::walk;

}  // namespace tilesim::workloads::npu::mlir
