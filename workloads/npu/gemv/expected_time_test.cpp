#include "workloads/npu/gemv/expected_time.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <vector>

#include "arch/base/units.hpp"
#include "arch/npu/check/ready_program.hpp"
#include "workloads/npu/gemv/gemv.hpp"
#include "workloads/npu/gemv/mapping_search.hpp"
#include "workloads/npu/program_run_testing.hpp"

namespace tilesim::workloads::npu::gemv {
namespace {

using Path = GemvMapping::Path;

// Tasks take as long as bytes: none of the terms is small beside the others.
Machine machine() {
    Machine m = load_machine("xdna2", "ddr5_5600");
    auto& costs = m.npu.command_processor;
    costs.clock = arch::base::Hertz{1'000'000'000};
    costs.descriptor_cycles = arch::base::Cycles{9'000};
    costs.write_cycles = arch::base::Cycles{1'000};
    costs.sync_cycles = arch::base::Cycles{100};
    costs.dispatch = arch::base::Femtoseconds{0};
    return m;
}

double expected_us(const Machine& m, const MatrixVector& problem, const GemvMapping& map) {
    return expected_ns(problem, map, m.npu, {m.memory, m.fabric}) / 1e3;
}

GemvMapping columns_of_two(std::int64_t columns) {
    GemvMapping map;
    map.columns = columns;
    map.rows_per_call = 2;
    map.rows_per_core = 4;
    return map;
}

TEST(GemvExpectedTime, ASmallProductTakesWhatItsTasksTake) {
    const Machine m = machine();
    const MatrixVector problem{8, 64};  // fits into buffers
    // A parameter and a lock for each core (1 us each), then matrix, vector and results of each
    // column (10 us each), a token of each.
    EXPECT_NEAR(expected_us(m, problem, columns_of_two(1)), 2 + 30 + 0.1, 0.2);
    EXPECT_NEAR(expected_us(m, problem, columns_of_two(8)), 16 + 240 + 0.8, 0.2);
    GemvMapping one_stream = columns_of_two(8);
    one_stream.one_vector_stream = true;  // seven tasks less
    EXPECT_NEAR(expected_us(m, problem, one_stream), 16 + 170 + 0.8, 0.2);
    GemvMapping tall = columns_of_two(8);
    tall.path = Path::MemoryTile;
    tall.rows = 4;
    EXPECT_NEAR(expected_us(m, problem, tall), 64 + 240 + 0.8, 0.2);
}

TEST(GemvExpectedTime, ColumnsThatCannotCatchUpEndAfterTheirOwnVector) {
    Machine m = machine();
    m.npu.shim.modifiable = true;  // the stream alone binds a column
    m.npu.clock = arch::base::Hertz{500'000'000};
    m.npu.stream.width = arch::base::BytesPerCycle{2};
    const MatrixVector problem{2048, 2048};
    GemvMapping map = columns_of_two(4);
    map.y_buffers = 8;  // results do not wait for their tasks
    // The last vector is there after its eighth task and its 4 KiB; two buffers of two rows have
    // come before; 2 MiB a column at 1 B a nanosecond.
    const double vector = 8 + 80 + 4.096;
    const double column = (2'097'152 - 2 * 2 * 4096) / 1e3;
    constexpr double kTail = 2;  // the last call, its results and the tokens, about
    EXPECT_NEAR(expected_us(m, problem, map), vector + column + kTail / 2, kTail / 2);
    map.one_vector_stream = true;  // three tasks less
    EXPECT_NEAR(expected_us(m, problem, map), vector - 30 + column, 3 * kTail);
}

TEST(GemvExpectedTime, RowsWaitForBuffersUntilTheVectorHasCome) {
    Machine m = machine();
    const MatrixVector problem{512, 2048};
    GemvMapping map = columns_of_two(8);
    const double two = expected_us(m, problem, map);
    map.a_buffers = 4;
    const double four = expected_us(m, problem, map);
    map.a_buffers = 2;
    map.path = Path::MemoryTile;
    map.panels = 4;
    EXPECT_LE(four, two);
    // A panel of four rows each: sixteen rows of 64 have come before the vector.
    EXPECT_LE(expected_us(m, problem, map), four + 10);
}

TEST(GemvExpectedTime, SmallProductsGoToFewColumnsAndLargeOnesToAll) {
    const Machine m = load_machine("xdna2", "ddr5_5600");
    const MemoryPath path{m.memory, m.fabric};
    const auto columns_of = [&](const MatrixVector& problem) {
        return promising_mappings(problem, m.npu, path).front().columns;
    };
    EXPECT_EQ(columns_of({64, 64}), 1);
    EXPECT_LT(columns_of({512, 512}), 8);
    EXPECT_EQ(columns_of({8192, 2048}), 8);
}

// Eight columns of 2 MiB each would lie in the same banks, which only a simulation tells.
TEST(GemvExpectedTime, EachNumberOfColumnsIsPromisingOnceTheFastestFirst) {
    const Machine m = load_machine("xdna2", "ddr5_5600");
    const MemoryPath path{m.memory, m.fabric};
    const MatrixVector problem{8192, 2048};
    const std::vector<GemvMapping> mappings = promising_mappings(problem, m.npu, path);
    ASSERT_EQ(mappings.size(), 8U);
    std::set<std::int64_t> columns;
    double before = 0;
    for (const GemvMapping& map : mappings) {
        columns.insert(map.columns);
        const double ns = expected_ns(problem, map, m.npu, path);
        EXPECT_GE(ns, before);
        before = ns;
    }
    EXPECT_EQ(columns.size(), 8U);
}

TEST(GemvExpectedTime, IsWhatRunsTake) {
    const Machine m = load_machine("xdna2", "ddr5_5600");
    const MatrixVector problem{1000, 3000};
    for (const std::int64_t columns : {2, 4, 8}) {
        for (const Path path : {Path::Direct, Path::MemoryTile}) {
            GemvMapping map = columns_of_two(columns);
            map.path = path;
            arch::npu::program::Program program =
                arch::npu::check::prepare(lower(problem, map, m.npu).program, m.npu).program();
            const arch::base::Cycles cycles{run_program(m, program, std::nullopt).cycles};
            const double ns = arch::base::ns_of(cycles, m.npu.clock);
            EXPECT_NEAR(expected_ns(problem, map, m.npu, {m.memory, m.fabric}) / ns, 1, 0.08)
                << columns;
        }
    }
}

}  // namespace
}  // namespace tilesim::workloads::npu::gemv
