#include "workloads/npu/memory_path.hpp"

#include <gtest/gtest.h>

#include "workloads/npu/program_run_testing.hpp"

namespace tilesim::workloads::npu {
namespace {

constexpr std::int64_t kBlock = 64;

TEST(MemoryPath, RunsTouchMorePiecesTheLessAlignedTheyBegin) {
    EXPECT_DOUBLE_EQ(pieces_of({6400, 128, 4096}, kBlock), 100);
    // Of 96 bytes at multiples of 32: two of 64 each.
    EXPECT_DOUBLE_EQ(pieces_of({9600, 96, 4032}, kBlock), 200);
    // Of 112 at multiples of 16: two or three.
    EXPECT_DOUBLE_EQ(pieces_of({11200, 112, 4032}, kBlock), 250);
    EXPECT_DOUBLE_EQ(pieces_of({11200, 112, 112}, kBlock), 175);
}

// Of rows of 768 bytes for eight columns, 96 each: the third column's are from 192 on, in two
// pieces of 256; the first's are in one.
TEST(MemoryPath, AColumnsRunsBeginWhereItsPartOfARowDoes) {
    const Runs rows{76800, 96, 768};
    const std::int64_t chop = 256;
    EXPECT_DOUBLE_EQ(pieces_of(of_column(rows, 0, 8), chop), 100);
    EXPECT_DOUBLE_EQ(pieces_of(of_column(rows, 2, 8), chop), 200);
    double all = 0;
    for (std::int64_t column = 0; column < 8; ++column) {
        all += pieces_of(of_column(rows, column, 8), chop);
    }
    EXPECT_DOUBLE_EQ(all, pieces_of(rows, chop));
    // In a second round they begin 384 further on, in the middle of a piece for every other: those
    // of the fourth column, from 144 and from 528 on, are in one each, of the third half are in
    // two.
    EXPECT_DOUBLE_EQ(pieces_of(of_column({76800, 48, 768}, 3, 8), chop), 200);
    EXPECT_DOUBLE_EQ(pieces_of(of_column({76800, 48, 768}, 2, 8), chop), 300);
}

// A thousand rows of 16 bytes, and a thousand of 384 in bursts of 256: two channels have five under
// way each, for 70 ns.
TEST(MemoryPath, ShortWritesTakeTheirWayToMemoryAFewAtATime) {
    Machine m = load_machine("xdna", "ddr5_5600");
    m.npu.shim.burst = arch::base::Bytes{256};
    m.npu.shim.outstanding_writes = 5;
    m.fabric.request_latency = arch::base::Femtoseconds{70'000'000};
    const MemoryPath path{m.memory, m.fabric};
    EXPECT_DOUBLE_EQ(path.writes_ns(m.npu.shim, {16e3, 16, 512}, 2), 1000 * 70.0 / (2 * 5));
    EXPECT_DOUBLE_EQ(path.writes_ns(m.npu.shim, {384e3, 384, 512}, 2), 2000 * 70.0 / (2 * 5));
}

TEST(MemoryPath, TheSlowestOfMemoryLinkBlocksAndPortsBinds) {
    Machine m = load_machine("xdna", "ddr5_5600");
    m.fabric.link_width = arch::base::BytesPerCycle{16};
    m.fabric.link_clock = arch::base::Hertz{1'000'000'000};
    m.fabric.block_interval = arch::base::Femtoseconds{3'000'000};
    m.fabric.request_interval = arch::base::Femtoseconds{20'000'000};
    const MemoryPath path{m.memory, m.fabric};
    const auto least = [&](double read, double written, std::int64_t columns) {
        return path.least_ns(m.npu.shim, {read, written, columns});
    };
    EXPECT_DOUBLE_EQ(least(1 << 20, 0, 4), (1 << 20) / 16);
    // Both directions at once; what is written takes the other link.
    EXPECT_DOUBLE_EQ(least(1 << 20, 1 << 20, 4), (1 << 20) / 16);
    // A column sends 256 B in 20 ns.
    EXPECT_DOUBLE_EQ(least(1 << 20, 0, 1), (1 << 12) * 20);
    m.fabric.block_interval = arch::base::Femtoseconds{5'000'000};
    EXPECT_DOUBLE_EQ(least(1 << 20, 0, 4), (1 << 14) * 5);
    m.npu.shim.modifiable = true;  // joined: no turns, but blocks
    EXPECT_DOUBLE_EQ(least(1 << 20, 0, 1), (1 << 14) * 5);
    m.fabric.block_interval = arch::base::Femtoseconds{0};
    EXPECT_DOUBLE_EQ(least(1 << 20, 0, 1), (1 << 20) / 16);
    m.fabric.link_clock = arch::base::Hertz{1'000'000'000'000};
    EXPECT_DOUBLE_EQ(least(1 << 20, 0, 1), (1 << 20) / m.memory.peak_bytes_per_second() * 1e9);
}

}  // namespace
}  // namespace tilesim::workloads::npu
