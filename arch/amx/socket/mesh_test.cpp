#include "arch/amx/socket/mesh.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace tilesim::arch::amx::socket {
namespace {

using base::Femtoseconds;

constexpr std::int64_t kOne = 1'000'000;  // ns in femtoseconds
constexpr Femtoseconds kNow{700 * kOne};

// Three rows of four stops; a line takes 7 ns of a link or a slice.
UncoreConfig grid() {
    UncoreConfig config;
    config.clock = base::Hertz{16'000'000'000 / 7};
    config.link_width = base::BytesPerCycle{4};
    config.slices = 12;
    config.mesh_columns = 4;
    return config;
}

std::int64_t waits(Mesh& mesh, std::size_t from, std::size_t to) {
    const std::int64_t wait = (mesh.carry(from, to, kNow, kNow) - kNow).count();
    return (wait + kOne / 2) / kOne;
}
std::int64_t waits(Mesh& mesh, std::size_t slice) {
    const std::int64_t wait = (mesh.serve(slice, kNow) - kNow).count();
    return (wait + kOne / 2) / kOne;
}

TEST(Mesh, ASliceServesALineAtATime) {
    Mesh mesh(grid(), 12);
    EXPECT_EQ(waits(mesh, 3), 0);
    EXPECT_EQ(waits(mesh, 3), 7);
    EXPECT_EQ(waits(mesh, 3), 14);
    EXPECT_EQ(waits(mesh, 4), 0);
}

TEST(Mesh, ALinkCarriesALineAtATimeEachWay) {
    Mesh mesh(grid(), 12);
    EXPECT_EQ(waits(mesh, 0, 3), 0);
    EXPECT_EQ(waits(mesh, 0, 3), 7);  // behind the other on the first link, and no more behind it
    EXPECT_EQ(waits(mesh, 1, 2), 14);
    EXPECT_EQ(waits(mesh, 3, 0), 0);
    EXPECT_EQ(waits(mesh, 5, 5), 0);  // needs none
    EXPECT_EQ(waits(mesh, 5, 5), 0);
}

TEST(Mesh, ALineGoesAlongItsColumnFirst) {
    Mesh down(grid(), 12);
    EXPECT_EQ(waits(down, 0, 9), 0);  // by 4 and 8
    EXPECT_EQ(waits(down, 0, 1), 0);
    EXPECT_EQ(waits(down, 4, 8), 7);
    EXPECT_EQ(waits(down, 8, 9), 7);
    Mesh up(grid(), 12);
    EXPECT_EQ(waits(up, 11, 2), 0);  // by 7 and 3
    EXPECT_EQ(waits(up, 11, 10), 0);
    EXPECT_EQ(waits(up, 7, 3), 7);
    EXPECT_EQ(waits(up, 3, 2), 7);
}

TEST(Mesh, LinesSpreadOverSlicesWhateverTheirStride) {
    const Mesh mesh(grid(), 12);
    for (const caches::Line stride : {1, 2, 12, 64, 128, 4096}) {
        std::vector<int> lines(12);
        for (caches::Line i = 0; i < 12'000; ++i) {
            ++lines[mesh.slice_of(i * stride)];
        }
        for (const int count : lines) {
            EXPECT_LT(std::abs(count - 1000), 150) << stride;
        }
    }
}

TEST(Mesh, FewerCoresThanSlicesStandEvenlyOverTheMesh) {
    const Mesh thirds(grid(), 4);
    EXPECT_EQ(thirds.stop_of(0), 0U);
    EXPECT_EQ(thirds.stop_of(1), 3U);
    EXPECT_EQ(thirds.stop_of(3), 9U);
    const Mesh most(grid(), 9);
    EXPECT_EQ(most.stop_of(8), 10U);
}

TEST(Mesh, CoresBeyondTheSlicesShareStops) {
    const Mesh mesh(grid(), 24);
    EXPECT_EQ(mesh.stop_of(1), 0U);
    EXPECT_EQ(mesh.stop_of(2), 1U);
    EXPECT_EQ(mesh.stop_of(23), 11U);
}

}  // namespace
}  // namespace tilesim::arch::amx::socket
