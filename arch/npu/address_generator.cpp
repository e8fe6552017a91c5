#include "arch/npu/address_generator.hpp"

#include <algorithm>
#include <cstring>

#include "arch/base/check.hpp"

namespace tilesim::arch::npu {

namespace {

constexpr std::size_t kWordBytes = 4;

// The dimensions with the outermost size filled in from the length.
std::vector<Dimension> full_dimensions(const BufferDescriptor& descriptor) {
    std::vector<Dimension> dimensions = descriptor.dimensions;
    if (dimensions.empty()) {
        dimensions.push_back({descriptor.length, 1});
    }
    std::int64_t inner = 1;
    for (std::size_t i = 0; i + 1 < dimensions.size(); ++i) {
        inner *= dimensions[i].size;
    }
    dimensions.back().size = std::max<std::int64_t>(1, descriptor.length / inner);
    return dimensions;
}

std::byte* at(std::span<std::byte> buffer, std::int64_t offset, const Run& run) {
    return buffer.data() + offset + run.offset * static_cast<std::int64_t>(kWordBytes);
}

}  // namespace

AddressGenerator::AddressGenerator(const BufferDescriptor& descriptor, std::int64_t execution) {
    const std::vector<Dimension> dimensions = full_dimensions(descriptor);
    SIM_CHECK(dimensions.size() <= kMostDimensions, "descriptor {} has {} dimensions",
              descriptor.id, dimensions.size());
    count_ = dimensions.size();
    for (std::size_t i = 0; i < count_; ++i) {
        levels_[i].size = dimensions[i].size;
        levels_[i].stride = dimensions[i].stride;
        if (i < descriptor.padding.size()) {
            levels_[i].before = descriptor.padding[i].before;
            levels_[i].after = descriptor.padding[i].after;
        }
    }
    if (descriptor.iteration) {
        base_ = (execution % descriptor.iteration->size) * descriptor.iteration->stride;
    }
    // Contiguous inner dimensions without padding are one longer run.
    while (count_ > 1 && levels_[0].stride == 1 && levels_[0].total() == levels_[0].size &&
           levels_[1].total() == levels_[1].size && levels_[1].stride == levels_[0].size) {
        levels_[0].size *= levels_[1].size;
        std::move(levels_.begin() + 2, levels_.begin() + static_cast<std::ptrdiff_t>(count_),
                  levels_.begin() + 1);
        --count_;
    }
}

Run AddressGenerator::take(std::int64_t most) {
    Run run{base_, 0, false};
    bool outer_padding = false;
    for (std::size_t i = 1; i < count_; ++i) {
        const Level& level = levels_[i];
        outer_padding = outer_padding || level.padding();
        run.offset += (level.index - level.before) * level.stride;
    }
    Level& inner = levels_[0];
    run.zeros = outer_padding || inner.padding();
    if (outer_padding) {
        run.words = inner.total() - inner.index;
    } else if (inner.index < inner.before) {
        run.words = inner.before - inner.index;
    } else if (inner.padding()) {
        run.words = inner.total() - inner.index;
    } else {
        run.offset += (inner.index - inner.before) * inner.stride;
        run.words = inner.stride == 1 ? inner.before + inner.size - inner.index : 1;
    }
    run.words = std::min(run.words, most);
    advance(run.words);
    return run;
}

void AddressGenerator::advance(std::int64_t words) {
    levels_[0].index += words;
    for (std::size_t i = 0; i < count_ && levels_[i].index == levels_[i].total(); ++i) {
        levels_[i].index = 0;
        if (i + 1 < count_) {
            ++levels_[i + 1].index;
        }
    }
}

std::int64_t stream_words(const BufferDescriptor& descriptor) {
    if (descriptor.padding.empty()) {
        return descriptor.length;
    }
    std::int64_t words = 1;
    const std::vector<Dimension> dimensions = full_dimensions(descriptor);
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        const Padding padding = i < descriptor.padding.size() ? descriptor.padding[i] : Padding{};
        words *= padding.before + dimensions[i].size + padding.after;
    }
    return words;
}

void append_run(const Run& run, std::int64_t offset, std::span<const std::byte> buffer,
                std::vector<std::uint32_t>& into) {
    const std::size_t place = into.size();
    into.resize(place + static_cast<std::size_t>(run.words));
    if (!run.zeros) {
        std::memcpy(into.data() + place,
                    buffer.data() + offset + run.offset * static_cast<std::int64_t>(kWordBytes),
                    static_cast<std::size_t>(run.words) * kWordBytes);
    }
}

void store_run(const Run& run, std::int64_t offset, const std::uint32_t* from,
               std::span<std::byte> buffer) {
    std::memcpy(at(buffer, offset, run), from, static_cast<std::size_t>(run.words) * kWordBytes);
}

}  // namespace tilesim::arch::npu
