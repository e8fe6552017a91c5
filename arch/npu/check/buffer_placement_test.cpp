#include "arch/npu/check/buffer_placement.hpp"

#include <gtest/gtest.h>

#include "arch/base/config.hpp"
#include "arch/npu/check/program_verifier.hpp"

namespace tilesim::arch::npu::check {
namespace {

constexpr std::int64_t kBank = 16384;

std::vector<std::int64_t> placed(std::vector<program::Buffer> buffers) {
    program::Program program;
    program.buffers = std::move(buffers);
    place_buffers(program, NpuConfig{});
    EXPECT_EQ(verify(program, NpuConfig{}), std::vector<std::string>{});
    std::vector<std::int64_t> addresses;
    for (const program::Buffer& buffer : program.buffers) {
        addresses.push_back(buffer.address);
    }
    return addresses;
}

TEST(BufferPlacement, ConsecutiveBuffersOfACoreLieInConsecutiveBanks) {
    const program::TileCoordinate core{0, 2};
    EXPECT_EQ(placed({{"ping", core, program::kUnplaced, 4000},
                      {"pong", core, program::kUnplaced, 4000},
                      {"x", core, program::kUnplaced, 64},
                      {"y", core, program::kUnplaced, 64},
                      {"z", core, program::kUnplaced, 64}}),
              (std::vector<std::int64_t>{1024, kBank, 2 * kBank, 3 * kBank, 5024}));
}

TEST(BufferPlacement, KeepsClearOfTheStackAndOfGivenAddresses) {
    const program::TileCoordinate core{0, 2};
    EXPECT_EQ(placed({{"given", core, kBank, kBank},
                      {"a", core, program::kUnplaced, 15000},
                      {"b", core, program::kUnplaced, 16000},
                      {"large", core, program::kUnplaced, 700}}),
              (std::vector<std::int64_t>{kBank, 1024, 2 * kBank, 3 * kBank}));
}

TEST(BufferPlacement, ABufferLargerThanABankTakesTheFirstGap) {
    EXPECT_EQ(placed({{"a", {0, 2}, program::kUnplaced, 20000},
                      {"b", {0, 2}, program::kUnplaced, 20000}}),
              (std::vector<std::int64_t>{1024, 21024}));
}

TEST(BufferPlacement, MemoryTilesFillFromTheBottom) {
    EXPECT_EQ(
        placed({{"a", {0, 1}, program::kUnplaced, 100}, {"b", {0, 1}, program::kUnplaced, 100}}),
        (std::vector<std::int64_t>{0, 128}));
}

TEST(BufferPlacement, SaysWhatIsLeftWhenNothingFits) {
    program::Program program;
    program.buffers = {{"a", {0, 2}, program::kUnplaced, 60000},
                       {"b", {0, 2}, program::kUnplaced, 8000}};
    try {
        place_buffers(program, NpuConfig{});
        FAIL();
    } catch (const base::config::ConfigError& error) {
        EXPECT_STREQ(error.what(),
                     "buffer b: tile 0,2 has no 8000 bytes in a row left; 4512 are free in all");
    }
}

}  // namespace
}  // namespace tilesim::arch::npu::check
