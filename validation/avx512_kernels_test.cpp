#include "validation/avx512_kernels.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "arch/base/temporary_folder_testing.hpp"

namespace tilesim::validation {
namespace {

using testing::HasSubstr;
using testing::Not;

KernelPair kernel(const std::string& letter, long lines, long bytes_apart = 64) {
    const arch::base::TemporaryFolder folder;
    const std::string file = folder.path() / "rows.csv";
    std::ofstream(file) << "family,kernel,footprint_kib,stride_lines,lines,state\n"
                        << fmt::format("any,{},{},,{},steady\n", letter, lines * bytes_apart / 1024,
                                       lines);
    return *memory_kernel(read_csv(file).at(0));
}

// A part of a pass stands for all, in the state that the passes before have left.
TEST(Avx512Kernels, ReadWhatTheL3HoldsFromThereAndTheRestFromDram) {
    constexpr long kL3Lines = kL3Bytes / 64;
    for (const char* letter : {"I", "P", "Q4"}) {
        const KernelPair held = kernel(letter, kL3Lines);
        EXPECT_THAT(held.few, HasSubstr("touch a l3\n")) << letter;
        EXPECT_THAT(held.few, Not(HasSubstr("flush a\n"))) << letter;
        const KernelPair beyond = kernel(letter, kL3Lines + 64);
        EXPECT_THAT(beyond.few, HasSubstr("flush a\n")) << letter;
        EXPECT_THAT(beyond.few, Not(HasSubstr("touch a l3\n"))) << letter;
        EXPECT_GT(beyond.count, 0) << letter;
    }
}

TEST(Avx512Kernels, FewLinesOfManyPagesAreBroughtToTheL3ByPasses) {
    const KernelPair sparse = kernel("P1", 131072, 4096);
    EXPECT_EQ(sparse.count, 131072);
    EXPECT_THAT(sparse.few, HasSubstr("loop pass 4\nloop i 131072\n"));
    EXPECT_THAT(sparse.many, HasSubstr("loop pass 5\nloop i 131072\n"));
}

}  // namespace
}  // namespace tilesim::validation
