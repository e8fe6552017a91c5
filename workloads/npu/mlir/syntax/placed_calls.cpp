#include "workloads/npu/mlir/syntax/placed_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/syntax/cursor.hpp"
#include "workloads/npu/mlir/syntax/device_tiles.hpp"
#include "workloads/npu/mlir/syntax/memref_type.hpp"
#include "workloads/npu/mlir/syntax/written_out.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

class PlacedCalls {
  public:
    explicit PlacedCalls(Block& device) : device_(device) {}

    void run() {
        std::vector<std::string> called;
        for (const Operation& call : take_from_device(device_, is_placed_call)) {
            called.push_back(make_core(call));
        }
        std::erase_if(device_.operations, [&called](const Operation& each) {
            return each.name == "func.func" &&
                   std::find(called.begin(), called.end(), symbol_of(each)) != called.end();
        });
    }

  private:
    std::string make_core(const Operation& call) {
        const std::string tile =
            tile_at(device_, {*integer_attribute(call, "aie.x"), *integer_attribute(call, "aie.y")},
                    call.where);
        Cursor cursor(call);
        const std::string name = cursor.symbol();
        const auto function = std::find_if(
            device_.operations.begin(), device_.operations.end(), [&name](const Operation& each) {
                return each.name == "func.func" && symbol_of(each) == name;
            });
        if (function == device_.operations.end() || function->regions().empty() ||
            function->regions().front()->blocks.size() != 1) {
            throw ReadError(call.where,
                            fmt::format("@{} is no function whose body could be a core's", name));
        }
        std::map<std::string, std::string> values;  // by the function's own names
        Cursor given(cursor.group("("));
        Cursor head(*function);
        head.symbol();
        for (Cursor formal(head.group("(")); !formal.done();) {
            const std::string argument = formal.value();
            values[argument] = given.value();
            place_buffer(values[argument], tile);
            given.skip(",");
            while (!formal.done() && !formal.skip(",")) {
                formal.take();
            }
        }
        std::vector<Operation> body = function->regions().front()->blocks.front().operations;
        std::erase_if(body, [](const Operation& each) { return each.name == "func.return"; });
        for (Operation& operation : body) {
            rename(operation.items, values);
        }
        std::vector<Operation>& core = core_of(tile, call.where);
        core.insert(core.end() - 1, std::make_move_iterator(body.begin()),
                    std::make_move_iterator(body.end()));
        return name;
    }

    static void rename(std::vector<Item>& items, const std::map<std::string, std::string>& names) {
        for (Item& item : items) {
            const auto name = item.is(TokenKind::Value) ? names.find(item.token.text) : names.end();
            if (name != names.end()) {
                item.token.text = name->second;
            }
            rename(item.items, names);
            for (Block& block : item.blocks) {
                for (Operation& operation : block.operations) {
                    rename(operation.items, names);
                }
            }
        }
    }

    // %b = memref.alloc() : memref<8xi32> of the device is a buffer of the tile that is given it.
    void place_buffer(const std::string& value, const std::string& tile) {
        for (Operation& each : device_.operations) {
            if (each.name == "memref.alloc" && each.results == std::vector{value}) {
                Cursor cursor(each);
                cursor.group("(");
                cursor.expect(":");
                const MemrefType type = read_memref(cursor);
                const std::vector<Operation> buffer = parse_at(
                    fmt::format("%{} = aie.buffer(%{}) : {}\n", value, tile, flat_memref(type)),
                    each.where);
                each = buffer.front();
            }
        }
    }

    std::vector<Operation>& core_of(const std::string& tile, Location where) {
        const auto is_its = [&tile](const Operation& each) {
            return is_core(each) && tile_of(each) == tile;
        };
        if (std::none_of(device_.operations.begin(), device_.operations.end(), is_its)) {
            add_to_device(device_,
                          parse_at(fmt::format("aie.core(%{}) {{\naie.end\n}}\n", tile), where));
        }
        Operation& core =
            *std::find_if(device_.operations.begin(), device_.operations.end(), is_its);
        for (Item& item : core.items) {
            if (item.kind == Item::Kind::Region && !item.blocks.empty() &&
                !item.blocks.back().operations.empty()) {
                return item.blocks.back().operations;
            }
        }
        throw ReadError(core.where, "the tile's core has no body");
    }

    Block& device_;
};

}  // namespace

bool is_placed_call(const Operation& operation) {
    return operation.name == "func.call" && integer_attribute(operation, "aie.x") &&
           integer_attribute(operation, "aie.y");
}

void write_placed_calls_as_cores(Block& device) {
    PlacedCalls(device).run();
}

}  // namespace tilesim::workloads::npu::mlir::syntax
