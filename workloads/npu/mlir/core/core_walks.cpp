// The places in buffers that a core's words come from and go to, as walks through them.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/npu/mlir/core/core_words.hpp"
#include "workloads/npu/mlir/core/word_operations.hpp"

namespace tilesim::workloads::npu::mlir::core {

std::optional<std::int64_t> CoreWords::buffer_of(const Scope& scope,
                                                 const std::string& name) const {
    if (const Definition* definition = find(scope, name)) {
        if (definition->buffer) {
            return definition->buffer;
        }
        if (!keeps_place(*definition->operation)) {
            return std::nullopt;
        }
        return buffer_of(scope, first_value(*definition->operation));
    }
    const Value* value = scope.find(name);
    return value != nullptr && value->kind == Value::Kind::Buffer ? std::optional{value->index}
                                                                  : std::nullopt;
}

std::optional<CoreWords::Counted> CoreWords::counter(const Scope& scope,
                                                     const std::string& name) const {
    for (std::size_t i = loops_.size(); i-- > 0;) {
        const auto place = std::find_if(loops_[i].counters.begin(), loops_[i].counters.end(),
                                        [&name](const auto& each) { return each.name == name; });
        if (loops_[i].scope == &scope && place != loops_[i].counters.end()) {
            return Counted{place->start, {{i, place->step}}};
        }
    }
    return std::nullopt;
}

CoreWords::Counted CoreWords::counted(const Scope& scope, const std::string& name) const {
    if (const auto constant = scope.constant(name)) {
        return {*constant, {}};
    }
    if (const auto found = counter(scope, name)) {
        return *found;
    }
    const Definition* definition = find(scope, name);
    if (definition == nullptr) {
        throw Lost{"a place that is handed on from run to run"};
    }
    const Operation& operation = *definition->operation;
    std::vector<std::string> operands;
    for (const Item& item : operation.items) {
        if (item.is(TokenKind::Value)) {
            operands.push_back(item.token.text);
        }
    }
    if (keeps_bits(operation) && operands.size() == 1) {
        return counted(scope, operands[0]);
    }
    const bool adds = is_one_of(operation.name, {"arith.addi", "index.add"});
    const bool subtracts = is_one_of(operation.name, {"arith.subi", "index.sub"});
    const bool multiplies = is_one_of(operation.name, {"arith.muli", "index.mul"});
    if ((!adds && !subtracts && !multiplies) || operands.size() != 2) {
        throw Lost{fmt::format("a place that {} computes", operation.name)};
    }
    Counted left = counted(scope, operands[0]);
    Counted right = counted(scope, operands[1]);
    if (multiplies) {
        if (!right.steps.empty()) {
            std::swap(left, right);
        }
        if (!right.steps.empty()) {
            throw Lost{"a place that is a product of counters"};
        }
        left.constant *= right.constant;
        for (auto& [loop, step] : left.steps) {
            step *= right.constant;
        }
        return left;
    }
    left.constant += subtracts ? -right.constant : right.constant;
    for (const auto& [loop, step] : right.steps) {
        left.steps[loop] += subtracts ? -step : step;
    }
    return left;
}

// The loops from the innermost to the outermost that the place changes with.
program::Rotation CoreWords::walk_of(const Counted& place, std::int64_t words) const {
    program::Rotation walk;
    walk.length = words;
    walk.offset = place.constant;
    std::size_t outermost = loops_.size();
    for (const auto& [loop, step] : place.steps) {
        outermost = step != 0 ? std::min(outermost, loop) : outermost;
    }
    for (std::size_t i = loops_.size(); i-- > outermost;) {
        const std::optional<Runs>& runs = *loops_[i].runs;
        if (!runs || runs->parameter || runs->count < 1) {
            throw Lost{"a place in a loop whose number of runs is not known before it begins"};
        }
        const auto step = place.steps.find(i);
        walk.dimensions.push_back({runs->count, step == place.steps.end() ? 0 : step->second});
    }
    return walk;
}

program::WordPlace CoreWords::walk(const Operation& mover, const Operation& access,
                                   std::int64_t words, const Scope& scope) {
    const auto named = access_of(access);
    const auto buffer = named ? buffer_of(scope, named->buffer) : std::nullopt;
    if (!buffer) {
        throw Lost{fmt::format("{} through a view or of an unknown buffer", access.name)};
    }
    Counted place;
    for (std::size_t i = 0; i < named->indices.size(); ++i) {
        const Item& index = named->indices[i];
        const auto number = to_integer(index.token.text);
        Counted one = index.is(TokenKind::Value) ? counted(scope, index.token.text)
                                                 : Counted{number.value_or(0), {}};
        if (!index.is(TokenKind::Value) && !number) {
            throw Lost{"a place that a map computes"};
        }
        place.constant += one.constant * named->strides[i];
        for (const auto& [loop, step] : one.steps) {
            place.steps[loop] += step * named->strides[i];
        }
    }
    const auto in_words = [&](std::int64_t elements) {
        const std::int64_t bits = elements * named->element_bits;
        if (bits % kWordBits != 0) {
            throw Lost{"words that begin inside a word of 32 bits"};
        }
        return bits / kWordBits;
    };
    place.constant = in_words(place.constant);
    for (auto& [loop, step] : place.steps) {
        step = in_words(step);
    }
    program::Rotation rotated = walk_of(place, words);
    rotated.buffers = {*buffer};
    program::WordPlace result;
    result.advance = !rotated.dimensions.empty();
    result.operand = rotation(mover, std::move(rotated));
    return result;
}

// The same walk of the same operation is one rotation, in whichever runs of its loops.
std::int64_t CoreWords::rotation(const Operation& mover, program::Rotation walk) {
    auto& known = walks_[{&mover, walk.buffers.front()}];
    for (const std::int64_t number : known) {
        const program::Rotation& other = core_.rotations[static_cast<std::size_t>(number)];
        if (other.length == walk.length && other.offset == walk.offset &&
            other.dimensions == walk.dimensions) {
            return number;
        }
    }
    const auto number = static_cast<std::int64_t>(core_.rotations.size());
    walk.name = unique_name(
        core_.rotations,
        lowering_.program.buffers[static_cast<std::size_t>(walk.buffers.front())].name + "_words");
    core_.rotations.push_back(std::move(walk));
    known.push_back(number);
    walkers_[number] = &mover;
    return number;
}

}  // namespace tilesim::workloads::npu::mlir::core
