// What the %names of a region stand for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "workloads/npu/mlir/syntax/cursor.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

struct Value {
    enum class Kind {
        Tile,      // index into Lowering::tiles
        Buffer,    // into Program::buffers
        External,  // into Program::external_buffers
        Lock,      // into Program::locks
        Constant,  // the number itself
        Global,    // into Lowering::globals
        Task,      // of the run-time sequence
        Parameter  // a run-time parameter: a word of a buffer
    };
    Kind kind = Kind::Constant;
    std::int64_t index = 0;
    std::int64_t offset_bits = 0;   // of a view into an external buffer
    std::int64_t element_bits = 0;  // of a view with elements of its own; 0: as its buffer
    bool computed = false;          // known here, but by the core only as it runs
    bool same_as(const Value& other) const {
        return kind == other.kind && index == other.index && offset_bits == other.offset_bits &&
               element_bits == other.element_bits;
    }
};

// The Parameter of a load from behind a buffer's end.
inline constexpr std::int64_t kBehindBuffer = -1;

// What is said of a %name that stands for no number.
inline constexpr const char* kNoConstant = "is not a constant the reader knows";

class Scope {
  public:
    explicit Scope(const Scope* outer = nullptr) : outer_(outer) {}

    void define(const std::string& name, Value value) { values_[name] = value; }
    void forget(const std::string& name) { values_.erase(name); }
    const Value* find(const std::string& name) const {
        const auto place = values_.find(name);
        return place != values_.end() ? &place->second
                                      : (outer_ != nullptr ? outer_->find(name) : nullptr);
    }
    std::optional<std::int64_t> constant(const std::string& name) const {
        const Value* value = find(name);
        return value != nullptr && value->kind == Value::Kind::Constant
                   ? std::optional{value->index}
                   : std::nullopt;
    }

    // Reads a %name that must stand for something of this kind. Throws ReadError.
    std::int64_t index_of(Cursor& cursor, Value::Kind kind) const;
    // Reads a number, or a %name that stands for a constant. Throws ReadError.
    std::int64_t integer(Cursor& cursor) const;

  private:
    const Scope* outer_;
    std::unordered_map<std::string, Value> values_;
};

const char* name_of(Value::Kind kind);

}  // namespace tilesim::workloads::npu::mlir::syntax
