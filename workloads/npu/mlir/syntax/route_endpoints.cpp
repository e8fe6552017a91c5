#include "workloads/npu/mlir/syntax/route_endpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/syntax/cursor.hpp"
#include "workloads/npu/mlir/syntax/unknown_name.hpp"
#include "workloads/npu/mlir/syntax/written_out.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

struct Endpoint {
    std::string name;
    std::string tile;  // its %name
    std::string port;  // DMA or Core
    std::string fifo;  // fifoName
    std::optional<std::int64_t> channel{};
    std::optional<bool> sends{};  // known from its route, or from who starts it
    bool named = false;           // by a DMA program or a task
    Location where{};
};

struct Route {
    std::vector<std::string> from;  // several take turns, as packets
    std::vector<std::string> to;
    bool packet = false;
    std::optional<std::int64_t> packet_id{};
    std::int64_t packet_type = 0;
    Location where{};
};

// @name behind "MM2S," or "S2MM," in a DMA's start; nullptr: it has a number.
Item* named_channel(Operation& operation) {
    const bool starts = operation.name == "aie.dma_start" || operation.name == "aie.dma";
    if (!starts || operation.items.empty() || operation.items.front().items.size() < 3) {
        return nullptr;
    }
    Item& channel = operation.items.front().items[2];
    return channel.is(TokenKind::Symbol) ? &channel : nullptr;
}

// @name of aiex.dma_configure_task_for, which is not said of a shim's end only.
Item* named_task(Operation& operation) {
    const bool task = operation.name == "aiex.dma_configure_task_for";
    return task && !operation.items.empty() && operation.items.front().is(TokenKind::Symbol)
               ? &operation.items.front()
               : nullptr;
}

class Routes {
  public:
    explicit Routes(Block& device) : device_(device) {}

    void run() {
        read();
        if (routes_.empty() && endpoints_.empty()) {
            return;
        }
        for_each(device_.operations, [this](Operation& each) { look_at(each); });
        for (auto& [name, endpoint] : endpoints_) {
            if (!endpoint.channel && (endpoint.named || in_plain_route_.contains(name))) {
                choose(endpoint);
            }
        }
        for_each(device_.operations, [this](Operation& each) { write_number(each); });
        replace();
    }

  private:
    template <class Action>
    static void for_each(std::vector<Operation>& operations, const Action& action) {
        for (Operation& operation : operations) {
            action(operation);
            for (Item& item : operation.items) {
                for_each_inside(item, action);
            }
        }
    }
    template <class Action>
    static void for_each_inside(Item& item, const Action& action) {
        for (Block& block : item.blocks) {
            for_each(block.operations, action);
        }
        for (Item& inner : item.items) {
            for_each_inside(inner, action);
        }
    }

    void read() {
        for (const Operation& operation : device_.operations) {
            if (operation.name == "aie.route_endpoint") {
                read_endpoint(operation);
            } else if (operation.name == "aie.route") {
                read_route(operation);
            } else if (operation.name == "aie.tile" || operation.name == "aie.logical_tile") {
                read_tile(operation);
            }
        }
        for (const Route& route : routes_) {
            const bool plain = is_plain(route);
            const auto use = [&](const std::string& name, bool sends) {
                const auto end = endpoints_.find(name);
                if (end == endpoints_.end()) {
                    return;
                }
                if (end->second.sends && *end->second.sends != sends) {
                    throw ReadError(route.where, fmt::format("@{} is the source of one route and "
                                                             "the destination of another",
                                                             name));
                }
                end->second.sends = sends;
                if (plain) {
                    in_plain_route_.insert(name);
                }
            };
            for (const std::string& name : route.from) {
                use(name, true);
            }
            for (const std::string& name : route.to) {
                use(name, false);
            }
        }
    }

