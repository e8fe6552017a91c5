#include "workloads/npu/mlir/object_fifo/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "arch/npu/check/tile_reach.hpp"
#include "workloads/npu/mlir/object_fifo/logical_tiles.hpp"

namespace tilesim::workloads::npu::mlir::object_fifo {

namespace {

class Placer {
  public:
    explicit Placer(Lowering& lowering) : lowering_(lowering) {}

    void run() {
        if (tiles_.all().empty()) {
            return;
        }
        for (const auto stated : {2, 1, 0}) {  // coordinates
            for (LogicalTile& tile : tiles_.all()) {
                if (tile.kind == program::TileKind::Core && count(tile) == stated) {
                    tile.movable = stated == 0;
                    place_core(tile);
                }
            }
        }
        save_channels();
        for (const auto& [at, channels] : tiles_.channels_used()) {
            if (lowering_.config.contains(at) && at.row <= 1) {
                used_[{lowering_.config.kind_of(at), at.column}] = channels;
            }
        }
        std::vector<LogicalTile*> others;
        for (LogicalTile& tile : tiles_.all()) {
            if (tile.kind != program::TileKind::Core) {
                others.push_back(&tile);
            }
        }
        std::stable_sort(others.begin(), others.end(), [](LogicalTile* a, LogicalTile* b) {
            return std::pair{a->column.has_value(), a->sends + a->receives} >
                   std::pair{b->column.has_value(), b->sends + b->receives};
        });
        for (LogicalTile* tile : others) {
            place_beside(*tile);
        }
        define();
    }

  private:
    static int count(const LogicalTile& tile) { return (tile.column ? 1 : 0) + (tile.row ? 1 : 0); }

    std::int64_t first_core_row() const { return 1 + lowering_.config.memory_rows; }

