// The lowered program is right in every order its locks allow, not only at the speeds of today's
// device files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "arch/base/config.hpp"
#include "arch/npu/npu_config.hpp"
#include "workloads/npu/gemm_data.hpp"
#include "workloads/npu/output_stationary/output_stationary.hpp"
#include "workloads/npu/output_stationary/output_stationary_kernels.hpp"
#include "workloads/npu/output_stationary/program_interpreter_testing.hpp"

namespace tilesim::workloads::npu::output_stationary {
namespace {

arch::npu::NpuConfig device(const std::string& name) {
    auto document = arch::base::config::Document::load(std::string{TILESIM_SOURCE_DIR} +
                                                       "/configs/devices/" + name + ".yaml");
    return arch::npu::read_npu_config(document.root().child("npu", ""));
}

// By the program with what it does in an order that the seed draws.
void expect_product(const GemmProblem& gemm, const OutputStationaryMapping& map,
                    const arch::npu::NpuConfig& config, int seed) {
    const LoweredGemm lowered = lower(gemm, map, config);
    arch::memory::port::BackingStore store;
    fill_operands(gemm, matrices_of(lowered), 3, store);
    ProgramInterpreter interpreter(config, lowered.program, store,
                                   static_cast<std::uint64_t>(seed));
    EXPECT_TRUE(interpreter.run());
    EXPECT_THAT(interpreter.faults(), testing::IsEmpty());
    const ProductCheck check =
        check_product(gemm, matrices_of(lowered), sum_order(gemm, map), 3, store);
    EXPECT_TRUE(check.match) << check.first_mismatch;
}

class AnyOrder : public testing::TestWithParam<std::tuple<std::string, int, int>> {};
INSTANTIATE_TEST_SUITE_P(Seeds, AnyOrder,
                         testing::Combine(testing::Values("xdna", "xdna2"), testing::Values(1, 2),
                                          testing::Range(0, 12)));

TEST_P(AnyOrder, GivesTheProduct) {
    const auto& [name, c_buffers, seed] = GetParam();
    const arch::npu::NpuConfig config = device(name);
    // One call a tile: a core may be two output tiles ahead of its neighbour.
    const GemmProblem gemm{256, 16, 512, DataType::Int8, DataType::Int8, DataType::Int32, true};
    OutputStationaryMapping map;
    map.m_ct = 16;
    map.k_ct = 16;
    map.n_ct = 16;
    map.k_mt = 16;
    map.c_buffers = c_buffers;
    expect_product(gemm, map, config, seed);
}

// Five to eight rows share four streams of C, and columns hold the A of several rows.
class AnyOrderOfManyRows : public testing::TestWithParam<std::tuple<int, int, int, int, int>> {};
INSTANTIATE_TEST_SUITE_P(Seeds, AnyOrderOfManyRows,
                         testing::Combine(testing::Values(5, 8), testing::Values(1, 2),
                                          testing::Values(1, 2), testing::Values(1, 2, 4),
                                          testing::Range(0, 4)));

TEST_P(AnyOrderOfManyRows, GivesTheProduct) {
    const auto& [rows, c_buffers, b_buffers, calls, seed] = GetParam();
    arch::npu::NpuConfig config = device("xdna");
    config.columns = 2;
    config.core_rows = rows;
    // A tile of one call lets cores be far ahead of each other: many places for C.
    config.memory_dma.parity_bound_descriptors = false;
    config.memory_dma.descriptors = 128;
    // More output tiles than the buffers and the queues hold.
    const GemmProblem gemm{16 * rows * 3,  16 * calls,     16 * 2 * 5, DataType::Int8,
                           DataType::Int8, DataType::Int8, true};
    OutputStationaryMapping map;
    map.m_ct = 16;
    map.k_ct = 16;
    map.n_ct = 16;
    map.k_mt = 16;
    map.c_buffers = c_buffers;
    map.b_buffers = b_buffers;
    expect_product(gemm, map, config, seed);
}

}  // namespace
}  // namespace tilesim::workloads::npu::output_stationary