    void read_endpoint(const Operation& operation) {
        Cursor cursor(operation);
        Endpoint endpoint;
        endpoint.name = cursor.symbol();
        endpoint.where = operation.where;
        Cursor inside(cursor.group("("));
        endpoint.tile = inside.value();
        endpoint.port = cursor.word();
        endpoint.fifo = text_attribute(operation, "fifoName");
        endpoint.channel = integer_attribute(operation, "channelIndex");
        if (operation.attribute("sharesChannel")) {
            throw ReadError(operation.where,
                            fmt::format("@{} shares another's channel: not modelled here; run the "
                                        "design as it is before the object FIFOs are split",
                                        endpoint.name));
        }
        if (!endpoint.channel && endpoint.port == "Core") {
            endpoint.channel = 0;
        }
        const std::string name = endpoint.name;
        endpoints_[name] = std::move(endpoint);
    }

    // from @a to [@b, @c] {packet = #aie.packet_info<pkt_id = 1>}
    void read_route(const Operation& operation) {
        Route route;
        route.where = operation.where;
        Cursor cursor(operation);
        cursor.skip_word("from");
        if (!cursor.done() && cursor.peek()->is(TokenKind::Symbol)) {
            route.from.push_back(cursor.symbol());
        } else {
            route.from = symbols(cursor.group("["));
        }
        cursor.skip_word("to");
        route.to = symbols(cursor.group("["));
        route.packet_id = integer_attribute(operation, "packet_id");
        const auto header = operation.attribute("packet");
        route.packet = route.packet_id || header;
        for (const Item& item : header.value_or(std::vector<Item>{})) {
            for (std::size_t i = 0; i + 2 < item.items.size(); ++i) {
                const auto number = to_integer(item.items[i + 2].token.text);
                if (item.items[i].is_word("pkt_id")) {
                    route.packet_id = number;
                } else if (item.items[i].is_word("pkt_type")) {
                    route.packet_type = number.value_or(0);
                }
            }
        }
        if (route.packet_id) {
            packet_ids_.insert(*route.packet_id);
        }
        if (route.from.size() > 1 && !route.packet) {
            throw ReadError(operation.where, "several sources of one route send packets");
        }
        routes_.push_back(std::move(route));
    }

    static std::vector<std::string> symbols(const Item& list) {
        std::vector<std::string> names;
        for (Cursor inside(list); !inside.done(); inside.skip(",")) {
            names.push_back(inside.symbol());
        }
        return names;
    }

    void read_tile(const Operation& operation) {
        Cursor cursor(operation);
        if (operation.results.empty() || cursor.done()) {
            return;
        }
        if (operation.name == "aie.logical_tile") {
            const Item& kind = cursor.take();
            const bool shim =
                !kind.items.empty() && kind.items.front().token.text.starts_with("Shim");
            if (shim) {
                shims_.insert(operation.results.front());
            }
            return;
        }
        const Item& place = cursor.take();
        if (place.items.size() == 3 && place.items[2].token.text == "0") {
            shims_.insert(operation.results.front());
        }
    }

    bool is_plain(const Route& route) const {
        const auto known = [this](const std::vector<std::string>& names) {
            return std::all_of(names.begin(), names.end(), [this](const std::string& name) {
                return endpoints_.contains(name);
            });
        };
        return known(route.from) && known(route.to);
    }

    // Channels that are stated, and who names an endpoint.
    void look_at(Operation& operation) {
        if (operation.name == "aie.mem" || operation.name == "aie.memtile_dma" ||
            operation.name == "aie.shim_dma") {
            program_of_ = first_value(operation.items);
        } else if (Item* const channel = named_channel(operation)) {
            name_endpoint(operation, *channel, operation.items.front().items[0]);
        } else if (operation.name == "aie.dma_start" || operation.name == "aie.dma") {
            take(program_of_, operation.items.front().items, 0);
        } else if (Item* const task = named_task(operation)) {
            const auto end = endpoints_.find(task->token.text);
            if (end != endpoints_.end()) {
                end->second.named = true;
            }
        } else if (operation.name == "aiex.dma_configure_task" ||
                   operation.name == "aie.shim_dma_allocation") {
            for (const Item& item : operation.items) {
                if (item.opens("(") && !item.items.empty()) {
                    take(first_value(item.items), item.items, 2);
                }
            }
        } else if (operation.name == "aie.flow") {
            take_ports(operation.items, {true, false});
        } else if (operation.name == "aie.packet_source" || operation.name == "aie.packet_dest") {
            take_ports(operation.items, {operation.name == "aie.packet_source"});
        } else if (operation.name == "aie.packet_flow" && !operation.items.empty() &&
                   !operation.items.front().items.empty()) {
            const auto id = to_integer(operation.items.front().items.front().token.text);
            packet_ids_.insert(id.value_or(0));
        }
    }

