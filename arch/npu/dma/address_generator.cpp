#include "arch/npu/dma/address_generator.hpp"

#include <algorithm>
#include <cstring>

#include "arch/base/check.hpp"

namespace tilesim::arch::npu::dma {

namespace {

// The dimensions with the outermost size filled in from the length.
std::vector<program::Dimension> full_dimensions(const program::BufferDescriptor& descriptor) {
    std::vector<program::Dimension> dimensions = descriptor.dimensions;
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

// Copies `count` times a number of bytes; the places step on.
template <std::size_t kBytes>
void copy_each(std::int64_t count, const std::byte* from, std::int64_t from_step, std::byte* to,
               std::int64_t to_step) {
    for (; count > 0; --count) {
        std::memcpy(to, from, kBytes);
        from += from_step;
        to += to_step;
    }
}

void copy_each(std::int64_t count, std::int64_t bytes, const std::byte* from,
               std::int64_t from_step, std::byte* to, std::int64_t to_step) {
    switch (bytes) {  // the runs of sub-tiles: mmul shapes are 4 or 8 elements wide
        case 4:
            return copy_each<4>(count, from, from_step, to, to_step);
        case 8:
            return copy_each<8>(count, from, from_step, to, to_step);
        case 16:
            return copy_each<16>(count, from, from_step, to, to_step);
        case 32:
            return copy_each<32>(count, from, from_step, to, to_step);
        case 64:
            return copy_each<64>(count, from, from_step, to, to_step);
        default:
            for (; count > 0; --count) {
                std::memcpy(to, from, static_cast<std::size_t>(bytes));
                from += from_step;
                to += to_step;
            }
    }
}

}  // namespace

AddressGenerator::AddressGenerator(const program::BufferDescriptor& descriptor,
                                   std::int64_t execution) {
    const std::vector<program::Dimension> dimensions = full_dimensions(descriptor);
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
    advance(0, run.words);
    return run;
}

Runs AddressGenerator::take_alike(std::int64_t most) {
    // Where every word is a run, the innermost dimension steps from run to run, else the next one.
    const std::size_t stepping = levels_[0].stride == 1 ? 1 : 0;
    const Level& level = levels_[stepping];
    const std::int64_t steps = level.before + level.size - level.index;  // this one included
    Runs runs{take(most), 1, level.stride};
    const Run& run = runs.first;
    // Runs of the next dimension are whole rows of this one, without padding between them.
    const std::int64_t row = levels_[0].size;
    const bool whole = stepping == 0 || (run.words == row && levels_[0].total() == row);
    if (stepping < count_ && whole && !run.zeros) {
        runs.count = std::min(steps, most / run.words);
        advance(stepping, runs.count - 1);
    }
    return runs;
}

void AddressGenerator::read(const std::byte* memory, std::span<std::uint32_t> words) {
    while (!words.empty()) {
        const Runs runs = take_alike(static_cast<std::int64_t>(words.size()));
        const auto taken = words.first(static_cast<std::size_t>(runs.count * runs.first.words));
        if (runs.first.zeros) {
            std::fill(taken.begin(), taken.end(), 0U);
        } else {
            const std::int64_t bytes = runs.first.words * kWordBytes;
            copy_each(runs.count, bytes, memory + runs.first.offset * kWordBytes,
                      runs.stride * kWordBytes, std::as_writable_bytes(taken).data(), bytes);
        }
        words = words.subspan(taken.size());
    }
}

void AddressGenerator::write(std::span<const std::uint32_t> words, std::byte* memory) {
    while (!words.empty()) {
        const Runs runs = take_alike(static_cast<std::int64_t>(words.size()));
        const std::int64_t bytes = runs.first.words * kWordBytes;
        copy_each(runs.count, bytes, std::as_bytes(words).data(), bytes,
                  memory + runs.first.offset * kWordBytes, runs.stride * kWordBytes);
        words = words.subspan(static_cast<std::size_t>(runs.count * runs.first.words));
    }
}

// Steps of a level, none of which but the last reaches its end.
void AddressGenerator::advance(std::size_t level, std::int64_t steps) {
    levels_[level].index += steps;
    for (std::size_t i = level; i < count_ && levels_[i].index == levels_[i].total(); ++i) {
        levels_[i].index = 0;
        if (i + 1 < count_) {
            ++levels_[i + 1].index;
        }
    }
}

std::int64_t stream_words(const program::BufferDescriptor& descriptor) {
    if (descriptor.padding.empty()) {
        return descriptor.length;
    }
    std::int64_t words = 1;
    const std::vector<program::Dimension> dimensions = full_dimensions(descriptor);
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        const program::Padding padding =
            i < descriptor.padding.size() ? descriptor.padding[i] : program::Padding{};
        words *= padding.before + dimensions[i].size + padding.after;
    }
    return words;
}

}  // namespace tilesim::arch::npu::dma
