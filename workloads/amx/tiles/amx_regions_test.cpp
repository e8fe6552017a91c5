#include "workloads/amx/tiles/amx_regions.hpp"

#include <gtest/gtest.h>

#include <set>

#include "arch/amx/program/instruction_stream.hpp"
#include "workloads/amx/tiles/amx_run_testing.hpp"

namespace tilesim::workloads::amx::tiles {
namespace {

using Lines = std::set<std::int64_t>;

Lines lines_of(const std::vector<AmxRegion>& regions, std::int64_t thread) {
    Lines lines;
    for (const AmxRegion& region : regions) {
        for (std::int64_t at = 0; region.thread == thread && at < region.bytes; at += 64) {
            lines.insert((region.address + at) / 64);
        }
    }
    return lines;
}

// Lines of all tiles of 16 rows that the thread loads or, with those, stores.
Lines lines_of(const arch::amx::program::Program& program, bool stores) {
    Lines lines;
    for (arch::amx::program::InstructionStream stream(program); !stream.finished();
         stream.advance()) {
        const arch::amx::program::Instruction& each = *stream.current().instruction;
        if (arch::amx::program::is_tile_load(each.opcode) ||
            (stores && each.opcode == arch::amx::program::Opcode::Tilestored)) {
            for (std::int64_t row = 0; row < 16; ++row) {
                lines.insert((stream.current().address + row * each.row_stride) / 64);
            }
        }
    }
    return lines;
}

void expect_own_lines(const AmxMapping& mapping) {
    const LoweredAmx lowered = lower(gemm(96, 512, 192, DataType::Bf16, DataType::F32), mapping);
    for (std::int64_t t = 0; t < mapping.threads; ++t) {
        const auto& program = lowered.programs[static_cast<std::size_t>(t)];
        EXPECT_EQ(lines_of(lowered.reads, t), lines_of(program, false)) << t;
        EXPECT_EQ(lines_of(lowered.warm, t), lines_of(program, true)) << t;
    }
}

// Three threads of six blocks of rows or columns, or of sixteen k tiles.
TEST(AmxRegions, AThreadReadsAndItsCachesHoldTheLinesOfItsTiles) {
    AmxMapping mapping;
    mapping.threads = 3;
    for (const auto partition : {AmxMapping::Partition::M, AmxMapping::Partition::N,
                                 AmxMapping::Partition::K, AmxMapping::Partition::MN}) {
        mapping.partition = partition;
        for (const bool packed : {false, true}) {
            mapping.a_packed = packed;
            for (const auto layout : {AmxMapping::BLayout::Packed, AmxMapping::BLayout::Vnni}) {
                mapping.b_layout = layout;
                SCOPED_TRACE(testing::Message()
                             << static_cast<int>(partition) << packed << static_cast<int>(layout));
                expect_own_lines(mapping);
            }
        }
    }
}

TEST(AmxRegions, PaddingIsNotReadAndInMemoryWhatLiesBetweenRowsIsOnePieceWithThem) {
    AmxMapping mapping;
    mapping.a_padding = mapping.c_padding = 128;
    expect_own_lines(mapping);
    const auto pieces = [&] {
        return lower(gemm(96, 512, 192, DataType::Bf16, DataType::F32), mapping).warm.size();
    };
    EXPECT_EQ(pieces(), 96U + 96 + 1);  // rows of C and of A, B
    mapping.data_in = AmxMapping::DataIn::Memory;
    EXPECT_EQ(pieces(), 3U);
}

TEST(AmxRegions, OfBAsStoredAThreadReadsItsColumns) {
    AmxMapping mapping;
    mapping.b_layout = AmxMapping::BLayout::RowMajor;
    mapping.threads = 2;
    mapping.partition = AmxMapping::Partition::N;
    const LoweredAmx lowered = lower(gemm(32, 64, 128, DataType::Bf16, DataType::F32), mapping);
    std::int64_t bytes = 0;
    for (const AmxRegion& read : lowered.reads) {
        bytes += read.thread == 1 && read.address >= lowered.raw ? read.bytes : 0;
    }
    EXPECT_EQ(bytes, 64 * 64 * 2);
    EXPECT_EQ(lowered.reads.back().address, lowered.a);
}

}  // namespace
}  // namespace tilesim::workloads::amx::tiles
