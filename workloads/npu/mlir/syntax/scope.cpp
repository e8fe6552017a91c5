#include "workloads/npu/mlir/syntax/scope.hpp"

#include <fmt/format.h>

#include <set>
#include <string>

#include "arch/base/config.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

const char* name_of(Value::Kind kind) {
    switch (kind) {
        case Value::Kind::Tile:
            return "a tile";
        case Value::Kind::Buffer:
            return "a buffer";
        case Value::Kind::External:
            return "an argument or external buffer";
        case Value::Kind::Lock:
            return "a lock";
        case Value::Kind::Constant:
            return "a constant";
        case Value::Kind::Global:
            return "a memref.global";
        case Value::Kind::Task:
            return "a DMA task";
        case Value::Kind::Parameter:
            return "a run-time parameter";
    }
    return "";
}

std::int64_t Scope::index_of(Cursor& cursor, Value::Kind kind) const {
    const Location where = cursor.where();
    const std::string name = cursor.value();
    const Value* value = find(name);
    if (value == nullptr) {
        std::set<std::string> known;  // in an order that does not depend on the table's
        for (const Scope* scope = this; scope != nullptr; scope = scope->outer_) {
            for (const auto& [each, of] : scope->values_) {
                if (of.kind == kind) {
                    known.insert(each);
                }
            }
        }
        throw ReadError(
            where, fmt::format("%{} is not known here; {} is expected{}", name, name_of(kind),
                               arch::base::config::did_you_mean(name, {known.begin(), known.end()},
                                                                "%", "")));
    }
    if (value->kind != kind) {
        throw ReadError(
            where, fmt::format("%{} is {}, not {}", name, name_of(value->kind), name_of(kind)));
    }
    return value->index;
}

std::int64_t Scope::integer(Cursor& cursor) const {
    if (!cursor.done() && cursor.peek()->is(TokenKind::Value)) {
        const Location where = cursor.where();
        const std::string name = cursor.value();
        const auto number = constant(name);
        if (!number) {
            throw ReadError(where, fmt::format("%{} {}", name, kNoConstant));
        }
        return *number;
    }
    return cursor.integer();
}

}  // namespace tilesim::workloads::npu::mlir::syntax
