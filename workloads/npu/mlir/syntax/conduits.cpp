#include "workloads/npu/mlir/syntax/conduits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/syntax/cursor.hpp"
#include "workloads/npu/mlir/syntax/device_tiles.hpp"
#include "workloads/npu/mlir/syntax/memref_type.hpp"
#include "workloads/npu/mlir/syntax/unknown_name.hpp"
#include "workloads/npu/mlir/syntax/written_out.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

constexpr std::string_view kConduit = "conduit.";

// @name, or as the attribute: conduit.create {name = "a"}
std::string name_of(const Operation& operation) {
    const std::string symbol = symbol_of(operation);
    return symbol.empty() ? text_attribute(operation, "name") : symbol;
}

class Conduits {
  public:
    explicit Conduits(Block& device) : device_(device) {}

    bool run() {
        const auto creates = [](const Operation& each) { return each.name == "conduit.create"; };
        for (const Operation& create : take_from_device(device_, creates)) {
            add_to_device(device_, parse_at(fifo(create), create.where));
        }
        for (Operation& each : device_.operations) {
            if (is_core(each)) {
                core_ = tile_of(each);
                uses_.clear();
                for (Item& item : each.items) {
                    write_within(item, [this](const Operation& inner) { return written(inner); });
                }
            }
        }
        return shared_;
    }

  private:
    struct Conduit {
        std::string type;      // of its elements
        std::string producer;  // the tile's value
    };
    // A window or a token of a core.
    struct Use {
        std::string conduit, port;
        std::int64_t count = 1;
    };

    std::vector<std::string> tiles(const Operation& create, std::string_view key) {
        const std::vector<std::int64_t> numbers = integers_attribute(create, key);
        if (numbers.empty() || numbers.size() % 2 != 0) {
            throw ReadError(create.where, fmt::format("{} of conduit {} is no list of columns and "
                                                      "rows",
                                                      key, name_of(create)));
        }
        std::vector<std::string> names;
        for (std::size_t i = 0; i < numbers.size(); i += 2) {
            names.push_back("%" + tile_at(device_, {numbers[i], numbers[i + 1]}, create.where));
        }
        return names;
    }

    // conduit.create {name = "a", producer_tile = array<i64: 0, 2>, consumer_tiles = array<i64: 0,
    // 4>, element_type = memref<8xi32>, depth = 1 : i64}
    std::string fifo(const Operation& create) {
        const std::string name = name_of(create);
        const auto stated = create.attribute("element_type");
        if (name.empty() || !stated) {
            throw ReadError(create.where, "conduit.create needs a name and an element_type");
        }
        Cursor cursor(*stated, create.where);
        Conduit& conduit = conduits_[name];
        conduit.type = flat_memref(read_memref(cursor));
        const std::string producer = tiles(create, "producer_tile").front();
        conduit.producer = producer.substr(1);
        std::string consumers;
        for (const std::string& tile : tiles(create, "consumer_tiles")) {
            consumers += (consumers.empty() ? "" : ", ") + tile;
        }
        shared_ = shared_ || create.attribute("fused_dma_channel_group").has_value();
        const bool packets = text_attribute(create, "routing_mode") == "packet";
        return fmt::format("aie.objectfifo @{}({}, {{{}}}, {} : i32) {}: !aie.objectfifo<{}>\n",
                           name, producer, consumers,
                           integer_attribute(create, "depth").value_or(1),
                           packets ? "{packet} " : "", conduit.type);
    }

    std::optional<std::string> written(const Operation& operation) {
        const bool stays = !operation.name.starts_with(kConduit) || left_as_it_is(operation);
        return stays ? std::nullopt : std::optional{text_of(operation)};
    }

