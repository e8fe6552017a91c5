#include "workloads/npu/mlir/syntax/constant_folding.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "workloads/npu/mlir/syntax/cursor.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

using Number = std::optional<std::int64_t>;

Number sum(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    return __builtin_add_overflow(a, b, &result) ? Number{} : Number{result};
}
Number difference(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    return __builtin_sub_overflow(a, b, &result) ? Number{} : Number{result};
}
Number product(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? Number{} : Number{result};
}
bool divides(std::int64_t a, std::int64_t b) {
    return b != 0 && !(a == INT64_MIN && b == -1);
}
Number quotient(std::int64_t a, std::int64_t b) {
    return divides(a, b) ? Number{a / b} : Number{};
}
Number remainder(std::int64_t a, std::int64_t b) {
    return divides(a, b) ? Number{a % b} : Number{};
}
// Unsigned forms: what fits both readings; negative numbers are left unknown.
template <Number (*Of)(std::int64_t, std::int64_t)>
Number natural(std::int64_t a, std::int64_t b) {
    return a >= 0 && b >= 0 ? Of(a, b) : Number{};
}
Number ceiling(std::int64_t a, std::int64_t b) {
    return a >= 0 && b > 0 ? Number{a / b + (a % b != 0 ? 1 : 0)} : Number{};
}
Number both(std::int64_t a, std::int64_t b) {
    return a & b;
}
Number either(std::int64_t a, std::int64_t b) {
    return a | b;
}
Number one_of(std::int64_t a, std::int64_t b) {
    return a ^ b;
}
Number left(std::int64_t a, std::int64_t b) {
    return a >= 0 && b >= 0 && b < 32 && a < (std::int64_t{1} << 31) ? Number{a << b} : Number{};
}
Number right(std::int64_t a, std::int64_t b) {
    return a >= 0 && b >= 0 && b < 64 ? Number{a >> b} : Number{};
}
Number least(std::int64_t a, std::int64_t b) {
    return std::min(a, b);
}
Number greatest(std::int64_t a, std::int64_t b) {
    return std::max(a, b);
}

Number folded(std::string_view name, std::int64_t a, std::int64_t b) {
    static const std::map<std::string_view, Number (*)(std::int64_t, std::int64_t)> kOperations{
        {"addi", sum},
        {"add", sum},
        {"subi", difference},
        {"sub", difference},
        {"muli", product},
        {"mul", product},
        {"divsi", quotient},
        {"remsi", remainder},
        {"divui", natural<quotient>},
        {"andi", both},
        {"remui", natural<remainder>},
        {"ori", either},
        {"xori", one_of},
        {"shli", left},
        {"shrui", right},
        {"shrsi", right},
        {"minsi", least},
        {"maxsi", greatest},
        {"ceildivsi", ceiling},
        {"ceildivui", ceiling},
        {"minui", natural<least>},
        {"floordivsi", natural<quotient>},
        {"maxui", natural<greatest>}};
    const auto place = kOperations.find(name);
    return place == kOperations.end() ? Number{} : place->second(a, b);
}

std::optional<bool> compared(std::string_view how, std::int64_t a, std::int64_t b) {
    if (how == "eq") {
        return a == b;
    }
    if (how == "ne") {
        return a != b;
    }
    const bool is_signed = how.starts_with('s');
    if (!is_signed && !how.starts_with('u')) {
        return std::nullopt;
    }
    const auto ua = static_cast<std::uint64_t>(a);
    const auto ub = static_cast<std::uint64_t>(b);
    const bool less = is_signed ? a < b : ua < ub;
    if (how.ends_with("lt")) {
        return less;
    }
    if (how.ends_with("le")) {
        return less || a == b;
    }
    if (how.ends_with("gt")) {
        return !less && a != b;
    }
    return how.ends_with("ge") ? std::optional{!less} : std::nullopt;
}

