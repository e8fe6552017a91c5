// Where logical tiles go: pinned ones first, then those of a stated column or row, then the free
// ones. Cores column by column from the lowest row up, the first place that suits their cascades;
// where one then needs more DMA channels than it has, free cores change places until those that
// exchange elements share memory. Memory and shim tiles go near the mean column of those they
// exchange data with, while channels last.
//
// Source:  mlir-aie's pass AIEPlacer. Any legal placement runs; the result says this one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

#include "arch/npu/check/tile_reach.hpp"
#include "workloads/npu/mlir/lowering.hpp"

namespace tilesim::workloads::npu::mlir {

namespace {

constexpr std::size_t kMostTiles = 1024;

struct LogicalTile {
    std::string name;
    Location where;
    program::TileKind kind = program::TileKind::Core;
    std::optional<std::int64_t> column{}, row{};
    std::int64_t sends = 0, receives = 0;  // channels it needs
    std::vector<std::string> partners{};
    std::vector<std::string> cascade_to{}, cascade_from{};
    std::vector<std::string> beside{};  // cores whose memory it uses
    bool movable = false;               // nothing says where it is
    bool placed() const { return column && row; }
};

class Placer {
  public:
    explicit Placer(Lowering& lowering) : lowering_(lowering) {}

    void run() {
        for (const Operation& operation : lowering_.body()) {
            if (operation.name == "aie.logical_tile") {
                read(operation);
            } else if (operation.name == "aie.tile") {
                note_physical(operation);
            }
        }
        if (tiles_.empty()) {
            return;
        }
        read_uses();
        for (const auto stated : {2, 1, 0}) {  // coordinates
            for (LogicalTile& tile : tiles_) {
                if (tile.kind == program::TileKind::Core && count(tile) == stated) {
                    tile.movable = stated == 0;
                    place_core(tile);
                }
            }
        }
        save_channels();
        std::vector<LogicalTile*> others;
        for (LogicalTile& tile : tiles_) {
            if (tile.kind != program::TileKind::Core) {
                others.push_back(&tile);
            }
        }
        std::stable_sort(others.begin(), others.end(), [](LogicalTile* a, LogicalTile* b) {
            return std::pair{count(*a), a->sends + a->receives} >
                   std::pair{count(*b), b->sends + b->receives};
        });
        for (LogicalTile* tile : others) {
            place_beside(*tile);
        }
        define();
    }

  private:
    static int count(const LogicalTile& tile) { return (tile.column ? 1 : 0) + (tile.row ? 1 : 0); }

    // %t = aie.logical_tile<CoreTile>(?, 3)
    void read(const Operation& operation) {
        if (operation.results.size() != 1 || tiles_.size() >= kMostTiles) {
            throw ReadError(operation.where, "a logical tile needs a name: %name = ...");
        }
        LogicalTile tile;
        tile.name = operation.results.front();
        tile.where = operation.where;
        Cursor cursor(operation);
        Cursor kind(cursor.group("<"));
        const std::string word = kind.word();
        if (word == "CoreTile") {
            tile.kind = program::TileKind::Core;
        } else if (word == "MemTile") {
            tile.kind = program::TileKind::Memory;
        } else if (word.starts_with("Shim")) {
            tile.kind = program::TileKind::Shim;
        } else {
            throw ReadError(
                operation.where,
                fmt::format("expected CoreTile, MemTile or a shim tile, found '{}'", word));
        }
        Cursor place(cursor.group("("));
        const auto coordinate = [&place]() -> std::optional<std::int64_t> {
            if (place.skip("?")) {
                return std::nullopt;
            }
            return place.integer();
        };
        tile.column = coordinate();
        place.expect(",");
        tile.row = coordinate();
        const auto wanted = lowering_.options.tiles.find(tile.name);
        if (wanted != lowering_.options.tiles.end()) {
            tile.column = wanted->second.column;
            tile.row = wanted->second.row;
        }
        if (tile.kind == program::TileKind::Shim) {
            tile.row = 0;
        }
        number_[tile.name] = tiles_.size();
        tiles_.push_back(std::move(tile));
    }

    void note_physical(const Operation& operation) {
        Cursor cursor(operation);
        Cursor inside(cursor.group("("));
        const program::TileCoordinate at = read_coordinate(inside);
        if (operation.results.size() == 1) {
            physical_[operation.results.front()] = at;
        }
        taken_.insert(at);
    }

