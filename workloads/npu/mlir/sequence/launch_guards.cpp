#include "workloads/npu/mlir/sequence/launch_guards.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>

#include "workloads/npu/mlir/syntax/attributes.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

namespace {

std::optional<std::int64_t> checked_number(const Operation& operation, const Scope& scope) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    return scope.constant(inside.value());
}

// What is not known here the host alone can check.
void refuse_without(std::optional<std::int64_t> holds, const std::string& message, Location where) {
    if (holds == 0) {
        throw ReadError(where,
                        fmt::format("the host would refuse this launch: {}",
                                    message.empty() ? "what is required does not hold" : message));
    }
}

}  // namespace

void LaunchGuards::require(const Operation& operation, Scope& scope) {
    refuse_without(checked_number(operation, scope), text_attribute(operation, "message"),
                   operation.where);
}

void LaunchGuards::assertion(const Operation& operation, Scope& scope) {
    Cursor cursor(operation);
    const auto holds = scope.constant(cursor.value());
    refuse_without(holds, cursor.skip(",") ? cursor.word() : "", operation.where);
}

void LaunchGuards::field(const Operation& operation, Scope& scope) {
    const auto number = checked_number(operation, scope);
    const std::int64_t least = integer_attribute(operation, "min").value_or(0);
    const std::int64_t most = integer_attribute(operation, "max").value_or(INT64_MAX);
    if (number && (*number < least || *number > most)) {
        throw ReadError(operation.where,
                        fmt::format("the host would refuse this launch: a descriptor's field "
                                    "holds {}..{}, got {}",
                                    least, most, *number));
    }
}

void LaunchGuards::divisible(const Operation& operation, Scope& scope) {
    const auto number = checked_number(operation, scope);
    const std::int64_t divisor = integer_attribute(operation, "divisor").value_or(1);
    const bool whole = !number || divisor == 0 || *number % divisor == 0;
    if (!whole && !(*number == 1 && is_true(operation, "allow_unit"))) {
        throw ReadError(operation.where,
                        fmt::format("the host would refuse this launch: a descriptor's size or "
                                    "stride must be a multiple of {}, got {}",
                                    divisor, *number));
    }
}

}  // namespace tilesim::workloads::npu::mlir::sequence
