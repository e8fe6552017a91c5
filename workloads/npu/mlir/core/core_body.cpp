#include "workloads/npu/mlir/core/core_body.hpp"

#include <string>

#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::core {

namespace {

// Who a core is, in both files: its tile's name.
std::string tile_name_of(const Operation& core) {
    Cursor cursor(core);
    Cursor inside(cursor.group("("));
    return inside.done() ? "" : inside.peek()->token.text;
}

}  // namespace

program::TileCoordinate tile_of(const Lowering& lowering, const Operation& core) {
    Cursor cursor(core);
    Cursor inside(cursor.group("("));
    return lowering.tile(inside);
}

bool has_body(const Operation& core) {
    const auto regions = core.regions();
    return !regions.empty() && (regions.front()->blocks.size() > 1 ||
                                regions.front()->blocks.front().operations.size() > 1);
}

const Operation* body_elsewhere(const Lowering& lowering, const Operation& core) {
    const Operation* found = nullptr;
    if (lowering.options.bodies == nullptr || has_body(core)) {
        return found;
    }
    const std::string device = symbol_of(lowering.device);
    walk(lowering.options.bodies->operations, [&](const Operation& other) {
        if (other.name != "aie.device" || symbol_of(other) != device) {
            return;
        }
        for (const Operation& each : region_of(other).blocks.front().operations) {
            if (each.name == "aie.core" && has_body(each) &&
                tile_name_of(each) == tile_name_of(core)) {
                found = &each;
            }
        }
    });
    return found;
}

std::vector<std::string> arguments_of(const Operation& function) {
    Cursor head(function);
    while (!head.done() && !head.peek()->opens("(")) {
        head.take();
    }
    std::vector<std::string> names;
    for (const Item& item : head.group("(").items) {
        if (item.is(TokenKind::Value)) {
            names.push_back(item.token.text);
        }
    }
    return names;
}

void name_returned(const Operation& call, const Operation& function, const Scope& inner,
                   Scope& scope) {
    const Operation* last = nullptr;
    int ways = 0;
    walk(region_of(function), [&](const Operation& each) {
        if (each.name == "return" || each.name == "func.return") {
            last = &each;
            ++ways;
        }
    });
    if (ways != 1 || call.results.size() != 1 || last->items.empty() ||
        !last->items.front().is(TokenKind::Value)) {
        return;
    }
    if (const Value* value = inner.find(last->items.front().token.text)) {
        scope.define(call.results.front(), *value);
    }
}

}  // namespace tilesim::workloads::npu::mlir::core