    // Who sends to whom, and what that takes.
    void read_uses() {
        for (const Operation& operation : lowering_.body()) {
            const bool fifo = operation.name == "aie.objectfifo";
            const bool flow = operation.name == "aie.flow" || operation.name == "aie.packet_flow";
            if (operation.name == "aie.cascade_flow") {
                const std::vector<std::string> ends = values_of(operation);
                if (ends.size() == 2) {
                    if (LogicalTile* from = tile_of(ends[0])) {
                        from->cascade_to.push_back(ends[1]);
                    }
                    if (LogicalTile* to = tile_of(ends[1])) {
                        to->cascade_from.push_back(ends[0]);
                    }
                }
            } else if (fifo) {
                const std::vector<std::string> ends = values_of(operation);
                for (std::size_t i = 0; i < ends.size(); ++i) {
                    use_channel(ends, i);
                }
                fifos_.push_back(ends);
            } else if (flow) {
                flow_uses(operation);
            }
        }
        read_neighbours();
    }

    // The first end sends, the others receive.
    void use_channel(const std::vector<std::string>& ends, std::size_t end) {
        LogicalTile* tile = tile_of(ends[end]);
        if (tile == nullptr) {
            return;
        }
        (end == 0 ? tile->sends : tile->receives) += 1;
        for (std::size_t other = 0; other < ends.size(); ++other) {
            if ((end == 0) != (other == 0)) {
                tile->partners.push_back(ends[other]);
            }
        }
    }

    // Flows name their ports: several may leave from one channel, and not all are channels.
    void flow_uses(const Operation& operation) {
        std::vector<std::pair<std::string, std::string>> ports;  // tile, port
        collect_ports(operation.items, ports);
        std::vector<std::string> ends;
        for (const auto& [tile, port] : ports) {
            ends.push_back(tile);
        }
        for (std::size_t i = 0; i < ends.size(); ++i) {
            const bool channel = ports[i].second.starts_with("DMA");
            if (channel && used_ports_.insert({ends[i], ports[i].second, i == 0}).second) {
                use_channel(ends, i);
            }
        }
    }

    // %tile, DMA : 0, at any depth
    static void collect_ports(const std::vector<Item>& items,
                              std::vector<std::pair<std::string, std::string>>& ports) {
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (items[i].is(TokenKind::Value)) {
                std::string port;
                for (std::size_t k = i + 2; k < std::min(items.size(), i + 5); ++k) {
                    port += items[k].token.text;
                }
                ports.emplace_back(items[i].token.text, port);
            }
            collect_ports(items[i].items, ports);
            for (const Block& block : items[i].blocks) {
                for (const Operation& operation : block.operations) {
                    collect_ports(operation.items, ports);
                }
            }
        }
    }

    // Buffers and locks of other tiles that a core's body names.
    void read_neighbours() {
        std::map<std::string, std::string> owners;
        for (const Operation& operation : lowering_.body()) {
            if (operation.name == "aie.buffer" || operation.name == "aie.lock") {
                const std::vector<std::string> of = values_of(operation);
                if (operation.results.size() == 1 && !of.empty()) {
                    owners[operation.results.front()] = of.front();
                }
            }
        }
        for (const Operation& operation : lowering_.body()) {
            const std::vector<std::string> of =
                operation.name == "aie.core" ? values_of(operation) : std::vector<std::string>{};
            LogicalTile* core = of.empty() ? nullptr : tile_of(of.front());
            if (core == nullptr || operation.regions().empty()) {
                continue;
            }
            walk(*operation.regions().front(), [&](const Operation& each) {
                for (const std::string& name : values_of(each)) {
                    const auto owner = owners.find(name);
                    if (owner != owners.end() && owner->second != core->name) {
                        core->beside.push_back(owner->second);
                    }
                }
            });
        }
    }

    static void collect(const std::vector<Item>& items, std::vector<std::string>& names) {
        for (const Item& item : items) {
            if (item.is(TokenKind::Value)) {
                names.push_back(item.token.text);
            }
            collect(item.items, names);
            for (const Block& block : item.blocks) {
                for (const Operation& operation : block.operations) {
                    collect(operation.items, names);
                }
            }
        }
    }
    static std::vector<std::string> values_of(const Operation& operation) {
        std::vector<std::string> names;
        if (operation.name == "aie.core") {
            Cursor cursor(operation);
            collect(cursor.group("(").items, names);
        } else {
            collect(operation.items, names);
        }
        return names;
    }

