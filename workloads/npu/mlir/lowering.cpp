#include "workloads/npu/mlir/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "workloads/npu/mlir/control_flow/loop_count.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/syntax/dense_words.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir {

using control_flow::times_passed;

bool Lowering::attempt(const std::function<void()>& step) {
    try {
        step();
        return true;
    } catch (const ReadError& error) {
        // No more than anybody reads are kept: looking for one said before takes its time.
        constexpr std::size_t kMostKept = 1000;
        std::pair<Location, std::string> entry{error.where(), error.what()};
        if (errors.size() < kMostKept &&
            std::find(errors.begin(), errors.end(), entry) == errors.end()) {
            errors.push_back(std::move(entry));
        }
        return false;
    }
}

void Lowering::note(const std::string& sentence) {
    if (std::find(notes.begin(), notes.end(), sentence) == notes.end()) {
        notes.push_back(sentence);
    }
}

void Lowering::note_trace_units() {
    traces = true;
    note(
        "trace units are set up: they put nothing on the streams here; compare reads what they "
        "watch");
}

std::optional<program::TileCoordinate> tile_named(std::string_view name) {
    static constexpr std::array<std::string_view, 4> kPrefixes{"tile_", "shim_noc_tile_",
                                                               "shim_pl_tile_", "mem_tile_"};
    for (const std::string_view prefix : kPrefixes) {
        if (!name.starts_with(prefix)) {
            continue;
        }
        const std::string_view rest = name.substr(prefix.size());
        const std::size_t cut = rest.find('_');
        const auto column = to_integer(rest.substr(0, cut));
        const auto row =
            cut == std::string_view::npos ? std::nullopt : to_integer(rest.substr(cut + 1));
        if (column && row) {
            return program::TileCoordinate{*column, *row};
        }
    }
    return std::nullopt;
}

program::TileCoordinate Lowering::tile(Cursor& cursor) const {
    if (!cursor.done() && cursor.peek()->is(TokenKind::Value)) {
        const std::string& name = cursor.peek()->token.text;
        const auto named = names.find(name) == nullptr ? tile_named(name) : std::nullopt;
        if (named && config.contains(*named)) {
            cursor.take();
            return *named;
        }
    }
    return tiles[static_cast<std::size_t>(names.index_of(cursor, Value::Kind::Tile))];
}

void Lowering::set_contents(std::int64_t buffer, const Item& value, const MemrefType& type) {
    if (auto words = syntax::dense_words(value, type)) {
        contents[buffer] = std::move(*words);
    } else {
        note(fmt::format("what {} holds at start is left out: elements in a form that is not read",
                         program.buffers[static_cast<std::size_t>(buffer)].name));
    }
}

std::int64_t Lowering::parameter(std::int64_t buffer, std::int64_t word) {
    const auto place = parameters.find({buffer, word});
    if (place != parameters.end()) {
        return place->second;
    }
    const auto number = static_cast<std::int64_t>(parameters.size() + loop_parameters.size());
    parameters[{buffer, word}] = number;
    return number;
}

std::int64_t Lowering::loop_parameter(std::int64_t bound, const std::string& predicate,
                                      std::int64_t first, std::int64_t step) {
    for (const LoopParameter& each : loop_parameters) {
        if (each.bound == bound && each.predicate == predicate && each.first == first &&
            each.step == step) {
            return each.number;
        }
    }
    const auto number = static_cast<std::int64_t>(parameters.size() + loop_parameters.size());
    loop_parameters.push_back({bound, predicate, first, step, number});
    return number;
}

bool Lowering::write_parameter(std::int64_t buffer, std::int64_t word, std::int64_t value) {
    const auto place = parameters.find({buffer, word});
    if (place == parameters.end()) {
        return false;
    }
    const program::TileCoordinate tile = program.buffers[static_cast<std::size_t>(buffer)].tile;
    program.sequence.push_back(program::WriteParameter{tile, place->second, value});
    for (const LoopParameter& each : loop_parameters) {
        if (each.bound == place->second) {
            program.sequence.push_back(program::WriteParameter{
                tile, each.number, times_passed(each.predicate, each.first, each.step, value)});
        }
    }
    return true;
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

bool is_configuration(const Lowering& lowering) {
    return std::any_of(lowering.body().begin(), lowering.body().end(),
                       [](const Operation& operation) { return operation.name == kConfiguration; });
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
    use.nothing = value == 0 && kind != "Acquire";
    use.action.value = kind == "AcquireGreaterEqual" ? -value : value;
    return use;
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
