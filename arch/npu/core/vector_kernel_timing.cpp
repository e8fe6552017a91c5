#include "arch/npu/core/vector_kernel_timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace tilesim::arch::npu::core {

using base::ceil_div;
using base::Cycles;
using base::kBitsPerByte;
using program::Kernel;
using program::VectorOperation;

namespace {

constexpr std::int64_t kShuffle = 2;      // cycles, llvm-aie
constexpr std::int64_t kNewtonSteps = 2;  // to a reciprocal or its root, from a looked-up start
constexpr std::int64_t kNewtonDepth = 2;  // dependent instructions of one
constexpr std::int64_t kSixteenBits = 16;
// An f32 of a vector as a bf16 of another: taken out, put into a third, moved to an accumulator,
// (converted in the slot of stores,) taken out, put in. Five instructions of the slot of moves
// (llvm-aie, legalizeG_FPTRUNC and the instructions' slots).
constexpr std::int64_t kElementMoves = 5;

constexpr std::array kWorksOn{DataType::Int8, DataType::Int16, DataType::Int32, DataType::Bf16,
                              DataType::F32};

bool works_on(DataType type) {
    return std::find(kWorksOn.begin(), kWorksOn.end(), type) != kWorksOn.end();
}

std::string not_among_types(DataType type, bool int4_too) {
    std::string types = int4_too ? name_of(DataType::Int4) : "";
    for (const DataType each : kWorksOn) {
        types += (types.empty() ? "" : ", ") + std::string{name_of(each)};
    }
    return fmt::format("works on {}, not on {}", types, name_of(type));
}

bool quantised(const Kernel& kernel) {
    return !is_float(kernel.a) && is_float(kernel.c);
}

}  // namespace

// What a loop does with a vector of elements.
struct VectorKernelTiming::Pass {
    std::int64_t instructions = 1;
    std::int64_t load_bits = 0;   // of an element, all operands
    std::int64_t store_bits = 0;  // of an element
    bool sums = false;            // each vector is added to what came before
    std::int64_t lanes = 0;       // elements of a vector
};

std::string VectorKernelTiming::check(const Kernel& kernel) const {
    if (config_.vector_lanes == 0) {
        return "this device's cores have no vector kernels";
    }
    const bool matvec = kernel.kind == program::KernelKind::Matvec;
    if (kernel.m <= 0 || (matvec ? kernel.k : kernel.n) <= 0) {
        return fmt::format("needs its numbers of rows and elements, `m` and `{}`",
                           matvec ? "k" : "n");
    }
    const bool cast = !matvec && kernel.operation == VectorOperation::Cast;
    if (kernel.iteration_lanes > 0 && !cast) {
        return "only casts have iterations that do not overlap (`iteration_lanes`)";
    }
    if (kernel.by_element && kernel.iteration_lanes == 0) {
        return "converts by elements only where `iteration_lanes` says how many in an iteration";
    }
    const bool packed =
        kernel.a == DataType::Int4 && (matvec || kernel.operation == VectorOperation::Dequantise);
    if (!packed && !works_on(kernel.a)) {
        return not_among_types(kernel.a, matvec);
    }
    const bool has_b =
        matvec || program::second_operand(kernel.operation) != program::SecondOperand::None;
    for (const DataType type : {has_b ? kernel.b : kernel.c, kernel.c}) {
        if (!works_on(type)) {
            return not_among_types(type, false);
        }
    }
    const bool scaled = quantised(kernel) && (matvec ? is_float(kernel.b) : true);
    if (kernel.scale_block > 0 && !scaled && matvec) {
        return fmt::format("scale factors go with integer weights and a float input, not {} and {}",
                           name_of(kernel.a), name_of(kernel.b));
    }
    if (kernel.scale_block > 0 && !scaled) {
        return fmt::format("scale factors make floats of integers, not {} of {}", name_of(kernel.c),
                           name_of(kernel.a));
    }
    if (matvec && !scaled && is_float(kernel.a) != is_float(kernel.b)) {
        return fmt::format("does not multiply {} by {}", name_of(kernel.a), name_of(kernel.b));
    }
    return "";
}

KernelCycles VectorKernelTiming::cycles(const Kernel& kernel) const {
    return kernel.kind == program::KernelKind::Matvec ? matvec(kernel) : vector(kernel);
}

KernelCycles VectorKernelTiming::without_overlap(const Kernel& kernel) const {
    const std::int64_t iterations = ceil_div(kernel.m * kernel.n, kernel.iteration_lanes);
    const std::int64_t instructions =
        kernel.by_element ? kernel.iteration_lanes * kElementMoves : 1;
    // The last instruction begins the latency, behind which comes the store.
    return {.issue = Cycles{iterations * instructions},
            .loop_extra = (config_.load_latency + config_.vector_latency) * iterations};
}

