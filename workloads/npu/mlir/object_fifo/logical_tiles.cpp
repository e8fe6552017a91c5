#include "workloads/npu/mlir/object_fifo/logical_tiles.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tilesim::workloads::npu::mlir::object_fifo {

namespace {

constexpr std::size_t kMostTiles = 1024;

}  // namespace

LogicalTiles::LogicalTiles(const Lowering& lowering) : lowering_(lowering) {
    for (const Operation& operation : lowering_.body()) {
        if (operation.name == "aie.logical_tile") {
            read(operation);
        } else if (operation.name == "aie.tile") {
            note_physical(operation);
        }
    }
    if (!tiles_.empty()) {
        read_uses();
    }
}

LogicalTile* LogicalTiles::tile_of(const std::string& name) {
    const auto place = number_.find(name);
    return place == number_.end() ? nullptr : &tiles_[place->second];
}

std::optional<program::TileCoordinate> LogicalTiles::place_of(const std::string& name) {
    if (const LogicalTile* tile = tile_of(name)) {
        return tile->placed() ? std::optional{program::TileCoordinate{*tile->column, *tile->row}}
                              : std::nullopt;
    }
    const auto place = physical_.find(name);
    return place == physical_.end() ? std::nullopt : std::optional{place->second};
}

void LogicalTiles::read(const Operation& operation) {
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
        throw ReadError(operation.where,
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

void LogicalTiles::note_physical(const Operation& operation) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    const program::TileCoordinate at = read_coordinate(inside);
    if (operation.results.size() == 1) {
        physical_[operation.results.front()] = at;
    }
    taken_.insert(at);
}

void LogicalTiles::read_uses() {
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

void LogicalTiles::use_channel(const std::vector<std::string>& ends, std::size_t end) {
    LogicalTile* tile = tile_of(ends[end]);
    if (tile == nullptr) {
        if (const auto place = place_of(ends[end])) {
            auto& [sends, receives] = used_[*place];
            (end == 0 ? sends : receives) += 1;
        }
        return;
    }
    (end == 0 ? tile->sends : tile->receives) += 1;
    std::vector<std::string>& others = tile->flows.emplace_back();
    for (std::size_t other = 0; other < ends.size(); ++other) {
        if ((end == 0) != (other == 0)) {
            others.push_back(ends[other]);
        }
    }
}

void LogicalTiles::flow_uses(const Operation& operation) {
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

void LogicalTiles::collect_ports(const std::vector<Item>& items,
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

void LogicalTiles::read_neighbours() {
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

void LogicalTiles::collect(const std::vector<Item>& items, std::vector<std::string>& names) {
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

std::vector<std::string> LogicalTiles::values_of(const Operation& operation) {
    std::vector<std::string> names;
    if (operation.name == "aie.core") {
        Cursor cursor(operation);
        collect(cursor.group("(").items, names);
    } else {
        collect(operation.items, names);
    }
    return names;
}

}  // namespace tilesim::workloads::npu::mlir::object_fifo