    // What moves data of its own, and waits for that: told by whoever reads the core.
    bool left_as_it_is(const Operation& operation) {
        static constexpr std::string_view kWaits[] = {"conduit.wait", "conduit.wait_all",
                                                      "conduit.wait_all_async"};
        static constexpr std::string_view kKnown[] = {
            "conduit.acquire",        "conduit.acquire_async", "conduit.wait_window",
            "conduit.subview_access", "conduit.release",       "conduit.release_async"};
        const auto is = [&operation](std::string_view name) { return operation.name == name; };
        if (std::none_of(std::begin(kWaits), std::end(kWaits), is)) {
            return std::none_of(std::begin(kKnown), std::end(kKnown), is);
        }
        for (const Item& each : operation.items) {
            if (each.is(TokenKind::Value) && !uses_.contains(each.token.text)) {
                return true;
            }
        }
        for (const std::string& result : operation.results) {
            uses_[result] = {};  // a token of tokens
        }
        return false;
    }

    // What an operation has become: nothing where it hands over only tokens.
    std::string text_of(const Operation& operation) {
        const std::string_view name = std::string_view{operation.name}.substr(kConduit.size());
        if (name.starts_with("wait") && name != "wait_window") {
            return "";
        }
        if (name == "acquire" || name == "acquire_async") {
            const Use use = use_of(operation);
            const std::string result = result_of(operation);
            uses_[result] = use;
            return name == "acquire" ? acquire(result, use) : "";
        }
        Cursor cursor(operation);
        if (name == "release_async") {
            uses_[result_of(operation)] = {};
            return release(use_of(operation));
        }
        const Use given = use_named(cursor);
        if (name == "wait_window") {
            const std::string result = result_of(operation);
            uses_[result] = given;
            return acquire(result, given);
        }
        if (name == "release") {
            Use use = given;
            use.count = integer_attribute(operation, "count").value_or(given.count);
            return release(use);
        }
        const std::string& type = conduits_.at(given.conduit).type;
        return fmt::format(
            "%{} = aie.objectfifo.subview.access %{}[{}] : "
            "!aie.objectfifosubview<{}> -> {}\n",
            result_of(operation), operation.items.front().token.text,
            integer_attribute(operation, "index").value_or(0), type, type);
    }

    static std::string result_of(const Operation& operation) {
        if (operation.results.size() != 1) {
            throw ReadError(operation.where, fmt::format("{} needs one result", operation.name));
        }
        return operation.results.front();
    }

    Use use_named(Cursor& cursor) const {
        const Location where = cursor.where();
        const std::string value = cursor.value();
        const auto place = uses_.find(value);
        if (place == uses_.end() || place->second.conduit.empty()) {
            throw ReadError(where, fmt::format("%{} is no window of a conduit", value));
        }
        return place->second;
    }

    // {name = "a", count = 1 : i64, port = #conduit.port<Consume>}; without a port the core's end.
    Use use_of(const Operation& operation) const {
        Use use;
        use.conduit = name_of(operation);
        const auto conduit = conduits_.find(use.conduit);
        if (conduit == conduits_.end()) {
            throw unknown_symbol(operation.where, "conduit", use.conduit, keys_of(conduits_));
        }
        use.count = integer_attribute(operation, "count").value_or(1);
        use.port = conduit->second.producer == core_ ? "Produce" : "Consume";
        if (const auto port = operation.attribute("port")) {
            Cursor cursor(*port, operation.where);
            cursor.word();
            use.port = Cursor(cursor.group("<")).word();
        }
        return use;
    }

    std::string acquire(const std::string& result, const Use& use) const {
        return fmt::format(
            "%{} = aie.objectfifo.acquire @{}({}, {}) : "
            "!aie.objectfifosubview<{}>\n",
            result, use.conduit, use.port, use.count, conduits_.at(use.conduit).type);
    }
    static std::string release(const Use& use) {
        return fmt::format("aie.objectfifo.release @{}({}, {})\n", use.conduit, use.port,
                           use.count);
    }

    Block& device_;
    std::map<std::string, Conduit> conduits_;
    std::string core_;
    std::map<std::string, Use> uses_;  // of the present core, by value
    bool shared_ = false;
};

}  // namespace

bool write_conduits_as_fifos(std::vector<Operation>& operations) {
    bool shared = false;
    in_every_device(operations, [&shared](Block& device) {
        if (std::any_of(device.operations.begin(), device.operations.end(),
                        [](const Operation& each) { return each.name == "conduit.create"; })) {
            shared |= Conduits(device).run();
        }
    });
    return shared;
}

}  // namespace tilesim::workloads::npu::mlir::syntax
