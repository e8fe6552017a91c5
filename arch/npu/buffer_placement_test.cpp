#include "arch/npu/buffer_placement.hpp"

#include <gtest/gtest.h>

#include "arch/base/config.hpp"
#include "arch/npu/program_verifier.hpp"

namespace tilesim::arch::npu {
namespace {

constexpr std::int64_t kBank = 16384;

std::vector<std::int64_t> placed(std::vector<Buffer> buffers) {
    Program program;
    program.buffers = std::move(buffers);
    place_buffers(program, NpuConfig{});
    EXPECT_EQ(verify(program, NpuConfig{}), std::vector<std::string>{});
    std::vector<std::int64_t> addresses;
    for (const Buffer& buffer : program.buffers) {
        addresses.push_back(buffer.address);
    }
    return addresses;
}

TEST(BufferPlacement, ConsecutiveBuffersOfACoreLieInConsecutiveBanks) {
    const TileCoordinate core{0, 2};
    EXPECT_EQ(placed({{"ping", core, kUnplaced, 4000},
                      {"pong", core, kUnplaced, 4000},
                      {"x", core, kUnplaced, 64},
                      {"y", core, kUnplaced, 64},
                      {"z", core, kUnplaced, 64}}),
              (std::vector<std::int64_t>{1024, kBank, 2 * kBank, 3 * kBank, 5024}));
}

TEST(BufferPlacement, KeepsClearOfTheStackAndOfGivenAddresses) {
    const TileCoordinate core{0, 2};
    EXPECT_EQ(placed({{"given", core, kBank, kBank},
                      {"a", core, kUnplaced, 15000},
                      {"b", core, kUnplaced, 16000},
                      {"large", core, kUnplaced, 700}}),
              (std::vector<std::int64_t>{kBank, 1024, 2 * kBank, 3 * kBank}));
}

TEST(BufferPlacement, ABufferLargerThanABankTakesTheFirstGap) {
    EXPECT_EQ(placed({{"a", {0, 2}, kUnplaced, 20000}, {"b", {0, 2}, kUnplaced, 20000}}),
              (std::vector<std::int64_t>{1024, 21024}));
}

TEST(BufferPlacement, MemoryTilesFillFromTheBottom) {
    EXPECT_EQ(placed({{"a", {0, 1}, kUnplaced, 100}, {"b", {0, 1}, kUnplaced, 100}}),
              (std::vector<std::int64_t>{0, 128}));
}

TEST(BufferPlacement, SaysWhatIsLeftWhenNothingFits) {
    Program program;
    program.buffers = {{"a", {0, 2}, kUnplaced, 60000}, {"b", {0, 2}, kUnplaced, 8000}};
    try {
        place_buffers(program, NpuConfig{});
        FAIL();
    } catch (const base::config::ConfigError& error) {
        EXPECT_STREQ(error.what(),
                     "buffer b: tile 0,2 has no 8000 bytes in a row left; 4512 are free in all");
    }
}

}  // namespace
}  // namespace tilesim::arch::npu