    static std::string first_value(const std::vector<Item>& items) {
        for (const Item& item : items) {
            if (item.is(TokenKind::Value)) {
                return item.token.text;
            }
            if (item.opens("(")) {
                return first_value(item.items);
            }
        }
        return "";
    }

    void name_endpoint(const Operation& operation, const Item& channel, const Item& direction) {
        const auto end = endpoints_.find(channel.token.text);
        if (end == endpoints_.end()) {
            throw unknown_symbol(channel.token.where, "endpoint", channel.token.text,
                                 keys_of(endpoints_));
        }
        const bool sends = direction.is_word("MM2S");
        if (end->second.sends.value_or(sends) != sends) {
            throw ReadError(operation.where,
                            fmt::format("starts {} on @{}, but its route makes it {}",
                                        direction.token.text, end->first, sends ? "S2MM" : "MM2S"));
        }
        end->second.sends = sends;
        end->second.named = true;
    }

    // MM2S, 1 from this item on
    void take(const std::string& tile, const std::vector<Item>& items, std::size_t first) {
        if (first + 2 < items.size() && items[first + 2].is(TokenKind::Number)) {
            taken_.insert({tile, items[first].is_word("MM2S"),
                           to_integer(items[first + 2].token.text).value_or(0)});
        }
    }

    // %tile, DMA : 0, as often as there are directions
    void take_ports(const std::vector<Item>& items, std::vector<bool> sends) {
        const std::vector<Item>& ports = items.empty() ? items : items.front().items;
        auto direction = sends.begin();
        for (std::size_t i = 0; i + 4 < ports.size() && direction != sends.end(); ++i) {
            if (ports[i].is(TokenKind::Value)) {
                if (ports[i + 2].token.text == "DMA") {
                    taken_.insert({ports[i].token.text, *direction,
                                   to_integer(ports[i + 4].token.text).value_or(0)});
                }
                ++direction;
            }
        }
    }

    void choose(Endpoint& endpoint) {
        if (!endpoint.sends) {
            throw ReadError(
                endpoint.where,
                fmt::format("@{} is in no route that says which way it goes", endpoint.name));
        }
        std::int64_t channel = 0;
        while (!taken_.insert({endpoint.tile, *endpoint.sends, channel}).second) {
            ++channel;
        }
        endpoint.channel = channel;
    }

    void write_number(Operation& operation) {
        if (Item* const channel = named_channel(operation)) {
            const Endpoint& endpoint = endpoints_.at(channel->token.text);
            *channel =
                token(TokenKind::Number, std::to_string(*endpoint.channel), channel->token.where);
            return;
        }
        Item* const task = named_task(operation);
        const auto end = task == nullptr ? endpoints_.end() : endpoints_.find(task->token.text);
        if (end == endpoints_.end() || shims_.contains(end->second.tile)) {
            return;
        }
        const Endpoint& endpoint = end->second;
        const std::vector<Operation> numbered =
            parse_at(fmt::format("aiex.dma_configure_task(%{}, {}, {})", endpoint.tile,
                                 *endpoint.sends ? "MM2S" : "S2MM", *endpoint.channel),
                     task->token.where);
        operation.name = numbered.front().name;
        *task = numbered.front().items.front();
    }