    LogicalTile* tile_of(const std::string& name) {
        const auto place = number_.find(name);
        return place == number_.end() ? nullptr : &tiles_[place->second];
    }
    std::optional<program::TileCoordinate> place_of(const std::string& name) {
        if (const LogicalTile* tile = tile_of(name)) {
            return tile->placed()
                       ? std::optional{program::TileCoordinate{*tile->column, *tile->row}}
                       : std::nullopt;
        }
        const auto place = physical_.find(name);
        return place == physical_.end() ? std::nullopt : std::optional{place->second};
    }

    std::int64_t first_core_row() const { return 1 + lowering_.config.memory_rows; }

    // A cascade comes from the north or the west.
    static bool cascades(program::TileCoordinate from, program::TileCoordinate to) {
        return (from.column == to.column && from.row == to.row + 1) ||
               (from.row == to.row && from.column + 1 == to.column);
    }
    bool suits(const LogicalTile& tile, program::TileCoordinate at) {
        for (const std::string& to : tile.cascade_to) {
            const auto place = place_of(to);
            if (place && !cascades(at, *place)) {
                return false;
            }
        }
        for (const std::string& from : tile.cascade_from) {
            const auto place = place_of(from);
            if (place && !cascades(*place, at)) {
                return false;
            }
        }
        return std::all_of(tile.beside.begin(), tile.beside.end(), [&](const std::string& name) {
            const auto place = place_of(name);
            return !place || arch::npu::check::core_reaches(lowering_.config, at, *place);
        });
    }

    void place_core(LogicalTile& tile) {
        for (const bool strict : {true, false}) {
            for (std::int64_t column = 0; column < lowering_.config.columns; ++column) {
                for (std::int64_t row = first_core_row(); row < lowering_.config.rows(); ++row) {
                    const program::TileCoordinate at{column, row};
                    const bool stated =
                        (!tile.column || *tile.column == column) && (!tile.row || *tile.row == row);
                    if (stated && !taken_.contains(at) && (!strict || suits(tile, at))) {
                        tile.column = column;
                        tile.row = row;
                        taken_.insert(at);
                        return;
                    }
                }
            }
        }
        refuse(tile);
    }

    // Channels that cores need beyond those they have; steps between cores that exchange elements.
    struct Cost {
        std::int64_t excess = 0;
        std::int64_t steps = 0;
        auto operator<=>(const Cost&) const = default;
    };

    bool is_core(program::TileCoordinate at) const {
        return lowering_.config.contains(at) &&
               lowering_.config.kind_of(at) == program::TileKind::Core;
    }

    Cost cost() {
        Cost cost;
        std::map<std::pair<program::TileCoordinate, bool>, std::int64_t> used;
        for (const std::vector<std::string>& ends : fifos_) {
            const auto from = ends.empty() ? std::nullopt : place_of(ends.front());
            const auto to = ends.size() == 2 ? place_of(ends.back()) : std::nullopt;
            if (from && to && is_core(*from) && is_core(*to)) {
                const auto& config = lowering_.config;
                cost.steps += std::abs(from->column - to->column) + std::abs(from->row - to->row);
                if (arch::npu::check::core_reaches(config, *to, *from) ||
                    arch::npu::check::core_reaches(config, *from, *to)) {
                    continue;  // they share elements
                }
            }
            for (std::size_t i = 0; i < ends.size(); ++i) {
                if (const auto place = place_of(ends[i])) {
                    ++used[{*place, i == 0}];
                }
            }
        }
        for (const auto& [end, channels] : used) {
            if (is_core(end.first)) {
                cost.excess +=
                    std::max<std::int64_t>(0, channels - lowering_.config.core_dma.channels);
            }
        }
        return cost;
    }

    // Moves free cores, one at a time and where that helps most, while some core needs too many
    // channels.
    void save_channels() {
        constexpr std::size_t kMostMoved = 64;
        Cost now = cost();
        for (std::size_t moves = 0; now.excess > 0 && moves < kMostMoved; ++moves) {
            const std::optional<Move> best = best_move(now);
            if (!best) {
                return;  // the channels' own refusal says which end has none
            }
            exchange(tiles_[best->tile], best->at);
            now = best->cost;
        }
    }

    struct Move {
        std::size_t tile = 0;
        program::TileCoordinate at;
        Cost cost;
    };

