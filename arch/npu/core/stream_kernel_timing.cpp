#include "arch/npu/core/stream_kernel_timing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "arch/base/check.hpp"
#include "arch/base/data_type.hpp"

namespace tilesim::arch::npu::core {

using base::ceil_div;
using base::Cycles;
using base::kBitsPerByte;

std::int64_t c_words(const program::Kernel& kernel) {
    return bytes_of(kernel.m * kernel.n, kernel.c) / kWordBytes;
}

std::int64_t a_bytes(const program::Kernel& kernel) {
    return bytes_of(kernel.m * kernel.k, kernel.a);
}

std::int64_t b_bytes(const program::Kernel& kernel) {
    return bytes_of(kernel.k * kernel.n, kernel.b);
}

const StreamMode* StreamKernelTiming::find_mode(DataType a, DataType b, DataType c) const {
    const auto place = std::find_if(
        config_.stream_modes.begin(), config_.stream_modes.end(),
        [&](const StreamMode& mode) { return mode.a == a && mode.b == b && mode.c == c; });
    return place == config_.stream_modes.end() ? nullptr : &*place;
}

const StreamMode& StreamKernelTiming::mode_of(const program::Kernel& kernel) const {
    const StreamMode* mode = find_mode(kernel.a, kernel.b, kernel.c);
    SIM_CHECK(mode != nullptr, "kernel {} has no stream mode", kernel.name);
    return *mode;
}

// A whole register's lanes, or half of one where the rows ask for it; 0 when neither divides m.
std::int64_t StreamKernelTiming::lanes_of(const StreamMode& mode, std::int64_t m) const {
    const std::int64_t whole = config_.accumulator_bits / mode.lane_bits;
    return m % whole == 0 ? whole : m % (whole / 2) == 0 ? whole / 2 : 0;
}

std::string StreamKernelTiming::check(const program::Kernel& kernel) const {
    const StreamMode* mode = find_mode(kernel.a, kernel.b, kernel.c);
    if (mode == nullptr) {
        return fmt::format("this device has no stream-fed {} x {} -> {} multiply",
                           name_of(kernel.a), name_of(kernel.b), name_of(kernel.c));
    }
    if (kernel.m <= 0 || kernel.k <= 0 || kernel.n <= 0 || lanes_of(*mode, kernel.m) == 0) {
        return fmt::format(
            "block {} x {} x {} (m x k x n): must be positive, and m a multiple of {}, half an "
            "accumulator's lanes",
            kernel.m, kernel.k, kernel.n, config_.accumulator_bits / mode->lane_bits / 2);
    }
    if (bytes_of(kernel.m * kernel.n, kernel.c) % kWordBytes != 0) {
        return fmt::format("C of {} x {} {} is no whole number of 32-bit words", kernel.m, kernel.n,
                           name_of(kernel.c));
    }
    return "";
}

Cycles StreamKernelTiming::c_cycles(const program::Kernel& kernel) const {
    return Cycles{ceil_div(c_words(kernel), words_per_cycle_)};
}

RegisterUse StreamKernelTiming::registers(const program::Kernel& kernel) const {
    const StreamMode& mode = mode_of(kernel);
    RegisterUse use;
    use.lanes = lanes_of(mode, kernel.m);
    use.accumulators = kernel.m / use.lanes * kernel.n;
    use.available = config_.accumulators * (config_.accumulator_bits / mode.lane_bits) / use.lanes;
    use.spilled = body(mode, kernel, mode.steps).in_memory;
    const std::int64_t width = config_.load_width.count();
    use.vectors = ceil_div(bytes_of(kernel.m * mode.steps, kernel.a), width) +
                  ceil_div(bytes_of(kernel.n * mode.steps, kernel.b), width);
    return use;
}

StreamKernelTiming::Body StreamKernelTiming::body(const StreamMode& mode,
                                                  const program::Kernel& kernel,
                                                  std::int64_t steps) const {
    const std::int64_t lanes = lanes_of(mode, kernel.m);
    const std::int64_t accumulators = kernel.m / lanes * kernel.n;
    const std::int64_t available =
        config_.accumulators * (config_.accumulator_bits / mode.lane_bits) / lanes;
    const std::int64_t each = ceil_div(steps * lanes, mode.macs);  // instructions an accumulator
    const std::int64_t width = config_.load_width.count();
    const std::int64_t a_vectors = ceil_div(bytes_of(kernel.m * steps, kernel.a), width);
    const std::int64_t b_vectors = ceil_div(bytes_of(kernel.n * steps, kernel.b), width);
    const std::int64_t a_reads =
        ceil_div(bytes_of(kernel.m * steps, kernel.a), config_.stream_read.count());

    const std::int64_t issue = accumulators * each;
    const std::int64_t fed = std::max({issue, a_reads, ceil_div(b_vectors, config_.load_slots)});
    // Vectors of A and B without a register are put aside: one store and one load each.
    const std::int64_t aside =
        std::max<std::int64_t>(0, a_vectors + b_vectors - config_.vector_registers);
    const auto length = [&](std::int64_t in_memory, std::int64_t loads, std::int64_t stores) {
        return std::max({fed, ceil_div(b_vectors + aside + in_memory * loads, config_.load_slots),
                         aside + in_memory * stores});
    };
    Body result{Cycles{issue}, Cycles{fed}, Cycles{length(0, 0, 0)}, 0};
    if (accumulators <= available) {
        return result;
    }
    // Moved half by half: a half's end shares no load or store with the other's beginning.
    const std::int64_t half = config_.accumulator_bits / 2;
    const std::int64_t halves = lanes * mode.lane_bits / half;
    const std::int64_t loads = halves * ceil_div(half / kBitsPerByte, width);
    const std::int64_t stores = halves * ceil_div(half / kBitsPerByte, config_.store_width.count());
    // A body goes through the accumulators in the direction opposite to the one before it, so that
    // it begins with those that are in registers. Each of the others takes the register of the one
    // `available` places before: they stand still where the visits between are over too early. The
    // visits are as far apart as what they multiply comes in.
    const std::int64_t moved = accumulators - available;
    const std::int64_t exchange =
        config_.accumulate_latency.count() + stores + ceil_div(loads, config_.load_slots);
    const std::int64_t short_of =
        std::max<std::int64_t>(0, exchange * accumulators - (available - 1) * fed);
    const std::int64_t stands = ceil_div(ceil_div(moved, available) * short_of, accumulators);
    result.spilled = Cycles{std::max(length(moved, loads, stores), fed + stands)};
    result.in_memory = moved;
    return result;
}

StreamKernelCycles StreamKernelTiming::cycles(const program::Kernel& kernel) const {
    const StreamMode& mode = mode_of(kernel);
    StreamKernelCycles total;
    const auto add = [&](const Body& part, std::int64_t times) {
        total.issue += part.issue * times;
        total.loop_extra += (part.fed - part.issue) * times;
        total.spill += (part.spilled - part.fed) * times;
    };
    add(body(mode, kernel, mode.steps), kernel.k / mode.steps);
    if (const std::int64_t rest = kernel.k % mode.steps; rest > 0) {
        add(body(mode, kernel, rest), 1);
    }
    total.fill_drain = mode.fill_drain;
    total.c_load = c_cycles(kernel) - Cycles{1};
    total.c_store = total.c_load;
    return total;
}

}  // namespace tilesim::arch::npu::core
