// What every operation may have: a region, a symbol, attributes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

// The one region of an operation that must have one. Throws ReadError.
const Item& region_of(const Operation& operation);
// An integer attribute, when it is there.
std::optional<std::int64_t> integer_attribute(const Operation& operation, std::string_view key);
// array<i32: 2, 0>; empty when it is not there.
std::vector<std::int64_t> integers_attribute(const Operation& operation, std::string_view key);
// Whether an attribute stands there and is not false.
bool is_true(const Operation& operation, std::string_view key);
// Whether a channel's start or task takes its packets out of order.
bool is_out_of_order(const Operation& operation);
// A string, symbol or word attribute; empty when it is not there.
std::string text_attribute(const Operation& operation, std::string_view key);
// @name, or the attribute sym_name.
std::string symbol_of(const Operation& operation);

}  // namespace tilesim::workloads::npu::mlir::syntax