// The integer of "arith.constant 8 : index", "true", "dense<...>" aside.
Number literal(const Operation& operation) {
    if (operation.items.empty()) {
        return std::nullopt;
    }
    // A dictionary of attributes may stand before the value.
    const Item& item = operation.items.front().opens("{") && operation.items.size() > 1
                           ? operation.items[1]
                           : operation.items.front();
    if (item.is(TokenKind::Number)) {
        return to_integer(item.token.text);
    }
    return item.is_word("true") ? Number{1} : item.is_word("false") ? Number{0} : Number{};
}

const Value* operand(Cursor& cursor, const Scope& scope) {
    const bool value = !cursor.done() && cursor.peek()->is(TokenKind::Value);
    return value ? scope.find(cursor.value()) : nullptr;
}
bool is_number(const Value* value) {
    return value != nullptr && value->kind == Value::Kind::Constant;
}

// select %condition, %a, %b
std::optional<Value> selected(Cursor& cursor, const Scope& scope) {
    const Value* condition = operand(cursor, scope);
    cursor.skip(",");
    const Value* a = operand(cursor, scope);
    cursor.skip(",");
    const Value* b = operand(cursor, scope);
    if (!is_number(condition)) {
        return std::nullopt;
    }
    const Value* chosen = condition->index != 0 ? a : b;
    if (chosen == nullptr) {
        return std::nullopt;
    }
    Value value = *chosen;
    value.computed |= condition->computed;
    return value;
}

std::optional<Value> result_of(const Operation& operation, std::string_view name,
                               const Scope& scope) {
    static constexpr std::array<std::string_view, 8> kCasts{
        "index_cast", "index_castui", "extsi", "extui", "trunci", "casts", "castu", "cast"};
    if (name == "constant") {
        const Number number = literal(operation);
        return number ? std::optional{Value{Value::Kind::Constant, *number}} : std::nullopt;
    }
    Cursor cursor(operation);
    if (std::find(kCasts.begin(), kCasts.end(), name) != kCasts.end()) {
        const Value* value = operand(cursor, scope);
        const bool kept =
            is_number(value) || (value != nullptr && value->kind == Value::Kind::Parameter);
        return kept ? std::optional{*value} : std::nullopt;
    }
    if (name == "select") {
        return selected(cursor, scope);
    }
    const bool compares = name == "cmpi";
    const std::string how = compares ? cursor.word() : "";
    if (compares) {
        cursor.expect(",");
    }
    const Value* a = operand(cursor, scope);
    const Value* b = cursor.skip(",") ? operand(cursor, scope) : nullptr;
    if (!is_number(a) || !is_number(b)) {
        return std::nullopt;
    }
    const auto truth = compares ? compared(how, a->index, b->index) : std::nullopt;
    const Number number =
        compares ? (truth ? Number{*truth ? 1 : 0} : Number{}) : folded(name, a->index, b->index);
    if (!number) {
        return std::nullopt;
    }
    Value value{Value::Kind::Constant, *number};
    value.computed = a->computed || b->computed;
    return value;
}

}  // namespace

bool define_constant(const Operation& operation, Scope& scope) {
    const std::string_view whole = operation.name;
    const std::size_t dot = whole.find('.');
    const std::string_view dialect = whole.substr(0, dot);
    const bool counts = dialect == "arith" || dialect == "index" || whole == "emitc.cast";
    if (dot == std::string_view::npos || !counts) {
        return false;
    }
    const std::string_view name = whole.substr(dot + 1);
    if (operation.results.size() != 1) {
        return name == "constant";
    }
    const std::optional<Value> result = result_of(operation, name, scope);
    if (result) {
        scope.define(operation.results[0], *result);
    } else {
        scope.forget(operation.results[0]);  // a loop may have bound the name before
    }
    return result.has_value() || name == "constant";
}

bool is_computed(const Operation& operation, const Scope& scope) {
    const Value* value = operation.results.size() == 1 ? scope.find(operation.results[0]) : nullptr;
    return value != nullptr && value->computed;
}

}  // namespace tilesim::workloads::npu::mlir::syntax
