#include "workloads/npu/mlir/core/kernel_costs.hpp"

#include <fmt/format.h>

#include "arch/base/units.hpp"

namespace tilesim::workloads::npu::mlir::core {

namespace {

// A function without a stated cost takes the time its operands need through the load ports.
constexpr const char* kEstimate =
    "{}: no cost is stated for this function; taken as {} cycles, each buffer once through the "
    "core's load ports. State it under `kernels` of the side file";

// Zero for what is no buffer of known size.
std::int64_t buffer_bytes(Cursor& types) {
    if (!types.peek()->is_word("memref")) {
        types.take();
        return 0;
    }
    try {
        return read_memref(types).bytes();
    } catch (const ReadError&) {
        return 0;
    }
}

// From the types behind the call: (memref<64xi32>, ...) -> ()
std::int64_t estimate(const Lowering& lowering, const Operation& call) {
    std::int64_t bytes = 0;
    for (const Item& item : call.items) {
        Cursor types(item);
        while (item.opens("(") && !types.done()) {
            bytes += buffer_bytes(types);
        }
    }
    return through_load_ports(lowering, bytes);
}

}  // namespace

std::int64_t through_load_ports(const Lowering& lowering, std::int64_t bytes) {
    const arch::npu::KernelConfig& kernels = lowering.config.kernels;
    return arch::base::ceil_div(bytes, kernels.load_slots * kernels.load_width.count());
}

std::int64_t called_kernel(Lowering& lowering, const std::string& symbol, const Operation& call) {
    for (std::size_t i = 0; i < lowering.program.kernels.size(); ++i) {
        if (lowering.program.kernels[i].name == plain_name(symbol)) {
            return static_cast<std::int64_t>(i);
        }
    }
    const KernelCosts& costs = lowering.options.costs;
    const auto stated = costs.kernels.find(symbol);
    program::Kernel kernel;
    kernel.name = plain_name(symbol);
    kernel.marked = !costs.marked || costs.marked->contains(symbol);
    if (stated != costs.kernels.end()) {
        kernel.cycles = stated->second;
    } else if (costs.default_kernel) {
        kernel.cycles = costs.default_kernel;
    } else {
        kernel.cycles = estimate(lowering, call);
        kernel.estimated = true;
        lowering.note(fmt::format(kEstimate, symbol, *kernel.cycles));
    }
    lowering.program.kernels.push_back(kernel);
    return static_cast<std::int64_t>(lowering.program.kernels.size()) - 1;
}

}  // namespace tilesim::workloads::npu::mlir::core
