#include "workloads/npu/mlir/syntax/written_out.hpp"

#include <iterator>

namespace tilesim::workloads::npu::mlir::syntax {

namespace {

void move_to(Location where, std::vector<Operation>& operations);

void move_to(Location where, std::vector<Item>& items) {
    for (Item& item : items) {
        item.token.where = where;
        move_to(where, item.items);
        for (Block& block : item.blocks) {
            move_to(where, block.operations);
        }
    }
}

void move_to(Location where, std::vector<Operation>& operations) {
    for (Operation& operation : operations) {
        operation.where = where;
        move_to(where, operation.items);
    }
}

}  // namespace

std::vector<Operation> parse_at(const std::string& text, Location where) {
    std::vector<Operation> operations = parse(text);
    move_to(where, operations);
    return operations;
}

void in_every_device(std::vector<Operation>& operations, const std::function<void(Block&)>& pass) {
    for (Operation& operation : operations) {
        if (operation.name != "module" && operation.name != "aie.device") {
            continue;
        }
        for (Item& item : operation.items) {
            for (Block& block : item.blocks) {
                in_every_device(block.operations, pass);
                pass(block);
            }
        }
    }
}

void add_to_device(Block& device, std::vector<Operation> operations) {
    const bool ended = !device.operations.empty() && device.operations.back().name == "aie.end";
    device.operations.insert(device.operations.end() - (ended ? 1 : 0),
                             std::make_move_iterator(operations.begin()),
                             std::make_move_iterator(operations.end()));
}

}  // namespace tilesim::workloads::npu::mlir::syntax