    // Plain routes become flows; endpoints of others keep what was chosen.
    void replace() {
        choose_packet_ids();
        std::erase_if(device_.operations, [this](const Operation& operation) {
            if (operation.name == "aie.route_endpoint") {
                return true;
            }
            return operation.name == "aie.route" && is_plain(routes_.at(route_number_++));
        });
        for (const auto& [name, endpoint] : endpoints_) {
            add_to_device(device_, parse_at(in_plain_route_.contains(name) ? allocations(endpoint)
                                                                           : numbered(endpoint),
                                            endpoint.where));
        }
        for (const Route& route : routes_) {
            if (is_plain(route)) {
                add_to_device(device_, parse_at(flows(route), route.where));
            }
        }
    }

    static std::string numbered(const Endpoint& endpoint) {
        std::string keys;
        if (endpoint.channel) {
            keys = fmt::format("channelIndex = {} : i32", *endpoint.channel);
        }
        if (!endpoint.fifo.empty()) {
            keys += fmt::format("{}fifoName = \"{}\"", keys.empty() ? "" : ", ", endpoint.fifo);
        }
        return fmt::format("aie.route_endpoint @{}(%{}) {} {{{}}}\n", endpoint.name, endpoint.tile,
                           endpoint.port, keys);
    }

    void choose_packet_ids() {
        for (Route& route : routes_) {
            if (!route.packet || route.packet_id || !is_plain(route)) {
                continue;
            }
            std::int64_t id = 0;
            while (!packet_ids_.insert(id).second) {
                ++id;
            }
            route.packet_id = id;
        }
    }

    // , <pkt_id = 3>: what a shim's transfers by this name send.
    std::string header_of(const Endpoint& endpoint) const {
        for (const Route& route : routes_) {
            const bool sends =
                std::find(route.from.begin(), route.from.end(), endpoint.name) != route.from.end();
            if (sends && route.packet) {
                return fmt::format(", <pkt_type = {}, pkt_id = {}>", route.packet_type,
                                   *route.packet_id);
            }
        }
        return "";
    }

    // Under its own name, and under fifoName.
    std::string allocations(const Endpoint& endpoint) const {
        if (!shims_.contains(endpoint.tile) || endpoint.port != "DMA") {
            return "";
        }
        std::string text;
        for (const std::string& name : std::set{endpoint.name, endpoint.fifo}) {
            if (!name.empty()) {
                text += fmt::format("aie.shim_dma_allocation @{}(%{}, {}, {}{})\n", name,
                                    endpoint.tile, *endpoint.sends ? "MM2S" : "S2MM",
                                    *endpoint.channel, header_of(endpoint));
            }
        }
        return text;
    }

    std::string flows(const Route& route) const {
        const auto port = [this](const std::string& name) {
            const Endpoint& endpoint = endpoints_.at(name);
            return fmt::format("%{}, {} : {}", endpoint.tile, endpoint.port, *endpoint.channel);
        };
        std::string text;
        if (!route.packet) {
            for (const std::string& name : route.to) {
                text += fmt::format("aie.flow({}, {})\n", port(route.from.front()), port(name));
            }
            return text;
        }
        text = fmt::format("aie.packet_flow({}) {{\n", *route.packet_id);
        for (const std::string& name : route.from) {
            text += fmt::format("aie.packet_source<{}>\n", port(name));
        }
        for (const std::string& name : route.to) {
            text += fmt::format("aie.packet_dest<{}>\n", port(name));
        }
        return text + "}\n";
    }

    Block& device_;
    std::map<std::string, Endpoint> endpoints_;
    std::vector<Route> routes_;
    std::set<std::string> in_plain_route_;
    std::set<std::string> shims_;                                  // tiles, by name
    std::set<std::tuple<std::string, bool, std::int64_t>> taken_;  // tile, sends, channel
    std::set<std::int64_t> packet_ids_;
    std::string program_of_;  // the tile of the DMA program being looked at
    std::size_t route_number_ = 0;
};

}  // namespace

void write_routes_as_flows(std::vector<Operation>& operations) {
    in_every_device(operations, [](Block& device) { Routes(device).run(); });
}

}  // namespace tilesim::workloads::npu::mlir::syntax
