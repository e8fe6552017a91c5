#include "arch/amx/program/tile_config.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tilesim::arch::amx::program {

namespace {

constexpr std::size_t kPaletteByte = 0;
constexpr std::size_t kStartRowByte = 1;
constexpr std::size_t kColumns = 16;  // u16 per tile
constexpr std::size_t kRows = 48;     // u8 per tile
constexpr int kElementBytes = 4;

std::optional<Fault> general(std::string reason) {
    return Fault{Fault::Kind::GeneralProtection, std::move(reason)};
}
std::optional<Fault> undefined(std::string reason) {
    return Fault{Fault::Kind::UndefinedInstruction, std::move(reason)};
}

int byte_of(const TileConfigImage& image, std::size_t index) {
    return std::to_integer<int>(image[index]);
}

bool reserved(std::size_t index) {
    return (index > kStartRowByte && index < kColumns) || (index >= 32 && index < kRows) ||
           index >= kRows + kTiles;
}

}  // namespace

const char* name_of(Fault::Kind kind) {
    switch (kind) {
        case Fault::Kind::GeneralProtection:
            return "#GP";
        case Fault::Kind::UndefinedInstruction:
            return "#UD";
        case Fault::Kind::DeviceNotAvailable:
            return "#NM";
    }
    return "";
}

std::optional<Fault> TileConfig::load(const TileConfigImage& image) {
    const int palette = byte_of(image, kPaletteByte);
    if (palette > 1) {
        return general(fmt::format("palette {} does not exist; 0 or 1", palette));
    }
    std::array<TileShape, kTiles> shapes{};
    for (std::size_t i = 0; palette != 0 && i < image.size(); ++i) {
        if (reserved(i) && image[i] != std::byte{0}) {
            return general(fmt::format("reserved byte {} of the tile configuration is not 0", i));
        }
    }
    for (std::size_t tile = 0; palette != 0 && tile < kTiles; ++tile) {
        TileShape& shape = shapes[tile];
        shape.row_bytes =
            byte_of(image, kColumns + 2 * tile) + 256 * byte_of(image, kColumns + 2 * tile + 1);
        shape.rows = byte_of(image, kRows + tile);
        if (shape.row_bytes > kRowBytes || shape.rows > kMaxRows) {
            return general(fmt::format("tile {} has {} rows of {} B; at most {} of {} B", tile,
                                       shape.rows, shape.row_bytes, kMaxRows, kRowBytes));
        }
        if ((shape.rows == 0) != (shape.row_bytes == 0)) {
            return general(fmt::format("tile {} has {} rows of {} B; both or neither must be 0",
                                       tile, shape.rows, shape.row_bytes));
        }
    }
    palette_ = palette;
    start_row_ = palette == 0 ? 0 : byte_of(image, kStartRowByte);
    shapes_ = shapes;
    return std::nullopt;
}

std::optional<Fault> TileConfig::check_tile(int tile) const {
    if (!enabled_) {
        return undefined("XCR0[18:17] is not set: the system has not enabled tiles");
    }
    if (armed_) {
        return Fault{Fault::Kind::DeviceNotAvailable,
                     "IA32_XFD[18] is set: the process has not asked for tiles"};
    }
    if (!configured()) {
        return undefined("tiles are not configured: no LDTILECFG has given them shapes");
    }
    if (shape(tile).rows == 0) {
        return undefined(fmt::format("tmm{} is not configured", tile));
    }
    return std::nullopt;
}

std::optional<Fault> TileConfig::check_memory(int tile, bool sib) const {
    if (auto fault = check_tile(tile)) {
        return fault;
    }
    if (!sib) {
        return undefined("the address has no SIB byte");
    }
    if (shape(tile).row_bytes % kElementBytes != 0) {
        return undefined(fmt::format("tmm{} has rows of {} B, no multiple of {}", tile,
                                     shape(tile).row_bytes, kElementBytes));
    }
    if (start_row_ >= shape(tile).rows) {
        return undefined(fmt::format("start_row {} is beyond the {} rows of tmm{}", start_row_,
                                     shape(tile).rows, tile));
    }
    return std::nullopt;
}

std::optional<Fault> TileConfig::check_dot(int c, int a, int b) const {
    if (c == a || c == b || a == b) {
        return undefined(fmt::format("tmm{}, tmm{}, tmm{}: operands must differ", c, a, b));
    }
    for (const int tile : {c, a, b}) {
        if (auto fault = check_tile(tile)) {
            return fault;
        }
        if (shape(tile).row_bytes % kElementBytes != 0) {
            return undefined(fmt::format("tmm{} has rows of {} B, no multiple of {}", tile,
                                         shape(tile).row_bytes, kElementBytes));
        }
    }
    if (shape(c).rows != shape(a).rows || shape(c).row_bytes != shape(b).row_bytes ||
        shape(a).row_bytes / kElementBytes != shape(b).rows) {
        return undefined(fmt::format("shapes do not match: C {} x {} B, A {} x {} B, B {} x {} B",
                                     shape(c).rows, shape(c).row_bytes, shape(a).rows,
                                     shape(a).row_bytes, shape(b).rows, shape(b).row_bytes));
    }
    return std::nullopt;
}

TileConfigImage TileConfig::image() const {
    TileConfigImage image{};
    if (configured()) {
        image = make_image(shapes_);
        image[kStartRowByte] = static_cast<std::byte>(start_row_);
    }
    return image;
}

TileConfigImage make_image(const std::array<TileShape, kTiles>& shapes) {
    TileConfigImage image{};
    image[kPaletteByte] = std::byte{1};
    for (std::size_t tile = 0; tile < kTiles; ++tile) {
        image[kColumns + 2 * tile] = static_cast<std::byte>(shapes[tile].row_bytes);
        image[kRows + tile] = static_cast<std::byte>(shapes[tile].rows);
    }
    return image;
}

}  // namespace tilesim::arch::amx::program
