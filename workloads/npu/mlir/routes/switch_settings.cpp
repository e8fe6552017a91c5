#include "workloads/npu/mlir/routes/switch_settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/npu/stream/arbiters.hpp"
#include "workloads/npu/mlir/routes/flows.hpp"
#include "workloads/npu/mlir/syntax/attributes.hpp"

namespace tilesim::workloads::npu::mlir::routes {

namespace {

constexpr std::int64_t kSelects = 4;  // an arbiter's

}  // namespace

SwitchSettings::SwitchSettings(Lowering& lowering, const Operation& routed) : lowering_(lowering) {
    const auto& operations = region_of(routed).blocks.front().operations;
    for (const Operation& operation : operations) {
        lowering_.attempt([&] {
            if (operation.name == "aie.tile") {
                Cursor cursor(operation);
                Cursor inside(cursor.group("("));
                const program::TileCoordinate at = read_coordinate(inside);
                if (operation.results.size() == 1) {
                    tiles_[operation.results[0]] = at;
                }
            }
        });
    }
    for (const Operation& operation : operations) {
        lowering_.attempt([&] {
            if (operation.name == "aie.switchbox") {
                switchbox(operation);
            } else if (operation.name == "aie.shim_mux") {
                shim_mux(operation);
            }
        });
    }
}

program::TileCoordinate SwitchSettings::tile_of(const Operation& operation) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    const Location where = inside.where();
    const std::string name = inside.value();
    const auto place = tiles_.find(name);
    const auto tile = place == tiles_.end() ? tile_named(name) : std::optional{place->second};
    if (!tile || !lowering_.config.contains(*tile)) {
        throw ReadError(where, "this is no tile of the array");
    }
    return *tile;
}

std::pair<Port, Port> SwitchSettings::connection(const Operation& operation) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("<"));
    const Port from = read_port(inside);
    inside.expect(",");
    return {from, read_port(inside)};
}

void SwitchSettings::switchbox(const Operation& operation) {
    const program::TileCoordinate tile = tile_of(operation);
    Switch& box = switches_[tile];
    std::map<std::string, Select> selects;
    for (const Operation& each : region_of(operation).blocks.front().operations) {
        if (each.name == "aie.connect") {
            const auto [from, to] = connection(each);
            box.circuits[from].push_back(to);
        } else if (each.name == "aie.amsel") {
            amsel(each, selects, tile);
        } else if (each.name == "aie.masterset") {
            masterset(each, selects, box);
        } else if (each.name == "aie.packet_rules") {
            packet_rules(each, selects, box);
        } else if (each.name != "aie.end") {
            throw ReadError(each.where,
                            fmt::format("{} is not modelled in a switchbox", each.name));
        }
    }
}

void SwitchSettings::amsel(const Operation& operation, std::map<std::string, Select>& selects,
                           program::TileCoordinate tile) {
    Cursor cursor(operation);
    Select select;
    select.arbiter = Cursor(cursor.group("<")).integer();
    select.msel = Cursor(cursor.group("(")).integer();
    constexpr std::int64_t kArbiters = arch::npu::stream::kArbiters;
    if (select.arbiter < 0 || select.arbiter >= kArbiters || select.msel < 0 ||
        select.msel >= kSelects) {
        throw ReadError(operation.where,
                        fmt::format("a switch has arbiters 0..{} with selects 0..{}, not amsel<{}> "
                                    "({})",
                                    kArbiters - 1, kSelects - 1, select.arbiter, select.msel));
    }
    if (cursor.skip_word("deterministic_merge")) {
        merge(Cursor(cursor.group("[")), {tile, select.arbiter, {}, operation.where});
    }
    if (operation.results.size() == 1) {
        selects[operation.results[0]] = select;
    }
}

void SwitchSettings::merge(Cursor turns, program::Merge merge) {
    do {
        Cursor slot(turns.group("<"));
        const Location where = slot.where();
        const Port port = read_port(slot);
        const auto in = port.of_switch();
        if (!in) {
            throw ReadError(where, fmt::format("{} : {} is no port of a switch that packets come "
                                               "in by",
                                               port.bundle, port.index));
        }
        slot.expect(",");
        merge.turns.push_back({*in, slot.integer()});
    } while (turns.skip(","));
    const bool told = std::any_of(merges_.begin(), merges_.end(), [&merge](const auto& other) {
        return other.tile == merge.tile && other.arbiter == merge.arbiter &&
               other.turns == merge.turns;
    });
    if (!told) {  // each selector of an arbiter may state its order
        merges_.push_back(std::move(merge));
    }
}

Select SwitchSettings::select_of(Cursor& cursor, const std::map<std::string, Select>& selects) {
    const Location where = cursor.where();
    const auto place = selects.find(cursor.value());
    if (place == selects.end()) {
        throw ReadError(where, "this is no amsel of the switchbox");
    }
    return place->second;
}

void SwitchSettings::masterset(const Operation& operation,
                               const std::map<std::string, Select>& selects, Switch& box) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    Master master{read_port(inside), std::nullopt};
    if (operation.attribute("keep_pkt_header")) {
        master.keep_header = is_true(operation, "keep_pkt_header");
    }
    while (inside.skip(",")) {
        box.masters[select_of(inside, selects)].push_back(master);
    }
}

void SwitchSettings::packet_rules(const Operation& operation,
                                  const std::map<std::string, Select>& selects, Switch& box) {
    Cursor cursor(operation);
    Cursor inside(cursor.group("("));
    auto& rules = box.rules[read_port(inside)];
    for (const Operation& each : region_of(operation).blocks.front().operations) {
        if (each.name != "aie.rule") {
            continue;
        }
        Cursor words(each);
        Cursor rule(words.group("("));
        Rule entry;
        entry.mask = rule.integer();
        rule.expect(",");
        entry.value = rule.integer();
        rule.expect(",");
        entry.select = select_of(rule, selects);
        rules.push_back(entry);
    }
}

void SwitchSettings::shim_mux(const Operation& operation) {
    ShimMux& mux = muxes_[tile_of(operation)];
    for (const Operation& each : region_of(operation).blocks.front().operations) {
        if (each.name != "aie.connect") {
            continue;
        }
        const auto [from, to] = connection(each);
        if (from.bundle == "dma") {
            mux.entry[from.index] = to.index;
        } else if (to.bundle == "dma") {
            mux.exit[from.index] = to.index;
        }
    }
}

}  // namespace tilesim::workloads::npu::mlir::routes
