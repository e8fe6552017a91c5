#include "workloads/npu/mlir/syntax/written_out.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

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

std::vector<Operation> take_from_device(Block& device,
                                        const std::function<bool(const Operation&)>& holds) {
    std::vector<Operation>& all = device.operations;
    const auto first = std::stable_partition(all.begin(), all.end(),
                                             [&](const Operation& each) { return !holds(each); });
    std::vector<Operation> taken(std::make_move_iterator(first),
                                 std::make_move_iterator(all.end()));
    all.erase(first, all.end());
    return taken;
}

void write_within(Item& item,
                  const std::function<std::optional<std::string>(const Operation&)>& text_of) {
    for (Item& inner : item.items) {
        write_within(inner, text_of);
    }
    for (Block& block : item.blocks) {
        std::vector<Operation> today;
        for (Operation& operation : block.operations) {
            if (const auto text = text_of(operation)) {
                std::vector<Operation> in_place = parse_at(*text, operation.where);
                std::move(in_place.begin(), in_place.end(), std::back_inserter(today));
                continue;
            }
            for (Item& inner : operation.items) {
                write_within(inner, text_of);
            }
            today.push_back(std::move(operation));
        }
        block.operations = std::move(today);
    }
}

}  // namespace tilesim::workloads::npu::mlir::syntax
