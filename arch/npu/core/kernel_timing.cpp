#include "arch/npu/core/kernel_timing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "arch/base/check.hpp"
#include "arch/base/data_type.hpp"

namespace tilesim::arch::npu::core {

using base::ceil_div;
using base::Cycles;

namespace {

constexpr double kHalf = 0.5;

// How much of a buffer lies in a bank.
std::int64_t bytes_in(std::int64_t bank, std::int64_t bank_bytes, std::int64_t address,
                      std::int64_t bytes) {
    const std::int64_t begin = std::max(address, bank * bank_bytes);
    const std::int64_t end = std::min(address + bytes, (bank + 1) * bank_bytes);
    return std::max<std::int64_t>(0, end - begin);
}

}  // namespace

const MultiplyMode* KernelTiming::find_mode(DataType a, DataType b, DataType c,
                                            const std::string& name) const {
    const auto place =
        std::find_if(config_.modes.begin(), config_.modes.end(), [&](const MultiplyMode& mode) {
            return mode.a == a && mode.b == b && mode.c == c && (name.empty() || mode.name == name);
        });
    return place == config_.modes.end() ? nullptr : &*place;
}

std::string KernelTiming::no_mode(DataType a, DataType b, DataType c,
                                  const std::string& name) const {
    const auto types = [](DataType of_a, DataType of_b, DataType of_c) {
        return fmt::format("{} x {} -> {}", name_of(of_a), name_of(of_b), name_of(of_c));
    };
    const bool of_other_name = find_mode(a, b, c) != nullptr;
    std::vector<std::string> known;
    for (const MultiplyMode& mode : config_.modes) {
        const bool alike = mode.a == a && mode.b == b && mode.c == c;
        std::string one = of_other_name ? mode.name : types(mode.a, mode.b, mode.c);
        if (alike == of_other_name && std::find(known.begin(), known.end(), one) == known.end()) {
            known.push_back(std::move(one));
        }
    }
    return fmt::format("this device has no {} multiply{}; it has {}", types(a, b, c),
                       of_other_name ? " of mode " + name : "", fmt::join(known, ", "));
}

const MultiplyMode& KernelTiming::mode_of(const program::Kernel& kernel) const {
    const MultiplyMode* mode = find_mode(kernel.a, kernel.b, kernel.c, kernel.mode);
    SIM_CHECK(mode != nullptr, "kernel {} has no multiply mode", kernel.name);
    return *mode;
}

double KernelTiming::peak_macs(const MultiplyMode& mode) const {
    return static_cast<double>(mode.r * mode.s * mode.t) / static_cast<double>(mode.issue_slots);
}

std::string KernelTiming::check(const program::Kernel& kernel) const {
    using program::KernelKind;
    switch (kernel.kind) {
        case KernelKind::Add:
        case KernelKind::AddValue:
            if (kernel.c != DataType::Int8 && kernel.c != DataType::Int16 &&
                kernel.c != DataType::Int32 && kernel.c != DataType::F32) {
                return fmt::format("adds int8, int16, int32 or f32, not {}", name_of(kernel.c));
            }
            [[fallthrough]];
        case KernelKind::Zero:
            return kernel.m <= 0 || kernel.n <= 0 ? "needs the numbers of elements, `m` and `n`"
                                                  : "";
        case KernelKind::Matvec:
        case KernelKind::Vector:
            return vectors_.check(kernel);
        case KernelKind::Multiply:
            return check_multiply(kernel);
        default:
            return kernel.cycles ? "" : "needs `cycles`";
    }
}

std::string KernelTiming::check_multiply(const program::Kernel& kernel) const {
    const MultiplyMode* mode = find_mode(kernel.a, kernel.b, kernel.c, kernel.mode);
    if (mode == nullptr) {
        return no_mode(kernel.a, kernel.b, kernel.c, kernel.mode);
    }
    if (kernel.m <= 0 || kernel.k <= 0 || kernel.n <= 0 || kernel.m % mode->r != 0 ||
        kernel.k % mode->s != 0 || kernel.n % mode->t != 0) {
        return fmt::format(
            "tile {} x {} x {} (m x k x n) must be multiples of the mmul shape "
            "{} x {} x {}",
            kernel.m, kernel.k, kernel.n, mode->r, mode->s, mode->t);
    }
    return "";
}

KernelCycles KernelTiming::block_cycles(const MultiplyMode& mode, const program::Kernel& kernel,
                                        std::int64_t rows, std::int64_t columns) const {
    const std::int64_t mmuls = rows * columns;
    const std::int64_t steps = kernel.k / mode.s;
    // One k step: issue the block's mmuls, load its A and B sub-tiles, wait for accumulators.
    const std::int64_t issue = mmuls * mode.issue_slots;
    const std::int64_t loads =
        rows * ceil_div(bytes_of(mode.r * mode.s, mode.a), config_.load_width.count()) +
        columns * ceil_div(bytes_of(mode.s * mode.t, mode.b), config_.load_width.count());
    const std::int64_t step =
        std::max({issue, ceil_div(loads, config_.load_slots), mode.accumulate_interval.count()});
    const std::int64_t lost = mode.extra_every > 0 ? ceil_div(steps * mmuls, mode.extra_every) : 0;

    const std::int64_t c_loads =
        mmuls * ceil_div(bytes_of(mode.r * mode.t, mode.c), config_.load_width.count());
    const std::int64_t c_stores =
        mmuls * ceil_div(bytes_of(mode.r * mode.t, mode.c), config_.store_width.count());
    const std::int64_t c_load_slots = mode.converting_load ? 1 : config_.load_slots;
    return {Cycles{steps * issue},
            Cycles{steps * (step - issue) + lost},
            Cycles{ceil_div(c_loads, c_load_slots)},
            Cycles{c_stores},
            mode.fill_drain,
            Cycles{0}};
}

KernelCycles KernelTiming::cycles(const program::Kernel& kernel) const {
    using program::KernelKind;
    switch (kernel.kind) {
        case KernelKind::Zero: {
            const base::Bytes tile{bytes_of(kernel.m * kernel.n, kernel.c)};
            return {.c_store = base::transfer_time(tile, config_.store_width)};
        }
        case KernelKind::Add:
        case KernelKind::AddValue:
            return add_cycles(kernel);
        case KernelKind::Matvec:
        case KernelKind::Vector:
            return vectors_.cycles(kernel);
        default:
            SIM_CHECK(kernel.kind == KernelKind::Multiply, "kernel {} states its own cycles",
                      kernel.name);
            return multiply_cycles(kernel);
    }
}

KernelCycles KernelTiming::cycles(const program::Kernel& kernel,
                                  const OperandPlaces& places) const {
    KernelCycles cycles = multiply_cycles(kernel);
    const MultiplyMode& mode = mode_of(kernel);
    const std::int64_t a_bytes = bytes_of(kernel.m * kernel.k, kernel.a);
    const std::int64_t b_bytes = bytes_of(kernel.k * kernel.n, kernel.b);
    std::int64_t met = 0;  // pairs of a byte of A and one of B in the same bank
    for (std::int64_t bank = 0; bank * places.bank < places.a + a_bytes; ++bank) {
        met += bytes_in(bank, places.bank, places.a, a_bytes) *
               bytes_in(bank, places.bank, places.b, b_bytes);
    }
    const std::int64_t steps = kernel.k / mode.s;
    const std::int64_t rows = kernel.m / mode.r;
    const std::int64_t columns = kernel.n / mode.t;
    const auto loads = [&](std::int64_t elements, DataType type) {
        return ceil_div(bytes_of(elements, type), config_.load_width.count());
    };
    // A block row of A is loaded for every block column, and the other way round.
    const std::int64_t a_loads =
        rows * ceil_div(columns, mode.block_columns) * steps * loads(mode.r * mode.s, mode.a);
    const std::int64_t b_loads =
        columns * ceil_div(rows, mode.block_rows) * steps * loads(mode.s * mode.t, mode.b);
    const std::int64_t together = config_.load_slots > 1 ? std::min(a_loads, b_loads) : 0;
    cycles.conflicts = Cycles{static_cast<std::int64_t>(
        static_cast<double>(together) * static_cast<double>(met) /
            (static_cast<double>(a_bytes) * static_cast<double>(b_bytes)) +
        kHalf)};
    return cycles;
}

// One vector of C a cycle, or as fast as the load slots bring the vectors of A and B.
KernelCycles KernelTiming::add_cycles(const program::Kernel& kernel) const {
    const std::int64_t bytes = bytes_of(kernel.m * kernel.n, kernel.c);
    const std::int64_t operands = kernel.kind == program::KernelKind::Add ? 2 : 1;
    const std::int64_t loads =
        ceil_div(operands * ceil_div(bytes, config_.load_width.count()), config_.load_slots);
    const std::int64_t stores = ceil_div(bytes, config_.store_width.count());
    return {.loop_extra = Cycles{std::max<std::int64_t>(0, loads - stores)},
            .c_store = Cycles{stores}};
}

KernelCycles KernelTiming::multiply_cycles(const program::Kernel& kernel) const {
    const MultiplyMode& mode = mode_of(kernel);
    // Whole blocks, and smaller ones at the right and lower edges.
    const std::int64_t rows = kernel.m / mode.r;
    const std::int64_t columns = kernel.n / mode.t;
    const std::int64_t full_rows = rows / mode.block_rows;
    const std::int64_t full_columns = columns / mode.block_columns;
    const std::int64_t edge_rows = rows % mode.block_rows;
    const std::int64_t edge_columns = columns % mode.block_columns;
    KernelCycles total;
    const auto add = [&](std::int64_t r, std::int64_t c, std::int64_t times) {
        if (r > 0 && c > 0) {
            total = total + block_cycles(mode, kernel, r, c) * times;
        }
    };
    add(mode.block_rows, mode.block_columns, full_rows * full_columns);
    add(edge_rows, mode.block_columns, full_columns);
    add(mode.block_rows, edge_columns, full_rows);
    add(edge_rows, edge_columns, 1);
    return total;
}

}  // namespace tilesim::arch::npu::core
