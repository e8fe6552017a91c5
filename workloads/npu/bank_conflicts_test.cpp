#include "workloads/npu/bank_conflicts.hpp"

#include <gtest/gtest.h>

#include "workloads/npu/program_run_testing.hpp"

namespace tilesim::workloads::npu {
namespace {

// Two buffers of A and three of B meet in six ways: in one bank where both are in the first or
// both in the second.
TEST(BankConflicts, AreTheMeanOverTheBuffersThatCallsTakeInTurn) {
    const arch::npu::NpuConfig config = load_machine("xdna", "ddr5_5600").npu;
    const std::int64_t bank = config.core.bank.count();
    arch::npu::program::Kernel kernel;
    kernel.kind = arch::npu::program::KernelKind::Multiply;
    kernel.m = kernel.n = 32;
    kernel.k = 64;
    kernel.a = kernel.b = arch::base::DataType::Int8;
    kernel.c = arch::base::DataType::Int32;
    kernel.b_column_major = true;
    const auto together = static_cast<double>(arch::npu::core::KernelTiming(config.kernels)
                                                  .cycles(kernel, {0, kernel.m * kernel.k, bank})
                                                  .conflicts.count());
    ASSERT_GT(together, 0);
    const std::int64_t behind = kernel.m * kernel.k;
    EXPECT_EQ(bank_conflicts(config, kernel, {0}, {bank}).most, 0);
    EXPECT_EQ(bank_conflicts(config, kernel, {0}, {behind}).mean, together);
    const BankConflicts some =
        bank_conflicts(config, kernel, {0, bank}, {behind, bank + behind, 2 * bank});
    EXPECT_NEAR(some.mean, together / 3, 1e-9);
    EXPECT_EQ(some.most, together);
}

}  // namespace
}  // namespace tilesim::workloads::npu
