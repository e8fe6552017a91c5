#include "workloads/npu/gotoblas/expected_time.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "arch/npu/core/stream_kernel_timing.hpp"
#include "workloads/npu/gotoblas/gotoblas_testing.hpp"

namespace tilesim::workloads::npu::gotoblas {
namespace {

const Machine& vck190() {
    static const Machine loaded = machine();
    return loaded;
}

double expected_cycles(const GemmProblem& gemm, const GotoblasMapping& map) {
    const Machine& m = vck190();
    return expected_ns(gemm, map, m.npu, {m.memory, m.fabric}) /
           ns_of(arch::base::Cycles{1}, m.npu.clock);
}

double simulated_cycles(const GemmProblem& gemm, const GotoblasMapping& map) {
    LoweredGotoblas lowered = lower(gemm, map, vck190().npu);
    return static_cast<double>(run_program(vck190(), lowered.program, std::nullopt).cycles);
}

// Copies take longer than products, are as long as them, or shorter; blocks of K follow each other.
TEST(GotoblasExpectedTime, IsWithinAHundredthOfASimulation) {
    for (const auto& [rows, steps] : {std::pair{16, 139}, {64, 139}, {320, 139}, {64, 300}}) {
        const GemmProblem gemm = problem(rows, steps, 96);
        GotoblasMapping map = mapping(rows, 96, std::min(steps, 150));
        for (map.b_buffers = 1; map.b_buffers <= 2; ++map.b_buffers) {
            const double cycles = simulated_cycles(gemm, map);
            EXPECT_NEAR(expected_cycles(gemm, map), cycles, cycles / 100)
                << rows << " rows, " << steps << " steps, " << map.b_buffers << " buffers";
        }
    }
}

// A panel's copy: 189 cycles, 14 for each of 2 x 139 words, and a lock's write at either end.
TEST(GotoblasExpectedTime, TheLongerOfCopyAndProductsCountsForAPanelInTwoBuffers) {
    constexpr double kCopy = 189 + 14 * 278 + 2 * 14;
    const auto more_of_panels = [](std::int64_t rows, std::int64_t buffers) {
        GotoblasMapping map = mapping(rows, 400, 139);
        map.b_buffers = buffers;
        return (expected_cycles(problem(rows, 139, 400), map) -
                expected_cycles(problem(rows, 139, 200), map)) /
               50;
    };
    const double products = more_of_panels(16, 1) - kCopy;  // of one call
    EXPECT_NEAR(more_of_panels(16, 2), kCopy, 0.01);
    EXPECT_GT(20 * products, kCopy);
    // Every call but the first has no lock of its own.
    const double lock = 2 * static_cast<double>(vck190().npu.core.lock_cycles.count());
    EXPECT_NEAR(more_of_panels(320, 2), 20 * products - 19 * lock, 0.01);
}

TEST(GotoblasExpectedTime, APortThatBringsALateIsWaitedFor) {
    GotoblasMapping map = mapping(16, 4, 200);
    const double as_read = expected_cycles(problem(16, 200, 4), map);
    map.a_stream = GotoblasMapping::AStream::Port;
    // 16 x 200 x 2 B at 4 B a cycle, instead of the multiplications.
    const double multiply = static_cast<double>(
        arch::npu::core::StreamKernelTiming(vck190().npu.kernels, vck190().npu.stream)
            .cycles(micro_kernel(problem(16, 200, 4), map, 200))
            .multiply()
            .count());
    EXPECT_NEAR(expected_cycles(problem(16, 200, 4), map) - as_read, 1600 - multiply, 0.01);
}

TEST(GotoblasMappings, BlocksOfKAreTheLongestOrEqualPartsOfWholeLoopBodies) {
    std::set<std::int64_t> steps;
    for (const GotoblasMapping& map : mappings_of(problem(64, 390, 8), {}, vck190().npu)) {
        if (map.n_r == 4) {
            steps.insert(map.k_c);
        }
    }
    // 290 fit; parts of 2, 4 and 8, each up to a multiple of the loop body's 4 steps.
    EXPECT_EQ(steps, (std::set<std::int64_t>{290, 196, 100, 52}));
}

}  // namespace
}  // namespace tilesim::workloads::npu::gotoblas
