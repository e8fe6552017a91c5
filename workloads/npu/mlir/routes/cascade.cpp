#include "workloads/npu/mlir/routes/cascade.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "arch/npu/program/script_walk.hpp"
#include "arch/npu/stream/stream_switch.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir::routes {

namespace {

struct Ends {
    stream::Heading in = stream::Heading::North;
    stream::Heading out = stream::Heading::South;
};

stream::Heading read_heading(Cursor& cursor) {
    static constexpr std::array<std::pair<std::string_view, stream::Heading>, 4> kNames{
        {{"North", stream::Heading::North},
         {"South", stream::Heading::South},
         {"East", stream::Heading::East},
         {"West", stream::Heading::West}}};
    const Location where = cursor.where();
    const std::string word = cursor.word();
    const auto place = std::find_if(kNames.begin(), kNames.end(),
                                    [&word](const auto& entry) { return entry.first == word; });
    if (place == kNames.end()) {
        throw ReadError(where,
                        fmt::format("expected North, South, East or West, found '{}'", word));
    }
    return place->second;
}

class Cascades {
  public:
    explicit Cascades(Lowering& lowering) : lowering_(lowering) {}

    void run() {
        for (const Operation& operation : lowering_.body()) {
            lowering_.attempt([&] { read(operation); });
        }
        for (const auto& [from, ends] : configured_) {
            const program::TileCoordinate to = stream::neighbour(from, ends.out);
            const auto receiver = configured_.find(to);
            if (receiver != configured_.end() &&
                receiver->second.in == stream::opposite(ends.out)) {
                add(from, to);
            }
        }
        for (const program::CoreProgram& core : lowering_.program.cores) {
            if (puts(core.script) && !has_exit(core.tile) && !configured_.contains(core.tile)) {
                add(core.tile, wired(core.tile));
            }
        }
        for (const program::Cascade& cascade : lowering_.program.cascades) {
            note_silent(cascade);
        }
    }

  private:
    void read(const Operation& operation) {
        const bool flow = operation.name == "aie.cascade_flow";
        if (!flow && operation.name != "aie.configure_cascade") {
            return;
        }
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        const program::TileCoordinate tile = lowering_.tile(inside);
        inside.expect(",");
        if (flow) {
            add(tile, lowering_.tile(inside), operation.where);
            return;
        }
        Ends ends;
        ends.in = read_heading(inside);
        inside.expect(",");
        ends.out = read_heading(inside);
        configured_[tile] = ends;
    }

    void add(program::TileCoordinate from, program::TileCoordinate to, Location where = {}) {
        auto& cascades = lowering_.program.cascades;
        program::Cascade cascade;
        cascade.name = unique_name(cascades, fmt::format("cascade_{}_{}_to_{}_{}", from.column,
                                                         from.row, to.column, to.row));
        cascade.from = from;
        cascade.to = to;
        cascade.where = where;
        cascades.push_back(cascade);
    }

    bool has_exit(program::TileCoordinate tile) const {
        const auto& cascades = lowering_.program.cascades;
        return std::any_of(
            cascades.begin(), cascades.end(),
            [tile](const program::Cascade& cascade) { return cascade.from == tile; });
    }

    // Where a core's cascade leads when nothing says so.
    program::TileCoordinate wired(program::TileCoordinate tile) const {
        if (!lowering_.config.core.alternating_sides) {
            return stream::neighbour(tile, stream::Heading::South);
        }
        const program::TileCoordinate ahead = stream::neighbour(
            tile, tile.row % 2 == 0 ? stream::Heading::West : stream::Heading::East);
        return lowering_.config.contains(ahead) ? ahead
                                                : stream::neighbour(tile, stream::Heading::North);
    }

    static bool puts(const std::vector<program::CoreOp>& script) {
        return program::holds_any_of<program::PutCascadeOp>(script);
    }

    void note_silent(const program::Cascade& cascade) {
        const auto& cores = lowering_.program.cores;
        const bool used =
            std::any_of(cores.begin(), cores.end(), [&](const program::CoreProgram& core) {
                return core.tile == cascade.from && puts(core.script);
            });
        if (!used) {
            lowering_.note(
                "what kernels exchange over a cascade is left out where nothing says how many "
                "words; state it under `cascade` of the side file");
        }
    }

    Lowering& lowering_;
    std::map<program::TileCoordinate, Ends> configured_;
};

}  // namespace

void lower_cascades(Lowering& lowering) {
    Cascades(lowering).run();
}

}  // namespace tilesim::workloads::npu::mlir::routes
