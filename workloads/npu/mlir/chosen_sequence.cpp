#include "workloads/npu/mlir/chosen_sequence.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "workloads/npu/mlir/syntax/attributes.hpp"
#include "workloads/npu/mlir/vocabulary.hpp"

namespace tilesim::workloads::npu::mlir {

namespace {

bool is_sequence(const Operation& operation) {
    if (operation.name.ends_with(".runtime_sequence")) {
        return true;
    }
    bool commands = false;
    if (operation.name == "func.func") {
        walk({operation}, [&commands](const Operation& each) {
            commands = commands || each.name.starts_with("aiex.npu.") ||
                       each.name.starts_with("aiex.ipu.") || each.name.starts_with("aiex.dma_");
        });
    }
    return commands;
}

}  // namespace

const Operation* sequence_of(Lowering& lowering) {
    const Operation* chosen = nullptr;
    std::vector<std::string> others;
    for (const Operation& operation : lowering.body()) {
        if (!is_sequence(operation)) {
            continue;
        }
        const std::string& wanted = lowering.options.sequence;
        const bool fits = wanted.empty() ? chosen == nullptr : symbol_of(operation) == wanted;
        if (fits) {
            chosen = &operation;
        } else {
            others.push_back(fmt::format("@{}", symbol_of(operation)));
        }
    }
    if (chosen == nullptr && !lowering.options.sequence.empty()) {
        throw ReadError(
            lowering.device.where,
            fmt::format(
                "no run-time sequence is named @{}{}", lowering.options.sequence,
                others.empty() ? "" : fmt::format("; there are {}", fmt::join(others, ", "))));
    }
    for (const std::string& other : others) {
        lowering.note(fmt::format("run-time sequence {} is left out", other));
    }
    return chosen;
}

}  // namespace tilesim::workloads::npu::mlir
