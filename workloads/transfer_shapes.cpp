#include "workloads/transfer_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arch/npu/kernel_timing.hpp"

namespace tilesim::workloads {

using namespace arch::npu;

namespace {

constexpr std::int64_t kWordBytes = 4;

std::int64_t words(std::int64_t elements, DataType type) {
    return elements * bytes_of(type) / kWordBytes;
}

std::int64_t most_wrap(const DmaConfig& dma) {
    return (std::int64_t{1} << dma.wrap_bits) - 1;
}

BufferDescriptor shaped(std::vector<Dimension> dimensions, const DmaConfig& dma) {
    BufferDescriptor shape;
    shape.length = 1;
    for (const Dimension& dimension : dimensions) {
        shape.length *= dimension.size;
    }
    shape.dimensions = fitted(std::move(dimensions), dma);
    return shape;
}

struct StripOperand {
    BufferDescriptor shim, in, out, core;
};

// A, or column-major B: `outer` rows of k contiguous elements, cut into sub-tiles of h x s.
StripOperand strip_operand(std::int64_t outer, std::int64_t h, std::int64_t s, DataType type,
                           const OutputStationaryMapping& map, std::int64_t k_padded,
                           const NpuConfig& config) {
    const std::int64_t row = words(k_padded, type);
    const std::int64_t block = words(map.k_mt, type);
    const std::int64_t tile = words(map.k_ct, type);
    const std::int64_t strip = words(s, type);
    const std::int64_t tiles = map.k_mt / map.k_ct;
    const std::int64_t strips = map.k_ct / s;
    StripOperand operand;
    operand.shim = shaped({{block, 1}, {outer, row}, {row / block, block}}, config.shim_dma);
    operand.in = shaped({{tile, 1}, {tiles, outer * tile}, {outer, tile}}, config.memory_dma);
    operand.out = shaped({{strip, 1}, {outer, tile}, {strips, strip}, {tiles, outer * tile}},
                         config.memory_dma);
    operand.core = shaped({{h * strip, 1}, {outer / h, strips * h * strip}, {strips, h * strip}},
                          config.core_dma);
    return operand;
}

StripOperand row_major_b(const GemmProblem& problem, const OutputStationaryMapping& map,
                         const PaddedSizes& sizes, const MultiplyMode& mode,
                         const NpuConfig& config) {
    const std::int64_t row = words(sizes.n, problem.b);
    const std::int64_t n = words(map.n_ct, problem.b);
    const std::int64_t t = words(mode.t, problem.b);
    StripOperand operand;
    operand.shim = shaped({{n, 1}, {sizes.k, row}}, config.shim_dma);
    operand.in = shaped({{n * map.k_ct, 1}}, config.memory_dma);
    operand.out = shaped({{t, 1}, {mode.s, n}, {n / t, t}, {map.k_ct / mode.s, mode.s * n}},
                         config.memory_dma);
    operand.core = shaped({{n * map.k_ct, 1}}, config.core_dma);
    return operand;
}

void check_fields(const char* what, const BufferDescriptor& shape, const DmaConfig& dma,
                  const char* remedy, std::vector<std::string>& problems) {
    const auto report = [&](const char* field, std::int64_t value, std::int64_t most) {
        problems.push_back(fmt::format("{} needs a {} of {} words, the field holds at most {}; {}",
                                       what, field, value, most, remedy));
    };
    const std::int64_t most_length = (std::int64_t{1} << dma.length_bits) - 1;
    const std::int64_t most_step = std::int64_t{1} << dma.step_bits;  // stored minus one
    if (shape.length > most_length) {
        report("length", shape.length, most_length);
    }
    if (static_cast<std::int64_t>(shape.dimensions.size()) > dma.dimensions) {
        problems.push_back(fmt::format("{} needs {} dimensions, the tile's DMA has {}", what,
                                       shape.dimensions.size(), dma.dimensions));
    }
    for (std::size_t i = 0; i < shape.dimensions.size(); ++i) {
        const bool outermost = i + 1 == shape.dimensions.size();
        if (shape.dimensions[i].stride > most_step) {
            report("step", shape.dimensions[i].stride, most_step);
        }
        if (!outermost && shape.dimensions[i].size > most_wrap(dma)) {
            problems.push_back(
                fmt::format("{} needs a wrap of {} in dimension {}, the field holds at most {}; {}",
                            what, shape.dimensions[i].size, i, most_wrap(dma), remedy));
        }
    }
}

// The largest divisor of `size`, itself excepted, that is not above `most`; 1 when there is none.
std::int64_t divisor_below(std::int64_t size, std::int64_t most) {
    std::int64_t divisor = std::min(most, size - 1);
    while (divisor > 1 && size % divisor != 0) {
        --divisor;
    }
    return divisor;
}

}  // namespace

std::vector<Dimension> fitted(std::vector<Dimension> dimensions, const DmaConfig& dma) {
    std::vector<Dimension> joined;
    for (const Dimension& dimension : dimensions) {
        if (dimension.size == 1) {
            continue;
        }
        if (!joined.empty() && dimension.stride == joined.back().size * joined.back().stride) {
            joined.back().size *= dimension.size;
        } else {
            joined.push_back(dimension);
        }
    }
    if (joined.empty() || (joined.size() == 1 && joined[0].stride == 1)) {
        return {};  // linear: the length says it all
    }
    for (std::size_t i = 0; i + 1 < joined.size(); ++i) {
        const bool room = static_cast<std::int64_t>(joined.size()) < dma.dimensions;
        if (joined[i].size <= most_wrap(dma) || !room) {
            continue;
        }
        const std::int64_t inner = divisor_below(joined[i].size, most_wrap(dma));
        if (inner > 1) {
            const Dimension outer{joined[i].size / inner, joined[i].stride * inner};
            joined[i].size = inner;
            joined.insert(joined.begin() + static_cast<std::ptrdiff_t>(i) + 1, outer);
        }
    }
    return joined;
}

TransferShapes shapes_of(const GemmProblem& problem, const OutputStationaryMapping& map,
                         const PaddedSizes& sizes, const NpuConfig& config) {
    const MultiplyMode& mode =
        *KernelTiming(config.kernels).find_mode(problem.a, problem.b, problem.c);
    const StripOperand a = strip_operand(map.m_ct, mode.r, mode.s, problem.a, map, sizes.k, config);
    const StripOperand b = problem.b_column_major ? strip_operand(map.n_ct, mode.t, mode.s,
                                                                  problem.b, map, sizes.k, config)
                                                  : row_major_b(problem, map, sizes, mode, config);
    TransferShapes shapes{a.shim, a.in, a.out, a.core, b.shim, b.in, b.out, b.core, {}, {}, {}, {}};
    const std::int64_t n = words(map.n_ct, problem.c);
    const std::int64_t t = words(mode.t, problem.c);
    shapes.c_core = shaped({{map.m_ct * n, 1}}, config.core_dma);
    shapes.c_in = shaped({{map.m_ct * n, 1}}, config.memory_dma);
    shapes.c_out =
        shaped({{t, 1}, {n / t, mode.r * t}, {mode.r, t}, {map.m_ct / mode.r, mode.r * n}},
               config.memory_dma);
    shapes.c_shim =
        shaped({{n, 1}, {map.m_ct * config.core_rows, words(sizes.n, problem.c)}}, config.shim_dma);
    return shapes;
}

std::vector<std::string> field_problems(const TransferShapes& shapes, const NpuConfig& config) {
    std::vector<std::string> problems;
    const char* const run = "reduce k_mt, or make it the whole of K";
    const char* const tile = "reduce the core tile";
    check_fields("the shim's read of A", shapes.a_shim, config.shim_dma, run, problems);
    check_fields("the shim's read of B", shapes.b_shim, config.shim_dma, run, problems);
    check_fields("the shim's write of C", shapes.c_shim, config.shim_dma, tile, problems);
    for (const auto* shape : {&shapes.a_in, &shapes.a_out}) {
        check_fields("A in the memory tile", *shape, config.memory_dma, "reduce k_mt", problems);
    }
    for (const auto* shape : {&shapes.b_in, &shapes.b_out}) {
        check_fields("B in the memory tile", *shape, config.memory_dma, "reduce k_mt", problems);
    }
    for (const auto* shape : {&shapes.c_in, &shapes.c_out}) {
        check_fields("C in the memory tile", *shape, config.memory_dma, tile, problems);
    }
    check_fields("A in the core", shapes.a_core, config.core_dma, tile, problems);
    check_fields("B in the core", shapes.b_core, config.core_dma, tile, problems);
    check_fields("C in the core", shapes.c_core, config.core_dma, tile, problems);
    return problems;
}

}  // namespace tilesim::workloads
