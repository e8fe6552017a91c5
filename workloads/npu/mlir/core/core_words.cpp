#include "workloads/npu/mlir/core/core_words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/npu/mlir/core/word_operations.hpp"

namespace tilesim::workloads::npu::mlir::core {

namespace {

// Calls `visit` for the place of every operation that has one, with the loops it is in.
template <class Visitor>
void visit_places(Script& ops, std::vector<program::LoopOp*>& loops, const Visitor& visit) {
    for (program::CoreOp& op : ops) {
        if (auto* loop = std::get_if<program::LoopOp>(&op.op)) {
            loops.push_back(loop);
            visit_places(loop->body, loops, visit);
            loops.pop_back();
            continue;
        }
        std::visit(
            [&](auto& each) {
                if constexpr (requires { each.place; }) {
                    visit(each.place, loops);
                }
            },
            op.op);
    }
}

program::WordPlace* place_of_get(Script& ops) {
    if (ops.empty()) {
        return nullptr;
    }
    if (auto* stream = std::get_if<program::GetStreamOp>(&ops.back().op)) {
        return &stream->place;
    }
    auto* cascade = std::get_if<program::GetCascadeOp>(&ops.back().op);
    return cascade == nullptr ? nullptr : &cascade->place;
}

}  // namespace

const CoreWords::Definition* CoreWords::find(const Scope& scope, const std::string& name) const {
    const auto names = definitions_.find(&scope);
    if (names == definitions_.end()) {
        return nullptr;
    }
    const auto place = names->second.find(name);
    return place == names->second.end() ? nullptr : &place->second;
}

const CoreWords::Definition* CoreWords::origin(const Scope& scope, const std::string& name) const {
    const Definition* definition = find(scope, name);
    while (definition != nullptr && keeps_bits(*definition->operation)) {
        definition = find(scope, first_value(*definition->operation));
    }
    return definition;
}

bool moves_words(const Lowering& lowering, const Operation& core) {
    bool moves = !lowering.options.costs.streams.empty() || !lowering.options.costs.cascade.empty();
    const auto look = [&moves](const Operation& operation) {
        walk(operation.regions().empty() ? Item{} : *operation.regions().front(),
             [&moves](const Operation& each) {
                 moves |= gets(each) || is_one_of(each.name, {"aie.put_stream", "aie.put_cascade"});
             });
    };
    look(core);
    for (const auto& [name, function] : lowering.functions) {
        look(*function);
    }
    return moves;
}

void note_lost_store(Lowering& lowering, program::TileCoordinate core, const Operation& store) {
    const std::string name = fmt::format("core {},{}: ", core.column, core.row);
    std::vector<std::string>& notes = lowering.functional_notes;
    const bool noted = std::any_of(notes.begin(), notes.end(), [&name](const std::string& each) {
        return each.starts_with(name);
    });
    if (!noted) {
        notes.push_back(fmt::format(
            "{}what {} at line {} stores is not moved (words of streams and cascades are): its "
            "buffer keeps the bytes it holds",
            name, store.name, store.where.line));
    }
}

void CoreWords::pass(const Operation& operation, const Scope& scope, Script& ops) {
    if (!follows_) {
        return;
    }
    Definition definition{&operation, events_, {}};
    for (std::size_t i = 0; i < operation.results.size(); ++i) {
        if (operation.name == "aie.objectfifo.acquire") {  // since 2026 these are the elements
            definition.buffer = element_of(operation, static_cast<std::int64_t>(i));
        } else if (operation.name == "aie.objectfifo.subview.access") {
            definition.buffer = viewed_element(operation, scope);
        }
        definitions_[&scope].insert_or_assign(operation.results[i], definition);
    }
    if (stores(operation)) {
        store(operation, scope, ops);
    } else {
        look_at_operands(operation, scope);
    }
}

void CoreWords::look_at_operands(const Operation& operation, const Scope& scope) {
    if (keeps_bits(operation) || is_one_of(operation.name, {"aie.put_stream", "aie.put_cascade"})) {
        return;
    }
    for (const Item& item : operation.items) {
        const Definition* definition =
            item.is(TokenKind::Value) ? find(scope, item.token.text) : nullptr;
        if (definition != nullptr && gets(*definition->operation)) {
            const bool known =
                std::any_of(computed_.begin(), computed_.end(),
                            [&](const auto& each) { return each.first == definition->operation; });
            if (!known) {
                computed_.emplace_back(definition->operation, &operation);
            }
        }
    }
}

std::optional<std::int64_t> CoreWords::element_of(const Operation& acquire,
                                                  std::int64_t number) const {
    const FifoUse use = read_fifo_use(lowering_, acquire);
    const FifoEnd* end = lowering_.fifos[use.fifo].end_at(core_.tile, use.produces);
    if (end == nullptr || !end->pool || number < 0) {
        return std::nullopt;
    }
    const auto held = held_.find(static_cast<std::int64_t>(use.fifo) * 2 + (use.produces ? 1 : 0));
    const std::int64_t first = held == held_.end() ? 0 : held->second.first;
    const std::vector<std::int64_t>& buffers = lowering_.fifo_pools[*end->pool].buffers;
    return buffers.empty()
               ? std::nullopt
               : std::optional{buffers[static_cast<std::size_t>(first + number) % buffers.size()]};
}

std::optional<std::int64_t> CoreWords::viewed_element(const Operation& access,
                                                      const Scope& scope) const {
    const Definition* view = find(scope, first_value(access));
    const auto index = std::find_if(access.items.begin(), access.items.end(),
                                    [](const Item& item) { return item.opens("["); });
    if (view == nullptr || index == access.items.end() || index->items.size() != 1) {
        return std::nullopt;
    }
    const auto number = to_integer(index->items.front().token.text);
    return number ? element_of(*view->operation, *number) : std::nullopt;
}

void CoreWords::lose(const Operation& operation, const std::string& why) {
    lowering_.note(fmt::format("core {},{}: zeros travel in place of what {} at line {} puts, {}",
                               core_.tile.column, core_.tile.row, operation.name,
                               operation.where.line, why));
}

program::WordPlace CoreWords::put(const Operation& operation, std::int64_t words,
                                  const Scope& scope) {
    if (!follows_) {
        return {};
    }
    const std::string name = put_value(operation);
    if (const auto value = scope.constant(name); value && words == 1) {
        program::WordPlace place;
        place.value = *value & 0xFFFFFFFF;
        return place;
    }
    const Definition* definition = origin(scope, name);
    try {
        if (definition == nullptr) {
            throw Lost{"a value that is handed on from run to run or not known"};
        }
        if (gets(*definition->operation)) {
            program::WordPlace place;
            place.in_register = registers_.at(definition->operation);
            return place;
        }
        if (!loads(*definition->operation)) {
            throw Lost{fmt::format("the result of {}", definition->operation->name)};
        }
        if (definition->events != events_) {
            throw Lost{fmt::format("loaded at line {}, before what its core does in between",
                                   definition->operation->where.line)};
        }
        return walk(operation, *definition->operation, words, scope);
    } catch (const Lost& lost) {
        lose(operation, lost.why);
        return {};
    }
}

program::WordPlace CoreWords::get(const Operation& operation, std::int64_t words) {
    if (!follows_) {
        return {};
    }
    words_got_ = words;
    const auto number = static_cast<std::int64_t>(registers_.size());
    program::WordPlace place;
    place.in_register = registers_.try_emplace(&operation, number).first->second;
    return place;
}

void CoreWords::put_by(const std::string& function) {
    if (!follows_) {
        return;
    }
    lowering_.note(
        fmt::format("core {},{}: zeros travel in place of the words that @{} puts, which are not "
                    "computed",
                    core_.tile.column, core_.tile.row, function));
}

void CoreWords::store(const Operation& operation, const Scope& scope, Script& ops) {
    const Definition* definition = origin(scope, first_value(operation));
    if (definition == nullptr || !gets(*definition->operation)) {
        note_lost_store(lowering_, core_.tile, operation);
        if (const auto named = access_of(operation)) {
            writes(named->buffer, operation.name, operation.where, scope);
        }
        return;
    }
    // The get is the last operation of the script: its words go where they are stored.
    program::WordPlace* place = definition->events + 1 == events_ ? place_of_get(ops) : nullptr;
    try {
        if (place == nullptr) {
            throw Lost{"behind what its core does in between"};
        }
        const std::optional<std::int64_t> kept = place->in_register;
        *place = walk(operation, operation, words_got_, scope);
        place->in_register = kept;
    } catch (const Lost& lost) {
        lowering_.note(fmt::format(
            "core {},{}: what {} at line {} stores of what it got is lost, {}", core_.tile.column,
            core_.tile.row, operation.name, operation.where.line, lost.why));
    }
}

void CoreWords::writes(const std::string& name, const std::string& who, Location where,
                       const Scope& scope) {
    if (const auto buffer = buffer_of(scope, name)) {
        written_.try_emplace(*buffer, fmt::format("{} at line {}", who, where.line));
    }
}

void CoreWords::call(const Operation& operation, const std::string& function, const Scope& scope) {
    if (!follows_) {
        return;
    }
    for (const Item& item : operation.items) {
        if (item.opens("(")) {
            for (const Item& inner : item.items) {
                if (inner.is(TokenKind::Value)) {
                    writes(inner.token.text, "@" + function, operation.where, scope);
                }
            }
            return;
        }
    }
}

bool CoreWords::meets_its_loops(std::int64_t number) {
    const auto& dimensions = core_.rotations[static_cast<std::size_t>(number)].dimensions;
    bool meets = true;
    std::vector<program::LoopOp*> loops;
    visit_places(core_.script, loops, [&](const program::WordPlace& place, const auto& around) {
        if (place.operand != number) {
            return;
        }
        meets = meets && around.size() >= dimensions.size();
        for (std::size_t i = 0; meets && i < dimensions.size(); ++i) {
            const program::LoopOp& loop = *around[around.size() - 1 - i];
            meets = !loop.parameter && loop.count == dimensions[i].size;
        }
        if (!meets || dimensions.empty()) {
            return;
        }
        int users = 0;
        std::vector<program::LoopOp*> inner;
        visit_places(around[around.size() - dimensions.size()]->body, inner,
                     [&](const program::WordPlace& other, const auto&) {
                         users += other.operand == number ? 1 : 0;
                     });
        meets = users == 1;
    });
    return meets;
}

void CoreWords::settle() {
    for (const auto& [got, user] : computed_) {
        lowering_.note(fmt::format(
            "core {},{}: what {} at line {} gets goes into {} at line {}, which is not computed",
            core_.tile.column, core_.tile.row, got->name, got->where.line, user->name,
            user->where.line));
    }
    std::vector<program::LoopOp*> loops;
    for (const auto& [number, mover] : walkers_) {
        if (!meets_its_loops(number)) {
            visit_places(core_.script, loops,
                         [number = number](program::WordPlace& place, const auto&) {
                             if (place.operand == number) {
                                 place.operand.reset();
                                 place.advance = false;
                             }
                         });
            lose(*mover, "in loops whose runs differ");
            continue;
        }
        const auto& walk = core_.rotations[static_cast<std::size_t>(number)];
        const auto writer = written_.find(walk.buffers.front());
        if (writer != written_.end() && !stores(*mover)) {
            lowering_.note(fmt::format(
                "core {},{}: {} at line {} puts words of {} as its buffer holds them: what {} "
                "makes of them is not computed",
                core_.tile.column, core_.tile.row, mover->name, mover->where.line,
                lowering_.program.buffers[static_cast<std::size_t>(walk.buffers.front())].name,
                writer->second));
        }
    }
}

}  // namespace tilesim::workloads::npu::mlir::core
