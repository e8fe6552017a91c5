#include "arch/base/half.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilesim::arch::base {

namespace {

// Of an f16: its fraction, the weights of the last place of the smallest numbers, and infinity.
constexpr int kFractionBits = 10;
constexpr std::uint16_t kFractionMask = (1U << kFractionBits) - 1;
constexpr int kLeastPlace = -24;
constexpr std::uint16_t kInfinity = 0x7C00;
constexpr std::uint16_t kNoNumber = 0x7E00;

}  // namespace

float from_f16(std::uint16_t bits) {
    const float sign = (bits & 0x8000U) != 0 ? -1.0F : 1.0F;
    const int exponent = (bits & kInfinity) >> kFractionBits;
    const int fraction = bits & kFractionMask;
    if ((bits & kInfinity) == kInfinity) {
        return fraction == 0 ? sign * std::numeric_limits<float>::infinity()
                             : std::numeric_limits<float>::quiet_NaN();
    }
    const int hidden = exponent == 0 ? 0 : 1 << kFractionBits;
    return sign * std::ldexp(static_cast<float>(fraction + hidden),
                             kLeastPlace + std::max(exponent, 1) - 1);
}

std::uint16_t to_f16(float value) {
    const std::uint16_t sign = std::signbit(value) ? 0x8000U : 0U;
    if (std::isnan(value)) {
        return sign | kNoNumber;
    }
    if (value == 0) {
        return sign;
    }
    if (std::isinf(value)) {
        return sign | kInfinity;
    }
    int exponent = 0;
    std::frexp(value, &exponent);  // of a fraction of half to one
    const int place = std::max(exponent - kFractionBits - 1, kLeastPlace);
    // To nearest even; a fraction that rounds up to the next power of two carries by itself.
    const auto places = static_cast<int>(std::nearbyint(std::ldexp(std::abs(value), -place)));
    const int bits = ((place - kLeastPlace) << kFractionBits) + places;
    return sign | static_cast<std::uint16_t>(std::min<int>(bits, kInfinity));
}

}  // namespace tilesim::arch::base