KernelCycles VectorKernelTiming::loop(std::int64_t elements, const Pass& pass) const {
    const auto vectors = [&](std::int64_t bits, base::BytesPerCycle width) {
        return ceil_div(pass.lanes * bits, width.count() * kBitsPerByte);
    };
    const std::int64_t step =
        std::max({pass.instructions,
                  ceil_div(vectors(pass.load_bits, config_.load_width), config_.load_slots),
                  pass.store_bits > 0 ? vectors(pass.store_bits, config_.store_width) : 0,
                  pass.sums ? config_.vector_interval.count() : 0});
    const std::int64_t steps = ceil_div(elements, pass.lanes);
    return {.issue = Cycles{steps * pass.instructions},
            .loop_extra = Cycles{steps * (step - pass.instructions)},
            .fill_drain = config_.load_latency + config_.vector_latency};
}

Cycles VectorKernelTiming::reduction(std::int64_t lanes) const {
    const auto steps = static_cast<std::int64_t>(
        std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(1, lanes)) - 1));
    return Cycles{steps * (kShuffle + config_.vector_latency.count())};
}

// Narrower operands: more of them in a register.
std::int64_t VectorKernelTiming::multiplied_at_once(const Kernel& kernel) const {
    const std::int64_t widest =
        quantised(kernel) ? bits_of(kernel.b) : std::max(bits_of(kernel.a), bits_of(kernel.b));
    return std::max<std::int64_t>(1, config_.vector_macs * kSixteenBits / widest);
}

KernelCycles VectorKernelTiming::matvec(const Kernel& kernel) const {
    Pass pass;
    // Integers that are multiplied as floats are unpacked, and converted; a scale factor joins
    // every scale_block of them.
    pass.instructions = quantised(kernel) ? (kernel.scale_block > 0 ? 4 : 3) : 1;
    pass.load_bits = bits_of(kernel.a) + bits_of(kernel.b);
    pass.sums = true;
    pass.lanes = multiplied_at_once(kernel);
    KernelCycles row = loop(kernel.k, pass);
    row.loop_extra += reduction(config_.vector_lanes);
    return row * kernel.m;
}

KernelCycles VectorKernelTiming::vector(const Kernel& kernel) const {
    const std::int64_t a = bits_of(kernel.a);
    const bool has_b = program::second_operand(kernel.operation) != program::SecondOperand::None;
    const std::int64_t b = has_b ? bits_of(kernel.b) : 0;
    const std::int64_t c = bits_of(kernel.c);
    const std::int64_t lanes = config_.vector_lanes;
    const auto pass = [&](std::int64_t instructions, std::int64_t loads, std::int64_t stores,
                          bool sums = false) {
        return Pass{instructions, loads, stores, sums, lanes};
    };
    const Cycles reciprocal = config_.vector_latency * (kNewtonSteps * kNewtonDepth);
    const auto all = [&](const Pass& each) { return loop(kernel.m * kernel.n, each); };
    switch (kernel.operation) {
        case VectorOperation::Cast:
            return kernel.iteration_lanes > 0 ? without_overlap(kernel) : all(pass(1, a, c));
        case VectorOperation::Add:
        case VectorOperation::Multiply:
        case VectorOperation::Copy:
        case VectorOperation::Relu:
            return all(pass(1, a + b, c));
        case VectorOperation::Sigmoid:  // a product, an exponential, an addition, a reciprocal
            return all(pass(5, a, c));
        case VectorOperation::Tanh:  // of which twice, less one
        case VectorOperation::Silu:  // two products, an exponential, an addition, a reciprocal
            return all(pass(6, a, c));
        case VectorOperation::Gelu:  // A * A, a sum of products and its product by A, then as Silu
            return all(pass(9, a, c));
        case VectorOperation::Rope:  // two products and two sums of products, two shuffles
            return all(pass(4, a + b, c));
        case VectorOperation::Dequantise:  // unpacked, converted, multiplied
            return all(pass(3, a, c));
        case VectorOperation::RmsNorm:
        case VectorOperation::UnweightedRmsNorm: {
            KernelCycles row =
                loop(kernel.n, pass(1, a, 0, true)) + loop(kernel.n, pass(b > 0 ? 2 : 1, a + b, c));
            row.loop_extra += reduction(lanes) + reciprocal;
            return row * kernel.m;
        }
        case VectorOperation::LayerNorm: {
            // The sums of elements and of their squares; a difference and a product.
            KernelCycles row = loop(kernel.n, pass(2, a, 0, true)) + loop(kernel.n, pass(2, a, c));
            row.loop_extra += reduction(lanes) * 2 + reciprocal;
            return row * kernel.m;
        }
        case VectorOperation::Softmax: {
            // The greatest; a difference, a product, an exponential and its sum; a product.
            KernelCycles row = loop(kernel.n, pass(1, a, 0, true)) +
                               loop(kernel.n, pass(4, a, c, true)) + loop(kernel.n, pass(1, c, c));
            row.loop_extra += reduction(lanes) * 2 + reciprocal;
            return row * kernel.m;
        }
    }
    return {};
}

}  // namespace tilesim::arch::npu::core