    // A cascade comes from the north or the west.
    static bool cascades(program::TileCoordinate from, program::TileCoordinate to) {
        return (from.column == to.column && from.row == to.row + 1) ||
               (from.row == to.row && from.column + 1 == to.column);
    }
    bool suits(const LogicalTile& tile, program::TileCoordinate at) {
        for (const std::string& to : tile.cascade_to) {
            const auto place = tiles_.place_of(to);
            if (place && !cascades(at, *place)) {
                return false;
            }
        }
        for (const std::string& from : tile.cascade_from) {
            const auto place = tiles_.place_of(from);
            if (place && !cascades(*place, at)) {
                return false;
            }
        }
        return std::all_of(tile.beside.begin(), tile.beside.end(), [&](const std::string& name) {
            const auto place = tiles_.place_of(name);
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
        for (const std::vector<std::string>& ends : tiles_.fifos()) {
            const auto from = ends.empty() ? std::nullopt : tiles_.place_of(ends.front());
            const auto to = ends.size() == 2 ? tiles_.place_of(ends.back()) : std::nullopt;
            if (from && to && is_core(*from) && is_core(*to)) {
                const auto& config = lowering_.config;
                cost.steps += std::abs(from->column - to->column) + std::abs(from->row - to->row);
                if (arch::npu::check::core_reaches(config, *to, *from) ||
                    arch::npu::check::core_reaches(config, *from, *to)) {
                    continue;  // they share elements
                }
            }
            for (std::size_t i = 0; i < ends.size(); ++i) {
                if (const auto place = tiles_.place_of(ends[i])) {
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
            exchange(tiles_.all()[best->tile], best->at);
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
        for (std::size_t i = 0; i < tiles_.all().size(); ++i) {
            if (!tiles_.all()[i].movable) {
                continue;
            }
            const program::TileCoordinate home{*tiles_.all()[i].column, *tiles_.all()[i].row};
            for (std::int64_t column = 0; column < lowering_.config.columns; ++column) {
                for (std::int64_t row = first_core_row(); row < lowering_.config.rows(); ++row) {
                    const program::TileCoordinate at{column, row};
                    if (at == home || !exchange(tiles_.all()[i], at)) {
                        continue;
                    }
                    const Cost then = all_suit() ? cost() : now;
                    if (then < (best ? best->cost : now)) {
                        best = Move{i, at, then};
                    }
                    exchange(tiles_.all()[i], home);
                }
            }
        }
        return best;
    }

    bool all_suit() {
        return std::all_of(tiles_.all().begin(), tiles_.all().end(),
                           [this](const LogicalTile& tile) {
                               return tile.kind != program::TileKind::Core || !tile.placed() ||
                                      suits(tile, {*tile.column, *tile.row});
                           });
    }

    // Puts a core there, and who is there, if it may move, in its place.
    bool exchange(LogicalTile& tile, program::TileCoordinate at) {
        const program::TileCoordinate home{*tile.column, *tile.row};
        const auto other =
            std::find_if(tiles_.all().begin(), tiles_.all().end(), [at](const LogicalTile& t) {
                return t.placed() && program::TileCoordinate{*t.column, *t.row} == at;
            });
        if (other != tiles_.all().end() ? !other->movable : taken_.contains(at)) {
            return false;
        }
        if (other != tiles_.all().end()) {
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

    // Columns of the cores at a channel's other ends; of those behind a memory tile, where one is.
    std::vector<std::int64_t> columns_of(const std::vector<std::string>& ends,
                                         bool through = true) {
        std::vector<std::int64_t> columns;
        for (const std::string& end : ends) {
            const auto place = tiles_.place_of(end);
            const LogicalTile* tile = tiles_.tile_of(end);
            if (place && (is_core(*place) || tile == nullptr)) {
                columns.push_back(place->column);
            } else if (tile != nullptr && through) {
                for (const std::vector<std::string>& flow : tile->flows) {
                    const std::vector<std::int64_t> behind = columns_of(flow, false);
                    columns.insert(columns.end(), behind.begin(), behind.end());
                }
            }
        }
        return columns;
    }

    // Where a memory or shim tile is nearest those it exchanges data with: a stream to one is as
    // long as it is, one to several costs what lies outside of their columns. Of columns that cost
    // the same, the one nearest their mean.
    std::int64_t wanted_column(const LogicalTile& tile) {
        std::vector<std::vector<std::int64_t>> flows;
        double sum = 0;
        double known = 0;
        for (const std::vector<std::string>& ends : tile.flows) {
            flows.push_back(columns_of(ends));
            for (const std::int64_t column : flows.back()) {
                sum += static_cast<double>(column);
                known += 1;
            }
        }
        const double mean = known > 0 ? sum / known : 0.0;
        std::pair<std::int64_t, double> least{};
        std::int64_t best = 0;
        for (std::int64_t column = 0; column < lowering_.config.columns; ++column) {
            std::int64_t steps = 0;
            for (const std::vector<std::int64_t>& ends : flows) {
                if (!ends.empty()) {
                    const auto [first, last] = std::minmax_element(ends.begin(), ends.end());
                    steps += std::max<std::int64_t>({0, *first - column, column - *last});
                }
            }
            const std::pair cost{steps, std::abs(static_cast<double>(column) - mean)};
            if (column == 0 || cost < least) {
                least = cost;
                best = column;
            }
        }
        return best;
    }

    // Two logical tiles may share a memory or shim tile that has channels for both. Of those as
    // near, the one with fewer channels in use.
    void place_beside(LogicalTile& tile) {
        const std::int64_t wanted = tile.column.value_or(wanted_column(tile));
        const std::int64_t channels = lowering_.config.dma_of(tile.kind).channels;
        std::optional<std::int64_t> best;
        std::pair<std::int64_t, std::int64_t> least{};
        for (std::int64_t column = 0; column < lowering_.config.columns; ++column) {
            const auto& [sends, receives] = used_[{tile.kind, column}];
            const bool room =
                sends + tile.sends <= channels && receives + tile.receives <= channels;
            const std::pair cost{std::abs(column - wanted), sends + receives};
            if ((!tile.column || *tile.column == column) && room && (!best || cost < least)) {
                best = column;
                least = cost;
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
        for (const LogicalTile& tile : tiles_.all()) {
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
    LogicalTiles tiles_{lowering_};
    std::set<program::TileCoordinate> taken_ = tiles_.physical();
    std::map<std::pair<program::TileKind, std::int64_t>, LogicalTiles::Channels> used_;
};

}  // namespace

void place_logical_tiles(Lowering& lowering) {
    Placer(lowering).run();
}

}  // namespace tilesim::workloads::npu::mlir::object_fifo
