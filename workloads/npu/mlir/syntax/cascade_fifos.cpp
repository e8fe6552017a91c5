#include "workloads/npu/mlir/syntax/cascade_fifos.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/syntax/cursor.hpp"
#include "workloads/npu/mlir/syntax/written_out.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

bool is_over_a_cascade(const Operation& operation) {
    const auto transport =
        operation.name == "aie.objectfifo" ? operation.attribute("transport") : std::nullopt;
    return transport && transport->size() > 1 && (*transport)[1].opens("<") &&
           !(*transport)[1].items.empty() && (*transport)[1].items.front().is_word("cascade");
}

class CascadeFifos {
  public:
    explicit CascadeFifos(Block& device) : device_(device) {}

    void run() {
        for (const Operation& fifo : take_from_device(device_, is_over_a_cascade)) {
            add_to_device(device_, parse_at(flow(fifo), fifo.where));
        }
        for (Operation& each : device_.operations) {
            elements_.clear();
            for (Item& item : each.items) {
                write_within(item, [this](const Operation& inner) { return written(inner); });
            }
        }
    }

  private:
    // @f(%a, {%b}, 1 : i32) {transport = #aie.transport<cascade>} : !aie.objectfifo<memref<1xT>>
    std::string flow(const Operation& fifo) {
        Cursor cursor(fifo);
        const std::string name = cursor.symbol();
        Cursor ends(cursor.group("("));
        const std::string producer = ends.value();
        ends.expect(",");
        const Location where = ends.where();
        Cursor consumers(ends.group("{"));
        const std::string consumer = consumers.value();
        if (!consumers.done()) {
            throw ReadError(where, fmt::format("@{} goes over a cascade, which has one consumer: "
                                               "the core east or south of the producer",
                                               name));
        }
        const std::int64_t depth = ends.skip(",") ? ends.integer() : 1;
        if (depth != 1 || fifo.attribute("repeat_count") || fifo.attribute("iter_count")) {
            throw ReadError(fifo.where,
                            fmt::format("@{} goes over a cascade, which holds no elements: its "
                                        "depth is 1, and nothing is repeated",
                                        name));
        }
        types_[name] = value_type(cursor, name);
        return fmt::format("aie.cascade_flow(%{}, %{})\n", producer, consumer);
    }

    // vector<16xi32> of memref<1xvector<16xi32>>
    static std::string value_type(Cursor& cursor, const std::string& name) {
        while (!cursor.done() && !cursor.peek()->is_word("!aie.objectfifo")) {
            cursor.take();
        }
        const Location where = cursor.where();
        if (!cursor.done()) {
            cursor.take();
            Cursor inside(cursor.group("<"));
            if (inside.skip_word("memref")) {
                Cursor element(inside.group("<"));
                const bool one = !element.done() && element.take().token.text == "1xvector";
                if (one && !element.done() && element.peek()->opens("<")) {
                    Cursor lanes(element.take());
                    return fmt::format("vector<{}>", lanes.done() ? "" : lanes.peek()->token.text);
                }
            }
        }
        throw ReadError(where, fmt::format("@{} goes over a cascade: its element is one vector, "
                                           "memref<1xvector<16xi32>>",
                                           name));
    }

    // What stands in an operation's place; nothing where it has nothing to do with a cascade.
    std::optional<std::string> written(const Operation& operation) {
        static const std::set<std::string_view> kStores{"memref.store", "vector.store",
                                                        "vector.transfer_write"};
        static const std::set<std::string_view> kLoads{"memref.load", "vector.load",
                                                       "vector.transfer_read"};
        const std::string& name = operation.name;
        if (name == "aie.objectfifo.acquire" || name == "aie.objectfifo.release") {
            const auto type = types_.find(symbol_of(operation));
            if (type == types_.end()) {
                return std::nullopt;
            }
            for (const std::string& result : operation.results) {
                elements_[result] = type->second;
            }
            return "";
        }
        Cursor cursor(operation);
        if (cursor.done() || !cursor.peek()->is(TokenKind::Value)) {
            return std::nullopt;
        }
        const std::string first = cursor.value();
        const auto element = elements_.find(first);
        if (name == "aie.objectfifo.subview.access" && element != elements_.end()) {
            for (const std::string& result : operation.results) {
                elements_[result] = element->second;
            }
            return "";
        }
        if (kLoads.contains(name) && element != elements_.end() && operation.results.size() == 1) {
            return fmt::format("%{} = aie.get_cascade() : {}\n", operation.results.front(),
                               element->second);
        }
        if (kStores.contains(name) && cursor.skip(",") && !cursor.done() &&
            cursor.peek()->is(TokenKind::Value)) {
            const auto target = elements_.find(cursor.value());
            if (target != elements_.end()) {
                return fmt::format("aie.put_cascade(%{} : {})\n", first, target->second);
            }
        }
        return std::nullopt;
    }

    Block& device_;
    std::map<std::string, std::string> types_;     // of values, by FIFO
    std::map<std::string, std::string> elements_;  // of the present core: their values' types
};

}  // namespace

void write_cascade_fifos_as_cascades(std::vector<Operation>& operations) {
    in_every_device(operations, [](Block& device) {
        if (std::any_of(device.operations.begin(), device.operations.end(), is_over_a_cascade)) {
            CascadeFifos(device).run();
        }
    });
}

}  // namespace tilesim::workloads::npu::mlir::syntax