    std::optional<Move> best_move(Cost now) {
        std::optional<Move> best;
        for (std::size_t i = 0; i < tiles_.size(); ++i) {
            if (!tiles_[i].movable) {
                continue;
            }
            const program::TileCoordinate home{*tiles_[i].column, *tiles_[i].row};
            for (std::int64_t column = 0; column < lowering_.config.columns; ++column) {
                for (std::int64_t row = first_core_row(); row < lowering_.config.rows(); ++row) {
                    const program::TileCoordinate at{column, row};
                    if (at == home || !exchange(tiles_[i], at)) {
                        continue;
                    }
                    const Cost then = all_suit() ? cost() : now;
                    if (then < (best ? best->cost : now)) {
                        best = Move{i, at, then};
                    }
                    exchange(tiles_[i], home);
                }
            }
        }
        return best;
    }

    bool all_suit() {
        return std::all_of(tiles_.begin(), tiles_.end(), [this](const LogicalTile& tile) {
            return tile.kind != program::TileKind::Core || !tile.placed() ||
                   suits(tile, {*tile.column, *tile.row});
        });
    }

    // Puts a core there, and who is there, if it may move, in its place.
    bool exchange(LogicalTile& tile, program::TileCoordinate at) {
        const program::TileCoordinate home{*tile.column, *tile.row};
        const auto other = std::find_if(tiles_.begin(), tiles_.end(), [at](const LogicalTile& t) {
            return t.placed() && program::TileCoordinate{*t.column, *t.row} == at;
        });
        if (other != tiles_.end() ? !other->movable : taken_.contains(at)) {
            return false;
        }
        if (other != tiles_.end()) {
            other->column = home.column;
            other->row = home.row;
        } else {
            taken_.erase(home);
            taken_.insert(at);
        }
        tile.column = at.column;
        tile.row = at.row;
        return true;
    }

    [[noreturn]] void refuse(const LogicalTile& tile) const {
        throw ReadError(tile.where, fmt::format("no tile is left for %{}; place it with "
                                                "--set design.tiles.{}=[column,row]",
                                                tile.name, tile.name));
    }

    // Two logical tiles may share a memory or shim tile that has channels for both.
    void place_beside(LogicalTile& tile) {
        double sum = 0;
        double known = 0;
        for (const std::string& partner : tile.partners) {
            if (const auto place = place_of(partner)) {
                sum += static_cast<double>(place->column);
                known += 1;
            }
        }
        const double wanted = known > 0 ? sum / known : 0.0;
        const std::int64_t channels = lowering_.config.dma_of(tile.kind).channels;
        std::optional<std::int64_t> best;
        for (std::int64_t column = 0; column < lowering_.config.columns; ++column) {
            const auto& [sends, receives] = used_[{tile.kind, column}];
            const bool room =
                sends + tile.sends <= channels && receives + tile.receives <= channels;
            const auto away = [wanted](std::int64_t c) {
                return std::abs(static_cast<double>(c) - wanted);
            };
            if ((!tile.column || *tile.column == column) && room &&
                (!best || away(column) < away(*best))) {
                best = column;
            }
        }
        if (!best) {
            refuse(tile);
        }
        auto& [sends, receives] = used_[{tile.kind, *best}];
        sends += tile.sends;
        receives += tile.receives;
        tile.column = best;
        tile.row = tile.kind == program::TileKind::Shim ? 0 : tile.row.value_or(1);
    }

    void define() {
        std::string places;
        for (const LogicalTile& tile : tiles_) {
            const program::TileCoordinate at{*tile.column, *tile.row};
            if (!lowering_.config.contains(at) || lowering_.config.kind_of(at) != tile.kind) {
                refuse(tile);
            }
            lowering_.names.define(
                tile.name, {Value::Kind::Tile, static_cast<std::int64_t>(lowering_.tiles.size())});
            lowering_.tiles.push_back(at);
            places += fmt::format("{}%{} {},{}", places.empty() ? "" : "; ", tile.name, at.column,
                                  at.row);
        }
        lowering_.note(fmt::format("logical tiles are placed (column, row): {}", places));
    }

    Lowering& lowering_;
    std::vector<LogicalTile> tiles_;
    std::map<std::string, std::size_t> number_;
    std::map<std::string, program::TileCoordinate> physical_;
    std::set<program::TileCoordinate> taken_;
    std::vector<std::vector<std::string>> fifos_;  // ends, the producer first
    std::set<std::tuple<std::string, std::string, bool>> used_ports_;
    std::map<std::pair<program::TileKind, std::int64_t>, std::pair<std::int64_t, std::int64_t>>
        used_;
};

}  // namespace

void place_logical_tiles(Lowering& lowering) {
    Placer(lowering).run();
}

}  // namespace tilesim::workloads::npu::mlir
