// For tests: a syntax tree as one line an operation, to compare two.
#pragma once

#include <string>
#include <vector>

#include "workloads/npu/mlir/syntax/syntax.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

inline std::string text_of(const std::vector<Operation>& operations);

inline std::string text_of(const Item& item) {
    std::string text = item.token.text + " ";
    for (const Item& inner : item.items) {
        text += text_of(inner);
    }
    for (const Block& block : item.blocks) {
        text += "^" + block.label + ": " + text_of(block.operations);
    }
    return text;
}

inline std::string text_of(const std::vector<Operation>& operations) {
    std::string text;
    for (const Operation& operation : operations) {
        for (const std::string& result : operation.results) {
            text += "%" + result + " ";
        }
        text += operation.name + " ";
        for (const Item& item : operation.items) {
            text += text_of(item);
        }
        text += "\n";
    }
    return text;
}

}  // namespace tilesim::workloads::npu::mlir::syntax
