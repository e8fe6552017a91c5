#include "arch/npu/control/address_counters.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace tilesim::arch::npu::control {

using program::Dimension;

namespace {

// What X or Y adds to the address of the word `at`.
struct AddressCounter {
    std::int64_t increment, wrap, offset;
    std::int64_t of(std::int64_t at) const { return at / increment % wrap * offset; }
};

}  // namespace

std::optional<std::vector<Dimension>> counted_dimensions(const DescriptorLayout& layout,
                                                         const FieldReader& read,
                                                         std::int64_t length) {
    constexpr std::size_t kMostDimensions = 4;
    std::array<AddressCounter, 2> counters{};
    std::vector<std::int64_t> turns{1, length};
    for (std::size_t i = 0; i < counters.size(); ++i) {
        const CounterFields& fields = layout.counters[i];
        counters[i] = {read(fields.increment) + 1, read(fields.wrap) + 1, read(fields.offset)};
        for (const std::int64_t turn :
             {counters[i].increment, counters[i].increment * counters[i].wrap}) {
            if (turn < length) {
                turns.push_back(turn);
            }
        }
    }
    std::sort(turns.begin(), turns.end());
    turns.erase(std::unique(turns.begin(), turns.end()), turns.end());
    std::vector<Dimension> dimensions;
    std::int64_t filled = 1;  // words in the dimensions so far
    for (std::size_t i = 0; i + 1 < turns.size(); ++i) {
        const std::int64_t at = turns[i];
        const bool last = i + 2 == turns.size();
        const std::int64_t size = (turns[i + 1] + at - 1) / at;
        if (!last && turns[i + 1] % at != 0) {
            return std::nullopt;
        }
        const std::int64_t stride = counters[0].of(at) + counters[1].of(at);
        if (!dimensions.empty() && stride == dimensions.back().size * dimensions.back().stride) {
            dimensions.back().size *= size;
        } else {
            filled = at;
            dimensions.push_back({size, stride});
        }
    }
    if (dimensions.size() > kMostDimensions || length % filled != 0) {
        return std::nullopt;
    }
    if (dimensions.size() == 1) {
        dimensions[0].size = length;
    }
    if (dimensions.size() <= 1 && (dimensions.empty() || dimensions[0].stride == 1)) {
        dimensions.clear();
    }
    return dimensions;
}

void write_counters(const DescriptorLayout& layout, std::vector<Dimension> dimensions,
                    FieldWriter& write) {
    constexpr std::int64_t kMostWrap = 256;
    if (dimensions.empty()) {
        dimensions.push_back({kMostWrap, 1});
    }
    dimensions[0].size = std::min(dimensions[0].size, kMostWrap);
    if (dimensions.size() == 1) {
        dimensions.push_back({kMostWrap, dimensions[0].size * dimensions[0].stride});
    }
    std::int64_t increment = 1;
    for (std::size_t i = 0; i < layout.counters.size(); ++i) {
        write(layout.counters[i].increment, increment - 1);
        write(layout.counters[i].wrap, dimensions[i].size - 1);
        write(layout.counters[i].offset, dimensions[i].stride);
        increment *= dimensions[i].size;
    }
}

}  // namespace tilesim::arch::npu::control
