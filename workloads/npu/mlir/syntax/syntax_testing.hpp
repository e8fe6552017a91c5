// For tests: a syntax tree as one line an operation, to compare two; what a step refuses.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "workloads/npu/mlir/syntax/location.hpp"
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

// What a step says of a place behind this line; nothing if it refuses nothing.
inline std::string refusal_behind(int line, const std::function<void()>& step) {
    try {
        step();
    } catch (const ReadError& error) {
        EXPECT_GT(error.where().line, line);
        return error.what();
    }
    return "";
}

}  // namespace tilesim::workloads::npu::mlir::syntax
