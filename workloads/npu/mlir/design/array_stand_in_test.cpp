#include "workloads/npu/mlir/design/array_stand_in.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "arch/npu/check/program_verifier.hpp"
#include "arch/npu/shipped_config_testing.hpp"
#include "workloads/npu/mlir/design/design.hpp"

namespace tilesim::workloads::npu::mlir::design {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char* kNote = "nothing sets the array up behind the shim tiles";

Design read(const std::string& body) {
    return lower(parse_design("module { aie.device(npu1) {\n" + body + "} }", "d.mlir"), {},
                 arch::npu::shipped_config("xdna"));
}

// A part of a design: shim transfers, and neither streams nor cores behind them.
constexpr const char* kPart =
    "%s = aie.tile(1, 0) %c = aie.tile(1, 2)\n"
    "aie.shim_dma_allocation @in(%s, MM2S, 1) aie.shim_dma_allocation @out(%s, S2MM, 0)\n"
    "aie.runtime_sequence(%a: memref<6000xi32>) {\n"
    "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][1, 1, 1, 6000][0, 0, 0, 1]) "
    "{id = 0 : i64, metadata = @in} : memref<6000xi32>\n"
    "aiex.npu.dma_memcpy_nd(%a[0, 0, 0, 0][3, 1, 1, 64][64, 0, 0, 1]) "
    "{id = 1 : i64, metadata = @out, issue_token = true} : memref<6000xi32>\n"
    "aiex.npu.dma_wait {symbol = @out}\n";

TEST(ArrayStandIn, MemoryTilesTakeAndGiveWhatShimsMove) {
    const Design design = read(std::string{kPart} + "}\n");
    const program::Program& program = design.program;
    EXPECT_THAT(design.notes, Contains(HasSubstr(kNote)));
    ASSERT_EQ(program.routes.size(), 2U);
    ASSERT_EQ(program.dmas.size(), 1U);
    EXPECT_EQ(program.dmas[0].tile, (program::TileCoordinate{1, 1}));
    // A descriptor is taken a whole number of times: twice of 6000, once of 3 times 64.
    const auto& descriptors = program.dmas[0].descriptors;
    ASSERT_EQ(descriptors.size(), 2U);
    EXPECT_EQ(descriptors[0].length + descriptors[1].length, 3000 + 192);
    EXPECT_EQ(descriptors[0].next, descriptors[0].id);
    EXPECT_TRUE(arch::npu::check::verify(program, arch::npu::shipped_config("xdna")).empty());
}

TEST(ArrayStandIn, WaitsForWhatNobodyStartsAndOtherTilesAreLeftOut) {
    const Design design = read(std::string{kPart} +
                               "aiex.npu.sync {column = 1 : i32, row = 0 : i32, direction = 0 : "
                               "i32, channel = 0 : i32, column_num = 1 : i32, row_num = 1 : i32}\n"
                               "aiex.npu.sync {column = 1 : i32, row = 0 : i32, direction = 0 : "
                               "i32, channel = 1 : i32, column_num = 1 : i32, row_num = 1 : i32}\n"
                               "aiex.npu.push_queue(1, 2, S2MM : 0) {bd_id = 0 : i32, issue_token "
                               "= false, repeat_count = 0 : i32} }\n");
    int waits = 0;
    for (const program::SequenceOp& op : design.program.sequence) {
        waits += std::holds_alternative<program::WaitToken>(op) ? 1 : 0;
        if (const auto* push = std::get_if<program::PushTask>(&op)) {
            EXPECT_EQ(push->channel.tile.row, 0);
        }
    }
    EXPECT_EQ(waits, 2);  // a second one for a channel that is started stays, and stands for ever
}

TEST(ArrayStandIn, NothingStandsInWhereTheDesignHasStreams) {
    const Design design = read(std::string{kPart} + "}\naie.flow(%s, DMA : 1, %c, DMA : 0)\n");
    EXPECT_EQ(design.program.routes.size(), 1U);
    EXPECT_THAT(design.notes, testing::Not(Contains(HasSubstr(kNote))));
}

TEST(ArrayStandIn, ASequenceThatMovesNothingNeedsNone) {
    EXPECT_THAT(read("aie.runtime_sequence(%a: memref<8xi32>) { }\n").notes,
                testing::Not(Contains(HasSubstr(kNote))));
}

}  // namespace
}  // namespace tilesim::workloads::npu::mlir::design
