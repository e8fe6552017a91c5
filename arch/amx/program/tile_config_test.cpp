#include "arch/amx/program/tile_config.hpp"

#include <gmock/gmock.h>

namespace tilesim::arch::amx::program {
namespace {

using testing::HasSubstr;

std::array<TileShape, kTiles> shapes() {
    std::array<TileShape, kTiles> result{};
    result[0] = {13, 28};  // C: 13 x 7 int32
    result[1] = {13, 44};  // A: 13 x 44 int8
    result[2] = {11, 28};  // B: 44 x 7 int8
    return result;
}

TileConfig configured() {
    TileConfig tiles;
    EXPECT_FALSE(tiles.load(make_image(shapes())));
    return tiles;
}

void expect_protection(TileConfigImage image, std::size_t byte, int value, const char* text) {
    image[byte] = static_cast<std::byte>(value);
    TileConfig tiles;
    const auto fault = tiles.load(image);
    ASSERT_TRUE(fault) << text;
    EXPECT_EQ(fault->kind, Fault::Kind::GeneralProtection);
    EXPECT_THAT(fault->reason, HasSubstr(text));
    EXPECT_FALSE(tiles.configured());
}

TEST(TileConfig, TakesAnImageAndWritesItBack) {
    const TileConfig tiles = configured();
    EXPECT_EQ(tiles.shape(1), (TileShape{13, 44}));
    EXPECT_EQ(tiles.image(), make_image(shapes()));
}

TEST(TileConfig, RefusesImpossibleImages) {
    const TileConfigImage image = make_image(shapes());
    expect_protection(image, 0, 2, "palette 2");
    expect_protection(image, 2, 1, "reserved byte 2");
    expect_protection(image, 15, 1, "reserved byte 15");
    expect_protection(image, 32, 1, "reserved byte 32");
    expect_protection(image, 63, 1, "reserved byte 63");
    expect_protection(image, 16, 65, "13 rows of 65 B");
    expect_protection(image, 17, 1, "rows of 284 B");
    expect_protection(image, 48, 17, "17 rows");
    expect_protection(image, 48, 0, "both or neither");
    expect_protection(image, 54, 3, "both or neither");
}

TEST(TileConfig, PaletteZeroReleases) {
    TileConfig tiles = configured();
    EXPECT_FALSE(tiles.load(TileConfigImage{}));
    EXPECT_FALSE(tiles.configured());
    EXPECT_EQ(tiles.image(), TileConfigImage{});
}

TEST(TileConfig, TileInstructionsNeedConfiguredTiles) {
    EXPECT_THAT(TileConfig{}.check_tile(0)->reason, HasSubstr("not configured"));
    TileConfig tiles = configured();
    EXPECT_FALSE(tiles.check_tile(2));
    EXPECT_THAT(tiles.check_tile(3)->reason, HasSubstr("tmm3 is not configured"));
    tiles.set_armed(true);
    EXPECT_EQ(tiles.check_tile(2)->kind, Fault::Kind::DeviceNotAvailable);
    tiles.set_enabled(false);
    EXPECT_EQ(tiles.check_tile(2)->kind, Fault::Kind::UndefinedInstruction);
}

TEST(TileConfig, MemoryInstructionsNeedSibWholeElementsAndAStartRowInside) {
    TileConfig tiles = configured();
    EXPECT_FALSE(tiles.check_memory(0));
    EXPECT_THAT(tiles.check_memory(0, false)->reason, HasSubstr("SIB"));
    tiles.set_start_row(12);
    EXPECT_FALSE(tiles.check_memory(0));
    EXPECT_TRUE(tiles.check_memory(2));  // 11 rows
    tiles.set_start_row(13);
    EXPECT_TRUE(tiles.check_memory(0));
    auto odd = shapes();
    odd[0].row_bytes = 30;
    EXPECT_FALSE(tiles.load(make_image(odd)));
    EXPECT_THAT(tiles.check_memory(0)->reason, HasSubstr("multiple of 4"));
}

TEST(TileConfig, DotProductsNeedDifferentTilesOfMatchingShapes) {
    TileConfig tiles = configured();
    EXPECT_FALSE(tiles.check_dot(0, 1, 2));
    for (const auto& [c, a, b] : {std::array{0, 0, 2}, std::array{0, 1, 0}, std::array{0, 1, 1}}) {
        EXPECT_THAT(tiles.check_dot(c, a, b)->reason, HasSubstr("must differ"));
    }
    for (const auto& [tile, shape] : {std::pair{0, TileShape{12, 28}},
                                      {0, TileShape{13, 32}},
                                      {1, TileShape{13, 40}},
                                      {2, TileShape{10, 28}}}) {
        auto changed = shapes();
        changed[static_cast<std::size_t>(tile)] = shape;
        EXPECT_FALSE(tiles.load(make_image(changed)));
        EXPECT_THAT(tiles.check_dot(0, 1, 2)->reason, HasSubstr("do not match"));
    }
}

}  // namespace
}  // namespace tilesim::arch::amx::program
