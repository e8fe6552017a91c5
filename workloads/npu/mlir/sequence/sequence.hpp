// Parts of the run-time sequence, for designs whose sequence configures one device after another.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "workloads/npu/mlir/lowering.hpp"
#include "workloads/npu/mlir/registers/register_writes.hpp"

namespace tilesim::workloads::npu::mlir::sequence {

using registers::RegisterWrites;

// What a sequence's operations see: its arguments, and views of them.
struct SequenceNames {
    std::vector<std::pair<std::string, Value>> values{};
    std::vector<RegisterWrites::Argument> arguments{};  // those that are buffers
};

void lower_sequence(Lowering& lowering);
// The external buffers a sequence's arguments become. Throws ReadError.
SequenceNames declare_arguments(Lowering& lowering, const Operation& sequence);
// Whether an operation only names something: a constant, a view of an argument.
bool only_names(const Operation& operation);
// Adds what such an operation names.
void add_name(Lowering& lowering, const Operation& operation, SequenceNames& names);
// Executes operations on the lowering's device, adding to its program's sequence.
void run_operations(Lowering& lowering, const std::vector<const Operation*>& operations,
                    const SequenceNames& names);

}  // namespace tilesim::workloads::npu::mlir::sequence
