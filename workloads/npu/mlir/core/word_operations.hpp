// What operations of a core's body do with words: load, store, get them, or hand them on.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::core {

bool is_one_of(const std::string& name, std::initializer_list<const char*> names);
bool loads(const Operation& operation);
bool stores(const Operation& operation);
bool gets(const Operation& operation);
// Its result is its operand, bit by bit.
bool keeps_bits(const Operation& operation);
// A view that begins where its buffer does.
bool keeps_place(const Operation& operation);

// What a load or store names: its buffer, the places in it, the buffer's type.
struct Access {
    std::string buffer;
    std::vector<Item> indices;
    std::int64_t element_bits = 0;
    std::vector<std::int64_t> strides;  // elements, outermost first
};
// Nothing where the type's strides are not known.
std::optional<Access> access_of(const Operation& operation);
// The last %name in the operation's brackets: what it puts.
std::string put_value(const Operation& operation);
// Its first operand; empty without one.
std::string first_value(const Operation& operation);

}  // namespace tilesim::workloads::npu::mlir::core
