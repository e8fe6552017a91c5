// TILECFG: the 64 bytes that give each of the eight tile registers its shape, and every rule that
// makes a tile instruction fault.
//
// Source: Intel SDM, LDTILECFG and the AMX chapters; CPUID leaves 1D and 1E.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tilesim::arch::amx::program {

inline constexpr int kTiles = 8;
inline constexpr int kMaxRows = 16;
inline constexpr int kRowBytes = 64;
inline constexpr int kTileBytes = kMaxRows * kRowBytes;
inline constexpr int kTileConfigBytes = 64;

// #GP, #UD or #NM, with the rule that was broken.
struct Fault {
    enum class Kind { GeneralProtection, UndefinedInstruction, DeviceNotAvailable };
    Kind kind = Kind::UndefinedInstruction;
    std::string reason;
};
const char* name_of(Fault::Kind kind);

struct TileShape {
    int rows = 0;
    int row_bytes = 0;
    bool operator==(const TileShape&) const = default;
};

using TileConfigImage = std::array<std::byte, kTileConfigBytes>;

class TileConfig {
  public:
    bool configured() const { return palette_ != 0; }
    const TileShape& shape(int tile) const { return shapes_[static_cast<std::size_t>(tile)]; }
    int start_row() const { return start_row_; }
    TileConfigImage image() const;  // what STTILECFG writes

    // May the instruction execute? Nothing: yes.
    std::optional<Fault> check_tile(int tile) const;
    // TILELOADD, TILELOADDT1, TILESTORED; `sib`: the address has a SIB byte.
    std::optional<Fault> check_memory(int tile, bool sib = true) const;
    // TDP: c += a * b.
    std::optional<Fault> check_dot(int c, int a, int b) const;

    // LDTILECFG: takes the image, or says why it may not.
    std::optional<Fault> load(const TileConfigImage& image);
    void release() { *this = TileConfig{}; }
    // XCR0[18:17], IA32_XFD[18]: what the system allows.
    void set_enabled(bool enabled) { enabled_ = enabled; }
    void set_armed(bool armed) { armed_ = armed; }
    // A page fault part way through a load or store leaves the row to restart at.
    void set_start_row(int row) { start_row_ = row; }

  private:
    int palette_ = 0;
    int start_row_ = 0;
    bool enabled_ = true;
    bool armed_ = false;
    std::array<TileShape, kTiles> shapes_{};
};

// The image that gives the tiles these shapes.
TileConfigImage make_image(const std::array<TileShape, kTiles>& shapes);

}  // namespace tilesim::arch::amx::program
