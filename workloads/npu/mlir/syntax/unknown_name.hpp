// What is said of a name that nothing in the design has: which is nearest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/npu/mlir/syntax/location.hpp"

namespace tilesim::workloads::npu::mlir::syntax {

// "no object FIFO is named @f; did you mean @e?"
ReadError unknown_symbol(Location where, std::string_view kind, const std::string& name,
                         const std::vector<std::string>& known);

// The names of things that have one.
template <class Things>
std::vector<std::string> names_of(const Things& things) {
    std::vector<std::string> names;
    for (const auto& each : things) {
        names.push_back(each.name);
    }
    return names;
}

// The names under which a map has its things.
template <class Map>
std::vector<std::string> keys_of(const Map& map) {
    std::vector<std::string> names;
    for (const auto& [name, thing] : map) {
        names.push_back(name);
    }
    return names;
}

}  // namespace tilesim::workloads::npu::mlir::syntax
