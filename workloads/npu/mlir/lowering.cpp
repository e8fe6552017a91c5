#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tilesim::workloads::npu::mlir {

void Lowering::attempt(const std::function<void()>& step) {
    try {
        step();
    } catch (const ReadError& error) {
        errors.emplace_back(error.where(), error.what());
    }
}

void Lowering::note(const std::string& sentence) {
    if (std::find(notes.begin(), notes.end(), sentence) == notes.end()) {
        notes.push_back(sentence);
    }
}

program::TileDma& Lowering::dma_of(program::TileCoordinate tile) {
    for (program::TileDma& dma : program.dmas) {
        if (dma.tile == tile) {
            return dma;
        }
    }
    program.dmas.push_back({tile, {}, {}});
    return program.dmas.back();
}

const std::vector<Operation>& Lowering::body() const {
    return region_of(device).blocks.front().operations;
}

const Item& region_of(const Operation& operation) {
    const auto regions = operation.regions();
    if (regions.empty()) {
        throw ReadError(operation.where, fmt::format("{} needs a region", operation.name));
    }
    return *regions.front();
}

program::TileCoordinate read_coordinate(Cursor& cursor) {
    program::TileCoordinate tile;
    tile.column = cursor.integer();
    cursor.expect(",");
    tile.row = cursor.integer();
    return tile;
}

program::ChannelId read_channel(Cursor& cursor, program::TileCoordinate tile) {
    program::ChannelId id;
    id.tile = tile;
    const Location where = cursor.where();
    const std::string direction = cursor.word();
    if (direction != "MM2S" && direction != "S2MM") {
        throw ReadError(where, fmt::format("expected MM2S or S2MM, found '{}'", direction));
    }
    id.direction = direction == "MM2S" ? program::Direction::MM2S : program::Direction::S2MM;
    cursor.expect(",");
    id.index = cursor.integer();
    return id;
}

LockUse read_lock_use(const Operation& operation, const Scope& scope) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    LockUse use;
    use.action.lock = scope.index_of(inside, Value::Kind::Lock);
    inside.expect(",");
    const Location where = inside.where();
    const std::string kind = inside.word();
    const std::int64_t value = inside.skip(",") ? scope.integer(inside) : 1;
    if (kind != "Acquire" && kind != "AcquireGreaterEqual" && kind != "Release") {
        throw ReadError(where, fmt::format("expected Acquire, AcquireGreaterEqual or Release, "
                                           "found '{}'",
                                           kind));
    }
    if (value < 0 || value > 63) {
        throw ReadError(where, fmt::format("a lock's request must be 0..63, got {}", value));
    }
    use.acquire = kind != "Release";
    use.action.value = kind == "AcquireGreaterEqual" ? -value : value;
    return use;
}

std::optional<std::int64_t> integer_attribute(const Operation& operation, std::string_view key) {
    const auto items = operation.attribute(key);
    if (!items) {
        return std::nullopt;
    }
    return Cursor(*items, operation.where).integer();
}

bool is_true(const Operation& operation, std::string_view key) {
    const auto value = operation.attribute(key);
    return value && (value->empty() || !value->front().is_word("false"));
}

bool is_out_of_order(const Operation& operation) {
    return is_true(operation, "out_of_order") || is_true(operation, "enable_out_of_order");
}

std::string text_attribute(const Operation& operation, std::string_view key) {
    const auto items = operation.attribute(key);
    return items && !items->empty() && items->front().kind == Item::Kind::Token
               ? items->front().token.text
               : "";
}

namespace {

std::optional<std::int64_t> folded(std::string_view name, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    const bool overflow = name == "arith.addi"   ? __builtin_add_overflow(a, b, &result)
                          : name == "arith.subi" ? __builtin_sub_overflow(a, b, &result)
                          : name == "arith.muli" ? __builtin_mul_overflow(a, b, &result)
                                                 : true;
    return overflow ? std::nullopt : std::optional{result};
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
std::optional<std::int64_t> literal(const Operation& operation) {
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
    return item.is_word("true")    ? std::optional<std::int64_t>{1}
           : item.is_word("false") ? std::optional<std::int64_t>{0}
                                   : std::nullopt;
}

std::optional<std::int64_t> operand(Cursor& cursor, const Scope& scope) {
    return !cursor.done() && cursor.peek()->is(TokenKind::Value) ? scope.constant(cursor.value())
                                                                 : std::nullopt;
}

}  // namespace

bool define_constant(const Operation& operation, Scope& scope) {
    if (operation.results.size() != 1 || !operation.name.starts_with("arith.")) {
        return operation.name == "arith.constant";
    }
    static constexpr std::array<std::string_view, 5> kCasts{
        "arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci"};
    Cursor cursor(operation);
    std::optional<std::int64_t> result;
    bool parameter = false;
    if (operation.name == "arith.constant") {
        result = literal(operation);
    } else if (std::find(kCasts.begin(), kCasts.end(), operation.name) != kCasts.end()) {
        const Value* value = cursor.peek() != nullptr && cursor.peek()->is(TokenKind::Value)
                                 ? scope.find(cursor.peek()->token.text)
                                 : nullptr;
        parameter = value != nullptr && value->kind == Value::Kind::Parameter;
        if (parameter) {
            scope.define(operation.results[0], *value);
        }
        result = operand(cursor, scope);
    } else if (operation.name == "arith.cmpi") {
        const std::string how = cursor.word();
        cursor.expect(",");
        const auto a = operand(cursor, scope);
        const auto b = cursor.skip(",") ? operand(cursor, scope) : std::nullopt;
        if (a && b) {
            result = compared(how, *a, *b);
        }
    } else {
        const auto a = operand(cursor, scope);
        const auto b = cursor.skip(",") ? operand(cursor, scope) : std::nullopt;
        result = a && b ? folded(operation.name, *a, *b) : std::nullopt;
    }
    if (result) {
        scope.define(operation.results[0], {Value::Kind::Constant, *result});
    } else if (!parameter) {
        scope.forget(operation.results[0]);  // a loop may have bound the name before
    }
    return result.has_value() || parameter || operation.name == "arith.constant";
}

std::string plain_name(const std::string& name) {
    std::string plain = name;
    for (char& c : plain) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        c = letter || (c >= '0' && c <= '9') || c == '_' ? c : '_';
    }
    return plain;
}

std::int64_t runs_of(const Lowering& lowering, std::int64_t repeat_count) {
    return lowering.repeat_counts_runs ? std::max<std::int64_t>(1, repeat_count) : repeat_count + 1;
}

}  // namespace tilesim::workloads::npu::mlir
